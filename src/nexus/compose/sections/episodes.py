"""What happened at the time a question asks about."""

from __future__ import annotations

from ...core.context import Item
from ...core.records import Memory, MemoryKind
from ..asking import Asking, falling

MOST = 12
TURN = "turn"


def episodes(asking: Asking) -> list[Item]:
    """Stretches of time told in a few sentences, oldest first; of those that fit, the newest."""
    every = (each for each in asking.of_kind(MemoryKind.EPISODE) if each.body.get("span") != TURN)
    newest = [each for each in every if _then(asking, each)][:MOST]
    items = [
        asking.item(memory, falling(place), strategy="timeline", kind=_span(memory))
        for place, memory in enumerate(newest)
    ]
    return items[::-1]


def _span(memory: Memory) -> str:
    return str(memory.body.get("span", "episode"))


def _then(asking: Asking, memory: Memory) -> bool:
    """Whether any of it lies in the time asked about."""
    window = asking.plan.window
    if window is None:
        return True
    begins, ends = memory.valid_from or memory.at, memory.valid_to or memory.at
    return begins < window.until and ends >= window.since
