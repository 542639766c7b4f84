"""Procedures: tool calls, task outcomes, and the steps that worked for similar tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Unpack

from ..core.access import Grant, Viewer
from ..core.canonical import clean_list
from ..core.filters import Condition, Op
from ..core.records import EventKind, Json, MemoryKind, Receipt
from ..core.records.procedures import (
    OUTCOME,
    TOOL,
    Strategy,
    ToolStatistics,
    build_statistics,
    build_strategies,
    check_outcome,
    check_tool_use,
)
from ..observe.events import EventOptions, action_event
from ..recall.query import check_limit, make_query
from ..recall.search import search_memories
from ..wiring.parts import Parts
from .base import audit_read

MAX_LISTED = 1_000
MAX_TOOL_USES = 50_000  # newest tool calls used for statistics
MAX_OUTCOMES = 50  # outcomes searched for a task


class Procedures:
    """The tool calls and task outcomes a viewer can see."""

    _audit_prefix: ClassVar[str] = "procedures_"

    def __init__(self, parts: Parts, viewer: Viewer, grant: Grant) -> None:
        self._parts = parts
        self._viewer = viewer
        self._grant = grant

    def record(
        self,
        tool: str,
        *,
        success: bool,
        seconds: float | None = None,
        task: str | None = None,
        task_type: str | None = None,
        arguments: Json = None,
        result: Json = None,
        **options: Unpack[EventOptions],
    ) -> Receipt:
        """Record a tool call: success, duration, and the task it was used for."""
        use = {"name": tool, "success": success, "seconds": seconds}
        use |= {"task": task, "task_type": task_type, "arguments": arguments, "result": result}
        check_tool_use(use)
        outcome = "worked" if success else "failed"
        text = f"{tool} {outcome}" + (f" for {task}" if task else "")
        return self._write_event(EventKind.TOOL, TOOL, use, text, options)

    def finish(
        self,
        task: str,
        *,
        success: bool,
        task_type: str | None = None,
        steps: Sequence[str] = (),
        **options: Unpack[EventOptions],
    ) -> Receipt:
        """Record the outcome of a task; `steps` default to its recorded tool calls."""
        outcome = {"task": task, "success": success, "task_type": task_type}
        outcome["steps"] = clean_list(steps, "steps")
        check_outcome(outcome)
        text = f"{task}: {'done' if success else 'not done'}"
        return self._write_event(EventKind.OUTCOME, OUTCOME, outcome, text, options)

    @audit_read
    def statistics(
        self, task_type: str | None = None, *, by_type: bool = False
    ) -> list[ToolStatistics]:
        """Return success rates and durations of each tool.

        `by_type` separates types of tasks, `task_type` selects one.
        """
        kind = Condition("kind", Op.EQ, EventKind.TOOL)
        events = self._parts.store.ledger.find(self._grant, where=kind, limit=MAX_TOOL_USES)
        return build_statistics(
            events, by_type=by_type or task_type is not None, task_type=task_type
        )

    @audit_read
    def find(
        self, task: str | None = None, *, task_type: str | None = None, limit: int = 10
    ) -> list[Strategy]:
        """Return the steps of similar tasks, the most promising first; of all without `task`."""
        most = check_limit(limit, MAX_LISTED)
        relevance = self._score_relevance(task)
        kind = Condition("kind", Op.EQ, MemoryKind.PROCEDURE)
        strategies = build_strategies(self._parts.store.memories.find(self._grant, where=kind))
        found = [
            replace(each, relevance=max(relevance.get(id, 0.0) for id in each.memories))
            for each in strategies
            if task_type in (None, each.task_type)
        ]
        if task is not None:
            found = [each for each in found if each.relevance > 0]
            found.sort(key=lambda each: (-each.relevance * each.success_rate.estimate, each.id))
        return found[:most]

    def _score_relevance(self, task: str | None) -> Mapping[str, float]:
        self._parts.learner.catch_up(self._grant)
        if task is None:
            return {}
        query = make_query(
            task,
            limit=MAX_OUTCOMES,
            threshold=0.0,
            kind=MemoryKind.PROCEDURE,
            now=self._parts.now(),
        )
        found = search_memories(self._parts.store, self._parts.ranking, self._grant, query)
        return {hit.memory.id: hit.score for hit in found}

    def _write_event(
        self, kind: EventKind, name: str, body: Mapping[str, Any], text: str, options: EventOptions
    ) -> Receipt:
        now = self._parts.now()
        event = action_event(self._viewer, kind, {name: body}, text, now=now, options=options)
        return self._parts.recorder.append(self._viewer.workspace, [event], now)[0]
