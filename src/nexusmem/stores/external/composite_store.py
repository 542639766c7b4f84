"""Composite store: the records of one store, with parts in Redis, LanceDB or Neo4j.

    CompositeStore(SqliteStore("memory.db"), window=RedisWindow("redis://…", records))

The records are the only copy of the events. The external parts can be lost and rebuilt.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Protocol

from ...audit.records import AuditEntry
from ...core.access import Grant
from ...core.ids import WorkspaceId
from ...core.protocols.context_cache import SharedContextCache
from ...core.protocols.eraser import Eraser
from ...core.protocols.graph import Graph
from ...core.protocols.index_repair import (
    DerivedIndexes,
    DerivedLayer,
    IndexDamage,
    Json,
    RepairResult,
)
from ...core.protocols.store import Store
from ...core.protocols.vectors import Vectors
from ...core.records import ErasureCounts, Memory, Tombstone
from ...core.records.memory import Tier
from ...core.records.projections import TierCount
from ...core.records.window import Window
from ...core.scope import Scope
from ...runtime.leases import Lease
from ...telemetry.metrics import CacheStats

SHARED_CONTEXT_CACHE = "shared contexts"  # name of the cache in metrics


class ExternalPart(Protocol):
    """The additional methods of a part that is stored outside of the records."""

    def erase(self, workspace: WorkspaceId, ids: Sequence[str]) -> int:
        """Erase what depends on these ids and tombstone digests; return the number of items.

        The store calls this before it erases the records, and again afterwards for concurrent
        writes. If the first call raises, the records are not erased either.
        """
        ...

    def find_residue(self, workspace: WorkspaceId, pieces: Sequence[bytes]) -> dict[str, int]:
        """Return the residue in the files of this part, like `Eraser.find_residue`."""
        ...

    def list_files(self) -> list[Path]: ...

    def close(self) -> None: ...


class ReplicatedPart(ExternalPart, Protocol):
    """A part that replicates the records."""

    def catch_up(self) -> bool:
        """Replicate one batch, like `Store.catch_up_replicas`; return whether more is pending."""
        ...

    def rebuild(self) -> None:
        """Drop all data; `catch_up` replicates the records again."""
        ...


class ExternalWindow(Window, ExternalPart, Protocol):
    """A window outside of the records."""


class ExternalVectors(Vectors, ReplicatedPart, Protocol):
    """Vectors with a search index outside of the records."""


class ExternalGraph(Graph, ReplicatedPart, Protocol):
    """A graph with a mirror outside of the records."""


class ExternalContextCache(SharedContextCache, ExternalPart, Protocol):
    """A cache of composed contexts that several processes share."""


class CompositeStore:
    """A store that takes the given parts from other servers and all others from `records`.

    Without `contexts`, each process has its own cache of contexts.
    """

    def __init__(
        self,
        records: Store,
        *,
        window: ExternalWindow | None = None,
        vectors: ExternalVectors | None = None,
        graph: ExternalGraph | None = None,
        contexts: ExternalContextCache | None = None,
    ) -> None:
        self._records = records
        # Contexts are erased last: the erasure of the other parts has changed their epochs by then.
        parts = (window, vectors, graph, contexts)
        self._external_parts: list[ExternalPart] = [part for part in parts if part]
        self._replicated_parts: list[ReplicatedPart] = [part for part in (vectors, graph) if part]
        self.ledger = records.ledger
        self.queue = records.queue
        self.jobs = records.jobs
        self.memories = records.memories
        self.model_costs = records.model_costs
        self.usage_counts = records.usage_counts
        self.audit = records.audit
        self.graph: Graph = graph or records.graph
        self.vectors: Vectors = vectors or records.vectors
        self.window: Window = window or records.window
        self.contexts: SharedContextCache | None = contexts
        self.indexes: DerivedIndexes = CompositeIndexRepair(records, vectors, graph)
        counted = {"window": window, "graph": graph, "contexts": contexts}
        self.eraser: Eraser = CompositeEraser(records.eraser, self._external_parts, counted)

    def snapshot(self) -> AbstractContextManager[object]:
        return self._records.snapshot()

    def with_audit_entry(
        self, workspace: WorkspaceId, entry: AuditEntry, *, outcome: str | None = None
    ) -> AbstractContextManager[None]:
        return self._records.with_audit_entry(workspace, entry, outcome=outcome)

    def with_audit_entries(
        self, entries: Mapping[WorkspaceId, AuditEntry]
    ) -> AbstractContextManager[None]:
        return self._records.with_audit_entries(entries)

    def with_leases(self, leases: Sequence[Lease]) -> AbstractContextManager[None]:
        return self._records.with_leases(leases)

    def list_workspaces(self) -> list[WorkspaceId]:
        return self._records.list_workspaces()

    def count_records(self, grant: Grant) -> dict[str, int]:
        return self._records.count_records(grant)

    def count_by_kind(self, grant: Grant) -> dict[str, int]:
        return self._records.count_by_kind(grant)

    def count_by_tier(self, grant: Grant) -> dict[Tier, TierCount]:
        return self._records.count_by_tier(grant)

    def epoch(self, grant: Grant) -> int:
        return self._records.epoch(grant)

    def list_files(self) -> list[Path]:
        external = (file for part in self._external_parts for file in part.list_files())
        return [*self._records.list_files(), *external]

    def cache_stats(self) -> dict[str, CacheStats]:
        external = {} if self.contexts is None else {SHARED_CONTEXT_CACHE: self.contexts.stats}
        return {**self._records.cache_stats(), **external}

    def catch_up_replicas(self) -> bool:
        more = [part.catch_up() for part in self._replicated_parts]
        return self._records.catch_up_replicas() or any(more)

    def optimize(self) -> None:
        self._records.optimize()

    def close(self) -> None:
        for part in self._external_parts:
            part.close()
        self._records.close()


class CompositeIndexRepair:
    """Repairs the indexes of the records, and rebuilds the replicas made from them."""

    def __init__(
        self, records: Store, vectors: ReplicatedPart | None, graph: ReplicatedPart | None
    ) -> None:
        self._records = records
        self._replicas = {DerivedLayer.VECTORS: vectors, DerivedLayer.GRAPH: graph}

    def find_damage(self, workspace: WorkspaceId) -> list[IndexDamage]:
        return self._records.indexes.find_damage(workspace)

    def repair(
        self, workspace: WorkspaceId, layer: DerivedLayer, *, cursor: Json = None, limit: int
    ) -> RepairResult:
        """Repair a layer; after its last step, drop the replica, which is then filled again."""
        result = self._records.indexes.repair(workspace, layer, cursor=cursor, limit=limit)
        replica = self._replicas.get(layer)
        if replica is not None and result.cursor is None:
            replica.rebuild()
        return result


class CompositeEraser:
    """Erases the external parts before and after the records.

    Before, because the existing events identify what to erase, and an unreachable part must not
    retain data that the records have erased. After, because of concurrent writes; from then on the
    tombstones reject writes that depend on the erased records.
    """

    def __init__(
        self,
        records: Eraser,
        external_parts: Sequence[ExternalPart],
        counted_parts: Mapping[str, ExternalPart | None],
    ) -> None:
        self._records = records
        self._external_parts = external_parts
        self._counted_parts = counted_parts  # by their names in ErasureCounts

    def list_derived(self, workspace: WorkspaceId, ids: Iterable[str]) -> list[Memory]:
        return self._records.list_derived(workspace, ids)

    def erase(
        self,
        workspace: WorkspaceId,
        *,
        events: Sequence[str],
        memories: Sequence[str],
        tombstones: Sequence[Tombstone],
    ) -> ErasureCounts:
        derived = self._records.list_derived(workspace, [*events, *memories])
        digests = [tombstone.digest for tombstone in tombstones]
        ids = [*events, *memories, *(memory.id for memory in derived), *digests]
        before = self._erase_external(workspace, ids)
        erased = self._records.erase(
            workspace, events=events, memories=memories, tombstones=tombstones
        )
        after = self._erase_external(workspace, ids)
        gone = {
            name: getattr(erased, name) + before[name] + after[name] for name in self._counted_parts
        }
        return replace(erased, **gone)

    def _erase_external(self, workspace: WorkspaceId, ids: Sequence[str]) -> dict[str, int]:
        """Erase from all parts; return the number of items of each counted part."""
        gone = [(part, part.erase(workspace, ids)) for part in self._external_parts]
        return {
            name: sum(n for part, n in gone if part is one)
            for name, one in self._counted_parts.items()
        }

    def list_tombstones(self, workspace: WorkspaceId) -> list[Tombstone]:
        return self._records.list_tombstones(workspace)

    def scope_tombstones(
        self, workspace: WorkspaceId, scopes: Iterable[Scope]
    ) -> frozenset[Tombstone]:
        return self._records.scope_tombstones(workspace, scopes)

    def any_erased(
        self, workspace: WorkspaceId, ids: Sequence[str], *, since: datetime | None = None
    ) -> bool:
        return self._records.any_erased(workspace, ids, since=since)

    def find_residue(self, workspace: WorkspaceId, pieces: Sequence[bytes]) -> dict[str, int]:
        found = self._records.find_residue(workspace, pieces)
        for part in self._external_parts:
            found |= part.find_residue(workspace, pieces)
        return found
