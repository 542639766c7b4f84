"""Context chart: evidence by budget, and what else the contexts show, as SVG."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape

from .context_report import headline_figures
from .context_run import FULL_BUDGET
from .report import (
    CATEGORY_HEIGHT,
    CATEGORY_LEFT,
    CATEGORY_WIDTH,
    CHART_MARGIN,
    CHART_STYLE,
    CHART_WIDTH,
    PANEL_HEIGHT,
    PANEL_TOP,
    PANEL_WIDTH,
    ChartFigures,
    draw_bar,
    draw_legend,
    draw_text,
)

BARS = {"any": "any", "recall": "evidence", "all": "all"}  # style → figure
BAR_WIDTH = 22
SHARE_HEIGHT, SHARE_LEFT, SHARE_WIDTH = 27, 190, 170
CATEGORIES_TOP = PANEL_TOP + PANEL_HEIGHT + 86
SMALL_BUDGET = 1_000
LEVELS = {"session": f"{FULL_BUDGET:,} tokens", "turn": f"{SMALL_BUDGET:,} tokens"}


def draw_context_chart(summary: ChartFigures) -> str:
    """Return an SVG chart of a summary."""
    height = CATEGORIES_TOP + CATEGORY_HEIGHT * len(summary["categories"]) + CHART_MARGIN
    title = f"{summary['benchmark']}, {summary['settings']['ranking']} ranking"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {CHART_WIDTH} {height}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{CHART_STYLE}</style>",
        f'<rect class="paper" width="{CHART_WIDTH}" height="{height}"/>',
        draw_text(CHART_MARGIN, 34, title, "title"),
        draw_text(CHART_MARGIN, 54, _describe_run(summary)),
        *_draw_budgets(summary, CHART_MARGIN),
        *_draw_shares(summary, CHART_WIDTH - CHART_MARGIN - PANEL_WIDTH),
        *_draw_categories(summary["categories"]),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _describe_run(summary: ChartFigures) -> str:
    full, used = summary["budgets"][str(FULL_BUDGET)], summary["settings"]
    return (
        f"{summary['questions']['answerable']} questions · {used['embedder']} · {used['store']}"
        f" · {full['tokens']} tokens · p50 {full['p50_ms']} ms, p95 {full['p95_ms']} ms"
    )


def _draw_budgets(summary: ChartFigures, left: float) -> Iterator[str]:
    bottom = PANEL_TOP + PANEL_HEIGHT
    yield draw_text(left, PANEL_TOP - 20, "Evidence inside the context, by budget, %", "head")
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = bottom - share * PANEL_HEIGHT
        yield f'<line class="line" x1="{left}" y1="{y}" x2="{left + PANEL_WIDTH}" y2="{y}"/>'
    step = PANEL_WIDTH / len(summary["budgets"])
    for index, (budget, figures) in enumerate(summary["budgets"].items()):
        middle = left + (index + 0.5) * step
        yield draw_text(middle, bottom + 18, f"{int(budget):,} tokens", "middle")
        if not figures:
            yield draw_text(middle, bottom - 4, "refused", "value middle")
            continue
        for number, (kind, name) in enumerate(BARS.items()):
            share = figures[name]
            x, height = middle + (number - len(BARS) / 2) * BAR_WIDTH, share * PANEL_HEIGHT
            yield draw_bar(x, bottom - height, BAR_WIDTH - 1, height, kind)
            label = f"{share:.0%}"[:-1]
            yield draw_text(x + BAR_WIDTH / 2, bottom - height - 3, label, "value middle")
    yield from draw_legend(BARS, left, bottom + 38)


def _draw_shares(summary: ChartFigures, left: float) -> Iterator[str]:
    """Draw the headline figures other than evidence; in each, more is better."""
    full = f"@{FULL_BUDGET}"
    shares = {
        (metric if level == full else f"{level}, {metric}").replace("_", " "): value
        for (level, metric), value in headline_figures(summary).items()
        if metric != "evidence" and (level == full or not level.startswith("@"))
    }
    yield draw_text(left, PANEL_TOP - 20, f"With {FULL_BUDGET:,} tokens, %", "head")
    for index, (name, share) in enumerate(shares.items()):
        y, width = PANEL_TOP + index * SHARE_HEIGHT, share * SHARE_WIDTH
        yield draw_text(left + SHARE_LEFT - 10, y + 12, name, "right")
        yield draw_bar(left + SHARE_LEFT, y, width, 16, "recall")
        yield draw_text(left + SHARE_LEFT + width + 5, y + 12, f"{share:.0%}"[:-1], "value")


def _draw_categories(categories: ChartFigures) -> Iterator[str]:
    yield draw_text(CHART_MARGIN, CATEGORIES_TOP - 12, "Evidence of each category, %", "head")
    yield from draw_legend(LEVELS, CATEGORY_LEFT, CATEGORIES_TOP - 12)
    for index, (category, figures) in enumerate(categories.items()):
        y = CATEGORIES_TOP + index * CATEGORY_HEIGHT
        label = f"{category.replace('_', ' ')} ({figures['questions']})"
        yield draw_text(CATEGORY_LEFT - 10, y + 17, label, "right")
        for number, (kind, budget) in enumerate((("turn", SMALL_BUDGET), ("session", FULL_BUDGET))):
            share = figures[str(budget)] or 0.0
            top, width = y + 2 + number * 12, share * CATEGORY_WIDTH
            yield draw_bar(CATEGORY_LEFT, top, width, 11, kind)
            yield draw_text(CATEGORY_LEFT + width + 5, top + 9, f"{share:.0%}"[:-1], "value")
