"""Context report: summary of a context run as JSON, tables and headline figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import mean
from typing import Any

from ..core.errors import InvalidInput
from .context_run import ANSWERABLE, BUDGETS, ContextFigures, ContextResult, ContextRun
from .context_story import ChangeRating, count_ratings
from .evaluate import MetricDifference
from .report import Figures, Table
from .run import percentile

THANKS = "thanks!"
CHANGE_COUNTS = ("current", "stale_first", "stale_only", "missing", "stale_shown")


def summarize_contexts(
    benchmark: str, outcome: ContextRun, story: Sequence[ChangeRating], used: Mapping[str, str]
) -> Figures:
    """Return the summary of a run, without any texts."""
    rows = outcome.rows
    answerable = [row for row in rows if row.is_answerable]
    groups = [*dict.fromkeys(row.group for row in rows)]
    categories = sorted({row.category for row in answerable})
    seconds = outcome.indexing_seconds
    return {
        "benchmark": f"context {benchmark}",
        "settings": dict(used),
        "questions": {group: sum(row.group == group for row in rows) for group in groups},
        "budgets": {str(budget): _budget_figures(answerable, budget) for budget in BUDGETS},
        "categories": {
            name: _category_figures([row for row in answerable if row.category == name])
            for name in categories
        },
        "sections": _section_means([row.full for row in answerable]),
        "abstention": {group: _abstention_figures(rows, group) for group in groups},
        "small_talk": _small_talk_figures(outcome),
        "empty_tokens": outcome.empty_tokens,
        "changes": count_ratings(story),
        "indexing": {
            "messages": outcome.messages,
            "seconds": round(seconds, 2),
            "messages_per_second": round(outcome.messages / seconds),
        },
    }


def _budget_figures(rows: Sequence[ContextResult], budget: int) -> Figures | None:
    """Return the figures of all contexts with this budget; None if no context accepts it."""
    pairs = [(row, each) for row in rows for each in row.contexts if each.budget == budget]
    if not pairs:
        return None
    contexts = [context for _, context in pairs]
    times = [context.milliseconds for context in contexts]
    cpu_times = [context.cpu_milliseconds for context in contexts]
    return {
        "evidence": _mean(each.gold_shown / row.gold for row, each in pairs),
        "any": _mean(each.gold_shown > 0 for _, each in pairs),
        "all": _mean(each.gold_shown == row.gold for row, each in pairs),
        "on_topic": _share(contexts, "on_topic", "recall"),
        "repeated": _share(contexts, "repeated", "lines"),
        "retrieved_on_topic": _share(contexts, "retrieved_on_topic", "retrieved"),
        "recall_lines": _mean((each.recall for each in contexts), digits=2),
        "retrieved_lines": _mean((each.retrieved for each in contexts), digits=2),
        "lines": _mean((each.lines for each in contexts), digits=1),
        "tokens": round(mean(each.tokens for each in contexts)),
        "p50_ms": round(percentile(times, 50), 1),
        "p95_ms": round(percentile(times, 95), 1),
        "p50_cpu_ms": round(percentile(cpu_times, 50), 1),
        "p95_cpu_ms": round(percentile(cpu_times, 95), 1),
    }


def _mean(values: Iterable[float], digits: int = 4) -> float:
    return round(mean(map(float, values)), digits)


def _share(contexts: Sequence[ContextFigures], part: str, whole: str) -> float | None:
    """Return the sum of one count divided by the sum of another; None without any."""
    total = sum(getattr(each, whole) for each in contexts)
    return round(sum(getattr(each, part) for each in contexts) / total, 4) if total else None


def _category_figures(rows: Sequence[ContextResult]) -> Figures:
    by_budget = {str(budget): _budget_figures(rows, budget) for budget in BUDGETS}
    evidence = {name: figures and figures["evidence"] for name, figures in by_budget.items()}
    return {"questions": len(rows), **evidence}


def _section_means(contexts: Sequence[ContextFigures]) -> Figures:
    """Return the mean tokens of each section, with the largest budget."""
    names = dict.fromkeys(name for each in contexts for name in each.sections)
    return {name: round(mean(each.sections.get(name, 0) for each in contexts)) for name in names}


def _abstention_figures(rows: Sequence[ContextResult], group: str) -> Figures:
    """Return how many questions of a group got nothing, and how well that tells them apart."""
    own = [row for row in rows if row.group == group]
    lost = sum(row.full.is_silent for row in rows if row.is_answerable)
    nothing = sum(row.full.is_silent for row in own)
    figures = {
        "questions": len(own),
        "nothing": nothing,
        "share": round(nothing / len(own), 4),
        "no_recall": _mean(row.full.recall == 0 for row in own),
        "lines": _mean((row.full.retrieved for row in own), digits=2),
    }
    if group == ANSWERABLE:
        return figures
    return {**figures, "precision": round(nothing / (nothing + lost), 4) if nothing else None}


def _small_talk_figures(outcome: ContextRun) -> Figures:
    contexts = [each.context for each in outcome.small_talk]
    thanks = [each.context.tokens for each in outcome.small_talk if each.text == THANKS]
    return {
        "contexts": len(contexts),
        "nothing": _mean(each.is_silent for each in contexts),
        "lines": _mean((each.retrieved for each in contexts), digits=2),
        "tokens": round(mean(each.tokens for each in contexts)),
        "max_tokens": max(each.tokens for each in contexts),
        "thanks_tokens": round(mean(thanks)),
    }


# Tables


def context_record(summary: Figures) -> dict[str, Any]:
    """Return counts, settings and the figures that no budget changes as one flat record."""
    talk = summary["small_talk"]
    return {
        **{f"{group} questions": count for group, count in summary["questions"].items()},
        **summary["settings"],
        "small_talk_with_nothing": _format(talk["nothing"]),
        "small_talk_tokens": f"{talk['tokens']} (at most {talk['max_tokens']})",
        "thanks_tokens": talk["thanks_tokens"],
        "empty_memory_tokens": summary["empty_tokens"],
        **{name: summary["changes"][name] for name in CHANGE_COUNTS},
        "indexed_messages_per_second": summary["indexing"]["messages_per_second"],
    }


def budget_table(summary: Figures) -> Table:
    """Return the figures of the answerable questions at each budget."""
    names = next(each for each in summary["budgets"].values() if each)
    columns = ["budget", *(name.replace("_", " ") for name in names)]
    rows = [
        [budget, *(_format(figures[name]) if figures else "–" for name in names)]
        for budget, figures in summary["budgets"].items()
    ]
    return columns, rows


def context_category_table(summary: Figures) -> Table:
    """Return the evidence of each category at each budget."""
    columns = ["category", "questions", *(f"evidence @{budget}" for budget in BUDGETS)]
    rows = [
        [name, str(each["questions"]), *(_format(each[str(budget)]) for budget in BUDGETS)]
        for name, each in summary["categories"].items()
    ]
    return columns, rows


def abstention_table(summary: Figures) -> Table:
    """Return the share of questions of each group that got nothing."""
    columns = ["questions", "count", "got nothing", "no recall line", "lines", "precision"]
    rows = [
        [
            group,
            str(each["questions"]),
            *(_format(each[name]) for name in ("share", "no_recall", "lines")),
            _format(each.get("precision")),
        ]
        for group, each in summary["abstention"].items()
    ]
    return columns, rows


def answer_table(summary: Figures) -> Table:
    """Return the accuracy of the judged answers, by category."""
    answers = summary["answers"]
    groups = {name: answers[name] for name in ("answerable", "abstention")}
    rows = [
        [name, str(each["questions"]), _format(each["accuracy"])]
        for name, each in (groups | answers["categories"]).items()
    ]
    return ["answers", "questions", "accuracy"], [*rows, ["failed", str(answers["failed"]), "–"]]


def section_table(summary: Figures) -> Table:
    """Return the mean tokens of each section with the largest budget."""
    return ["section", "tokens"], [
        [name, str(tokens)] for name, tokens in summary["sections"].items()
    ]


def _format(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) and value <= 1 else str(value)


# Baselines


def headline_figures(summary: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    """Return the figures that a baseline guards; of each, more is better."""
    figures: dict[tuple[str, str], float | None] = {}
    for budget, each in summary["budgets"].items():
        if each:
            figures |= {(f"@{budget}", name): each[name] for name in ("evidence", "on_topic")}
            figures[f"@{budget}", "not repeated"] = _complement(each["repeated"])
    for group, each in summary["abstention"].items():
        if group == ANSWERABLE:
            figures[group, "got something"] = _complement(each["share"])
        else:
            figures[group, "got nothing"] = each["share"]
    figures["small talk", "got nothing"] = summary["small_talk"]["nothing"]
    changes = summary["changes"]
    figures["changes", "current first"] = round(changes["current"] / changes["questions"], 4)
    if "answers" in summary:
        figures["answers", "accuracy"] = summary["answers"]["answerable"]["accuracy"]
    return {name: value for name, value in figures.items() if value is not None}


def _complement(share: float | None) -> float | None:
    return None if share is None else round(1 - share, 4)


def compare_context_baseline(summary: Figures, baseline: Figures) -> list[MetricDifference]:
    """Return the headline figures of both runs.

    Groups of questions without an answer are compared only if both runs asked as many. Raise
    InvalidInput if the answerable questions differ or the file is another kind of baseline.
    """
    for same, now, before in (
        ("benchmark", summary["benchmark"], baseline["benchmark"]),
        (ANSWERABLE, summary["questions"][ANSWERABLE], baseline["questions"].get(ANSWERABLE)),
    ):
        if now != before:
            raise InvalidInput(
                f"the baseline has different questions: {same} {before} in the baseline, {now} in"
                " this run"
            )
    try:
        figures, kept = headline_figures(summary), headline_figures(baseline)
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"the baseline has no figure {error}") from error
    return [
        MetricDifference(level=level, metric=metric, before=kept[level, metric], now=value)
        for (level, metric), value in figures.items()
        if (level, metric) in kept
        and summary["questions"].get(level) == baseline["questions"].get(level)
    ]
