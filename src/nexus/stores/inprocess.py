"""The store in memory: the plainest thing that keeps every contract.

It is the specification. Other stores are faster and outlive the process, and must give the
same answers; `nexus.testing` compares them.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import astuple, dataclass, field, replace
from datetime import UTC, date, datetime
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from ..core.access import Grant, Label, check_grant
from ..core.audit import Entry
from ..core.bm25 import K1, B, best_possible, inverse_frequency
from ..core.candidate import Candidate
from ..core.canonical import LATEST
from ..core.chain import GENESIS, commitment, content_of, link, new_salt, same_content
from ..core.clock import day_of
from ..core.codec import content_json
from ..core.derive import (
    NAMED,
    Source,
    asks,
    derive,
    directs,
    keyword_text,
    known_as,
    looked_up_by,
    searched_by_text,
    thread_name,
)
from ..core.erasing import drawer_digests, with_shared
from ..core.errors import Conflict, Forgotten, LeaseLost
from ..core.filters import Filter, matches
from ..core.graph import RecordsGraph
from ..core.ids import WorkspaceId
from ..core.layers import Layers
from ..core.leases import LEASE, LOST, Lease
from ..core.links import shared_by
from ..core.metrics import CacheUse
from ..core.moving import Mover, check_administrator
from ..core.outline import Outline
from ..core.protocols import Floats, Scored
from ..core.queue import Backlog
from ..core.quotas import Quota, Used, check_kept
from ..core.records import (
    Draft,
    EmbeddingProfile,
    Erased,
    Event,
    LedgerReport,
    Memory,
    MemoryKind,
    NewEvent,
    Progress,
    Receipt,
    Spent,
    Stage,
    Task,
    Tier,
    Tombstone,
    Waiting,
)
from ..core.scope import Scope
from ..core.states import State, in_state, pinned, state_of
from ..core.strength import KNOWLEDGE, NOTHING_SPARED, Spared
from ..core.text import terms
from ..core.uses import NewUse, Use, place_digest
from .along import Along
from .checks import DIGITS, check_vector, entered, ranked, recorded, shares
from .holding import Holding
from .inprocess_audit import InProcessAudit
from .inprocess_gate import Gate
from .inprocess_jobs import InProcessJobs, JobRow, retry_jobs
from .inprocess_uses import (
    PlacesOfUse,
    UsesThere,
    common_use,
    drop_stray_uses,
    erase_uses,
    seen_use,
    used,
)
from .inprocess_window import InProcessWindow, erase_from_window


@dataclass(slots=True)
class _Entry:
    """One link of the ledger."""

    id: str
    event: Event | None  # None: erased
    salt: bytes
    commitment: bytes
    hash: bytes


@dataclass(slots=True)
class _Work:
    """What is left to do for one event."""

    event_id: str
    step: Stage
    due_at: datetime
    attempts: int = 0
    leased_until: datetime | None = None
    error: str | None = None
    fence: int = 0  # grows whenever somebody takes it
    priority: int = 0  # 1: history that was brought along

    def free(self, now: datetime) -> bool:
        return self.leased_until is None or self.leased_until <= now


@dataclass(slots=True)
class _Workspace:
    id: WorkspaceId
    entries: list[_Entry] = field(default_factory=list)
    by_id: dict[str, _Entry] = field(default_factory=dict)
    work: dict[str, _Work] = field(default_factory=dict)
    jobs: dict[tuple[str, str], JobRow] = field(default_factory=dict)
    memories: dict[str, Memory] = field(default_factory=dict)
    words: dict[str, list[str]] = field(default_factory=dict)  # memory id → its terms
    numbers: dict[str, int] = field(default_factory=dict)  # memory id → when it was written
    counter: int = 0
    vectors: dict[str, dict[str, Floats]] = field(default_factory=lambda: defaultdict(dict))
    tombstones: list[Tombstone] = field(default_factory=list)
    bills: dict[tuple[datetime, str, str], Spent] = field(default_factory=dict)
    uses: dict[str, PlacesOfUse] = field(default_factory=dict)  # by memory id
    epochs: Counter[Label] = field(default_factory=Counter)  # writes into each label
    profile: EmbeddingProfile | None = None  # which vectors questions are asked with
    day: date = date.min  # of the newest write
    today: int = 0  # events that were written on it

    @property
    def head(self) -> bytes:
        return self.entries[-1].hash if self.entries else GENESIS

    def events(self) -> Iterator[Event]:
        return (entry.event for entry in self.entries if entry.event)

    def write(self, memory: Memory) -> None:
        """Keep a memory that is new, or not the same as before."""
        self.counter += 1
        self.numbers[memory.id] = self.counter
        self.memories[memory.id] = memory
        self.words[memory.id] = terms(keyword_text(memory))

    def bury(self, stones: Iterable[Tombstone]) -> None:
        """Of two for the same, the later one holds."""
        known = {(stone.kind, stone.digest): stone for stone in self.tombstones}
        for stone in stones:
            before = known.setdefault((stone.kind, stone.digest), stone)
            known[stone.kind, stone.digest] = max(before, stone, key=lambda each: each.at)
        self.tombstones = list(known.values())

    def stones(self, scopes: Iterable[Scope]) -> frozenset[Tombstone]:
        wanted = set(drawer_digests(scopes))
        drawers = (stone for stone in self.tombstones if stone.kind in ("scope", "user"))
        return frozenset(stone for stone in drawers if stone.digest in wanted)

    def source(self, id: str) -> Source | None:
        entry = self.by_id.get(id)
        return entry.event if entry else self.memories.get(id)


P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="_Part")
T = TypeVar("T", Event, Memory)


def _locked(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    @wraps(method)
    def locked(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._state.lock:
            return method(self, *args, **kwargs)

    return locked


def _written(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Of methods that write: what the thread has along goes with them."""

    @wraps(method)
    def written(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._state.writing(lambda: method(self, *args, **kwargs))

    return written


class _State:
    def __init__(self) -> None:
        self.lock = Gate()
        self.along: Along[None] = Along()
        self._within = False  # another writing, of which this is a part
        self.audit = InProcessAudit(self.lock, self)
        self.holding = Holding()
        self.workspaces: dict[WorkspaceId, _Workspace] = {}
        self.profiles: set[EmbeddingProfile] = set()
        self.window = InProcessWindow(self.lock, self)

    def writing(self, work: Callable[[], R]) -> R:
        """Do this and what goes along with it, and let nobody see a part of it."""
        with self.lock:
            if not self._within:
                self.check_held()
            if self._within or not self.along:
                return work()
            self._within = True
            try:
                value = self.along.around(lambda _: work())(None)
            finally:
                self._within = False
            self.along.taken()
            return value

    def events(self, workspace: WorkspaceId) -> Iterator[Event]:
        known = self.workspaces.get(workspace)
        return known.events() if known else iter(())

    def gone(self, workspace: WorkspaceId, ids: Iterable[str], since: datetime | None) -> bool:
        home = self.of(workspace)
        wanted = set(ids)
        return any(
            stone.digest in wanted
            for stone in home.tombstones
            if stone.kind == "memory"
            or (since and stone.kind in ("scope", "user") and stone.at >= since)
        ) or any(entry.id in wanted for entry in home.entries if not entry.event)

    def wrote(self, workspace: WorkspaceId, scope: Scope) -> None:
        self.of(workspace).epochs[frozenset({scope})] += 1

    def of(self, workspace: WorkspaceId) -> _Workspace:
        return self.workspaces.setdefault(workspace, _Workspace(workspace))

    def check_held(self) -> None:
        """Refuse to write if a lease of this thread is somebody else's by now, or nobody's."""
        for lease in self.holding.leases:
            home = self.of(lease.workspace)
            left: Mapping[Any, _Work | JobRow] = home.jobs if lease.kind == "job" else home.work
            row = left.get(lease.of if lease.kind == "job" else lease.of[0])
            if row is None or row.fence != lease.fence or row.leased_until is None:
                raise LeaseLost

    def homes(self) -> Mapping[WorkspaceId, _Workspace]:
        return self.workspaces

    def granted(self, grant: Grant) -> _Workspace:
        return self.of(check_grant(grant).workspace)

    def visible_events(self, grant: Grant) -> Iterator[Event]:
        check_grant(grant)
        known = self.workspaces.get(grant.workspace)
        for event in known.events() if known else ():
            if grant.allows(frozenset({event.scope})):
                yield event

    def visible_memories(self, grant: Grant, *, learned: bool = True) -> Iterator[Memory]:
        """What may be seen; without `learned`, only what was told."""
        check_grant(grant)
        known = self.workspaces.get(grant.workspace)
        for memory in known.memories.values() if known else ():
            if grant.allows(memory.label) and (learned or not memory.learned):
                yield memory


class _Part:
    def __init__(self, state: _State) -> None:
        self._state = state


def _day(at: datetime) -> date:
    return at.astimezone(UTC).date()


def _bytes(event: Event) -> int:
    return len(content_of(event).encode())


class InProcessLedger(_Part):
    @_written
    def append(
        self,
        workspace: WorkspaceId,
        events: Sequence[NewEvent],
        *,
        recorded_at: datetime,
        quota: Quota | None = None,
    ) -> list[Receipt]:
        home = self._state.of(workspace)
        fresh: dict[str, NewEvent] = {}
        receipts = []
        for event in events:
            repeated = self._repeated(home, fresh, event)
            if not repeated:
                fresh[event.id] = event
            receipts.append(
                Receipt(
                    workspace=workspace,
                    scope=event.scope,
                    event_id=event.id,
                    key=event.key,
                    repeated=repeated,
                )
            )
        new = [recorded(workspace, event, recorded_at) for event in fresh.values()]
        if quota and new:
            check_kept(quota, self._with(home, new, recorded_at), recorded_at)
        for event in new:
            self._write(home, event, recorded_at)
            home.work[event.id].priority = int(isinstance(events[0], Event))
        return receipts

    def _with(self, home: _Workspace, new: Sequence[Event], now: datetime) -> Used:
        """What would be used with these."""
        known = self.used(home.id, now=now)
        return Used(
            events_today=known.events_today + len(new),
            memories=known.memories,
            text_bytes=known.text_bytes + sum(map(_bytes, new)),
        )

    @_locked
    def used(self, workspace: WorkspaceId, *, now: datetime) -> Used:
        home = self._state.of(workspace)
        return Used(
            events_today=home.today if home.day >= _day(now) else 0,
            memories=len(home.memories),
            text_bytes=sum(map(_bytes, home.events())),
        )

    def _repeated(self, home: _Workspace, fresh: Mapping[str, NewEvent], event: NewEvent) -> bool:
        entry = home.by_id.get(event.id)
        if entry and not entry.event:
            raise Forgotten
        known = entry.event if entry else fresh.get(event.id)
        if known and not same_content(known, event):
            raise Conflict(f"the key {event.key!r} was used before with other content")
        return known is not None

    def _write(self, home: _Workspace, event: Event, now: datetime) -> None:
        salt = new_salt()
        promise = commitment(salt, content_of(event))
        entry = _Entry(event.id, event, salt, promise, link(home.head, promise))
        home.entries.append(entry)
        home.by_id[event.id] = entry
        home.epochs[frozenset({event.scope})] += 1
        home.work[event.id] = _Work(event.id, Stage.INDEXED, now)
        home.today = home.today + 1 if home.day >= _day(now) else 1
        home.day = max(home.day, _day(now))

    @_locked
    def get(self, grant: Grant, ids: Sequence[str]) -> list[Event]:
        visible = {event.id: event for event in self._state.visible_events(grant)}
        return [visible[id] for id in ids if id in visible]

    @_locked
    def find(
        self,
        grant: Grant,
        *,
        where: Filter | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int | None = None,
    ) -> list[Event]:
        found = [
            event
            for event in self._state.visible_events(grant)
            if (since is None or event.at >= since)
            and (until is None or event.at < until)
            and matches(where, event)
        ]
        return newest_first(found)[:limit]

    @_locked
    def written(
        self, grant: Grant, *, after: int | None = None, limit: int
    ) -> tuple[list[Event], int]:
        entries = self._state.of(check_administrator(grant)).entries
        start = len(entries) if after is None else after
        some = entries[start : start + limit]
        return [entry.event for entry in some if entry.event], start + len(some)

    @_locked
    def scopes(self, grant: Grant, *, after: int = 0, limit: int) -> list[tuple[int, Scope]]:
        visible = {event.scope for event in self._state.visible_events(grant)}
        first: dict[Scope, int] = {}
        for number, entry in enumerate(self._state.granted(grant).entries, start=1):
            if entry.event and entry.event.scope in visible:
                first.setdefault(entry.event.scope, number)
        return [(number, scope) for scope, number in first.items() if number > after][:limit]

    @_locked
    def keys(self, grant: Grant, ids: Sequence[str]) -> dict[str, str]:
        wanted = set(ids)
        return {e.id: e.key for e in self._state.visible_events(grant) if e.id in wanted}

    @_locked
    def progress(self, grant: Grant, ids: Sequence[str]) -> dict[str, Progress]:
        home = self._state.granted(grant)
        visible = {event.id for event in self._state.visible_events(grant)}
        return {id: _progress(home.work.get(id)) for id in ids if id in visible}

    @_locked
    def verify(self, workspace: WorkspaceId) -> LedgerReport:
        home = self._state.of(workspace)
        problems = []
        previous = GENESIS
        forgotten = {stone.digest for stone in home.tombstones if stone.kind == "event"}
        for number, entry in enumerate(home.entries, start=1):
            if link(previous, entry.commitment) != entry.hash:
                problems.append(f"event {number} does not follow the one before it")
            if entry.event and commitment(entry.salt, content_of(entry.event)) != entry.commitment:
                problems.append(f"event {number} was changed")
            if not entry.event and entry.id not in forgotten:
                problems.append(f"event {number} is empty, but nobody forgot it")
            previous = entry.hash
        erased = sum(entry.event is None for entry in home.entries)
        return LedgerReport(
            workspace=workspace,
            events=len(home.entries),
            erased=erased,
            problems=tuple(problems),
        )


def _progress(work: _Work | None) -> Progress:
    if not work:
        return Progress(stage=Stage.DERIVED)
    reached = Stage.DURABLE if work.step is Stage.INDEXED else Stage.INDEXED
    return Progress(stage=reached, stuck=work.error, attempts=work.attempts)


def newest_first(records: Iterable[T]) -> list[T]:
    by_id = sorted(records, key=lambda record: record.id)
    return sorted(by_id, key=lambda record: record.at, reverse=True)


class InProcessQueue(_Part):
    def __init__(self, state: _State) -> None:
        super().__init__(state)
        self._served = 0  # workspaces, since the first was served last

    @_locked
    def pending(self, grant: Grant) -> int:
        work = self._state.granted(grant).work
        return sum(event.id in work for event in self._state.visible_events(grant))

    @_locked
    def claim(
        self,
        grant: Grant | None,
        *,
        now: datetime,
        limit: int,
        leased: bool = False,
        failed: bool = False,
        step: Stage | None = None,
    ) -> list[Task]:
        if grant is None:
            return self._claim_of_each(now, limit, step)
        home = self._state.granted(grant)
        due = [
            (event, work)
            for event, work in _in_order(home, self._state.visible_events(grant))
            if (failed or work.due_at <= now or not work.attempts)
            and work.due_at < LATEST
            and step in (None, work.step)
        ]
        if leased:
            return [_task(event, work) for event, work in due[:limit]]
        return _leased(home, _free(home, due, now)[:limit], now)

    def _claim_of_each(self, now: datetime, limit: int, step: Stage | None) -> list[Task]:
        """Some of each workspace in which anything is due, beginning after the last one served."""
        homes = list(self._state.workspaces.values())
        due = []
        for home in homes[self._served :] + homes[: self._served]:
            ready = [
                (event, work)
                for event, work in _in_order(home, home.events())
                if work.due_at <= now and step in (None, work.step)
            ]
            due += [(home, free)] if (free := _free(home, ready, now)) else []
        if not due:
            return []
        turn = list(zip(due, shares(limit, len(due)), strict=False))
        self._served = homes.index(turn[-1][0][0]) + 1
        return [task for (home, free), n in turn for task in _leased(home, free[:n], now)]

    def announce(self) -> None:
        """Nobody else can reach this memory."""

    def listen(self, until: threading.Event, seconds: float) -> bool:
        until.wait(seconds)
        return False

    @_locked
    def renew(self, tasks: Sequence[Task], *, now: datetime) -> list[Task]:
        held = []
        for task in tasks:
            work = self._work_of(task)
            if task.lease and work and work.leased_until is not None:
                work.leased_until = now + LEASE
                held.append(task)
        return held

    def _work_of(self, task: Task) -> _Work | None:
        """The work of a task, if it is where it was and nobody has taken it since."""
        work = self._state.of(task.event.workspace).work.get(task.event.id)
        if work is None or work.step is not task.step:
            return None
        return work if not task.lease or work.fence == task.lease.fence else None

    @_written
    def finish(self, tasks: Sequence[Task], *, reached: Stage, now: datetime) -> None:
        for task in tasks:
            work = self._work_of(task)
            if not work:
                continue
            left = self._state.of(task.event.workspace).work
            if reached is Stage.INDEXED:
                left[task.event.id] = replace(
                    work, step=Stage.DERIVED, due_at=now, attempts=0, leased_until=None, error=None
                )
            else:
                del left[task.event.id]
        for workspace in {task.event.workspace for task in tasks}:
            for job in self._state.of(workspace).jobs.values():
                job.wake(now)
        self._state.holding.let_go(task.lease for task in tasks if task.lease)

    @_written
    def fail(self, tasks: Sequence[Task], *, error: str, retry_at: datetime | None) -> None:
        for task in tasks:
            if work := self._work_of(task):
                work.attempts += 1
                work.error, work.due_at, work.leased_until = error, retry_at or LATEST, None
        self._state.holding.let_go(task.lease for task in tasks if task.lease)

    @_written
    def requeue(self, workspace: WorkspaceId, event_ids: Sequence[str], *, now: datetime) -> int:
        home = self._state.of(workspace)
        kept = [id for id in event_ids if id in home.by_id and home.by_id[id].event]
        for id in kept:
            before = home.work.get(id)
            fence, priority = (before.fence + 1, before.priority) if before else (0, 0)
            home.work[id] = _Work(id, Stage.INDEXED, now, fence=fence, priority=priority)
        return len(kept)

    @_locked
    def backlog(self, grant: Grant) -> Backlog:
        left = self._state.granted(grant).work
        every = [(left[e.id], e) for e in self._state.visible_events(grant) if e.id in left]
        living = [(work, event) for work, event in every if work.due_at < LATEST]
        failed = [(work, event) for work, event in living if work.error is not None]
        asked = [work.due_at for work, _ in living if work.error is None]
        told = [event.recorded_at for _, event in failed[:1]]  # in the order they were written
        return Backlog(
            waiting=len(every),
            failed=len(failed),
            dead=len(every) - len(living),
            since=min([*asked, *told], default=None),
        )

    @_locked
    def waiting(self, grant: Grant, *, limit: int) -> list[Waiting]:
        left = self._state.granted(grant).work
        visible = self._state.visible_events(grant)
        found = [_waiting(event, left[event.id]) for event in visible if event.id in left]
        found.sort(key=lambda each: each.event_id)
        found.sort(key=lambda each: each.due_at, reverse=True)
        return sorted(found, key=lambda each: each.error is None)[:limit]

    @_written
    def retry(self, workspace: WorkspaceId, which: Sequence[str] | None, *, now: datetime) -> int:
        home = self._state.of(workspace)
        left = home.work
        wanted = left.keys() if which is None else set(which)
        failed = [work for id, work in left.items() if id in wanted and work.error is not None]
        for work in failed:
            work.attempts = 0 if work.due_at >= LATEST else work.attempts
            work.due_at, work.leased_until = now, None
        return len(failed) + retry_jobs(home.jobs.values(), which, now)


def _waiting(event: Event, work: _Work) -> Waiting:
    return Waiting(
        event_id=event.id,
        scope=event.scope,
        step=work.step,
        attempts=work.attempts,
        error=work.error,
        due_at=work.due_at,
    )


def _in_order(home: _Workspace, events: Iterable[Event]) -> list[tuple[Event, _Work]]:
    """Events that need work: what is said now before history, and each as it was written."""
    left = [(event, home.work[event.id]) for event in events if event.id in home.work]
    return sorted(left, key=lambda each: each[1].priority)


def _free(
    home: _Workspace, due: Sequence[tuple[Event, _Work]], now: datetime
) -> list[tuple[Event, _Work]]:
    """But nothing of a place in which somebody else is at the same step."""
    held = {
        (event.scope, work.step)
        for event, work in _in_order(home, home.events())
        if not work.free(now)
    }
    return [(e, work) for e, work in due if work.free(now) and (e.scope, work.step) not in held]


def _leased(home: _Workspace, taken: Sequence[tuple[Event, _Work]], now: datetime) -> list[Task]:
    for _, work in taken:
        if work.leased_until is not None:  # somebody took it and never ended
            work.attempts, work.error = work.attempts + 1, LOST
        work.leased_until = now + LEASE
        work.fence = max(work.fence + 1, int(now.timestamp() * 1_000_000))
    return [
        replace(_task(event, work), lease=Lease(home.id, "event", (event.id,), work.fence))
        for event, work in taken
    ]


def _task(event: Event, work: _Work) -> Task:
    return Task(event=event, step=work.step, attempts=work.attempts, error=work.error)


class InProcessMemories(_Part):
    @_written
    def put(
        self,
        workspace: WorkspaceId,
        drafts: Sequence[Draft],
        *,
        stones: frozenset[Tombstone] | None = None,
    ) -> list[Memory]:
        home = self._state.of(workspace)
        erased = {stone.digest for stone in home.tombstones if stone.kind == "memory"}
        kept = []
        for draft in drafts:
            found = {id: home.source(id) for id in draft.sources}
            present = {id: source for id, source in found.items() if source}
            if len(present) < len(found) or draft.id in erased:
                continue
            kept.append(derive(workspace, draft, present))
        if stones is not None:
            kept = [each for each in kept if stones >= home.stones(each.label)]
        kept = [self._as_known(home, memory) for memory in kept]
        for memory in kept:
            before = home.memories.get(memory.id)
            if before is None or content_json(before) != content_json(memory):
                self._forget_vectors(home, memory.id)
                home.epochs.update(each.label for each in (before, memory) if each)
                home.write(memory)
            elif before != memory:
                home.epochs[memory.label] += 1
                home.memories[memory.id] = memory
        return kept

    @staticmethod
    def _as_known(home: _Workspace, memory: Memory) -> Memory:
        """With the state it has: what is derived again is not made younger, nor brought up."""
        before = home.memories.get(memory.id)
        return in_state(memory, tier=before.tier, archived=before.archived) if before else memory

    @staticmethod
    def _forget_vectors(home: _Workspace, id: str) -> int:
        return sum(vectors.pop(id, None) is not None for vectors in home.vectors.values())

    @_locked
    def get(self, grant: Grant, ids: Sequence[str]) -> list[Memory]:
        visible = {memory.id: memory for memory in self._state.visible_memories(grant)}
        return [visible[id] for id in ids if id in visible]

    @_locked
    def find(
        self, grant: Grant, *, where: Filter | None = None, limit: int | None = None
    ) -> list[Memory]:
        found = (m for m in self._state.visible_memories(grant) if matches(where, m))
        return newest_first(found)[:limit]

    @_locked
    def matching(
        self,
        grant: Grant,
        terms: Sequence[str],
        *,
        where: Filter | None = None,
        limit: int,
        learned: bool = False,
    ) -> list[Scored]:
        home = self._state.of(check_grant(grant).workspace)
        visible = {m.id: m for m in self._state.visible_memories(grant, learned=learned)}
        scores = bm25_shares({id: home.words[id] for id in visible}, terms)
        return ranked(
            (id, score) for id, score in scores.items() if score > 0 and matches(where, visible[id])
        )[:limit]

    @_locked
    def holding(self, grant: Grant, terms: Sequence[str], *, learned: bool = False) -> int:
        words = self._state.of(check_grant(grant).workspace).words
        visible = self._state.visible_memories(grant, learned=learned)
        return sum(not set(terms).isdisjoint(words[memory.id]) for memory in visible)

    @_locked
    def describe(
        self, grant: Grant, ids: Sequence[str], terms: Sequence[str]
    ) -> dict[str, Candidate]:
        everything = list(self._state.visible_memories(grant))
        told = [memory for memory in everything if not memory.learned]
        told_scores, all_scores = self._scored(told, terms), self._scored(everything, terms)
        words = self._state.granted(grant).words
        return {
            memory.id: _candidate(
                memory, len(words[memory.id]), all_scores if memory.learned else told_scores
            )
            for memory in self.get(grant, ids)
        }

    def _scored(self, memories: Sequence[Memory], terms: Sequence[str]) -> _Scores:
        """How well each of these and each of their conversations holds the terms."""
        words: dict[object, Sequence[str]] = {}
        talks: dict[object, list[str]] = defaultdict(list)
        for memory in memories:
            words[memory.id] = self._state.of(memory.workspace).words[memory.id]
            talks[_conversation(memory)] += words[memory.id]
        return bm25_shares(words, terms), bm25_shares(talks, terms)

    @_locked
    def texts(self, grant: Grant, ids: Sequence[str]) -> dict[str, str]:
        return {memory.id: memory.text for memory in self.get(grant, ids)}

    @_locked
    def between(
        self, grant: Grant, since: datetime, until: datetime, *, limit: int, learned: bool = False
    ) -> list[str]:
        visible = self._state.visible_memories(grant, learned=learned)
        inside = newest_first(memory for memory in visible if since <= memory.at < until)
        return [memory.id for memory in inside[:limit]]

    @_locked
    def named(
        self,
        grant: Grant,
        names: Sequence[str],
        *,
        limit: int,
        kinds: Sequence[MemoryKind] | None = None,
        learned: bool = True,
    ) -> list[Memory]:
        wanted = set(map(known_as, names))
        asked = NAMED if kinds is None else kinds
        visible = (m for m in self._state.visible_memories(grant) if m.kind in asked)
        shelved = (memory for memory in visible if learned or not memory.learned)
        about = (memory for memory in shelved if not wanted.isdisjoint(looked_up_by(memory)))
        return newest_first(about)[:limit]

    @_locked
    def outlines(self, grant: Grant, names: Sequence[str], *, limit: int) -> list[Outline]:
        facts = self.named(grant, names, limit=limit, kinds=[MemoryKind.FACT])
        return [Outline.of(id=each.id, body=each.body, learned=each.learned) for each in facts]

    @_locked
    def latest(
        self, grant: Grant, subjects: Sequence[str], *, limit: int | None = None
    ) -> list[Memory]:
        visible = self._state.visible_memories(grant, learned=False)
        facts = newest_first(memory for memory in visible if memory.kind is MemoryKind.FACT)
        newest: dict[tuple[object, object], Memory] = {}
        for memory in facts:
            if (subject := memory.body.get("subject")) in subjects:
                newest.setdefault((subject, memory.body.get("predicate")), memory)
        return list(newest.values())[:limit]

    @_locked
    def neighbours(
        self, grant: Grant, ids: Sequence[str], *, reach: int
    ) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        visible = list(self._state.visible_memories(grant))
        talks: dict[object, list[Memory]] = defaultdict(list)
        for memory in sorted(visible, key=lambda memory: (memory.at, memory.id)):
            talks[_conversation(memory)].append(memory)
        wanted = set(ids)
        found = {}
        for talk in talks.values():
            order = [memory.id for memory in talk]
            for place, id in enumerate(order):
                if id in wanted:
                    before = order[max(0, place - reach) : place][::-1]
                    found[id] = (tuple(before), tuple(order[place + 1 : place + 1 + reach]))
        return found

    @_written
    def mark(
        self,
        workspace: WorkspaceId,
        ids: Sequence[str],
        *,
        tier: Tier | None = None,
        archived: bool | None = None,
    ) -> int:
        home = self._state.of(workspace)
        known = [home.memories[id] for id in dict.fromkeys(ids) if id in home.memories]
        marked = [
            (
                memory,
                replace(
                    memory,
                    tier=memory.tier if tier is None else tier,
                    archived=memory.archived if archived is None else archived,
                ),
            )
            for memory in known
        ]
        changed = [after for before, after in marked if before != after]
        home.memories.update({memory.id: memory for memory in changed})
        home.epochs.update({memory.label for memory in changed})
        return len(changed)

    @_written
    def mark_in(
        self,
        ids: Mapping[WorkspaceId, Sequence[str]],
        *,
        tier: Tier | None = None,
        archived: bool | None = None,
    ) -> dict[WorkspaceId, int]:
        return {
            workspace: self.mark(workspace, some, tier=tier, archived=archived)
            for workspace, some in ids.items()
        }

    def states_in(
        self,
        places: Sequence[tuple[Grant, str | None]],
        *,
        limit: int,
        used_since: datetime | None = None,
        idle_since: datetime | None = None,
        archived: bool = False,
        without: Spared = NOTHING_SPARED,
    ) -> list[list[State]]:
        with self._state.lock:
            return [
                self.states(
                    grant,
                    after=after,
                    limit=limit,
                    used_since=used_since,
                    idle_since=idle_since,
                    archived=archived,
                    without=without,
                )
                for grant, after in places
            ]

    @_locked
    def states(
        self,
        grant: Grant,
        *,
        after: str | None = None,
        limit: int,
        used_since: datetime | None = None,
        idle_since: datetime | None = None,
        archived: bool = False,
        without: Spared = NOTHING_SPARED,
    ) -> list[State]:
        home = self._state.of(check_administrator(grant))
        memories = sorted(home.memories.values(), key=lambda memory: memory.id)
        late = {_conversation(m) for m in memories if idle_since and m.at >= idle_since}
        return [
            state_of(memory, len(home.words[memory.id]), common_use(home.uses, memory), memory.id)
            for memory in memories
            if memory.id > (after or "")
            and (
                used(home.uses, memory, used_since) and memory.archived >= archived
                if used_since
                else _fades(memory)
                and (idle_since is None or _conversation(memory) not in late)
                and not _is_spared(memory, without)
            )
        ][:limit]

    @_locked
    def going_on_in(self, grants: Sequence[Grant], *, since: datetime) -> list[datetime | None]:
        found = []
        for grant in grants:
            last: dict[object, datetime] = {}
            for memory in self._state.of(check_administrator(grant)).memories.values():
                if _fades(memory) and memory.at >= since:
                    talk = _conversation(memory)
                    last[talk] = max(memory.at, last.get(talk, since))
            found.append(min(last.values(), default=None))
        return found

    @_locked
    def written(
        self, workspace: WorkspaceId, kinds: Sequence[MemoryKind], *, after: int, limit: int
    ) -> list[tuple[int, Memory]]:
        home = self._state.of(workspace)
        found = [
            (number, home.memories[id])
            for id, number in home.numbers.items()
            if number > after and home.memories[id].kind in kinds
        ]
        return sorted(found, key=lambda each: each[0])[:limit]

    @_written
    def delete(self, workspace: WorkspaceId, ids: Sequence[str]) -> int:
        home = self._state.of(workspace)
        kept = (home.memories.pop(id, None) for id in ids)
        gone = {memory.id: memory for memory in kept if memory}
        for id, memory in gone.items():
            home.epochs[memory.label] += 1
            del home.words[id], home.numbers[id]
            self._forget_vectors(home, id)
        return len(gone)


def _fades(memory: Memory) -> bool:
    return memory.tier is Tier.SHORT and not memory.archived and not pinned(memory)


def _is_spared(memory: Memory, without: Spared) -> bool:
    since = without.knowledge_since if memory.kind in KNOWLEDGE else without.since
    return memory.salience >= without.salience and memory.at >= since


def _conversation(memory: Memory) -> tuple[Label, bool, str]:
    return memory.label, memory.learned, thread_name(memory)


_Scores = tuple[Mapping[object, float], Mapping[object, float]]  # of memories, of conversations


def _candidate(memory: Memory, length: int, scores: _Scores) -> Candidate:
    keyword, thread_keyword = scores
    talk = _conversation(memory)
    return Candidate(
        id=memory.id,
        kind=memory.kind,
        thread=repr(talk),
        at=memory.at,
        speaker=memory.speaker,
        role=memory.role,
        length=length,
        asks=asks(memory.text),
        directs=directs(memory),
        keyword=min(1.0, round(keyword[memory.id], DIGITS)),
        thread_keyword=min(1.0, round(thread_keyword[talk], DIGITS)),
    )


K = TypeVar("K")


def bm25_shares(texts: Mapping[K, Sequence[str]], terms: Sequence[str]) -> dict[K, float]:
    """Each text's BM25 score as a share of the best these terms could reach."""
    counts = {key: Counter(words) for key, words in texts.items()}
    average = sum(map(len, texts.values())) / len(texts) if texts else 0.0
    holding = {term: sum(term in counted for counted in counts.values()) for term in terms}
    weights = {term: inverse_frequency(len(counts), holding[term]) for term in holding}

    def score(key: K) -> float:
        slack = K1 * (1 - B + B * len(texts[key]) / average) if average else K1
        frequencies = ((weights[term], counts[key][term]) for term in weights)
        return sum(w * f * (K1 + 1) / (f + slack) for w, f in frequencies if f)

    best = best_possible(list(weights.values()))
    return {key: score(key) / best if best else 0.0 for key in texts}


class InProcessVectors(_Part):
    @_written
    def put(
        self, workspace: WorkspaceId, profile: EmbeddingProfile, vectors: Mapping[str, Floats]
    ) -> int:
        home = self._state.of(workspace)
        checked = {id: check_vector(profile, vector) for id, vector in vectors.items()}
        kept = {id: vector for id, vector in checked.items() if id in home.memories}
        there = home.vectors[profile.name]
        new = [id for id, row in kept.items() if id not in there or (there[id] != row).any()]
        there.update(kept)
        home.epochs.update(home.memories[id].label for id in new)
        self._state.profiles.add(profile)
        if kept:
            home.profile = home.profile or profile
        return len(kept)

    @_locked
    def get(self, grant: Grant, profile: EmbeddingProfile, ids: Sequence[str]) -> dict[str, Floats]:
        visible = {memory.id for memory in self._state.visible_memories(grant)}
        known = self._state.granted(grant).vectors[profile.name]
        return {id: known[id] for id in ids if id in visible and id in known}

    @_locked
    def nearest(
        self,
        grant: Grant,
        profile: EmbeddingProfile,
        vector: Floats,
        *,
        where: Filter | None = None,
        limit: int,
        learned: bool = False,
    ) -> list[Scored]:
        asked = check_vector(profile, vector).astype(np.float64)
        known = self._state.granted(grant).vectors[profile.name]
        visible = self._state.visible_memories(grant, learned=learned)
        passed = (m.id for m in visible if m.id in known and matches(where, m))
        scores = ((id, max(0.0, float(known[id] @ asked))) for id in passed)
        return ranked(scores)[:limit]

    @_locked
    def scores(
        self, grant: Grant, profile: EmbeddingProfile, vector: Floats, ids: Sequence[str]
    ) -> dict[str, float]:
        asked = check_vector(profile, vector).astype(np.float64)
        known = self.get(grant, profile, ids)
        return {id: round(max(0.0, float(row @ asked)), DIGITS) for id, row in known.items()}

    @_locked
    def missing(
        self, grant: Grant, profile: EmbeddingProfile, *, limit: int, after: str = ""
    ) -> list[Memory]:
        known = self._state.granted(grant).vectors[profile.name]
        visible = filter(searched_by_text, self._state.visible_memories(grant))
        without = [each for each in visible if each.id not in known and each.id > after]
        return sorted(without, key=lambda memory: memory.id)[:limit]

    @_locked
    def coverage(self, grant: Grant, profile: EmbeddingProfile) -> dict[str, int]:
        home = self._state.granted(grant)
        worded = [m.id for m in self._state.visible_memories(grant) if home.words[m.id]]
        known = home.vectors[profile.name]
        done = sum(id in known for id in worded)
        return {"embedded": done, "missing": len(worded) - done}

    @_locked
    def profiles(self) -> list[EmbeddingProfile]:
        return sorted(self._state.profiles, key=astuple)

    @_locked
    def in_use(self, workspace: WorkspaceId) -> EmbeddingProfile | None:
        return self._state.of(workspace).profile

    @_written
    def use(self, workspace: WorkspaceId, profile: EmbeddingProfile) -> None:
        self._state.profiles.add(profile)
        home = self._state.of(workspace)
        home.profile = profile
        home.epochs.update(list(home.epochs))

    @_written
    def drop(self, workspace: WorkspaceId, profile: EmbeddingProfile, *, limit: int) -> int:
        home = self._state.of(workspace)
        if home.profile == profile:
            return 0
        known = home.vectors[profile.name]
        gone = list(known)[:limit]
        for id in gone:
            del known[id]
        return len(gone)


class InProcessEraser(_Part):
    @_locked
    def derived(self, workspace: WorkspaceId, ids: Iterable[str]) -> list[Memory]:
        home = self._state.of(workspace)
        reached = set(ids)
        found: dict[str, Memory] = {}
        growing = True
        while growing:
            fresh = {
                memory.id: memory
                for memory in home.memories.values()
                if memory.id not in found and reached.intersection(memory.sources)
            }
            found.update(fresh)
            reached.update(fresh)
            growing = bool(fresh)
        return newest_first(found.values())

    @_written
    def erase(
        self,
        workspace: WorkspaceId,
        *,
        events: Sequence[str],
        memories: Sequence[str],
        tombstones: Sequence[Tombstone],
    ) -> Erased:
        home = self._state.of(workspace)
        resting, told = self._resting(workspace, events, memories)
        tombstones = with_shared(tombstones, events, told)
        events = told
        report = self._erase_memories(home, list(dict.fromkeys([*memories, *resting])))
        ids = [*events, *memories, *resting, *(stone.digest for stone in tombstones)]
        seen = erase_from_window(self._state.window, workspace, ids)
        uses = erase_uses(home.uses, ids)
        queued = sum(home.work.pop(id, None) is not None for id in events)
        for job in home.jobs.values():  # an error may quote what somebody said
            job.error = job.error and "it failed"
        gone = [home.by_id[id] for id in events if id in home.by_id and home.by_id[id].event]
        for entry in gone:
            home.epochs.update([frozenset({entry.event.scope})] if entry.event else [])
            entry.event, entry.salt = None, b""
        home.bury(tombstones)
        return replace(report, events=len(gone), queued=queued, window=seen, uses=uses)

    def _resting(
        self, workspace: WorkspaceId, events: Sequence[str], memories: Sequence[str]
    ) -> tuple[list[str], list[str]]:
        """What rests on these, and the events that go: these, and by which they were shared."""
        told = dict.fromkeys(events)
        while True:
            resting = self.derived(workspace, [*told, *memories])
            fresh = [id for id in shared_by(resting) if id not in told]
            if not fresh:
                return [memory.id for memory in resting], list(told)
            told |= dict.fromkeys(fresh)

    def _erase_memories(self, home: _Workspace, ids: Sequence[str]) -> Erased:
        present = [id for id in ids if id in home.memories]
        vectors = sum(id in known for known in home.vectors.values() for id in present)
        keywords = sum(len(set(home.words[id])) for id in present)
        links = sum(len(set(home.memories[id].sources)) for id in present)
        InProcessMemories(self._state).delete(home.id, present)
        return Erased(memories=len(present), vectors=vectors, keywords=keywords, links=links)

    @_locked
    def tombstones(self, workspace: WorkspaceId) -> list[Tombstone]:
        return sorted(self._state.of(workspace).tombstones, key=lambda s: (s.kind, s.digest))

    @_locked
    def stones(self, workspace: WorkspaceId, scopes: Iterable[Scope]) -> frozenset[Tombstone]:
        return self._state.of(workspace).stones(scopes)

    @_locked
    def gone(
        self, workspace: WorkspaceId, ids: Sequence[str], *, since: datetime | None = None
    ) -> bool:
        return self._state.gone(workspace, ids, since)

    def residue(self, workspace: WorkspaceId, pieces: Sequence[bytes]) -> dict[str, int]:
        del workspace, pieces  # there are no files
        return {}


class InProcessAccounts(_Part):
    @_written
    def add(self, workspace: WorkspaceId, spent: Spent) -> None:
        bills = self._state.of(workspace).bills
        bill = entered(spent)
        place = (bill.at, bill.purpose, bill.model)
        before = bills.get(place)
        bills[place] = _added(before, bill) if before else bill

    @_locked
    def spent(self, workspace: WorkspaceId, *, since: datetime | None = None) -> list[Spent]:
        bills = self._state.of(workspace).bills
        return [bills[p] for p in sorted(bills) if since is None or p[0] >= day_of(since)]


def _added(one: Spent, more: Spent) -> Spent:
    return replace(
        one,
        calls=one.calls + more.calls,
        input_tokens=one.input_tokens + more.input_tokens,
        output_tokens=one.output_tokens + more.output_tokens,
        cost=one.cost + more.cost,
    )


class InProcessUses(_Part):
    @_written
    def add(self, workspace: WorkspaceId, uses: Sequence[NewUse]) -> int:
        home = self._state.of(workspace)
        for use in uses:
            for id in home.memories.keys() & set(use.ids):
                home.uses.setdefault(id, {}).setdefault(place_digest(use.place), UsesThere()).add(
                    use
                )
        return len(home.memories.keys() & {id for use in uses for id in use.ids})

    @_locked
    def of(self, grant: Grant, ids: Sequence[str]) -> dict[str, Use]:
        uses = self._state.granted(grant).uses
        visible = {m.id for m in self._state.visible_memories(grant)}.intersection(ids)
        found = {id: seen_use(uses, grant, id) for id in ids if id in visible}
        return {id: use for id, use in found.items() if use.count}

    @_written
    def tidy(self, workspaces: Sequence[WorkspaceId], *, before: datetime) -> list[int]:
        homes = map(self._state.of, workspaces)
        return [drop_stray_uses(home.uses, home.memories.keys(), before) for home in homes]


class InProcessStore:
    """Everything in dictionaries. Gone when the process ends."""

    def __init__(self) -> None:
        self._state = _State()
        self.ledger = InProcessLedger(self._state)
        self.queue = InProcessQueue(self._state)
        self.jobs = InProcessJobs(self._state)
        self.memories = InProcessMemories(self._state)
        self.vectors = InProcessVectors(self._state)
        self.eraser = InProcessEraser(self._state)
        self.accounts = InProcessAccounts(self._state)
        self.uses = InProcessUses(self._state)
        self.audit = self._state.audit
        self.window = self._state.window
        self.graph = RecordsGraph(self.memories)

    @property
    def layers(self) -> Layers:
        from .inprocess_layers import InProcessLayers  # noqa: PLC0415  # it knows this module

        return InProcessLayers(self._state)

    @property
    def mover(self) -> Mover:
        from .inprocess_mover import InProcessMover  # noqa: PLC0415  # it knows this module

        return InProcessMover(self._state)

    @contextmanager
    def moment(self) -> Iterator[None]:
        with self._state.lock:
            yield

    def recording(
        self, workspace: WorkspaceId, entry: Entry, *, outcome: str | None = None
    ) -> AbstractContextManager[None]:
        audit = self.audit
        return audit._recording(workspace, entry, outcome)  # noqa: SLF001  # no contract of the part

    def recording_in(self, entries: Mapping[WorkspaceId, Entry]) -> AbstractContextManager[None]:
        return self.audit._recording_in(entries)  # noqa: SLF001  # no contract of the part

    def holding(self, leases: Sequence[Lease]) -> AbstractContextManager[None]:
        return self._state.holding.hold(leases)

    def workspaces(self) -> list[WorkspaceId]:
        with self._state.lock:
            return sorted(w.id for w in self._state.workspaces.values() if w.entries)

    def count(self, grant: Grant) -> dict[str, int]:
        with self._state.lock:
            events = sum(1 for _ in self._state.visible_events(grant))
            visible = {m.id for m in self._state.visible_memories(grant)}
            known = self._state.granted(grant).vectors.values()
            vectors = sum(len(visible & table.keys()) for table in known)
            return {"events": events, **self.kinds(grant), "vectors": vectors}

    def kinds(self, grant: Grant) -> dict[str, int]:
        with self._state.lock:
            kinds = Counter(m.kind.value for m in self._state.visible_memories(grant))
            return dict(sorted(kinds.items()))

    def epoch(self, grant: Grant) -> int:
        with self._state.lock:
            epochs = self._state.granted(grant).epochs
            return sum(writes for label, writes in epochs.items() if grant.allows(label))

    def files(self) -> list[Path]:
        return []

    def caches(self) -> dict[str, CacheUse]:
        return {}

    def follow(self) -> bool:
        return False  # nothing is kept beside the records

    def optimize(self) -> None:
        pass

    def close(self) -> None:
        self._state.lock.close()
