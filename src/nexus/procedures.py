"""How things are done in a place: tools as they are used, tasks as they end, what works."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from . import observe as tell
from .core.access import Grant, Viewer
from .core.canonical import clean_list
from .core.filters import Condition, Op
from .core.procedures import (
    OUTCOME,
    TOOL,
    Strategy,
    ToolStatistics,
    check_outcome,
    check_use,
    statistics_of,
    strategies_of,
)
from .core.records import EventKind, Json, MemoryKind, Receipt
from .observe import Told
from .reading import audited
from .recall.answer import answer
from .recall.query import check_limit, make_query
from .wiring import Parts

MOST_LISTED = 1_000
MOST_USES = 50_000  # of tools, the newest, that statistics are made of
MOST_FOUND = 50  # outcomes looked at for a task


class Procedures:
    """What was done here, and what is known of how to do it."""

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
        **told: Unpack[Told],
    ) -> Receipt:
        """A tool was used: whether it worked, how long it took, and for which task."""
        use = {"name": tool, "success": success, "seconds": seconds}
        use |= {"task": task, "task_type": task_type, "arguments": arguments, "result": result}
        check_use(use)
        did = "worked" if success else "failed"
        text = f"{tool} {did}" + (f" for {task}" if task else "")
        return self._write(EventKind.TOOL, TOOL, use, text, told)

    def finish(
        self,
        task: str,
        *,
        success: bool,
        task_type: str | None = None,
        steps: Sequence[str] = (),
        **told: Unpack[Told],
    ) -> Receipt:
        """A task is over. The tools recorded for it, or the `steps` named, led to this outcome."""
        outcome = {"task": task, "success": success, "task_type": task_type}
        outcome["steps"] = clean_list(steps, "steps")
        check_outcome(outcome)
        text = f"{task}: {'done' if success else 'not done'}"
        return self._write(EventKind.OUTCOME, OUTCOME, outcome, text, told)

    @audited
    def statistics(
        self, task_type: str | None = None, *, by_type: bool = False
    ) -> list[ToolStatistics]:
        """How each tool did: how often it worked, and how long it took."""
        kind = Condition("kind", Op.EQ, EventKind.TOOL)
        events = self._parts.store.ledger.find(self._grant, where=kind, limit=MOST_USES)
        return statistics_of(events, by_type=by_type or task_type is not None, task_type=task_type)

    @audited
    def find(
        self, task: str | None = None, *, task_type: str | None = None, limit: int = 10
    ) -> list[Strategy]:
        """What was done for such tasks, what is likeliest to help first; all, if none is named."""
        most = check_limit(limit, MOST_LISTED)
        relevance = self._relevance(task)
        kind = Condition("kind", Op.EQ, MemoryKind.PROCEDURE)
        known = strategies_of(self._parts.store.memories.find(self._grant, where=kind))
        found = [
            replace(each, relevance=max(relevance.get(id, 0.0) for id in each.memories))
            for each in known
            if task_type in (None, each.task_type)
        ]
        if task is not None:
            found = [each for each in found if each.relevance > 0]
            found.sort(key=lambda each: (-each.relevance * each.record.expected, each.id))
        return found[:most]

    def _relevance(self, task: str | None) -> Mapping[str, float]:
        self._parts.learner.catch_up(self._grant)
        if task is None:
            return {}
        query = make_query(
            task,
            limit=MOST_FOUND,
            threshold=0.0,
            kinds=[MemoryKind.PROCEDURE],
            now=self._parts.now(),
        )
        found = answer(self._parts.store, self._parts.ranking, self._grant, query)
        return {hit.memory.id: hit.score for hit in found}

    def _write(
        self, kind: EventKind, name: str, body: Mapping[str, Any], text: str, told: Told
    ) -> Receipt:
        now = self._parts.now()
        event = tell.deed(self._viewer, kind, {name: body}, text, now=now, told=told)
        return self._parts.append(self._viewer.workspace, [event], now)[0]
