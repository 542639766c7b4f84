"""From the outcome of a task to what was done for it."""

from __future__ import annotations

from datetime import datetime

from ..core.access import Grant, administrator_grant
from ..core.filters import Condition, Every, Op
from ..core.procedures import OUTCOME, TOOL, steps_of
from ..core.protocols import Store
from ..core.records import Draft, Event, EventKind, MemoryKind

MOST_USES = 500  # of tools, for one task


def practised(store: Store, event: Event) -> list[Draft]:
    """The steps that led to this outcome, if any are known. Only names are kept, no arguments."""
    told = event.metadata[OUTCOME]
    here = administrator_grant(event.workspace).within([event.scope])
    uses = [] if told.get("steps") else _uses(store, here, event)
    steps = told.get("steps") or steps_of(
        (use.metadata[TOOL] for use in uses), success=told["success"]
    )
    return [_draft(event, tuple(steps), uses)] if steps else []


def _uses(store: Store, here: Grant, event: Event) -> list[Event]:
    """The tools used for this task since it ended the last time, oldest first."""
    task = event.metadata[OUTCOME]["task"]
    found = _about(store, here, EventKind.TOOL, f"{TOOL}.task", task)
    ended = _about(store, here, EventKind.OUTCOME, f"{OUTCOME}.task", task)
    before = [each for each in ended if _moment(each) < _moment(event)]
    since = max(map(_moment, before), default=None)
    during = [each for each in found if _moment(each) <= _moment(event)]
    during = [each for each in during if since is None or _moment(each) > since]
    return sorted(during, key=_moment)[-MOST_USES:]


def _about(store: Store, here: Grant, kind: EventKind, path: str, task: str) -> list[Event]:
    same_task = Condition(f"metadata.{path}", Op.EQ, task)
    where = Every((Condition("kind", Op.EQ, kind), same_task))
    return store.ledger.find(here, where=where, limit=2 * MOST_USES)


def _moment(event: Event) -> tuple[datetime, datetime]:
    return event.at, event.recorded_at


def _draft(event: Event, steps: tuple[str, ...], uses: list[Event]) -> Draft:
    told = event.metadata[OUTCOME]
    ended = "worked" if told["success"] else "failed"
    return Draft(
        scope=event.scope,
        kind=MemoryKind.PROCEDURE,
        text=f"{told['task']}: {' → '.join(steps)} ({ended})",
        indexed_text=" ".join(filter(None, (told["task"], told.get("task_type")))),
        sources=(event.id, *(use.id for use in uses)),
        slot="strategy",
        speaker=event.speaker,
        role=event.role,
        source="outcome",
        thread=event.thread,
        learned=True,
        metadata={"made_by": ["rules"]},
        body={
            "task": told["task"],
            "task_type": told.get("task_type"),
            "steps": list(steps),
            "success": told["success"],
        },
    )
