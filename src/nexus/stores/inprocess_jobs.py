"""Jobs of the store in memory: the specification of `core.jobs.Jobs`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from ..core.access import Grant
from ..core.canonical import canonical_json, text_time, time_text
from ..core.ids import WorkspaceId
from ..core.jobs import MARK, Done, Job, JobState, Json, NewJob, Priority, Recurring, counts_in
from ..core.leases import LEASE, LOST
from ..core.moving import MovedJob, check_administrator
from .holding import Holding
from .inprocess_gate import Gate

Known = tuple[str, str]  # a name and a key


@dataclass(slots=True)
class JobRow:
    """A job as it stands."""

    name: str
    key: str
    due_at: datetime | None
    every: timedelta | None = None
    on_news: bool = False
    priority: Priority = Priority.USUAL
    leased_until: datetime | None = None
    fence: int = 0
    woken: bool = False  # something came since it was taken
    attempts: int = 0
    error: str | None = None
    dead: bool = False
    cursor: Json = None
    last_run_at: datetime | None = None
    seconds: float = 0.0
    counts: Mapping[str, int] = field(default_factory=dict)

    def take(self, workspace: WorkspaceId, now: datetime, lease: timedelta) -> Job:
        if self.leased_until is not None:  # somebody took it and never ended
            self.attempts, self.error = self.attempts + 1, LOST
        self.leased_until = self.due_at = now + lease
        self.fence = max(self.fence + 1, int(now.timestamp() * 1_000_000))
        starts = self.cursor is None
        self.woken = self.woken and not starts
        return Job(
            workspace=workspace,
            name=self.name,
            key=self.key,
            fence=self.fence,
            attempts=self.attempts,
            error=self.error,
            cursor=self.cursor,
            every=self.every,
            seconds=0.0 if starts else self.seconds,
            counts={} if starts else self.counts,
        )

    def wake(self, now: datetime) -> None:
        """Something new was learned: what waits for news is due when its time has passed."""
        if self.on_news and not self.woken and not self.dead:
            self.woken, later = True, now + (self.every or timedelta())
            if self.due_at is None or (self.rests and later < self.due_at):
                self.due_at = later

    def plan(self, when: Recurring, first: datetime) -> bool:
        """Let it come as often as this; whether it came otherwise before."""
        told = (when.every, when.on_news, when.priority)
        if (self.every, self.on_news, self.priority) == told:
            return False
        self.every, self.on_news, self.priority = told
        if self.rests and (self.due_at or not self.on_news):
            self.due_at = min(self.due_at or first, first)
        return True

    def ask_only(self) -> bool:
        """Let it come no more by itself; whether it did."""
        if self.every is None or self.leased_until is not None:
            return False
        self.every, self.on_news, self.due_at, self.woken = None, False, None, False
        return True

    @property
    def rests(self) -> bool:
        """Nobody is at it, and it did not fail."""
        return self.leased_until is None and self.error is None

    def next_due(self, done: Done, now: datetime) -> datetime | None:
        again, later = done.step.again_at, now + self.every if self.every else None
        if done.step.cursor is not None:
            return now
        if self.woken:
            return min(again or later or now, later or now)
        return again or (None if self.on_news else later)

    @property
    def state(self) -> JobState:
        return JobState(
            name=self.name,
            key=self.key,
            every=self.every,
            on_news=self.on_news,
            priority=self.priority,
            due_at=self.due_at,
            running=self.leased_until is not None,
            attempts=self.attempts,
            error=self.error,
            dead=self.dead,
            last_run_at=self.last_run_at,
            last_seconds=self.seconds,
            last_counts=counts_in(self.counts),
            mark=self.counts.get(MARK),
        )


class Home(Protocol):
    jobs: dict[Known, JobRow]


class State(Protocol):
    """What this part needs of the store."""

    lock: Gate
    holding: Holding

    def of(self, workspace: WorkspaceId) -> Home: ...

    def homes(self) -> Mapping[WorkspaceId, Home]: ...


class InProcessJobs:
    def __init__(self, state: State) -> None:
        self._state = state

    def plant(self, recurring: Sequence[Recurring], *, now: datetime) -> int:
        new = 0
        with self._state.lock:
            for home in self._state.homes().values():
                for each in recurring:
                    new += _planted(home.jobs, each, now)
        return new

    def schedule(self, workspace: WorkspaceId, jobs: Sequence[NewJob]) -> int:
        with self._state.lock:
            rows = self._state.of(workspace).jobs
            before = len(rows)
            for job in jobs:
                fresh = JobRow(job.name, job.key, job.due_at, priority=job.priority)
                row = rows.setdefault((job.name, job.key), fresh)
                row.priority = min(row.priority, job.priority)
                row.attempts, row.dead = 0 if row.dead else row.attempts, False
                if row.leased_until is not None:
                    row.woken = True
                elif row.due_at is None or row.due_at > job.due_at:
                    row.due_at = job.due_at
            return len(rows) - before

    def claim(
        self,
        *,
        now: datetime,
        limit: int,
        names: Sequence[str] | None = None,
        lease: timedelta = LEASE,
    ) -> list[Job]:
        with self._state.lock:
            due = [
                (row.priority, row.due_at, workspace, row)
                for workspace, home in self._state.homes().items()
                for row in home.jobs.values()
                if row.due_at is not None
                and row.due_at <= now
                and (names is None or row.name in names)
            ]
            due.sort(key=lambda each: each[:2])
            return [row.take(workspace, now, lease) for *_, workspace, row in due[:limit]]

    def take(self, workspace: WorkspaceId, name: str, *, now: datetime) -> Job | None:
        with self._state.lock:
            row = self._state.of(workspace).jobs.get((name, ""))
            if row is None or (row.leased_until is not None and row.leased_until > now):
                return None
            return row.take(workspace, now, LEASE)

    def keep(self, jobs: Sequence[Job], *, now: datetime, lease: timedelta = LEASE) -> list[Job]:
        with self._state.lock:
            held = list(self._held(jobs))
            for _, row in held:
                row.leased_until = row.due_at = now + lease
            return [job for job, _ in held]

    def finish(self, done: Sequence[Done], *, now: datetime) -> int:
        with self._state.lock:
            steps = {_place(each.job): each for each in done}
            held = list(self._held([each.job for each in done]))
            for job, row in held:
                self._finish(row, steps[_place(job)], now)
            self._state.holding.let_go(each.job.lease for each in done)
            return len(held)

    def _finish(self, row: JobRow, done: Done, now: datetime) -> None:
        job, step = done.job, done.step
        if row.key and row.every is None and step.cursor is None and not row.woken:
            del self._state.of(job.workspace).jobs[row.name, row.key]
        row.due_at = row.next_due(done, now)
        row.cursor, row.last_run_at, row.leased_until = step.cursor, now, None
        row.attempts, row.error = 0, None
        row.seconds = job.seconds + done.seconds
        row.counts = done.kept

    def fail(self, jobs: Sequence[Job], *, error: str, retry_at: datetime | None) -> int:
        with self._state.lock:
            held = list(self._held(jobs))
            for _, row in held:
                row.attempts += 1
                row.error, row.due_at, row.dead = error, retry_at, retry_at is None
                row.leased_until = None
            self._state.holding.let_go(job.lease for job in jobs)
            return len(held)

    def listed(self, grant: Grant) -> list[JobState]:
        workspace = check_administrator(grant)
        with self._state.lock:
            return [row.state for _, row in sorted(self._state.of(workspace).jobs.items())]

    def _held(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, JobRow]]:
        """Those that are still ours."""
        for job in jobs:
            row = self._state.of(job.workspace).jobs.get((job.name, job.key))
            if row and row.fence == job.fence and row.leased_until is not None:
                yield job, row


def _planted(rows: dict[Known, JobRow], when: Recurring, now: datetime) -> bool:
    """Whether this is new, or other than before."""
    if when.every is None:
        row = rows.get((when.name, ""))
        return row is not None and row.ask_only()
    first = now + when.every
    return rows.setdefault((when.name, ""), JobRow(when.name, "", first)).plan(when, first)


def retry_jobs(rows: Iterable[JobRow], names: Sequence[str] | None, now: datetime) -> int:
    """Make those that failed due now, unless somebody is at them; how many that were."""
    failed = [
        row
        for row in rows
        if row.error is not None
        and row.leased_until is None
        and (names is None or row.name in names)
    ]
    for row in failed:
        row.attempts = 0 if row.dead else row.attempts
        row.due_at, row.dead = now, False
    return len(failed)


def _place(job: Job) -> tuple[WorkspaceId, str, str]:
    return job.workspace, job.name, job.key


def moved_line(row: JobRow) -> str:
    """The job as it is moved into another store."""
    return MovedJob(
        name=row.name,
        key=row.key,
        every_seconds=None if row.every is None else row.every.total_seconds(),
        on_news=row.on_news,
        priority=row.priority.value,
        due_at=None if row.due_at is None else time_text(row.due_at),
        attempts=row.attempts,
        error=row.error,
        dead=row.dead,
        cursor=None if row.cursor is None else canonical_json(row.cursor),
        last_run_at=None if row.last_run_at is None else time_text(row.last_run_at),
        seconds=float(row.seconds),
        counts=canonical_json(dict(row.counts)),
    ).line


def row_of(line: str) -> JobRow:
    moved = MovedJob.of(line)
    return JobRow(
        moved.name,
        moved.key,
        None if moved.due_at is None else text_time(moved.due_at),
        every=None if moved.every_seconds is None else timedelta(seconds=moved.every_seconds),
        on_news=moved.on_news,
        priority=Priority(moved.priority),
        attempts=moved.attempts,
        error=moved.error,
        dead=moved.dead,
        cursor=None if moved.cursor is None else json.loads(moved.cursor),
        last_run_at=None if moved.last_run_at is None else text_time(moved.last_run_at),
        seconds=moved.seconds,
        counts=json.loads(moved.counts),
    )
