"""What somebody tries to achieve: every deed about a goal is an event, the goal is what they make.

Nothing is updated. A goal as one sees it is folded from the deeds one may see, oldest first; when
an event is erased, its part of the goal is gone with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from .canonical import text_time
from .errors import InvalidInput
from .records import Memory, MemoryKind
from .scope import Scope

GOAL = "goal"  # where a deed stands in an event's metadata
PRIORITIES = range(1, 6)
NORMAL = 3


class GoalStatus(StrEnum):
    ACTIVE = "active"
    BLOCKED = "blocked"
    COMPLETED = "completed"
    ABANDONED = "abandoned"


OPEN = frozenset({GoalStatus.ACTIVE, GoalStatus.BLOCKED})


class Deed(StrEnum):
    """What can be done about a goal."""

    ADD = "add"
    CHANGE = "change"
    BLOCK = "block"
    UNBLOCK = "unblock"
    COMPLETE = "complete"
    ABANDON = "abandon"
    REOPEN = "reopen"


CLOSING = {Deed.COMPLETE: GoalStatus.COMPLETED, Deed.ABANDON: GoalStatus.ABANDONED}
ABOUT = "about"  # which goal a deed is about; the first one is the goal itself
CHANGEABLE = ("text", "parent", "priority", "deadline")


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What somebody tries to achieve, as far as one may know."""

    id: str
    text: str
    status: GoalStatus
    priority: int  # 1 is the most pressing
    scope: Scope
    at: datetime
    by: str | None
    changed_at: datetime
    parent: str | None = None  # another goal's id
    waits_for: tuple[str, ...] = ()  # the ids of goals that must be closed first
    blockers: tuple[str, ...] = ()  # whatever else is in the way, in words
    deadline: datetime | None = None
    result: str | None = None  # or why it was abandoned
    closed_at: datetime | None = None
    memories: tuple[str, ...] = ()  # the deeds it is made of

    @property
    def open(self) -> bool:
        return self.status in OPEN

    @property
    def urgency(self) -> tuple[int, bool, datetime, datetime, str]:
        """The most pressing first: by priority, then by deadline, then the older one."""
        return self.priority, self.deadline is None, self.deadline or self.at, self.at, self.id


def goals_of(memories: Iterable[Memory]) -> list[Goal]:
    """The goals these deeds make, the most pressing first.

    A goal whose first deed is not among them is nobody's: it was erased, or may not be seen.
    """
    deeds = sorted(
        (each for each in memories if each.kind is MemoryKind.GOAL),
        key=lambda deed: (deed.at, deed.recorded_at, deed.id),
    )
    goals = {goal.id: goal for goal in map(_added, deeds) if goal}
    for deed in deeds:
        about = deed.body.get(ABOUT)
        if about in goals and deed.scope == goals[about].scope:
            goals[about] = _after(goals[about], deed)
    return sorted(_settled(goals), key=lambda goal: goal.urgency)


def check_deed(told: Mapping[str, Any]) -> None:
    """Whether this can be read as a deed; said in an archive, for example."""
    try:
        deed = Deed(told["do"])
        about = told.get(ABOUT)
        texts = [
            about,
            *(told.get(name) for name in ("text", "parent", "goal", "blocker", "result")),
        ]
        priority, deadline = told.get("priority", NORMAL), told.get("deadline")
        if deadline is not None:
            text_time(deadline)
    except (KeyError, ValueError, TypeError):
        raise InvalidInput(f"not a deed about a goal: {told!r:.200}") from None
    if (deed is Deed.ADD) != (about is None) or (deed is Deed.ADD and not told.get("text")):
        raise InvalidInput("the first deed names the goal; every other one says which it is about")
    if not all(isinstance(each, str | None) for each in texts) or priority not in PRIORITIES:
        raise InvalidInput(f"not a deed about a goal: {told!r:.200}")


def _added(deed: Memory) -> Goal | None:
    if deed.body.get("do") != Deed.ADD:
        return None
    return Goal(
        id=deed.sources[0],
        text=deed.body["text"],
        status=GoalStatus.ACTIVE,
        priority=deed.body.get("priority", NORMAL),
        parent=deed.body.get("parent"),
        deadline=_deadline(deed.body),
        scope=deed.scope,
        at=deed.at,
        by=deed.speaker,
        changed_at=deed.at,
        memories=(deed.id,),
    )


def _after(goal: Goal, deed: Memory) -> Goal:
    """The goal once this was done; of two who close it at once the first one did."""
    did = Deed(deed.body["do"])
    if goal.open == (did is Deed.REOPEN):
        return goal
    known = replace(goal, changed_at=deed.at, memories=(*goal.memories, deed.id))
    other, blocker = deed.body.get("goal"), deed.body.get("blocker")
    told: dict[str, Any]
    match did:
        case Deed.CHANGE:
            told = _changes(deed.body)
        case Deed.BLOCK:
            told = {
                "waits_for": _with(goal.waits_for, other),
                "blockers": _with(goal.blockers, blocker),
            }
        case Deed.UNBLOCK if other is None and blocker is None:
            told = {"waits_for": (), "blockers": ()}
        case Deed.UNBLOCK:
            told = {
                "waits_for": _without(goal.waits_for, other),
                "blockers": _without(goal.blockers, blocker),
            }
        case Deed.REOPEN:
            told = {"status": GoalStatus.ACTIVE, "result": None, "closed_at": None}
        case _:
            result = deed.body.get("result")
            told = {"status": CLOSING[did], "result": result, "closed_at": deed.at}
    return replace(known, **told)


def _with(those: tuple[str, ...], one: str | None) -> tuple[str, ...]:
    return those if one is None or one in those else (*those, one)


def _without(those: tuple[str, ...], one: str | None) -> tuple[str, ...]:
    return tuple(each for each in those if each != one)


def _changes(body: Mapping[str, Any]) -> dict[str, Any]:
    told = {name: body[name] for name in CHANGEABLE if name in body}
    return {**told, "deadline": _deadline(body)} if "deadline" in told else told


def _deadline(body: Mapping[str, Any]) -> datetime | None:
    return text_time(body["deadline"]) if body.get("deadline") else None


def _settled(goals: Mapping[str, Goal]) -> Iterator[Goal]:
    """With what still stands in the way; a goal that may not be seen is not told of."""
    for goal in goals.values():
        waits = tuple(each for each in goal.waits_for if each in goals and goals[each].open)
        parent = goal.parent if goal.parent in goals else None
        blocked = goal.open and (waits or goal.blockers)
        status = GoalStatus.BLOCKED if blocked else goal.status
        yield replace(goal, waits_for=waits, parent=parent, status=status)


def would_circle(goals: Mapping[str, Goal], goal: str, *, parent: str) -> bool:
    """Whether a goal would become a part of itself."""
    seen = set()
    at: str | None = parent
    while at is not None and at not in seen:
        if at == goal:
            return True
        seen.add(at)
        at = goals[at].parent if at in goals else None
    return False


def waits(goals: Mapping[str, Goal], goal: str, other: str) -> bool:
    """Whether one goal waits for another, directly or through others."""
    todo, seen = [goal], set()
    while todo:
        at = todo.pop()
        if at == other:
            return True
        if at not in seen and at in goals:
            seen.add(at)
            todo += goals[at].waits_for
    return False
