"""Goals of a place: subgoals, blockers, due dates and results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from ..core.access import Grant, Viewer
from ..core.canonical import clean_text, clean_time, format_time
from ..core.errors import Conflict, InvalidInput, NotFound
from ..core.filters import Condition, Op
from ..core.ids import require_str
from ..core.records import MemoryKind
from ..core.records.goals import (
    ABOUT,
    DEFAULT_PRIORITY,
    PRIORITIES,
    Goal,
    GoalAction,
    GoalStatus,
    build_goals,
    depends_on,
    would_cycle,
)
from ..core.scope import Scope
from ..observe.events import EventOptions, goal_event
from ..recall.query import check_limit
from ..wiring.parts import Parts
from .base import audit_read

MAX_LISTED = 100_000
UNCHANGED: Any = object()

GoalList = list[Goal]  # `list` is a method of the class


@dataclass(frozen=True, slots=True)
class GoalNode:
    """A goal with its subgoals."""

    goal: Goal
    children: tuple[GoalNode, ...]


class Goals:
    """The goals a viewer can see.

    Every change is an event in the scope of the goal, so all viewers of the goal see it.
    """

    _audit_prefix: ClassVar[str] = "goals_"

    def __init__(self, parts: Parts, viewer: Viewer, grant: Grant) -> None:
        self._parts = parts
        self._viewer = viewer
        self._grant = grant

    def add(
        self,
        text: str,
        *,
        parent: str | None = None,
        priority: int = DEFAULT_PRIORITY,
        deadline: datetime | None = None,
        scope: str | None = None,
        key: str | None = None,
    ) -> Goal:
        """Add a goal, in this place or in a wider `scope`, and return it.

        `parent` is the id of a goal this one is part of. `priority` is from 1 (most urgent) to 5.
        `key` is an idempotency key.
        """
        if parent is not None:
            self._find_goal(parent)
        checked = _require_text(text)
        body = {
            "text": checked,
            "parent": parent,
            "priority": _check_priority(priority),
            "deadline": _format_deadline(deadline),
        }
        home = self._viewer.home if scope is None else self._viewer.resolve_scope(scope)
        return self._find_goal(self._write_event(home, GoalAction.ADD, body, checked, key))

    def update(
        self,
        id: str,
        *,
        text: str = UNCHANGED,
        parent: str | None = UNCHANGED,
        priority: int = UNCHANGED,
        deadline: datetime | None = UNCHANGED,
    ) -> Goal:
        """Change fields of an open goal; None removes the parent or the deadline."""
        given = {"text": text, "parent": parent, "priority": priority, "deadline": deadline}
        body = {
            name: FIELD_CHECKS[name](value)
            for name, value in given.items()
            if value is not UNCHANGED
        }
        if not body:
            raise InvalidInput("nothing to change: give text, parent, priority or deadline")
        goals = self._load_goals()
        goal = self._require_open(goals, id)
        if body.get("parent") is not None:
            self._check_parent(goals, goal, body["parent"])
        summary = ", ".join(f"{name} {value}" for name, value in body.items())
        return self._apply_action(goal, GoalAction.CHANGE, body, f"changed: {summary}")

    def block(self, id: str, reason: str | None = None, *, goal: str | None = None) -> Goal:
        """Block a goal by a `reason`, or by another `goal` until that one is closed."""
        if (reason is None) == (goal is None):
            raise InvalidInput("give either a reason or a goal")
        goals = self._load_goals()
        blocked = self._require_open(goals, id)
        if goal is None:
            blocker = _require_text(reason)
            return self._apply_action(
                blocked, GoalAction.BLOCK, {"blocker": blocker}, f"blocked: {blocker}"
            )
        self._require_open(goals, goal)
        if depends_on(goals, goal, id):
            raise Conflict(f"{goal!r} waits for {id!r}; this would create a cycle")
        return self._apply_action(
            blocked, GoalAction.BLOCK, {"goal": goal}, "waits for another goal"
        )

    def unblock(self, id: str, reason: str | None = None, *, goal: str | None = None) -> Goal:
        """Remove one blocker by its `reason` or `goal`, or all if neither is given."""
        blocked = self._require_open(self._load_goals(), id)
        for blocker, blockers in ((reason, blocked.blockers), (goal, blocked.waits_for)):
            if blocker is not None and blocker not in blockers:
                raise NotFound(f"{blocker!r:.80} does not block {id!r}")
        return self._apply_action(
            blocked, GoalAction.UNBLOCK, {"blocker": reason, "goal": goal}, "not blocked"
        )

    def complete(self, id: str, *, result: str | None = None) -> Goal:
        """Mark a goal as completed, with an optional result."""
        return self._close_goal(id, GoalAction.COMPLETE, result, "completed")

    def cancel(self, id: str, *, reason: str | None = None) -> Goal:
        """Cancel a goal, with an optional reason."""
        return self._close_goal(id, GoalAction.ABANDON, reason, "abandoned")

    def reopen(self, id: str) -> Goal:
        """Open a completed or cancelled goal again."""
        goal = self._find_goal(id)
        if goal.is_open:
            raise Conflict(f"goal {id!r} is {goal.status.value}; only closed goals can be reopened")
        return self._apply_action(goal, GoalAction.REOPEN, {}, "reopened")

    @audit_read
    def list(self, status: str | None = None, *, limit: int = 100) -> GoalList:
        """List goals, the most urgent first; `status` None means open, "any" all."""
        most = check_limit(limit, MAX_LISTED)
        wanted = None if status in (None, "any") else _parse_status(str(status))
        return [
            goal
            for goal in self._load_goals().values()
            if status == "any" or (goal.is_open if wanted is None else goal.status is wanted)
        ][:most]

    @audit_read
    def get(self, id: str) -> Goal:
        """Return one goal by its id; raise NotFound if the viewer cannot see it."""
        return self._find_goal(id)

    def _find_goal(self, id: str) -> Goal:
        """Return a goal without counting a read: writes use it, too."""
        found = self._load_goals().get(require_str(id, "an id"))
        if found is None:
            raise NotFound(f"no goal {id!r} here")
        return found

    @audit_read
    def tree(self, status: str | None = None) -> tuple[GoalNode, ...]:
        """Return goals with their subgoals; a subgoal without a listed parent is at the top."""
        listed = {goal.id: goal for goal in self.list(status, limit=MAX_LISTED)}

        def build_nodes(parent: str | None) -> tuple[GoalNode, ...]:
            below = (
                g for g in listed.values() if (g.parent if g.parent in listed else None) == parent
            )
            return tuple(GoalNode(goal, build_nodes(goal.id)) for goal in below)

        return build_nodes(None)

    def _close_goal(self, id: str, action: GoalAction, reason: str | None, summary: str) -> Goal:
        goal = self._require_open(self._load_goals(), id)
        result = None if reason is None else _require_text(reason)
        return self._apply_action(
            goal, action, {"result": result}, f"{summary}: {result}" if result else summary
        )

    def _check_parent(self, goals: Mapping[str, Goal], goal: Goal, parent: str) -> None:
        if parent not in goals:
            raise NotFound(f"no goal {parent!r} here")
        if would_cycle(goals, goal.id, parent=parent):
            raise Conflict(f"{parent!r} is a subgoal of {goal.id!r}; this would create a cycle")

    @staticmethod
    def _require_open(goals: Mapping[str, Goal], id: str) -> Goal:
        goal = goals.get(require_str(id, "an id"))
        if goal is None:
            raise NotFound(f"no goal {id!r} here")
        if not goal.is_open:
            raise Conflict(f"goal {id!r} is {goal.status.value}; reopen it first")
        return goal

    def _load_goals(self) -> dict[str, Goal]:
        self._parts.learner.catch_up(self._grant)
        kind = Condition("kind", Op.EQ, MemoryKind.GOAL)
        found = self._parts.store.memories.find(self._grant, where=kind)
        return {goal.id: goal for goal in build_goals(found)}

    def _apply_action(
        self, goal: Goal, action: GoalAction, body: dict[str, Any], summary: str
    ) -> Goal:
        self._write_event(goal.scope, action, {ABOUT: goal.id, **body}, summary)
        return self._find_goal(goal.id)

    def _write_event(
        self,
        scope: Scope,
        action: GoalAction,
        body: dict[str, Any],
        summary: str,
        key: str | None = None,
    ) -> str:
        now = self._parts.now()
        options: EventOptions = {"key": key}
        content = {"do": action.value, **body}
        event = goal_event(
            self._viewer, scope, content, f"goal: {summary}", now=now, options=options
        )
        self._parts.recorder.append(self._viewer.workspace, [event], now)
        return event.id


def _require_text(text: Any) -> str:
    cleaned = clean_text(text).strip()
    if not cleaned:
        raise InvalidInput("the text is empty")
    return cleaned


def _check_priority(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value not in PRIORITIES:
        raise InvalidInput(f"priority must be between 1 and 5, got {value!r:.80}")
    return value


def _format_deadline(at: datetime | None) -> str | None:
    return None if at is None else format_time(clean_time(at, "the deadline"))


def _check_parent_id(id: object) -> str | None:
    return None if id is None else require_str(id, "an id")


FIELD_CHECKS: Mapping[str, Callable[[Any], Any]] = {
    "text": _require_text,
    "parent": _check_parent_id,
    "priority": _check_priority,
    "deadline": _format_deadline,
}


def _parse_status(name: str) -> GoalStatus:
    try:
        return GoalStatus(name)
    except ValueError:
        known = ", ".join(["any", *(status.value for status in GoalStatus)])
        raise InvalidInput(f"unknown status {name!r:.80}; accepted: {known}") from None
