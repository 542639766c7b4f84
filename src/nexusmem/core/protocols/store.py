"""Protocol of a store: all persistent parts behind one object.

Implementations do not inherit from these protocols. The suites in `nexusmem.testing` check each
contract. Every read takes a `Grant` first, so no read is possible without access control. An
implementation maps driver errors to `nexusmem.core.errors`. `close` may be called twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from ...audit.records import AuditEntry, AuditLog
    from ...runtime.leases import Lease
    from ...telemetry.metrics import CacheStats
    from ..access import Grant
    from ..ids import WorkspaceId
    from ..records.memory import Tier
    from ..records.projections import TierCount
    from ..records.window import Window
    from .eraser import Eraser
    from .graph import Graph
    from .index_repair import DerivedIndexes
    from .jobs import Jobs
    from .ledger import Ledger
    from .memories import Memories
    from .models import ModelCosts
    from .queue import Queue
    from .usage_counts import UsageCounts
    from .vectors import Vectors


class Store(Protocol):
    """Complete storage of Nexus. The reference store in `nexusmem.testing` is the specification."""

    @property
    def ledger(self) -> Ledger: ...

    @property
    def queue(self) -> Queue: ...

    @property
    def jobs(self) -> Jobs: ...

    @property
    def memories(self) -> Memories: ...

    @property
    def vectors(self) -> Vectors: ...

    @property
    def eraser(self) -> Eraser: ...

    @property
    def model_costs(self) -> ModelCosts: ...

    @property
    def usage_counts(self) -> UsageCounts: ...

    @property
    def audit(self) -> AuditLog: ...

    @property
    def window(self) -> Window: ...

    @property
    def graph(self) -> Graph: ...

    @property
    def indexes(self) -> DerivedIndexes: ...

    def snapshot(self) -> AbstractContextManager[object]:
        """Return a context manager in which this thread's reads share one read transaction.

        Keep the block short: do not call an embedder, a model or any other slow function inside.
        """
        ...

    def with_audit_entry(
        self, workspace: WorkspaceId, entry: AuditEntry, *, outcome: str | None = None
    ) -> AbstractContextManager[None]:
        """Record `entry` in the transaction of this thread's next write inside the block.

        Nothing is recorded if the block writes nothing, or if `AuditLog.configure` disabled it. The
        return value of the write is added to the entry's detail as `outcome`, if given. A return
        value of 0 counts as no write.
        """
        ...

    def with_audit_entries(
        self, entries: Mapping[WorkspaceId, AuditEntry]
    ) -> AbstractContextManager[None]:
        """Do the same for a write to several workspaces."""
        ...

    def with_leases(self, leases: Sequence[Lease]) -> AbstractContextManager[None]:
        """Let this thread write inside the block only while it holds all of these leases.

        Each write checks the leases in its own transaction. It raises LeaseLost and writes nothing
        if one is lost. Tasks that were finished or postponed need no lease any longer.
        """
        ...

    def list_workspaces(self) -> list[WorkspaceId]:
        """Return all workspaces that were ever written to."""
        ...

    def count_records(self, grant: Grant) -> dict[str, int]:
        """Return the number of visible events, memories (by kind) and vectors."""
        ...

    def count_by_kind(self, grant: Grant) -> dict[str, int]:
        """Return the number of visible memories of each kind."""
        ...

    def count_by_tier(self, grant: Grant) -> dict[Tier, TierCount]:
        """Return the number and the times of visible memories in each tier that has any."""
        ...

    def epoch(self, grant: Grant) -> int:
        """Return a number that grows with each write or erasure of records the grant may see.

        While it is unchanged, all earlier reads stay valid. It grows in the transaction of the
        write, and never because of records that the grant may not see. Context receipts, injected
        digests and the rolling summary do not change it, since they are derived from existing
        records. A window outside of the store has its own epoch, which may be unavailable.
        """
        ...

    def list_files(self) -> list[Path]:
        """Return the files of the store; empty for a store in memory."""
        ...

    def cache_stats(self) -> dict[str, CacheStats]:
        """Return hits and misses of each cache of the store in this process."""
        ...

    def catch_up_replicas(self) -> bool:
        """Apply some changes to external replicas; return whether more are pending.

        Reads do not wait for it: changes not yet applied are read from the records.
        """
        ...

    def optimize(self) -> None:
        """Free unused space and reorganize indexes."""
        ...

    def close(self) -> None: ...
