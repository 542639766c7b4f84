"""Base class of the SQL stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime

from ...audit.records import AuditEntry
from ...core.access import Grant
from ...core.canonical import parse_time
from ...core.ids import WorkspaceId
from ...core.json_codec import TIERS
from ...core.protocols.bulk_copy import BulkCopy
from ...core.protocols.eraser import Eraser
from ...core.protocols.graph import Graph, MemoryGraph
from ...core.protocols.index_repair import DerivedIndexes
from ...core.protocols.vectors import Vectors
from ...core.records.memory import Tier
from ...core.records.projections import TierCount
from ...runtime.leases import Lease
from ...telemetry.metrics import CacheStats
from ..external.change_feed import ChangeFeed
from .audit import SqlAudit
from .caches.label_cache import NameCache
from .jobs import SqlJobs
from .keywords.keyword_index import KeywordIndex
from .ledger import SqlLedger
from .memories import SqlMemories
from .queue import SqlQueue
from .readable_labels import compile_grant
from .transactions import HookedConnections
from .usage import SqlModelCosts, SqlUsageCounts
from .window import SqlWindow


def _to_time(value: str | datetime) -> datetime:
    return parse_time(value) if isinstance(value, str) else value


class SqlStore:
    """Parts that SQLite and Postgres share; subclasses add vectors and the eraser."""

    is_encrypted = False  # whether records must not be copied to unencrypted files
    is_in_memory = False  # whether `close` deletes the records

    def __init__(
        self,
        connections: HookedConnections,
        keyword_index: KeywordIndex,
        name_cache: NameCache | None = None,
    ) -> None:
        self._hooked_connections = connections
        self._keyword_index = keyword_index
        self.change_feed = ChangeFeed(connections)
        self.ledger: SqlLedger = SqlLedger(connections)
        self.queue: SqlQueue = SqlQueue(connections)
        self.jobs = SqlJobs(connections)
        self.memories = SqlMemories(connections, keyword_index, name_cache)
        self.model_costs = SqlModelCosts(connections)
        self.usage_counts = SqlUsageCounts(connections)
        self.audit = SqlAudit(connections)
        self.window = SqlWindow(connections)
        self.graph: Graph = MemoryGraph(self.memories)
        self.vectors: Vectors
        self.eraser: Eraser

    @property
    def indexes(self) -> DerivedIndexes:
        from .index_repair import SqlIndexRepair  # rarely used

        return SqlIndexRepair(self._hooked_connections)

    @property
    def bulk_copy(self) -> BulkCopy:
        from .bulk_copy import SqlBulkCopy  # rarely used

        return SqlBulkCopy(self._hooked_connections)

    def snapshot(self) -> AbstractContextManager[object]:
        return self._hooked_connections.read_transaction()

    def with_audit_entry(
        self, workspace: WorkspaceId, entry: AuditEntry, *, outcome: str | None = None
    ) -> AbstractContextManager[None]:
        audit = self.audit
        return audit._with_audit_entry(  # noqa: SLF001
            workspace, entry, outcome
        )  # not part of the protocol of Audit

    def with_audit_entries(
        self, entries: Mapping[WorkspaceId, AuditEntry]
    ) -> AbstractContextManager[None]:
        return self.audit._with_audit_entries(entries)  # not part of the protocol of Audit  # noqa: SLF001

    def with_leases(self, leases: Sequence[Lease]) -> AbstractContextManager[None]:
        return self._hooked_connections.held_leases.hold(leases)

    def list_workspaces(self) -> list[WorkspaceId]:
        with self._hooked_connections.read_transaction() as session:
            return [WorkspaceId(name) for (name,) in session.execute_query("workspaces")]

    def count_records(self, grant: Grant) -> dict[str, int]:
        with self._hooked_connections.read_transaction() as session:
            bound = compile_grant(session, grant).parameters
            (events,) = session.execute_query("count_events", bound).fetchone()
            (vectors,) = session.execute_query("count_vectors", bound).fetchone()
            return {"events": events, **self.count_by_kind(grant), "vectors": vectors}

    def count_by_kind(self, grant: Grant) -> dict[str, int]:
        with self._hooked_connections.read_transaction() as session:
            bound = compile_grant(session, grant).non_empty.parameters
            return dict(session.execute_query("count_memories", bound).fetchall())

    def count_by_tier(self, grant: Grant) -> dict[Tier, TierCount]:
        with self._hooked_connections.read_transaction() as session:
            bound = compile_grant(session, grant).non_empty.parameters
            rows = session.execute_query("count_tiers", bound).fetchall()
            return {
                TIERS[tier]: TierCount(memories, _to_time(oldest), _to_time(newest))
                for tier, memories, oldest, newest in rows
            }

    def epoch(self, grant: Grant) -> int:
        with self._hooked_connections.read_transaction() as session:
            return compile_grant(session, grant).epoch

    def cache_stats(self) -> dict[str, CacheStats]:
        from .vectors.vector_store import SqlVectors  # imported only by stores that use it

        caches = self._keyword_index.cache_stats()
        if isinstance(self.vectors, SqlVectors):
            caches["vectors"] = self.vectors.cache_stats
        return caches

    def catch_up_replicas(self) -> bool:
        return False  # there are no replicas
