"""Chat evaluation: run the corpus, score the output with the corpus's own scorer, compare.

The scorer is a Python file that comes with the corpus. It has two functions:
`score(gold, output, by="register", errors=list)` returns the total and the groups, `summary(total)`
returns a dictionary of figures.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

from ..config.settings import Settings
from ..core.errors import InvalidInput
from ..runtime.progress import ProgressCallback, ignore_progress
from ..wiring.providers import make_embedder
from .chat import ReplayClock, find_corpus, load_lines, read_corpus, run_corpus
from .chat_format import SURE_CONFIDENCE, Record
from .evaluate import MetricDifference, Summary, open_memory

BENCHMARK = "chat"
SCORER_NAME = "score.py"  # beside the corpus
GROUPED_BY = "register"
MATCH_FIGURES = ("facts_strict", "facts_lenient", "landmarks", "entities", "aliases")
SHARES = (
    "owner_accuracy",
    "due_accuracy",
    "due_recall",
    "when_accuracy",
    "when_recall",
    "entity_type_accuracy",
    "questions",
)
# Further keys of a scorer's summary.
COUNTS = (
    "messages",
    "landmark_kinds",
    "question_kinds",
    "when_added",
    "due_added",
    "empty_messages",
    "empty_messages_with_a_false_fact",
    "false_facts_per_100_empty",
    "false_landmarks_per_100_empty",
)
MAX_DETAILS = 5  # of each class of errors

Table = tuple[list[str], list[list[str]]]  # columns, rows of cells


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatEvaluation:
    """The output of a run, its summary, and the scorer's list of errors."""

    records: tuple[Record, ...]
    summary: Summary
    errors: tuple[Record, ...] = ()


def evaluate_chat(
    data: Path,
    settings: Settings,
    *,
    scorer: Path | None = None,
    min_confidence: float = SURE_CONFIDENCE,
    limit: int | None = None,
    report: ProgressCallback = ignore_progress,
) -> ChatEvaluation:
    """Learn a chat corpus with these settings in a store in memory, and score the result.

    `scorer` is by default the file score.py beside the corpus. If there is none, the summary has
    counts only. `limit` keeps the first messages and conversations of the file.
    """
    file = find_corpus(data)
    module = load_scorer(scorer or file.with_name(SCORER_NAME), required=scorer is not None)
    items, clock = read_corpus(file)[:limit], ReplayClock()
    embedder = make_embedder(settings.embeddings)
    started = perf_counter()
    with open_memory(settings, ":memory:", embedder, clock=clock) as nexus:
        run = run_corpus(nexus, clock, items, min_confidence=min_confidence, report=report)
    summary = {
        "benchmark": BENCHMARK,
        "questions": {
            "messages": sum(len(item.messages) for item in items),
            "conversations": sum(bool(item.questions) for item in items),
            "questions": sum(len(item.questions) for item in items),
        },
        "settings": {
            "model": _model_name(settings),
            "embedder": embedder.profile.name,
            "min_confidence": min_confidence,
            "nexus": version("nexusmem"),
        },
        "not_learned": run.stuck,
        "seconds": round(perf_counter() - started, 2),
    }
    if module is None:
        return ChatEvaluation(records=run.records, summary=summary)
    scores, errors = score_records(module, load_lines(file)[:limit], run.records)
    return ChatEvaluation(records=run.records, summary={**summary, **scores}, errors=errors)


