"""Reference store: all protocols of `Store` in dictionaries, written for clarity and not for speed.

The other stores must return the same results; the suites in `nexusmem.testing` compare them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from ...audit.records import AuditEntry
from ...core.access import Grant
from ...core.ids import WorkspaceId
from ...core.protocols.bulk_copy import BulkCopy
from ...core.protocols.eraser import add_shared_tombstones
from ...core.protocols.graph import MemoryGraph
from ...core.protocols.index_repair import DerivedIndexes
from ...core.records import ErasureCounts, Memory, Tombstone
from ...core.records.links import share_event_ids
from ...core.records.memory import Tier
from ...core.records.projections import TierCount
from ...core.scope import Scope
from ...runtime.leases import Lease
from ...telemetry.metrics import CacheStats
from .bulk_copy import ReferenceBulkCopy, ReferenceIndexRepair
from .jobs import ReferenceJobs
from .ledger import ReferenceLedger
from .memories import ReferenceMemories, ReferenceVectors
from .queue import ReferenceQueue
from .state import StorePart, StoreState, WorkspaceData, as_write, sort_newest_first, with_lock
from .usage_counts import ReferenceModelCosts, ReferenceUsageCounts, erase_usage
from .window import erase_from_window


class ReferenceEraser(StorePart):
    """Reference implementation of the protocol `Eraser`."""

    @with_lock
    def list_derived(self, workspace: WorkspaceId, ids: Iterable[str]) -> list[Memory]:
        home = self._state.get_workspace(workspace)
        reached = set(ids)
        derived: dict[str, Memory] = {}
        growing = True
        while growing:
            fresh = {
                memory.id: memory
                for memory in home.memories.values()
                if memory.id not in derived and reached.intersection(memory.sources)
            }
            derived.update(fresh)
            reached.update(fresh)
            growing = bool(fresh)
        return sort_newest_first(derived.values())

    @as_write
    def erase(
        self,
        workspace: WorkspaceId,
        *,
        events: Sequence[str],
        memories: Sequence[str],
        tombstones: Sequence[Tombstone],
    ) -> ErasureCounts:
        home = self._state.get_workspace(workspace)
        dependents, erased_events = self._find_dependents(workspace, events, memories)
        tombstones = add_shared_tombstones(tombstones, events, erased_events)
        events = erased_events
        report = self._erase_memories(home, list(dict.fromkeys([*memories, *dependents])))
        ids = [*events, *memories, *dependents, *(tombstone.digest for tombstone in tombstones)]
        window_items = erase_from_window(self._state.window, workspace, ids)
        uses = erase_usage(home.uses, ids)
        queued = sum(home.work.pop(id, None) is not None for id in events)
        for job in home.jobs.values():  # an error text may quote an event
            job.error = job.error and "it failed"
        gone = [home.by_id[id] for id in events if id in home.by_id and home.by_id[id].event]
        for entry in gone:
            home.epochs.update([frozenset({entry.event.scope})] if entry.event else [])
            entry.event, entry.salt = None, b""
        home.add_tombstones(tombstones)
        return replace(report, events=len(gone), queued=queued, window=window_items, uses=uses)

    def _find_dependents(
        self, workspace: WorkspaceId, events: Sequence[str], memories: Sequence[str]
    ) -> tuple[list[str], list[str]]:
        """Return the ids of dependent memories and of the events to erase.

        The events are `events` and the share events of the dependent memories.
        """
        erased_events = dict.fromkeys(events)
        while True:
            dependents = self.list_derived(workspace, [*erased_events, *memories])
            fresh = [id for id in share_event_ids(dependents) if id not in erased_events]
            if not fresh:
                return [memory.id for memory in dependents], list(erased_events)
            erased_events |= dict.fromkeys(fresh)

    def _erase_memories(self, home: WorkspaceData, ids: Sequence[str]) -> ErasureCounts:
        present = [id for id in ids if id in home.memories]
        vectors = sum(id in table for table in home.vectors.values() for id in present)
        keywords = sum(len(set(home.words[id])) for id in present)
        links = sum(len(set(home.memories[id].sources)) for id in present)
        ReferenceMemories(self._state).delete(home.id, present)
        return ErasureCounts(memories=len(present), vectors=vectors, keywords=keywords, links=links)

    @with_lock
    def list_tombstones(self, workspace: WorkspaceId) -> list[Tombstone]:
        return sorted(
            self._state.get_workspace(workspace).tombstones, key=lambda s: (s.kind, s.digest)
        )

    @with_lock
    def scope_tombstones(
        self, workspace: WorkspaceId, scopes: Iterable[Scope]
    ) -> frozenset[Tombstone]:
        return self._state.get_workspace(workspace).scope_tombstones(scopes)

    @with_lock
    def any_erased(
        self, workspace: WorkspaceId, ids: Sequence[str], *, since: datetime | None = None
    ) -> bool:
        return self._state.any_erased(workspace, ids, since)

    def find_residue(self, workspace: WorkspaceId, pieces: Sequence[bytes]) -> dict[str, int]:
        del workspace, pieces  # the store has no files
        return {}


class ReferenceStore:
    """A store in memory; its data end with the process."""

    def __init__(self) -> None:
        self._state = StoreState()
        self.ledger = ReferenceLedger(self._state)
        self.queue = ReferenceQueue(self._state)
        self.jobs = ReferenceJobs(self._state)
        self.memories = ReferenceMemories(self._state)
        self.vectors = ReferenceVectors(self._state)
        self.eraser = ReferenceEraser(self._state)
        self.model_costs = ReferenceModelCosts(self._state)
        self.usage_counts = ReferenceUsageCounts(self._state)
        self.audit = self._state.audit
        self.window = self._state.window
        self.graph = MemoryGraph(self.memories)

    @property
    def indexes(self) -> DerivedIndexes:
        return ReferenceIndexRepair(self._state)

    @property
    def bulk_copy(self) -> BulkCopy:
        return ReferenceBulkCopy(self._state)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._state.lock:
            yield

    def with_audit_entry(
        self, workspace: WorkspaceId, entry: AuditEntry, *, outcome: str | None = None
    ) -> AbstractContextManager[None]:
        audit = self.audit
        return audit._with_audit_entry(workspace, entry, outcome)  # not in the protocol  # noqa: SLF001

    def with_audit_entries(
        self, entries: Mapping[WorkspaceId, AuditEntry]
    ) -> AbstractContextManager[None]:
        return self.audit._with_audit_entries(entries)  # not in the protocol  # noqa: SLF001

    def with_leases(self, leases: Sequence[Lease]) -> AbstractContextManager[None]:
        return self._state.held_leases.hold(leases)

    def list_workspaces(self) -> list[WorkspaceId]:
        with self._state.lock:
            return sorted(w.id for w in self._state.workspaces.values() if w.entries)

    def count_records(self, grant: Grant) -> dict[str, int]:
        with self._state.lock:
            events = sum(1 for _ in self._state.visible_events(grant))
            visible = {m.id for m in self._state.visible_memories(grant)}
            tables = self._state.workspace_for(grant).vectors.values()
            vectors = sum(len(visible & table.keys()) for table in tables)
            return {"events": events, **self.count_by_kind(grant), "vectors": vectors}

    def count_by_kind(self, grant: Grant) -> dict[str, int]:
        with self._state.lock:
            kinds = Counter(m.kind.value for m in self._state.visible_memories(grant))
            return dict(sorted(kinds.items()))

    def count_by_tier(self, grant: Grant) -> dict[Tier, TierCount]:
        with self._state.lock:
            times: dict[Tier, list[datetime]] = {}
            for memory in self._state.visible_memories(grant):
                times.setdefault(memory.tier, []).append(memory.at)
            return {
                tier: TierCount(len(times[tier]), min(times[tier]), max(times[tier]))
                for tier in sorted(times)
            }

    def epoch(self, grant: Grant) -> int:
        with self._state.lock:
            epochs = self._state.workspace_for(grant).epochs
            return sum(writes for label, writes in epochs.items() if grant.allows(label))

    def list_files(self) -> list[Path]:
        return []

    def cache_stats(self) -> dict[str, CacheStats]:
        return {}

    def catch_up_replicas(self) -> bool:
        return False  # there are no replicas

    def optimize(self) -> None:
        pass

    def close(self) -> None:
        self._state.lock.close()
