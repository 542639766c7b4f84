"""What is being worked on."""

from __future__ import annotations

from dataclasses import replace

from ...core.context import Item
from ...core.goals import Goal, goals_of
from ...core.records import MemoryKind, Trust
from ..asking import Asking, falling

MOST = 20
ACTIVE = "active"
ACTIVE_GOAL = "goal:active"  # its id


def goals(asking: Asking) -> list[Item]:
    """The active goal of this place, and then goals that are still open, most pressing first."""
    deeds = {deed.id: deed for deed in asking.of_kind(MemoryKind.GOAL)}
    still_open = [goal for goal in goals_of(deeds.values()) if goal.open][:MOST]
    return _active(asking) + [
        replace(
            asking.item(
                deeds[goal.memories[0]],
                falling(place),
                strategy="open",
                kind="goal",
                priority=goal.priority,
            ),
            text=_told(goal),
            events=tuple(id for deed in goal.memories for id in deeds[deed].sources),
        )
        for place, goal in enumerate(still_open)
    ]


def _told(goal: Goal) -> str:
    until = f" (until {goal.deadline:%Y-%m-%d})" if goal.deadline else ""
    blocked = "; ".join([*goal.blockers, *(["another goal"] if goal.waits_for else [])])
    return f"{goal.text}{until}" + (f" [blocked: {blocked}]" if blocked else "")


def _active(asking: Asking) -> list[Item]:
    goal = asking.view.goal
    if goal is None or goal.status != ACTIVE:
        return []
    return [
        Item(
            text=goal.text,
            id=ACTIVE_GOAL,
            at=goal.at,
            speaker=goal.by,
            trust=Trust.INFERRED,
            worth=1.0,
            why={"strategy": "window", "kind": "active goal"},
        )
    ]
