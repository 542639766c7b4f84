"""From rows to figures: a summary that can be kept and compared, and tables to look at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import mean
from typing import Any

from .metrics import AT_DEPTH, DEPTHS, percentile
from .run import Level, Outcome, Row

Figures = dict[str, Any]
LEVELS = ("turn", "session")
WITHOUT, WITH = "without_abstention", "with_abstention"
CATEGORY_METRICS = ("any@10", "all@10", "recall@5", "recall@10", "ndcg@10", "mrr")


def summarize(benchmark: str, outcome: Outcome, used: Mapping[str, str]) -> Figures:
    """Everything but the rows. It names no question and quotes nobody."""
    rows = outcome.rows
    times = [row.milliseconds for row in rows]
    seconds = outcome.telling_seconds
    categories = sorted({row.category for row in rows})
    return {
        "benchmark": benchmark,
        "settings": dict(used),
        "questions": {
            "answerable": sum(not row.abstention for row in rows),
            "abstention": sum(row.abstention for row in rows),
            "unscored": outcome.unscored,
        },
        WITHOUT: _figures(row for row in rows if not row.abstention),
        WITH: _figures(rows),
        "categories": {
            name: _figures(row for row in rows if row.category == name) for name in categories
        },
        "latency_ms": {
            "p50": round(percentile(times, 50), 1),
            "p95": round(percentile(times, 95), 1),
        },
        "indexing": {
            "messages": outcome.messages,
            "seconds": round(seconds, 2),
            "messages_per_second": round(outcome.messages / seconds),
        },
    }


def _figures(rows: Iterable[Row]) -> Figures:
    """Means by level, each over the questions that have gold there."""
    several = list(rows)
    levels = {
        "turn": [row.turn for row in several if row.turn],
        "session": [row.session for row in several if row.session],
    }
    return {name: _means(measured) for name, measured in levels.items()}


def _means(measured: Sequence[Level]) -> Figures:
    names = measured[0].metrics if measured else ()
    means = {name: round(mean(each.metrics[name] for each in measured), 4) for name in names}
    return {"questions": len(measured), **means}


# Tables: columns, and rows of cells

Table = tuple[list[str], list[list[str]]]


def depth_table(figures: Figures) -> Table:
    """Each measure at each depth, by message and by session."""
    columns = ["level", "measure", *(f"@{k}" for k in DEPTHS)]
    rows = [
        [level, name, *(_cell(figures[level], f"{name}@{k}") for k in DEPTHS)]
        for level in LEVELS
        for name in AT_DEPTH
    ]
    return columns, rows


def category_table(summary: Figures) -> Table:
    """A few measures of each category, and its sessions' recall."""
    columns = ["category", "questions", *CATEGORY_METRICS, "session recall@10"]
    rows = [
        [
            name,
            str(max(figures[level]["questions"] for level in LEVELS)),
            *(_cell(figures["turn"], metric) for metric in CATEGORY_METRICS),
            _cell(figures["session"], "recall@10"),
        ]
        for name, figures in summary["categories"].items()
    ]
    return columns, rows


def run_record(summary: Figures, group: str) -> dict[str, Any]:
    """What was measured with what, how fast, and what has no depth."""
    return {
        **{name: count for name, count in summary["questions"].items() if count},
        **summary["settings"],
        "p50_ms": summary["latency_ms"]["p50"],
        "p95_ms": summary["latency_ms"]["p95"],
        "indexed_messages_per_second": summary["indexing"]["messages_per_second"],
        **{f"{level}_mrr": _cell(summary[group][level], "mrr") for level in LEVELS},
    }


def _cell(figures: Figures, metric: str) -> str:
    return f"{figures[metric]:.3f}" if metric in figures else "–"
