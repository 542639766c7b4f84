"""What is being worked on."""

from __future__ import annotations

from ...core.context import Item
from ...core.records import MemoryKind
from ..asking import Asking, falling

MOST = 20
CLOSED = frozenset({"done", "closed", "cancelled", "failed"})


def goals(asking: Asking) -> list[Item]:
    """Goals that are still open, newest first."""
    known = asking.of_kind(MemoryKind.GOAL, limit=MOST)
    still_open = [each for each in known if each.body.get("status") not in CLOSED]
    return [
        asking.item(memory, falling(place), strategy="open", kind="goal")
        for place, memory in enumerate(still_open)
    ]
