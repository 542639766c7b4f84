"""In-memory tables, lock and write transaction that all parts of the reference store share."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from ...core.access import Grant, Label, check_grant
from ...core.derive import Source, keyword_text
from ...core.errors import LeaseLost
from ...core.hash_chain import GENESIS
from ...core.ids import WorkspaceId
from ...core.protocols.embedder import Floats
from ...core.protocols.eraser import scope_digests
from ...core.protocols.usage_counts import NewUsage, ScopeUsage, conversation_digest, owner_digest
from ...core.records import EmbeddingProfile, Event, Memory, ModelCost, Stage, Tombstone
from ...core.scope import Scope
from ...stores.transaction_hooks import HeldLeases, WriteHooks
from ...text.terms import extract_terms
from .audit import ReferenceAudit
from .jobs import JobRow
from .lock import ClosableLock
from .window import ReferenceWindow


@dataclass(slots=True)
class LedgerEntry:
    """An entry of the ledger's hash chain."""

    id: str
    event: Event | None  # None: erased
    salt: bytes
    commitment: bytes
    hash: bytes


@dataclass(slots=True)
class StoredTask:
    """Queued work for one event."""

    event_id: str
    step: Stage
    due_at: datetime
    attempts: int = 0
    leased_until: datetime | None = None
    error: str | None = None
    fence: int = 0  # fencing token: grows with each lease
    priority: int = 0  # 0: live event, 1: imported event

    def is_free(self, now: datetime) -> bool:
        return self.leased_until is None or self.leased_until <= now


@dataclass(slots=True)
class StoredUsage:
    """Use counts of one memory in one scope, with the digest of the scope's owner."""

    usage: ScopeUsage = field(default_factory=ScopeUsage)
    owner: str | None = None

    def add(self, use: NewUsage) -> None:
        self.usage = self.usage.add_use(conversation_digest(use), use.at)
        self.owner = owner_digest(use.scope)


UsageByScope = dict[str, StoredUsage]  # by scope digest
UsageByMemory = dict[str, UsageByScope]  # by memory id


@dataclass(slots=True)
class WorkspaceData:
    """Tables of one workspace."""

    id: WorkspaceId
    entries: list[LedgerEntry] = field(default_factory=list)
    by_id: dict[str, LedgerEntry] = field(default_factory=dict)
    work: dict[str, StoredTask] = field(default_factory=dict)
    jobs: dict[tuple[str, str], JobRow] = field(default_factory=dict)
    memories: dict[str, Memory] = field(default_factory=dict)
    words: dict[str, list[str]] = field(default_factory=dict)  # terms by memory id
    write_numbers: dict[str, int] = field(
        default_factory=dict
    )  # number of the last write by memory id
    counter: int = 0
    vectors: dict[str, dict[str, Floats]] = field(default_factory=lambda: defaultdict(dict))
    tombstones: list[Tombstone] = field(default_factory=list)
    costs: dict[tuple[datetime, str, str], ModelCost] = field(default_factory=dict)
    uses: UsageByMemory = field(default_factory=dict)
    epochs: Counter[Label] = field(default_factory=Counter)  # number of writes by label
    profile: EmbeddingProfile | None = None  # the profile that searches use
    last_write_day: date = date.min  # UTC day of the latest append
    events_that_day: int = 0  # events appended on that day

    @property
    def chain_head(self) -> bytes:
        return self.entries[-1].hash if self.entries else GENESIS

    def iter_events(self) -> Iterator[Event]:
        return (entry.event for entry in self.entries if entry.event)

    def write_memory(self, memory: Memory) -> None:
        """Insert or replace a memory and index its terms."""
        self.counter += 1
        self.write_numbers[memory.id] = self.counter
        self.memories[memory.id] = memory
        self.words[memory.id] = extract_terms(keyword_text(memory))

    def add_tombstones(self, tombstones: Iterable[Tombstone]) -> None:
        """Add tombstones; of two with the same kind and digest the later one stays."""
        existing = {(tombstone.kind, tombstone.digest): tombstone for tombstone in self.tombstones}
        for tombstone in tombstones:
            before = existing.setdefault((tombstone.kind, tombstone.digest), tombstone)
            existing[tombstone.kind, tombstone.digest] = max(
                before, tombstone, key=lambda each: each.at
            )
        self.tombstones = list(existing.values())

    def scope_tombstones(self, scopes: Iterable[Scope]) -> frozenset[Tombstone]:
        wanted = set(scope_digests(scopes))
        candidates = (each for each in self.tombstones if each.kind in ("scope", "user"))
        return frozenset(each for each in candidates if each.digest in wanted)

    def find_source(self, id: str) -> Source | None:
        """Return the event or memory with this id, or None if it is missing or erased."""
        entry = self.by_id.get(id)
        return entry.event if entry else self.memories.get(id)


