"""Draws how memories fade: docs/images/strength.svg.

python bench/curves.py
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from nexus.core.records import MemoryKind, Tier, Trust
from nexus.core.states import State
from nexus.core.strength import CURVES, Strengthening, strength
from nexus.core.uses import Use

FILE = Path(__file__).parent.parent / "docs" / "images" / "strength.svg"
START = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = 40
WIDTH, HEIGHT, LEFT, TOP = 640, 300, 46, 16
LINES = (  # curve, what it is of, kind, uses on the day it was told, color
    ("daily", "a message", MemoryKind.PASSAGE, 0, "#1f77b4"),
    ("daily", "used 5 times", MemoryKind.PASSAGE, 5, "#6baed6"),
    ("daily", "a fact", MemoryKind.FACT, 0, "#08306b"),
    ("ebbinghaus", "a message", MemoryKind.PASSAGE, 0, "#d95f02"),
    ("ebbinghaus", "used 5 times", MemoryKind.PASSAGE, 5, "#fdae6b"),
)


def state(kind: MemoryKind, uses: int) -> State:
    return State(
        place="",
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
        use=Use(uses, 1, START) if uses else Use(),
    )


def point(day: float, value: float) -> str:
    x = LEFT + day / DAYS * (WIDTH - LEFT - 150)
    return f"{x:.1f},{TOP + (1 - value) * (HEIGHT - TOP - 36):.1f}"


def drawn() -> str:
    drawing = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
    parts = [
        f'<svg {drawing} font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for day in range(0, DAYS + 1, 10):
        x, y = point(day, 0).split(",")
        parts.append(f'<text x="{x}" y="{float(y) + 18:.1f}" text-anchor="middle">{day}</text>')
    parts.append(f'<text x="{LEFT + 200}" y="{HEIGHT - 4}">days since told or used</text>')
    for value in (0.0, 0.5, 1.0):
        _, y = point(0, value).split(",")
        parts.append(
            f'<text x="{LEFT - 8}" y="{float(y) + 4:.1f}" text-anchor="end">{value}</text>'
        )
    below = Strengthening().archive_below
    ends = f"{point(0, below)} {point(DAYS, below)}"
    parts.append(f'<polyline points="{ends}" stroke="#999" stroke-dasharray="4" fill="none"/>')
    for row, (name, what, kind, uses, color) in enumerate(LINES):
        one = state(kind, uses)
        steps = (day / 4 for day in range(DAYS * 4 + 1))
        line = " ".join(
            point(day, strength(one, START + timedelta(days=day), CURVES[name])) for day in steps
        )
        parts.append(f'<polyline points="{line}" stroke="{color}" fill="none" stroke-width="2"/>')
        place = f'x="{WIDTH - 140}" y="{TOP + 14 + 18 * row}" fill="{color}"'
        parts.append(f"<text {place}>{name}: {what}</text>")
    x, y = point(DAYS, below).split(",")
    parts.append(f'<text x="{x}" y="{float(y) + 14:.1f}" fill="#777">archived below</text>')
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    FILE.write_text(drawn(), encoding="utf-8")
