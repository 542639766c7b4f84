"""Goals: built by folding the goal events a viewer may see, oldest first.

Goals are never updated in place. Erasing an event also removes its effect on the goal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from ..canonical import parse_time
from ..errors import InvalidInput
from ..scope import Scope
from . import Memory, MemoryKind

GOAL = "goal"  # metadata key of a goal action
PRIORITIES = range(1, 6)
DEFAULT_PRIORITY = 3


class GoalStatus(StrEnum):
    ACTIVE = "active"
    BLOCKED = "blocked"
    COMPLETED = "completed"
    ABANDONED = "abandoned"


OPEN_STATUSES = frozenset({GoalStatus.ACTIVE, GoalStatus.BLOCKED})


class GoalAction(StrEnum):
    """Actions on a goal."""

    ADD = "add"
    CHANGE = "change"
    BLOCK = "block"
    UNBLOCK = "unblock"
    COMPLETE = "complete"
    ABANDON = "abandon"
    REOPEN = "reopen"


CLOSING_STATUS = {
    GoalAction.COMPLETE: GoalStatus.COMPLETED,
    GoalAction.ABANDON: GoalStatus.ABANDONED,
}
ABOUT = "about"  # body field: id of the goal; missing in the action that adds the goal
EDITABLE_FIELDS = ("text", "parent", "priority", "deadline")


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A goal as far as the viewer may see it."""

    id: str
    text: str
    status: GoalStatus
    priority: int  # 1 is the most urgent
    scope: Scope
    at: datetime
    by: str | None
    changed_at: datetime
    parent: str | None = None  # id of another goal
    waits_for: tuple[str, ...] = ()  # ids of goals that must be closed first
    blockers: tuple[str, ...] = ()  # other obstacles, as text
    deadline: datetime | None = None
    result: str | None = None  # or why it was abandoned
    closed_at: datetime | None = None
    memories: tuple[str, ...] = ()  # ids of the memories of its actions

    @property
    def is_open(self) -> bool:
        return self.status in OPEN_STATUSES

    @property
    def urgency(self) -> tuple[int, bool, datetime, datetime, str]:
        """Sort key: by priority, then by deadline, then oldest first."""
        return self.priority, self.deadline is None, self.deadline or self.at, self.at, self.id


def build_goals(memories: Iterable[Memory]) -> list[Goal]:
    """Return the goals that these actions make, the most urgent first.

    A goal without its first action is left out: that action was erased or is not visible.
    """
    actions = sorted(
        (each for each in memories if each.kind is MemoryKind.GOAL),
        key=lambda action: (action.at, action.recorded_at, action.id),
    )
    goals = {goal.id: goal for goal in map(_new_goal, actions) if goal}
    for action in actions:
        about = action.body.get(ABOUT)
        if about in goals and action.scope == goals[about].scope:
            goals[about] = _apply_action(goals[about], action)
    return sorted(_resolve_blockers(goals), key=lambda goal: goal.urgency)


def check_goal_action(data: Mapping[str, Any]) -> None:
    """Raise InvalidInput unless `data` is a valid goal action, for example from an archive."""
    try:
        action = GoalAction(data["do"])
        about = data.get(ABOUT)
        texts = [
            about,
            *(data.get(name) for name in ("text", "parent", "goal", "blocker", "result")),
        ]
        priority, deadline = data.get("priority", DEFAULT_PRIORITY), data.get("deadline")
        if deadline is not None:
            parse_time(deadline)
    except (KeyError, ValueError, TypeError):
        accepted = ", ".join(GoalAction)
        raise InvalidInput(
            f"invalid goal action {data!r:.200}; `do` must be one of {accepted}"
        ) from None
    if (action is GoalAction.ADD) != (about is None) or (
        action is GoalAction.ADD and not data.get("text")
    ):
        raise InvalidInput("a goal action `add` needs `text`; every other action needs `about`")
    if not all(isinstance(each, str | None) for each in texts) or priority not in PRIORITIES:
        raise InvalidInput(
            f"invalid goal action {data!r:.200}; texts must be strings, `priority` from 1 to 5"
        )


