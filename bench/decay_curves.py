"""Draw the decay curves of memories as docs/images/decay.svg.

python bench/decay_curves.py
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from nexusmem.core.protocols.usage_counts import UsageCount
from nexusmem.core.records import MemoryKind, Tier, Trust
from nexusmem.core.records.projections import MemoryState
from nexusmem.core.strength import CURVES, StrengthSettings, compute_strength

FILE = Path(__file__).parent.parent / "docs" / "images" / "decay.svg"
START = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = 40
WIDTH, HEIGHT, LEFT, TOP = 640, 300, 46, 16
LINES = (  # curve, label, kind, uses on the first day, color
    ("daily", "a message", MemoryKind.PASSAGE, 0, "#1f77b4"),
    ("daily", "used 5 times", MemoryKind.PASSAGE, 5, "#6baed6"),
    ("daily", "a fact", MemoryKind.FACT, 0, "#08306b"),
    ("ebbinghaus", "a message", MemoryKind.PASSAGE, 0, "#d95f02"),
    ("ebbinghaus", "used 5 times", MemoryKind.PASSAGE, 5, "#fdae6b"),
)


def make_state(kind: MemoryKind, uses: int) -> MemoryState:
    """Return the state of a memory written at START and used `uses` times that day."""
    return MemoryState(
        position="",
        id="",
        kind=kind,
        at=START,
        length=10,
        salience=0.5,
        confidence=1.0,
        trust=Trust.DIRECT,
        tier=Tier.SHORT,
        archived=False,
        pinned=False,
        learned=False,
        usage=UsageCount(uses, 1, START) if uses else UsageCount(),
    )


def to_point(day: float, value: float) -> str:
    """Return the SVG coordinates of a strength on a day."""
    x = LEFT + day / DAYS * (WIDTH - LEFT - 150)
    return f"{x:.1f},{TOP + (1 - value) * (HEIGHT - TOP - 36):.1f}"


def draw_chart() -> str:
    """Return the chart as SVG text."""
    drawing = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
    parts = [
        f'<svg {drawing} font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for day in range(0, DAYS + 1, 10):
        x, y = to_point(day, 0).split(",")
        parts.append(f'<text x="{x}" y="{float(y) + 18:.1f}" text-anchor="middle">{day}</text>')
    parts.append(f'<text x="{LEFT + 200}" y="{HEIGHT - 4}">days since written or used</text>')
    for value in (0.0, 0.5, 1.0):
        _, y = to_point(0, value).split(",")
        parts.append(
            f'<text x="{LEFT - 8}" y="{float(y) + 4:.1f}" text-anchor="end">{value}</text>'
        )
    below = StrengthSettings().archive_below
    ends = f"{to_point(0, below)} {to_point(DAYS, below)}"
    parts.append(f'<polyline points="{ends}" stroke="#999" stroke-dasharray="4" fill="none"/>')
    for row, (name, label, kind, uses, color) in enumerate(LINES):
        state = make_state(kind, uses)
        steps = (day / 4 for day in range(DAYS * 4 + 1))
        line = " ".join(
            to_point(day, compute_strength(state, START + timedelta(days=day), CURVES[name]))
            for day in steps
        )
        parts.append(f'<polyline points="{line}" stroke="{color}" fill="none" stroke-width="2"/>')
        position = f'x="{WIDTH - 140}" y="{TOP + 14 + 18 * row}" fill="{color}"'
        parts.append(f"<text {position}>{name}: {label}</text>")
    x, y = to_point(DAYS, below).split(",")
    parts.append(f'<text x="{x}" y="{float(y) + 14:.1f}" fill="#777">archived below</text>')
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    FILE.write_text(draw_chart(), encoding="utf-8")