def load_scorer(file: Path, *, required: bool = True) -> ModuleType | None:
    """Import a scorer; None if the file is missing and not required.

    Raise InvalidInput if it is missing, fails or lacks a function.
    """
    if not file.is_file():
        if required:
            raise InvalidInput(f"no scorer at {file}")
        return None
    spec = importlib.util.spec_from_file_location("chat_scorer", file)
    if spec is None or spec.loader is None:
        raise InvalidInput(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InvalidInput(f"the scorer {file} fails: {error!r:.200}") from error
    if not all(callable(getattr(module, name, None)) for name in ("score", "summary")):
        raise InvalidInput(f"{file} is not a scorer: it needs the functions score and summary")
    return module


def score_records(
    scorer: ModuleType, gold: Sequence[Record], records: Sequence[Record]
) -> tuple[Summary, tuple[Record, ...]]:
    """Return total, registers and error counts of these records, and the list of errors.

    Raise InvalidInput if the scorer's summary lacks a figure.
    """
    found: list[tuple[str, str, Record]] = []
    total, groups = scorer.score(gold, records, by=GROUPED_BY, errors=found)
    texts = {each["id"]: each["text"] for row in gold for each in row.get("messages", [row])}
    errors = tuple(
        {"id": id, "what": what, "item": item, "text": texts.get(id)} for id, what, item in found
    )
    figures = scorer.summary(total)
    if missing := [name for name in (*MATCH_FIGURES, *SHARES, *COUNTS) if name not in figures]:
        raise InvalidInput(f"the scorer's summary lacks {', '.join(missing)}")
    summary = {
        "total": figures,
        "registers": {name: scorer.summary(groups[name]) for name in sorted(groups)},
        "errors": count_errors(errors, _question_kinds(gold)),
    }
    return summary, errors


def count_errors(
    errors: Iterable[Record], question_kinds: Mapping[str, str]
) -> dict[str, dict[str, int]]:
    """Count errors by class, and in each class by predicate, kind or type, the most first."""
    counts: dict[str, Counter[str]] = {}
    for error in errors:
        item = {"kind": question_kinds.get(error["id"]), **error["item"]}
        detail = next((item[key] for key in ("predicate", "kind", "type") if item.get(key)), "–")
        counts.setdefault(error["what"], Counter())[str(detail)] += 1
    return {what: dict(details.most_common()) for what, details in sorted(counts.items())}


def _question_kinds(gold: Iterable[Record]) -> dict[str, str]:
    return {each["id"]: each["kind"] for row in gold for each in row.get("questions", ())}


def _model_name(settings: Settings) -> str:
    """Return the model that reads messages after the rules, or "none"."""
    llm = settings.llm
    reads = llm.extract_facts and llm.provider != "none"
    return f"{llm.provider}/{llm.model}" if reads else "none"


def headline_figures(total: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    """Return the figures that a baseline compares; for each of them, higher is better."""
    figures = {
        (name, metric): total[name][metric]
        for name in MATCH_FIGURES
        for metric in ("precision", "recall", "f1")
    }
    figures |= {("share", name): total[name] for name in SHARES if total[name] is not None}
    if empty := total["empty_messages"]:
        with_false = total["empty_messages_with_a_false_fact"]
        figures["share", "empty_messages_left_alone"] = round(1 - with_false / empty, 4)
    return figures


def compare_chat_baseline(summary: Summary, baseline: Summary) -> list[MetricDifference]:
    """Return the headline figures of both runs.

    Raise InvalidInput if the corpus differs or one of the runs was not scored.
    """
    for same in ("benchmark", "questions"):
        if summary[same] != baseline[same]:
            raise InvalidInput(
                f"the baseline has another corpus: {same} {baseline[same]} in the baseline,"
                f" {summary[same]} in this run"
            )
    if "total" not in summary or "total" not in baseline:
        raise InvalidInput("a comparison needs a scorer: give --scorer")
    now, before = headline_figures(summary["total"]), headline_figures(baseline["total"])
    return [
        MetricDifference(level=level, metric=metric, before=before[level, metric], now=value)
        for (level, metric), value in now.items()
        if (level, metric) in before
    ]


def match_table(total: Mapping[str, Any]) -> Table:
    """Return precision, recall and F1 of each list, and of each kind of landmark."""
    rows = [(name, total[name]) for name in MATCH_FIGURES]
    rows += [(f"landmark {kind}", each) for kind, each in total["landmark_kinds"].items()]
    columns = ["", "precision", "recall", "f1", "gold", "given"]
    return columns, [
        [
            name,
            *(_percent(each[metric]) for metric in ("precision", "recall", "f1")),
            str(each["gold"]),
            str(each["given"]),
        ]
        for name, each in rows
    ]


def share_record(total: Mapping[str, Any]) -> dict[str, str]:
    """Return dates, owners, types, false facts and questions as one flat record."""
    kinds = total["question_kinds"].items()
    return {
        **{name: _percent(total[name]) for name in SHARES},
        **{
            f"questions_{kind}": f"{_percent(each['accuracy'])} of {each['n']}"
            for kind, each in kinds
        },
        "when_added": str(total["when_added"]),
        "due_added": str(total["due_added"]),
        "false_facts_per_100_empty": str(total["false_facts_per_100_empty"]),
        "false_landmarks_per_100_empty": str(total["false_landmarks_per_100_empty"]),
    }


def register_table(registers: Mapping[str, Mapping[str, Any]]) -> Table:
    """Return the figures of each register."""
    columns = [
        "register",
        "messages",
        "strict P",
        "strict R",
        "strict F1",
        "lenient F1",
        "landmark F1",
        "entity F1",
        "false per 100",
    ]
    rows = [
        [
            name,
            str(each["messages"]),
            *(_percent(each["facts_strict"][metric]) for metric in ("precision", "recall", "f1")),
            _percent(each["facts_lenient"]["f1"]),
            _percent(each["landmarks"]["f1"]),
            _percent(each["entities"]["f1"]),
            "–"
            if each["false_facts_per_100_empty"] is None
            else str(each["false_facts_per_100_empty"]),
        ]
        for name, each in registers.items()
    ]
    return columns, rows


def error_table(errors: Mapping[str, Mapping[str, int]]) -> Table:
    """Return the number of errors of each class, with its most frequent predicates or kinds."""
    rows = []
    for what, details in errors.items():
        most = [f"{name} {count}" for name, count in list(details.items())[:MAX_DETAILS]]
        rows.append([what, str(sum(details.values())), ", ".join(most)])
    return ["error", "count", "most frequent"], rows


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"
