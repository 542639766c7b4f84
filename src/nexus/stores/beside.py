"""The records of one store, and parts that another product keeps beside them.

    CombinedStore(SqliteStore("memory.db"), window=RedisWindow("redis://…", records))

The records are the only copy of what was said. What lies beside them can be lost and made again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Protocol

from ..core.access import Grant
from ..core.audit import Entry
from ..core.erasing import Eraser
from ..core.graph import Graph
from ..core.ids import WorkspaceId
from ..core.keeping import ContextKeeper
from ..core.layers import Damage, Json, Layer, Layers, Mended
from ..core.leases import Lease
from ..core.metrics import CacheUse
from ..core.protocols import Store, Vectors
from ..core.records import Erased, Memory, Tombstone
from ..core.scope import Scope
from ..core.window import Window

CONTEXTS_ELSEWHERE = "contexts elsewhere"  # what metrics call that cache


class Elsewhere(Protocol):
    """What a part does, besides its own work, when it is not kept with the records."""

    def erase(self, workspace: WorkspaceId, ids: Sequence[str]) -> int:
        """Take out what goes with these ids and digests of tombstones; how much that was.

        Called before the records are erased, and after it for what was written meanwhile. If
        it raises the first time, nothing is erased anywhere.
        """
        ...

    def residue(self, workspace: WorkspaceId, pieces: Sequence[bytes]) -> dict[str, int]:
        """As of an eraser, for its own files."""
        ...

    def files(self) -> list[Path]: ...

    def close(self) -> None: ...


class Following(Elsewhere, Protocol):
    """A part that is made of the records, and follows them."""

    def follow(self) -> bool:
        """As of a store."""
        ...

    def rebuild(self) -> None:
        """Drop everything, to be made again by `follow`."""
        ...


class WindowElsewhere(Window, Elsewhere, Protocol):
    """A window that is not kept with the records."""


class VectorsElsewhere(Vectors, Following, Protocol):
    """Vectors that are searched in another place than the records."""


class GraphElsewhere(Graph, Following, Protocol):
    """A graph that is walked in another place than the records."""


class ContextsElsewhere(ContextKeeper, Elsewhere, Protocol):
    """A cache of composed contexts that several processes share."""


class CombinedStore:
    """A store whose parts are the records', but for those that are given.

    `contexts` is no part of a store by itself: without it each process keeps its own.
    """

    def __init__(
        self,
        records: Store,
        *,
        window: WindowElsewhere | None = None,
        vectors: VectorsElsewhere | None = None,
        graph: GraphElsewhere | None = None,
        contexts: ContextsElsewhere | None = None,
    ) -> None:
        self._records = records
        # Contexts come last: what they were made of is gone by then, and they tell by its epochs.
        beside = (window, vectors, graph, contexts)
        self._elsewhere: list[Elsewhere] = [part for part in beside if part]
        self._following: list[Following] = [part for part in (vectors, graph) if part]
        self.ledger = records.ledger
        self.queue = records.queue
        self.jobs = records.jobs
        self.memories = records.memories
        self.accounts = records.accounts
        self.uses = records.uses
        self.audit = records.audit
        self.graph: Graph = graph or records.graph
        self.vectors: Vectors = vectors or records.vectors
        self.window: Window = window or records.window
        self.contexts: ContextKeeper | None = contexts
        self.layers: Layers = CombinedLayers(records, vectors, graph)
        counted = {"window": window, "graph": graph, "contexts": contexts}
        self.eraser: Eraser = CombinedEraser(records.eraser, self._elsewhere, counted)

    def moment(self) -> AbstractContextManager[object]:
        return self._records.moment()

    def recording(
        self, workspace: WorkspaceId, entry: Entry, *, outcome: str | None = None
    ) -> AbstractContextManager[None]:
        return self._records.recording(workspace, entry, outcome=outcome)

    def recording_in(self, entries: Mapping[WorkspaceId, Entry]) -> AbstractContextManager[None]:
        return self._records.recording_in(entries)

    def holding(self, leases: Sequence[Lease]) -> AbstractContextManager[None]:
        return self._records.holding(leases)

    def workspaces(self) -> list[WorkspaceId]:
        return self._records.workspaces()

    def count(self, grant: Grant) -> dict[str, int]:
        return self._records.count(grant)

    def kinds(self, grant: Grant) -> dict[str, int]:
        return self._records.kinds(grant)

    def epoch(self, grant: Grant) -> int:
        return self._records.epoch(grant)

    def files(self) -> list[Path]:
        beside = (file for part in self._elsewhere for file in part.files())
        return [*self._records.files(), *beside]

    def caches(self) -> dict[str, CacheUse]:
        ours = {} if self.contexts is None else {CONTEXTS_ELSEWHERE: self.contexts.use}
        return {**self._records.caches(), **ours}

    def follow(self) -> bool:
        more = [part.follow() for part in self._following]
        return self._records.follow() or any(more)

    def optimize(self) -> None:
        self._records.optimize()

    def close(self) -> None:
        for part in self._elsewhere:
            part.close()
        self._records.close()


class CombinedLayers:
    """The layers of the records, and what was made of them elsewhere."""

    def __init__(self, records: Store, vectors: Following | None, graph: Following | None) -> None:
        self._records = records
        self._elsewhere = {Layer.VECTORS: vectors, Layer.GRAPH: graph}

    def damage(self, workspace: WorkspaceId) -> list[Damage]:
        return self._records.layers.damage(workspace)

    def mend(
        self, workspace: WorkspaceId, layer: Layer, *, cursor: Json = None, limit: int
    ) -> Mended:
        """When the records are right, what follows them is dropped; it is filled in again."""
        mended = self._records.layers.mend(workspace, layer, cursor=cursor, limit=limit)
        follower = self._elsewhere.get(layer)
        if follower is not None and mended.cursor is None:
            follower.rebuild()
        return mended


class CombinedEraser:
    """Erases elsewhere before and after the records.

    Before, because what lies elsewhere is found by events that are still there, and because a
    part that is away must not keep what the records have forgotten. After, because somebody may
    have written there meanwhile; from then on nobody writes what rests on the erased.
    """

    def __init__(
        self,
        records: Eraser,
        elsewhere: Sequence[Elsewhere],
        counted: Mapping[str, Elsewhere | None],
    ) -> None:
        self._records = records
        self._elsewhere = elsewhere
        self._counted = counted  # by what a report calls them

    def derived(self, workspace: WorkspaceId, ids: Iterable[str]) -> list[Memory]:
        return self._records.derived(workspace, ids)

    def erase(
        self,
        workspace: WorkspaceId,
        *,
        events: Sequence[str],
        memories: Sequence[str],
        tombstones: Sequence[Tombstone],
    ) -> Erased:
        resting = self._records.derived(workspace, [*events, *memories])
        stones = [stone.digest for stone in tombstones]
        ids = [*events, *memories, *(memory.id for memory in resting), *stones]
        before = self._erase_elsewhere(workspace, ids)
        erased = self._records.erase(
            workspace, events=events, memories=memories, tombstones=tombstones
        )
        after = self._erase_elsewhere(workspace, ids)
        gone = {name: getattr(erased, name) + before[name] + after[name] for name in self._counted}
        return replace(erased, **gone)

    def _erase_elsewhere(self, workspace: WorkspaceId, ids: Sequence[str]) -> dict[str, int]:
        """How much that was of each part that is counted."""
        gone = [(part, part.erase(workspace, ids)) for part in self._elsewhere]
        return {
            name: sum(n for part, n in gone if part is one) for name, one in self._counted.items()
        }

    def tombstones(self, workspace: WorkspaceId) -> list[Tombstone]:
        return self._records.tombstones(workspace)

    def stones(self, workspace: WorkspaceId, scopes: Iterable[Scope]) -> frozenset[Tombstone]:
        return self._records.stones(workspace, scopes)

    def gone(
        self, workspace: WorkspaceId, ids: Sequence[str], *, since: datetime | None = None
    ) -> bool:
        return self._records.gone(workspace, ids, since=since)

    def residue(self, workspace: WorkspaceId, pieces: Sequence[bytes]) -> dict[str, int]:
        found = self._records.residue(workspace, pieces)
        for part in self._elsewhere:
            found |= part.residue(workspace, pieces)
        return found