P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="StorePart")
T = TypeVar("T", Event, Memory)


def with_lock(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Decorate a reading method: it runs with the lock of the store."""

    @wraps(method)
    def call_locked(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._state.lock:
            return method(self, *args, **kwargs)

    return call_locked


def as_write(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Decorate a writing method: it runs as a transaction, with the hooks of its thread."""

    @wraps(method)
    def call_write(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._state.run_write(lambda: method(self, *args, **kwargs))

    return call_write


class StoreState:
    """Data of all workspaces, and the write transaction."""

    def __init__(self) -> None:
        self.lock = ClosableLock()
        self.hooks: WriteHooks[None] = WriteHooks()
        self._in_write = False  # an outer transaction is running
        self.audit = ReferenceAudit(self.lock, self)
        self.held_leases = HeldLeases()
        self.workspaces: dict[WorkspaceId, WorkspaceData] = {}
        self.profiles: set[EmbeddingProfile] = set()
        self.window = ReferenceWindow(self.lock, self)

    def run_write(self, work: Callable[[], R]) -> R:
        """Run `work` and the hooks of this thread as one transaction; return the result of `work`.

        Raise LeaseLost if a lease of this thread has expired or belongs to another worker.
        """
        with self.lock:
            if not self._in_write:
                self.check_leases()
            if self._in_write or not self.hooks:
                return work()
            self._in_write = True
            try:
                value = self.hooks.wrap_work(lambda _: work())(None)
            finally:
                self._in_write = False
            self.hooks.clear()
            return value

    def iter_events(self, workspace: WorkspaceId) -> Iterator[Event]:
        home = self.workspaces.get(workspace)
        return home.iter_events() if home else iter(())

    def any_erased(
        self, workspace: WorkspaceId, ids: Iterable[str], since: datetime | None
    ) -> bool:
        """Return whether an event, memory, scope or user of these ids was erased."""
        home = self.get_workspace(workspace)
        wanted = set(ids)
        return any(
            tombstone.digest in wanted
            for tombstone in home.tombstones
            if tombstone.kind == "memory"
            or (since and tombstone.kind in ("scope", "user") and tombstone.at >= since)
        ) or any(entry.id in wanted for entry in home.entries if not entry.event)

    def bump_epoch(self, workspace: WorkspaceId, scope: Scope) -> None:
        self.get_workspace(workspace).epochs[frozenset({scope})] += 1

    def get_workspace(self, workspace: WorkspaceId) -> WorkspaceData:
        return self.workspaces.setdefault(workspace, WorkspaceData(workspace))

    def check_leases(self) -> None:
        """Raise LeaseLost if a lease of this thread has expired or belongs to another worker."""
        for lease in self.held_leases.leases:
            home = self.get_workspace(lease.workspace)
            rows: Mapping[Any, StoredTask | JobRow] = (
                home.jobs if lease.kind == "job" else home.work
            )
            row = rows.get(lease.target if lease.kind == "job" else lease.target[0])
            if row is None or row.fence != lease.fence or row.leased_until is None:
                raise LeaseLost

    def all_workspaces(self) -> Mapping[WorkspaceId, WorkspaceData]:
        return self.workspaces

    def workspace_for(self, grant: Grant) -> WorkspaceData:
        return self.get_workspace(check_grant(grant).workspace)

    def visible_events(self, grant: Grant) -> Iterator[Event]:
        check_grant(grant)
        home = self.workspaces.get(grant.workspace)
        for event in home.iter_events() if home else ():
            if grant.allows(frozenset({event.scope})):
                yield event

    def visible_memories(self, grant: Grant, *, learned: bool = True) -> Iterator[Memory]:
        """Yield the memories that `grant` allows; without `learned`, only explicit ones."""
        check_grant(grant)
        home = self.workspaces.get(grant.workspace)
        for memory in home.memories.values() if home else ():
            if grant.allows(memory.label) and (learned or not memory.learned):
                yield memory


class StorePart:
    """Base of the parts of the store; all parts share one state."""

    def __init__(self, state: StoreState) -> None:
        self._state = state


def sort_newest_first(records: Iterable[T]) -> list[T]:
    """Sort by time, newest first; records of the same time are sorted by id."""
    by_id = sorted(records, key=lambda record: record.id)
    return sorted(by_id, key=lambda record: record.at, reverse=True)
