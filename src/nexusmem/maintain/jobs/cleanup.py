"""Cleanup job: archive inactive conversations and delete expired window items."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from ...audit.records import AuditEntry, worker_entry
from ...core.access import administrator_grant
from ...core.errors import Unavailable
from ...core.ids import WorkspaceId
from ...core.protocols.jobs import JobStep, WorkspaceTurn
from ...core.protocols.store import Store
from ...core.records import MemoryKind
from ...core.records.projections import MemoryState
from ..settings import BATCH

MAX_STATES_PER_COMMIT = 2_000  # memories in one transaction, which keeps transactions short

StatePages = dict[WorkspaceId, list[MemoryState]]


def load_pages(
    store: Store, cursors: Mapping[WorkspaceId, str | None], *, limit: int, **filters: Any
) -> StatePages:
    """Return the next page of memory states for each of these workspaces."""
    places = [(administrator_grant(workspace), place) for workspace, place in cursors.items()]
    found = store.memories.list_states_many(places, limit=limit, **filters) if places else []
    return dict(zip(cursors, found, strict=True))


def next_cursor(page: Sequence[MemoryState], limit: int) -> str | None:
    """Return the cursor of the next step, or None after the last page."""
    return page[-1].position if len(page) == limit else None


def set_states(
    store: Store,
    states: Mapping[WorkspaceId, Sequence[MemoryState]],
    make_entry: Callable[[Sequence[MemoryState]], AuditEntry],
    **changes: Any,
) -> dict[WorkspaceId, int]:
    """Set the state of memories, write an audit entry per workspace, return the number of
    changes.
    """
    changed: dict[WorkspaceId, int] = {}
    for some in _split_batches(states):
        ids = {workspace: [each.id for each in theirs] for workspace, theirs in some.items()}
        entries = {workspace: make_entry(theirs) for workspace, theirs in some.items()}
        with store.with_audit_entries(entries):
            changed |= store.memories.set_state_many(ids, **changes)
    return changed


def _split_batches(
    states_by_workspace: Mapping[WorkspaceId, Sequence[MemoryState]],
) -> Iterator[dict[WorkspaceId, Sequence[MemoryState]]]:
    """Split workspaces into batches that fit into one commit."""
    some: dict[WorkspaceId, Sequence[MemoryState]] = {}
    for workspace, states in states_by_workspace.items():
        if some and sum(map(len, some.values())) + len(states) > MAX_STATES_PER_COMMIT:
            yield some
            some = {}
        if states:
            some[workspace] = states
    if some:
        yield some


STRAY_USE_DAYS = 30  # retention for usage counts of deleted memories


def cleanup(
    store: Store,
    turns: Sequence[WorkspaceTurn],
    *,
    now: datetime,
    idle: timedelta,
    idle_days: int,
    batch: int = BATCH,
) -> list[JobStep]:
    """Archive memories of conversations without a message or a use for the configured days.

    The last step also deletes expired window items and usage counts of deleted memories.
    """
    since = now - timedelta(days=idle_days)
    found = load_pages(store, dict(turns), limit=batch, idle_since=since)
    over = {
        workspace: [
            state
            for state in page
            if state.kind is MemoryKind.PASSAGE and state.last_active_at < since
        ]
        for workspace, page in found.items()
    }

    def make_entry(some: Sequence[MemoryState]) -> AuditEntry:
        return worker_entry("archive", now, memories=len(some), idle_days=idle_days)

    archived = set_states(store, over, make_entry, archived=True)
    last = [workspace for workspace, page in found.items() if not next_cursor(page, batch)]
    tidied = _prune_windows(store, last, now, idle)
    return [
        JobStep(
            counts={"archived": archived.get(workspace, 0), **tidied.get(workspace, {})},
            cursor=next_cursor(page, batch),
        )
        for workspace, page in found.items()
    ]


def _prune_windows(
    store: Store, workspaces: Sequence[WorkspaceId], now: datetime, idle: timedelta
) -> dict[WorkspaceId, dict[str, int]]:
    strays = store.usage_counts.delete_orphans(
        workspaces, before=now - timedelta(days=STRAY_USE_DAYS)
    )
    pruned = [0] * len(workspaces)
    with suppress(Unavailable):  # an external window expires its items
        pruned = store.window.prune_many(workspaces, now=now, idle=idle)
    return {
        workspace: {"uses": uses, "window": items}
        for workspace, uses, items in zip(workspaces, strays, pruned, strict=True)
    }
