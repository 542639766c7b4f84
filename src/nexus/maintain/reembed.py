"""Changing the embedder of a memory: new vectors first, then the switch."""

from __future__ import annotations

from collections.abc import Callable

from ..core.access import administrator_grant
from ..core.derive import embedded_text, searched_by_text
from ..core.ids import WorkspaceId
from ..core.protocols import Embedder, Store
from ..core.records import Memory

BATCH = 256


def reembed(store: Store, embedder: Embedder, report: Callable[[int, int], None]) -> int:
    """Give every memory a vector of this embedder; returns how many were made.

    What has one is left alone, so it goes on where it was interrupted.
    """
    profile = embedder.profile
    every = [(workspace, _without(store, embedder, workspace)) for workspace in store.workspaces()]
    total = sum(len(memories) for _, memories in every)
    done = 0
    for workspace, memories in every:
        for start in range(0, len(memories), BATCH):
            batch = memories[start : start + BATCH]
            rows = embedder.embed([embedded_text(memory) for memory in batch])
            pairs = zip(batch, rows, strict=True)
            vectors = {memory.id: row for memory, row in pairs if row.any()}
            store.vectors.put(workspace, profile, vectors)
            done += len(batch)
            report(done, total)
    store.vectors.use(profile)
    return total


def _without(store: Store, embedder: Embedder, workspace: WorkspaceId) -> list[Memory]:
    grant = administrator_grant(workspace)
    memories = store.memories.find(grant)
    known = store.vectors.get(grant, embedder.profile, [memory.id for memory in memories])
    return [each for each in memories if each.id not in known and searched_by_text(each)]
