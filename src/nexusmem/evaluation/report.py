"""Benchmark report: summary as JSON, tables and an SVG chart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import mean
from typing import Any
from xml.sax.saxutils import escape

from .run import DEPTH_METRICS, DEPTHS, LevelResult, QuestionResult, RunResult, percentile

Figures = dict[str, Any]
LEVELS = ("turn", "session")
WITHOUT_ABSTENTION, WITH_ABSTENTION = "without_abstention", "with_abstention"
CATEGORY_METRICS = ("any@10", "all@10", "recall@5", "recall@10", "ndcg@10", "mrr")


def summarize_run(benchmark: str, outcome: RunResult, used: Mapping[str, str]) -> Figures:
    """Return the summary of a run: mean metrics, latency and settings, without any texts."""
    rows = outcome.rows
    times = [row.milliseconds for row in rows]
    seconds = outcome.indexing_seconds
    categories = sorted({row.category for row in rows})
    return {
        "benchmark": benchmark,
        "settings": dict(used),
        "questions": {
            "answerable": sum(not row.abstention for row in rows),
            "abstention": sum(row.abstention for row in rows),
            "unscored": outcome.unscored,
        },
        WITHOUT_ABSTENTION: _level_means(row for row in rows if not row.abstention),
        WITH_ABSTENTION: _level_means(rows),
        "categories": {
            name: _level_means(row for row in rows if row.category == name) for name in categories
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


def _level_means(rows: Iterable[QuestionResult]) -> Figures:
    """Return mean metrics per level, over the questions with gold at that level."""
    all_rows = list(rows)
    levels = {
        "turn": [row.turn for row in all_rows if row.turn],
        "session": [row.session for row in all_rows if row.session],
    }
    return {name: _mean_metrics(results) for name, results in levels.items()}


def _mean_metrics(levels: Sequence[LevelResult]) -> Figures:
    names = levels[0].metrics if levels else ()
    means = {name: round(mean(each.metrics[name] for each in levels), 4) for name in names}
    return {"questions": len(levels), **means}


Table = tuple[list[str], list[list[str]]]  # columns, rows of cells


def depth_table(figures: Figures) -> Table:
    """Return the table of each metric at each depth, by message and by session."""
    columns = ["level", "measure", *(f"@{k}" for k in DEPTHS)]
    rows = [
        [level, name, *(_format_cell(figures[level], f"{name}@{k}") for k in DEPTHS)]
        for level in LEVELS
        for name in DEPTH_METRICS
    ]
    return columns, rows


def category_table(summary: Figures) -> Table:
    """Return the table of the main metrics of each category."""
    columns = ["category", "questions", *CATEGORY_METRICS, "session recall@10"]
    rows = [
        [
            name,
            str(max(figures[level]["questions"] for level in LEVELS)),
            *(_format_cell(figures["turn"], metric) for metric in CATEGORY_METRICS),
            _format_cell(figures["session"], "recall@10"),
        ]
        for name, figures in summary["categories"].items()
    ]
    return columns, rows


def run_record(summary: Figures, group: str) -> dict[str, Any]:
    """Return counts, settings, latency and MRR of a run as one flat record."""
    return {
        **{name: count for name, count in summary["questions"].items() if count},
        **summary["settings"],
        "p50_ms": summary["latency_ms"]["p50"],
        "p95_ms": summary["latency_ms"]["p95"],
        "indexed_messages_per_second": summary["indexing"]["messages_per_second"],
        **{f"{level}_mrr": _format_cell(summary[group][level], "mrr") for level in LEVELS},
    }


def _format_cell(figures: Figures, metric: str) -> str:
    return f"{figures[metric]:.3f}" if metric in figures else "–"


ChartFigures = Mapping[str, Any]

CHART_WIDTH, CHART_MARGIN = 900, 28
PANEL_TOP, PANEL_WIDTH, PANEL_HEIGHT = 100, 400, 190
BAR_WIDTH = 18
CATEGORIES_TOP = PANEL_TOP + PANEL_HEIGHT + 86
CATEGORY_HEIGHT, CATEGORY_LEFT, CATEGORY_WIDTH = 32, 270, 560
BARS = {"any": "any@k", "recall": "recall@k", "all": "all@k"}
LEVEL_TITLES = {"turn": "by message", "session": "by session"}

CHART_STYLE = """
    text { font-family: Helvetica, Arial, sans-serif; font-size: 12px; fill: #4a5361 }
    .paper { fill: #ffffff } .line { stroke: #d9dee5 }
    .title { font-size: 18px; font-weight: bold; fill: #1d2733 }
    .head { font-size: 13px; font-weight: bold; fill: #1d2733 }
    .value { font-size: 9px } .right { text-anchor: end } .middle { text-anchor: middle }
    .any { fill: #b7c4d4 } .recall, .turn { fill: #4f7cac } .all { fill: #1f4e79 }
    .session { fill: #b7c4d4 }
    @media (prefers-color-scheme: dark) {
      text { fill: #a9b4c0 } .title, .head { fill: #e6ebf1 }
      .paper { fill: #14191f } .line { stroke: #303843 }
      .any, .session { fill: #3c4d60 } .recall, .turn { fill: #6b9bd1 } .all { fill: #b3d1f0 }
    }
"""


def draw_chart(summary: ChartFigures, group: str) -> str:
    """Return an SVG chart of a summary; `group` selects with or without abstention questions."""
    height = CATEGORIES_TOP + CATEGORY_HEIGHT * len(summary["categories"]) + CHART_MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {CHART_WIDTH} {height}" role="img">',
        f"<title>{escape(_chart_title(summary))}</title>",
        f"<style>{CHART_STYLE}</style>",
        f'<rect class="paper" width="{CHART_WIDTH}" height="{height}"/>',
        *_draw_heading(summary, group),
        *_draw_panel(summary[group], "turn", CHART_MARGIN),
        *_draw_panel(summary[group], "session", CHART_WIDTH - CHART_MARGIN - PANEL_WIDTH),
        *_draw_categories(summary["categories"]),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _chart_title(summary: ChartFigures) -> str:
    return f"{summary['benchmark']}, {summary['settings']['ranking']} ranking"


def _draw_heading(summary: ChartFigures, group: str) -> Iterator[str]:
    used, latency = summary["settings"], summary["latency_ms"]
    questions = max(summary[group][level]["questions"] for level in LEVEL_TITLES)
    about = (
        f"{questions} questions, {group.replace('_', ' ')} · {used['embedder']}"
        f" · {used['store']} · p50 {latency['p50']} ms, p95 {latency['p95']} ms"
    )
    yield draw_text(CHART_MARGIN, 34, _chart_title(summary), "title")
    yield draw_text(CHART_MARGIN, 54, about)


def _draw_panel(figures: ChartFigures, level: str, left: float) -> Iterator[str]:
    bottom = PANEL_TOP + PANEL_HEIGHT
    yield draw_text(
        left, PANEL_TOP - 20, f"Found among the first k, {LEVEL_TITLES[level]}, %", "head"
    )
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = bottom - share * PANEL_HEIGHT
        yield f'<line class="line" x1="{left}" y1="{y}" x2="{left + PANEL_WIDTH}" y2="{y}"/>'
    step = PANEL_WIDTH / len(DEPTHS)
    for index, k in enumerate(DEPTHS):
        middle = left + (index + 0.5) * step
        yield draw_text(middle, bottom + 18, f"k = {k}", "middle")
        for number, name in enumerate(BARS):
            share = figures[level].get(f"{name}@{k}", 0.0)
            x = middle + (number - len(BARS) / 2) * BAR_WIDTH
            height = share * PANEL_HEIGHT
            yield draw_bar(x, bottom - height, BAR_WIDTH - 1, height, name)
            yield draw_text(
                x + BAR_WIDTH / 2, bottom - height - 3, f"{share:.0%}"[:-1], "value middle"
            )
    yield from draw_legend(BARS, left, bottom + 38)


def _draw_categories(categories: ChartFigures) -> Iterator[str]:
    yield draw_text(CHART_MARGIN, CATEGORIES_TOP - 12, "recall@10 of each category, %", "head")
    yield from draw_legend(LEVEL_TITLES, CATEGORY_LEFT, CATEGORIES_TOP - 12)
    for index, (category, figures) in enumerate(categories.items()):
        y = CATEGORIES_TOP + index * CATEGORY_HEIGHT
        questions = max(figures[level]["questions"] for level in LEVEL_TITLES)
        label = f"{category.replace('_', ' ')} ({questions})"
        yield draw_text(CATEGORY_LEFT - 10, y + 17, label, "right")
        for number, level in enumerate(LEVEL_TITLES):
            share = figures[level].get("recall@10", 0.0)
            top, width = y + 2 + number * 12, share * CATEGORY_WIDTH
            yield draw_bar(CATEGORY_LEFT, top, width, 11, level)
            yield draw_text(CATEGORY_LEFT + width + 5, top + 9, f"{share:.0%}"[:-1], "value")


def draw_legend(entries: Mapping[str, str], left: float, baseline: float) -> Iterator[str]:
    for index, (kind, words) in enumerate(entries.items()):
        x = left + index * 100
        yield draw_bar(x, baseline - 9, 10, 10, kind)
        yield draw_text(x + 15, baseline, words)


def draw_bar(x: float, y: float, width: float, height: float, kind: str) -> str:
    position = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect class="{kind}" {position}/>'


def draw_text(x: float, y: float, words: str, kind: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    return f'<text{style} x="{x:.1f}" y="{y:.1f}">{escape(words)}</text>'
