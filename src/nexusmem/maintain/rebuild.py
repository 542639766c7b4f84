"""Rebuild of derived layers (knowledge, episodes, vectors, indexes) from the events.

A rebuild drops nothing first. It compares a layer in batches with its expected content and writes
the differences. So readers are not interrupted, a killed rebuild can be repeated, and correct
records cost no write. Events are never changed.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from ..core.access import administrator_grant
from ..core.derive import is_text_searchable
from ..core.errors import ConfigError, Unavailable
from ..core.ids import WorkspaceId
from ..core.protocols.embedder import Embedder
from ..core.protocols.index_repair import DerivedLayer, IndexDamage, Json
from ..core.protocols.jobs import JobStep
from ..core.protocols.store import Store
from ..core.records import EmbeddingProfile, Memory
from ..core.scope import parse_scope
from ..runtime.progress import ProgressCallback, ignore_progress
from .jobs.consolidate import repair_representatives
from .jobs.re_embed import compute_vectors

if TYPE_CHECKING:
    from ..learn.episodes import EpisodeJob
    from ..learn.relearn import Relearner

STEP_SECONDS = 1.0
BATCH_SIZE = 250  # memories or events compared in one transaction
WEEK = timedelta(days=7)
NO_PROFILE = EmbeddingProfile(
    provider="none", model="none", dimension=1
)  # no memory has a vector of it


@dataclass(frozen=True, slots=True)
class RebuildTools:
    """Dependencies of a rebuild."""

    store: Store
    embedder: Embedder
    relearner: Callable[[], Relearner]
    episodes: Callable[[], EpisodeJob]


def rebuild_step(
    tools: RebuildTools,
    workspace: WorkspaceId,
    layer: DerivedLayer,
    *,
    now: datetime,
    cursor: Json = None,
    again: bool = False,
    seconds: float = STEP_SECONDS,
) -> JobStep:
    """Repair a layer for about `seconds`; return counts and a cursor (None: complete).

    With `again`, a model rewrites its episodes.
    """
    if layer is DerivedLayer.EPISODES:
        return _rebuild_episodes(tools, workspace, now, again=again)
    part = {DerivedLayer.KNOWLEDGE: _rebuild_knowledge, DerivedLayer.VECTORS: _rebuild_vectors}.get(
        layer, _repair_index
    )
    counts: Counter[str] = Counter(looked=0, changed=0)
    deadline = time.monotonic() + seconds
    while True:
        step = part(tools, workspace, layer, cursor)
        counts.update(step.counts)
        cursor = step.cursor
        if cursor is None or time.monotonic() >= deadline:
            return JobStep(counts=dict(counts), cursor=cursor)


def rebuild_layer(
    tools: RebuildTools,
    workspace: WorkspaceId,
    layer: DerivedLayer,
    *,
    now: datetime,
    again: bool = False,
    report: ProgressCallback = ignore_progress,
) -> dict[str, int]:
    """Repair a complete layer; return the counts `looked` and `changed`."""
    counts: Counter[str] = Counter(looked=0, changed=0)
    total = _layer_size(tools.store, workspace, layer)
    cursor: Json = None
    while True:
        step = rebuild_step(tools, workspace, layer, now=now, cursor=cursor, again=again)
        counts.update(step.counts)
        report(counts["looked"], max(total, counts["looked"]))
        cursor = step.cursor
        if cursor is None:
            return dict(counts)


def _layer_size(store: Store, workspace: WorkspaceId, layer: DerivedLayer) -> int:
    counted = store.count_records(administrator_grant(workspace))
    if layer is DerivedLayer.KNOWLEDGE:
        return counted["events"]
    return sum(counted.values()) - counted["events"] - counted["vectors"]


def _repair_index(
    tools: RebuildTools, workspace: WorkspaceId, layer: DerivedLayer, cursor: Json
) -> JobStep:
    repaired = tools.store.indexes.repair(workspace, layer, cursor=cursor, limit=BATCH_SIZE)
    counts = {"looked": repaired.checked, "changed": repaired.changed}
    return JobStep(counts=counts, cursor=repaired.cursor)


def _rebuild_vectors(
    tools: RebuildTools, workspace: WorkspaceId, layer: DerivedLayer, cursor: Json
) -> JobStep:
    """Delete invalid vectors first, then embed every memory and write the differences."""
    store, embedder = tools.store, tools.embedder
    if cursor is None:
        deleted = store.indexes.repair(workspace, layer, limit=BATCH_SIZE).changed
        return JobStep(counts={"changed": deleted}, cursor="")
    here = administrator_grant(workspace)
    batch = store.vectors.list_missing(here, NO_PROFILE, limit=BATCH_SIZE, after=str(cursor))
    if not batch:
        return JobStep(counts={})
    expected = compute_vectors(embedder, batch)
    stored = store.vectors.get(here, embedder.profile, [memory.id for memory in batch])
    changed = {
        id: row
        for id, row in expected.items()
        if id not in stored or not np.array_equal(stored[id], row)
    }
    if changed:
        store.vectors.put(workspace, embedder.profile, changed)
    counts = {"looked": len(batch), "changed": len(changed)}
    return JobStep(counts=counts, cursor=batch[-1].id)


def find_missing_vectors(
    store: Store, embedder: Embedder, workspace: WorkspaceId
) -> list[IndexDamage]:
    """Return the damage of memories without a vector.

    Return nothing while events are pending or the embedder is being replaced. A local embedder is
    called to leave out texts with a zero vector; a remote one is not called, because it costs
    money.
    """
    here = administrator_grant(workspace)
    if store.queue.count_pending(here):
        return []
    try:
        profile = embedder.profile
    except (Unavailable, ConfigError):  # a search reports this
        return []
    if store.vectors.active_profile(workspace) not in (None, profile):
        return []
    count, after = 0, ""
    while batch := store.vectors.list_missing(here, profile, limit=BATCH_SIZE, after=after):
        count += len(compute_vectors(embedder, batch) if embedder.is_local else batch)
        after = batch[-1].id
    return (
        [IndexDamage(DerivedLayer.VECTORS, f"memories without a vector: {count}")] if count else []
    )


def _rebuild_episodes(
    tools: RebuildTools, workspace: WorkspaceId, now: datetime, *, again: bool
) -> JobStep:
    """Write missing episodes, then compare extractive episodes with a new version."""
    from ..learn.episodes.job import is_extractive  # the rules load with it

    episodes = tools.episodes()
    changed = episodes.refresh_episodes(workspace, now, rewrite=again)
    checked = (
        0
        if again
        else episodes.without_model.refresh_episodes(workspace, now, rewrite=is_extractive)
    )
    return JobStep(counts={"looked": max(changed, checked), "changed": changed})


def _rebuild_knowledge(
    tools: RebuildTools, workspace: WorkspaceId, _layer: DerivedLayer, cursor: Json
) -> JobStep:
    """Relearn one scope; at the end repair representatives of duplicates.

    The cursor is the list of remaining scopes, then the number of the last memory.
    """
    if isinstance(cursor, int):
        return repair_representatives(tools.store, workspace, after=cursor)
    scopes = _list_scopes(tools.store, workspace) if cursor is None else cursor
    if not scopes:
        return JobStep(counts={})
    first, *rest = scopes
    report = tools.relearner().relearn_scope(workspace, parse_scope(first))
    _embed_new_memories(tools, workspace, report.changed)
    counts = {"looked": report.events, "changed": report.deleted + len(report.changed)}
    return JobStep(counts=counts, cursor=rest or 0)


def _embed_new_memories(
    tools: RebuildTools, workspace: WorkspaceId, memories: Sequence[Memory]
) -> None:
    store, profile = tools.store, tools.embedder.profile
    searchable = {memory.id: memory for memory in memories if is_text_searchable(memory)}
    stored = store.vectors.get(administrator_grant(workspace), profile, list(searchable))
    new = [memory for id, memory in searchable.items() if id not in stored]
    if new:
        store.vectors.put(workspace, profile, compute_vectors(tools.embedder, new))


def _list_scopes(store: Store, workspace: WorkspaceId) -> list[str]:
    """Return every scope with events, sorted; events are read a week at a time."""
    everything = administrator_grant(workspace)
    scopes: set[str] = set()
    newest = store.ledger.find(everything, limit=1)
    while newest:
        start, until = newest[0].at - WEEK, newest[0].at + timedelta(microseconds=1)
        scopes |= {
            str(event.scope) for event in store.ledger.find(everything, since=start, until=until)
        }
        newest = store.ledger.find(everything, until=start, limit=1)
    return sorted(scopes)
