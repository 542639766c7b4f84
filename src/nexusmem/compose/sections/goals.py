"""Section "goals": the active goal of the place, and open goals."""

from __future__ import annotations

from dataclasses import replace

from ...core.records import MemoryKind, Trust
from ...core.records.context import ContextItem
from ...core.records.goals import Goal, build_goals
from ..request import SectionInput, rank_worth
from ..section import Section, always

MAX_GOALS = 20
ACTIVE_STATUS = "active"
ACTIVE_GOAL_ID = "goal:active"  # item id


def goal_items(inputs: SectionInput) -> list[ContextItem]:
    """Return the active goal of this place, then open goals, most urgent first."""
    actions = {action.id: action for action in inputs.memories_of_kind(MemoryKind.GOAL)}
    open_goals = [goal for goal in build_goals(actions.values()) if goal.is_open][:MAX_GOALS]
    return _active_item(inputs) + [
        replace(
            inputs.make_item(
                actions[goal.memories[0]],
                rank_worth(rank),
                strategy="open",
                kind="goal",
                priority=goal.priority,
            ),
            text=_format_goal(goal),
            events=tuple(id for action in goal.memories for id in actions[action].sources),
        )
        for rank, goal in enumerate(open_goals)
    ]


def _format_goal(goal: Goal) -> str:
    until = f" (until {goal.deadline:%Y-%m-%d})" if goal.deadline else ""
    blocked = "; ".join([*goal.blockers, *(["another goal"] if goal.waits_for else [])])
    return f"{goal.text}{until}" + (f" [blocked: {blocked}]" if blocked else "")


def _active_item(inputs: SectionInput) -> list[ContextItem]:
    goal = inputs.window_view.goal
    if goal is None or goal.status != ACTIVE_STATUS:
        return []
    return [
        ContextItem(
            text=goal.text,
            id=ACTIVE_GOAL_ID,
            at=goal.at,
            speaker=goal.by,
            trust=Trust.INFERRED,
            worth=1.0,
            why={"strategy": "window", "kind": "active goal"},
        )
    ]


GOALS = Section(
    name="goals",
    heading="Goals",
    description="The active goal and open goals.",
    priority=9,
    cap=200,
    when=always("what is being worked on"),
    source=goal_items,
)
