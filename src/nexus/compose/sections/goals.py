"""What is being worked on."""

from __future__ import annotations

from ...core.context import Item
from ...core.records import MemoryKind, Trust
from ..asking import Asking, falling

MOST = 20
ACTIVE = "active"
CLOSED = frozenset({"done", "closed", "dropped", "cancelled", "failed"})


def goals(asking: Asking) -> list[Item]:
    """The active goal of this place, and then goals that are still open, newest first."""
    known = asking.of_kind(MemoryKind.GOAL, limit=MOST)
    still_open = [each for each in known if each.body.get("status") not in CLOSED]
    return _active(asking) + [
        asking.item(memory, falling(place), strategy="open", kind="goal")
        for place, memory in enumerate(still_open)
    ]


def _active(asking: Asking) -> list[Item]:
    goal = asking.view.goal
    if goal is None or goal.status != ACTIVE:
        return []
    return [
        Item(
            text=goal.text,
            id="goal:active",
            at=goal.at,
            speaker=goal.by,
            trust=Trust.INFERRED,
            worth=1.0,
            why={"strategy": "window", "kind": "active goal"},
        )
    ]
