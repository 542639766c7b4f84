"""What is to be achieved in a place: goals, their parts, what blocks them, and how they ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from . import observe as tell
from .core.access import Grant, Viewer
from .core.canonical import clean_text, clean_time, time_text
from .core.errors import Conflict, InvalidInput, NotFound
from .core.filters import Condition, Op
from .core.goals import (
    ABOUT,
    NORMAL,
    PRIORITIES,
    Deed,
    Goal,
    GoalStatus,
    goals_of,
    waits,
    would_circle,
)
from .core.ids import str_only
from .core.records import MemoryKind
from .core.scope import Scope
from .reading import audited
from .recall.query import check_limit
from .wiring import Parts

MOST_LISTED = 100_000
UNCHANGED: Any = object()

Listed = list[Goal]  # inside the class, `list` is its method


@dataclass(frozen=True, slots=True)
class Branch:
    """A goal and its parts."""

    goal: Goal
    parts: tuple[Branch, ...]


class Goals:
    """The goals one may see from a place, and what can be done about them.

    What is done about a goal is written where the goal lies, so whoever sees it sees that, too.
    """

    def __init__(self, parts: Parts, viewer: Viewer, grant: Grant) -> None:
        self._parts = parts
        self._viewer = viewer
        self._grant = grant

    def add(
        self,
        text: str,
        *,
        parent: str | None = None,
        priority: int = NORMAL,
        deadline: datetime | None = None,
        scope: str | None = None,
        key: str | None = None,
    ) -> Goal:
        """A new goal, here or in a wider `scope`; `priority` goes from 1, the most pressing, to 5.

        The same `key` again is the same goal.
        """
        if parent is not None:
            self._get(parent)
        said = _said(text)
        body = {
            "text": said,
            "parent": parent,
            "priority": _priority(priority),
            "deadline": _time(deadline),
        }
        home = self._viewer.home if scope is None else self._viewer.scope(scope)
        return self._get(self._write(home, Deed.ADD, body, said, key))

    def change(
        self,
        id: str,
        *,
        text: str = UNCHANGED,
        parent: str | None = UNCHANGED,
        priority: int = UNCHANGED,
        deadline: datetime | None = UNCHANGED,
    ) -> Goal:
        """Say what is different now; None takes a parent or a deadline away."""
        given = {"text": text, "parent": parent, "priority": priority, "deadline": deadline}
        body = {
            name: CHECKS[name](value) for name, value in given.items() if value is not UNCHANGED
        }
        if not body:
            raise InvalidInput("nothing to change: give text, parent, priority or deadline")
        known = self._known()
        goal = self._open(known, id)
        if body.get("parent") is not None:
            self._check_parent(known, goal, body["parent"])
        said = ", ".join(f"{name} {value}" for name, value in body.items())
        return self._done(goal, Deed.CHANGE, body, f"changed: {said}")

    def block(self, id: str, by: str | None = None, *, goal: str | None = None) -> Goal:
        """Something is in the way: what `by` says, or another goal until that is closed."""
        if (by is None) == (goal is None):
            raise InvalidInput("say what is in the way, or which goal")
        known = self._known()
        blocked = self._open(known, id)
        if goal is None:
            blocker = _said(by)
            return self._done(blocked, Deed.BLOCK, {"blocker": blocker}, f"blocked: {blocker}")
        self._open(known, goal)
        if waits(known, goal, id):
            raise Conflict(f"{goal!r} waits for {id!r} itself")
        return self._done(blocked, Deed.BLOCK, {"goal": goal}, "waits for another goal")

    def unblock(self, id: str, by: str | None = None, *, goal: str | None = None) -> Goal:
        """This is in the way no more; neither: nothing is."""
        blocked = self._open(self._known(), id)
        for named, there in ((by, blocked.blockers), (goal, blocked.waits_for)):
            if named is not None and named not in there:
                raise NotFound(f"{named!r:.80} does not block {id!r}")
        return self._done(blocked, Deed.UNBLOCK, {"blocker": by, "goal": goal}, "not blocked")

    def complete(self, id: str, *, result: str | None = None) -> Goal:
        """It is achieved; `result` says what came of it."""
        return self._close(id, Deed.COMPLETE, result, "completed")

    def abandon(self, id: str, *, reason: str | None = None) -> Goal:
        """It is not pursued any more."""
        return self._close(id, Deed.ABANDON, reason, "abandoned")

    def reopen(self, id: str) -> Goal:
        """It was closed too early."""
        goal = self._get(id)
        if goal.open:
            raise Conflict(f"goal {id!r} is {goal.status.value}, not closed")
        return self._done(goal, Deed.REOPEN, {}, "reopened")

    @audited
    def list(self, status: str | None = None, *, limit: int = 100) -> Listed:
        """Those of one status (None: those that are open), the most pressing first."""
        most = check_limit(limit, MOST_LISTED)
        wanted = None if status in (None, "any") else _status(str(status))
        return [
            goal
            for goal in self._known().values()
            if status == "any" or (goal.open if wanted is None else goal.status is wanted)
        ][:most]

    @audited
    def get(self, id: str) -> Goal:
        """One goal by its id."""
        return self._get(id)

    def _get(self, id: str) -> Goal:
        """Also for what is done about it, which is no question."""
        found = self._known().get(str_only(id, "an id"))
        if found is None:
            raise NotFound(f"no goal {id!r} here")
        return found

    @audited
    def tree(self, status: str | None = None) -> tuple[Branch, ...]:
        """Goals with their parts below them; a part whose parent is not listed stands alone."""
        listed = {goal.id: goal for goal in self.list(status, limit=MOST_LISTED)}

        def parts_of(parent: str | None) -> tuple[Branch, ...]:
            below = (
                g for g in listed.values() if (g.parent if g.parent in listed else None) == parent
            )
            return tuple(Branch(goal, parts_of(goal.id)) for goal in below)

        return parts_of(None)

    def _close(self, id: str, deed: Deed, why: str | None, words: str) -> Goal:
        goal = self._open(self._known(), id)
        result = None if why is None else _said(why)
        return self._done(goal, deed, {"result": result}, f"{words}: {result}" if result else words)

    def _check_parent(self, known: Mapping[str, Goal], goal: Goal, parent: str) -> None:
        if parent not in known:
            raise NotFound(f"no goal {parent!r} here")
        if would_circle(known, goal.id, parent=parent):
            raise Conflict(f"{parent!r} is a part of {goal.id!r} itself")

    @staticmethod
    def _open(known: Mapping[str, Goal], id: str) -> Goal:
        goal = known.get(str_only(id, "an id"))
        if goal is None:
            raise NotFound(f"no goal {id!r} here")
        if not goal.open:
            raise Conflict(f"goal {id!r} is {goal.status.value}; reopen it first")
        return goal

    def _known(self) -> dict[str, Goal]:
        self._parts.learner.catch_up(self._grant)
        kind = Condition("kind", Op.EQ, MemoryKind.GOAL)
        found = self._parts.store.memories.find(self._grant, where=kind)
        return {goal.id: goal for goal in goals_of(found)}

    def _done(self, goal: Goal, deed: Deed, body: dict[str, Any], words: str) -> Goal:
        self._write(goal.scope, deed, {ABOUT: goal.id, **body}, words)
        return self._get(goal.id)

    def _write(
        self, scope: Scope, deed: Deed, body: dict[str, Any], words: str, key: str | None = None
    ) -> str:
        now = self._parts.now()
        told: tell.Told = {"key": key}
        done = {"do": deed.value, **body}
        event = tell.goal(self._viewer, scope, done, f"goal: {words}", now=now, told=told)
        self._parts.append(self._viewer.workspace, [event], now)
        return event.id


def _said(text: Any) -> str:
    cleaned = clean_text(text).strip()
    if not cleaned:
        raise InvalidInput("the text is empty")
    return cleaned


def _priority(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value not in PRIORITIES:
        raise InvalidInput(f"a priority goes from 1, the most pressing, to 5, not {value!r:.80}")
    return value


def _time(at: datetime | None) -> str | None:
    return None if at is None else time_text(clean_time(at, "the deadline"))


def _parent(id: object) -> str | None:
    return None if id is None else str_only(id, "an id")


CHECKS: Mapping[str, Callable[[Any], Any]] = {
    "text": _said,
    "parent": _parent,
    "priority": _priority,
    "deadline": _time,
}


def _status(name: str) -> GoalStatus:
    try:
        return GoalStatus(name)
    except ValueError:
        known = ", ".join(["any", *(status.value for status in GoalStatus)])
        raise InvalidInput(f"unknown status {name!r:.80}; known are {known}") from None
