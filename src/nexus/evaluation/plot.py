"""The figures as one picture: an SVG that needs nothing else, in light and in dark.

Above, any, recall and all at each depth, by message and by session; all ≤ recall ≤ any holds for
every question, so three bars always step down. Below, each category's recall@10.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from xml.sax.saxutils import escape

from .metrics import DEPTHS

Figures = Mapping[str, Any]

WIDTH, MARGIN = 900, 28
TOP, PANEL_WIDTH, PANEL_HEIGHT = 100, 400, 190
BAR = 18
CATEGORIES_TOP = TOP + PANEL_HEIGHT + 86
CATEGORY_HEIGHT, CATEGORY_LEFT, CATEGORY_WIDTH = 32, 270, 560
BARS = {"any": "any@k", "recall": "recall@k", "all": "all@k"}
LEVELS = {"turn": "by message", "session": "by session"}

STYLE = """
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


def draw(summary: Figures, group: str) -> str:
    """The picture of a summary; `group` says whether abstention questions count."""
    height = CATEGORIES_TOP + CATEGORY_HEIGHT * len(summary["categories"]) + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{escape(_title(summary))}</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{height}"/>',
        *_heading(summary, group),
        *_panel(summary[group], "turn", MARGIN),
        *_panel(summary[group], "session", WIDTH - MARGIN - PANEL_WIDTH),
        *_categories(summary["categories"]),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _title(summary: Figures) -> str:
    return f"{summary['benchmark']}, {summary['settings']['ranking']} ranking"


def _heading(summary: Figures, group: str) -> Iterator[str]:
    used, latency = summary["settings"], summary["latency_ms"]
    questions = max(summary[group][level]["questions"] for level in LEVELS)
    about = (
        f"{questions} questions, {group.replace('_', ' ')} · {used['embedder']}"
        f" · {used['store']} · p50 {latency['p50']} ms, p95 {latency['p95']} ms"
    )
    yield _text(MARGIN, 34, _title(summary), "title")
    yield _text(MARGIN, 54, about)


def _panel(figures: Figures, level: str, left: float) -> Iterator[str]:
    bottom = TOP + PANEL_HEIGHT
    yield _text(left, TOP - 20, f"Found among the first k, {LEVELS[level]}, %", "head")
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = bottom - share * PANEL_HEIGHT
        yield f'<line class="line" x1="{left}" y1="{y}" x2="{left + PANEL_WIDTH}" y2="{y}"/>'
    step = PANEL_WIDTH / len(DEPTHS)
    for place, k in enumerate(DEPTHS):
        middle = left + (place + 0.5) * step
        yield _text(middle, bottom + 18, f"k = {k}", "middle")
        for number, name in enumerate(BARS):
            share = figures[level].get(f"{name}@{k}", 0.0)
            x = middle + (number - len(BARS) / 2) * BAR
            tall = share * PANEL_HEIGHT
            yield _bar(x, bottom - tall, BAR - 1, tall, name)
            yield _text(x + BAR / 2, bottom - tall - 3, f"{share:.0%}"[:-1], "value middle")
    yield from _legend(BARS, left, bottom + 38)


def _categories(categories: Figures) -> Iterator[str]:
    yield _text(MARGIN, CATEGORIES_TOP - 12, "recall@10 of each category, %", "head")
    yield from _legend(LEVELS, CATEGORY_LEFT, CATEGORIES_TOP - 12)
    for place, (category, figures) in enumerate(categories.items()):
        y = CATEGORIES_TOP + place * CATEGORY_HEIGHT
        questions = max(figures[level]["questions"] for level in LEVELS)
        label = f"{category.replace('_', ' ')} ({questions})"
        yield _text(CATEGORY_LEFT - 10, y + 17, label, "right")
        for number, level in enumerate(LEVELS):
            share = figures[level].get("recall@10", 0.0)
            top, wide = y + 2 + number * 12, share * CATEGORY_WIDTH
            yield _bar(CATEGORY_LEFT, top, wide, 11, level)
            yield _text(CATEGORY_LEFT + wide + 5, top + 9, f"{share:.0%}"[:-1], "value")


def _legend(entries: Mapping[str, str], left: float, baseline: float) -> Iterator[str]:
    for place, (kind, words) in enumerate(entries.items()):
        x = left + place * 100
        yield _bar(x, baseline - 9, 10, 10, kind)
        yield _text(x + 15, baseline, words)


def _bar(x: float, y: float, width: float, height: float, kind: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect class="{kind}" {place}/>'


def _text(x: float, y: float, words: str, kind: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    return f'<text{style} x="{x:.1f}" y="{y:.1f}">{escape(words)}</text>'