def _new_goal(action: Memory) -> Goal | None:
    if action.body.get("do") != GoalAction.ADD:
        return None
    return Goal(
        id=action.sources[0],
        text=action.body["text"],
        status=GoalStatus.ACTIVE,
        priority=action.body.get("priority", DEFAULT_PRIORITY),
        parent=action.body.get("parent"),
        deadline=_parse_deadline(action.body),
        scope=action.scope,
        at=action.at,
        by=action.speaker,
        changed_at=action.at,
        memories=(action.id,),
    )


def _apply_action(goal: Goal, action: Memory) -> Goal:
    """Return the goal after this action; only the first action that closes it counts."""
    kind = GoalAction(action.body["do"])
    if goal.is_open == (kind is GoalAction.REOPEN):
        return goal
    goal = replace(goal, changed_at=action.at, memories=(*goal.memories, action.id))
    other, blocker = action.body.get("goal"), action.body.get("blocker")
    changes: dict[str, Any]
    match kind:
        case GoalAction.CHANGE:
            changes = _field_updates(action.body)
        case GoalAction.BLOCK:
            changes = {
                "waits_for": _append_unique(goal.waits_for, other),
                "blockers": _append_unique(goal.blockers, blocker),
            }
        case GoalAction.UNBLOCK if other is None and blocker is None:
            changes = {"waits_for": (), "blockers": ()}
        case GoalAction.UNBLOCK:
            changes = {
                "waits_for": _remove_item(goal.waits_for, other),
                "blockers": _remove_item(goal.blockers, blocker),
            }
        case GoalAction.REOPEN:
            changes = {"status": GoalStatus.ACTIVE, "result": None, "closed_at": None}
        case _:
            result = action.body.get("result")
            changes = {"status": CLOSING_STATUS[kind], "result": result, "closed_at": action.at}
    return replace(goal, **changes)


def _append_unique(items: tuple[str, ...], item: str | None) -> tuple[str, ...]:
    return items if item is None or item in items else (*items, item)


def _remove_item(items: tuple[str, ...], item: str | None) -> tuple[str, ...]:
    return tuple(each for each in items if each != item)


def _field_updates(body: Mapping[str, Any]) -> dict[str, Any]:
    changes = {name: body[name] for name in EDITABLE_FIELDS if name in body}
    return {**changes, "deadline": _parse_deadline(body)} if "deadline" in changes else changes


def _parse_deadline(body: Mapping[str, Any]) -> datetime | None:
    return parse_time(body["deadline"]) if body.get("deadline") else None


def _resolve_blockers(goals: Mapping[str, Goal]) -> Iterator[Goal]:
    """Yield the goals with open blockers only; goals that are not visible are removed."""
    for goal in goals.values():
        waits = tuple(each for each in goal.waits_for if each in goals and goals[each].is_open)
        parent = goal.parent if goal.parent in goals else None
        blocked = goal.is_open and (waits or goal.blockers)
        status = GoalStatus.BLOCKED if blocked else goal.status
        yield replace(goal, waits_for=waits, parent=parent, status=status)


def would_cycle(goals: Mapping[str, Goal], goal: str, *, parent: str) -> bool:
    """Return whether `goal` would become its own ancestor under this parent."""
    seen = set()
    current: str | None = parent
    while current is not None and current not in seen:
        if current == goal:
            return True
        seen.add(current)
        current = goals[current].parent if current in goals else None
    return False


def depends_on(goals: Mapping[str, Goal], goal: str, other: str) -> bool:
    """Return whether one goal waits for another, directly or through others."""
    todo, seen = [goal], set()
    while todo:
        current = todo.pop()
        if current == other:
            return True
        if current not in seen and current in goals:
            seen.add(current)
            todo += goals[current].waits_for
    return False
