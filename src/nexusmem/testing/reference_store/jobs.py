"""Background jobs of the reference store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from ...core.access import Grant
from ...core.canonical import canonical_json, format_time, parse_time
from ...core.ids import WorkspaceId
from ...core.protocols.bulk_copy import JobCopy, check_administrator
from ...core.protocols.jobs import (
    MARK_KEY,
    FinishedStep,
    Job,
    JobState,
    Json,
    NewJob,
    Priority,
    RecurringJob,
    plain_counts,
)
from ...runtime.leases import LEASE_DURATION, LEASE_LOST_ERROR
from ...stores.transaction_hooks import HeldLeases
from .lock import ClosableLock

JobKey = tuple[str, str]  # (name, key)


@dataclass(slots=True)
class JobRow:
    """Stored state of a job."""

    name: str
    key: str
    due_at: datetime | None
    every: timedelta | None = None
    on_news: bool = False
    priority: Priority = Priority.USUAL
    leased_until: datetime | None = None
    fence: int = 0
    woken: bool = False  # scheduled again while it was leased
    attempts: int = 0
    error: str | None = None
    dead: bool = False
    cursor: Json = None
    last_run_at: datetime | None = None
    seconds: float = 0.0
    counts: Mapping[str, int] = field(default_factory=dict)

    def take_lease(self, workspace: WorkspaceId, now: datetime, lease: timedelta) -> Job:
        if self.leased_until is not None:  # the previous lease has expired
            self.attempts, self.error = self.attempts + 1, LEASE_LOST_ERROR
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

    def wake_on_news(self, now: datetime) -> None:
        """Make a job that runs on news due after its interval, because new events were learned."""
        if self.on_news and not self.woken and not self.dead:
            self.woken, later = True, now + (self.every or timedelta())
            if self.due_at is None or (self.is_idle and later < self.due_at):
                self.due_at = later

    def set_schedule(self, when: RecurringJob, first: datetime) -> bool:
        """Set interval, trigger and priority; return whether any of them changed."""
        schedule = (when.every, when.on_news, when.priority)
        if (self.every, self.on_news, self.priority) == schedule:
            return False
        self.every, self.on_news, self.priority = schedule
        if self.is_idle and (self.due_at or not self.on_news):
            self.due_at = min(self.due_at or first, first)
        return True

    def clear_schedule(self) -> bool:
        """Stop the recurrence unless the job is leased; return whether the job changed."""
        if self.every is None or self.leased_until is not None:
            return False
        self.every, self.on_news, self.due_at, self.woken = None, False, None, False
        return True

    @property
    def is_idle(self) -> bool:
        """True if the job is neither leased nor failed."""
        return self.leased_until is None and self.error is None

    def next_due(self, done: FinishedStep, now: datetime) -> datetime | None:
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
            last_counts=plain_counts(self.counts),
            mark=self.counts.get(MARK_KEY),
        )


class JobsWorkspace(Protocol):
    jobs: dict[JobKey, JobRow]


class JobsBackend(Protocol):
    """The state that `ReferenceJobs` uses."""

    lock: ClosableLock
    held_leases: HeldLeases

    def get_workspace(self, workspace: WorkspaceId) -> JobsWorkspace: ...

    def all_workspaces(self) -> Mapping[WorkspaceId, JobsWorkspace]: ...


class ReferenceJobs:
    """Reference implementation of the protocol `Jobs`."""

    def __init__(self, state: JobsBackend) -> None:
        self._state = state

    def ensure_recurring(self, recurring: Sequence[RecurringJob], *, now: datetime) -> int:
        new = 0
        with self._state.lock:
            for home in self._state.all_workspaces().values():
                for each in recurring:
                    new += _ensure_recurring(home.jobs, each, now)
        return new

    def schedule(self, workspace: WorkspaceId, jobs: Sequence[NewJob]) -> int:
        with self._state.lock:
            rows = self._state.get_workspace(workspace).jobs
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
        lease: timedelta = LEASE_DURATION,
    ) -> list[Job]:
        with self._state.lock:
            due = [
                (row.priority, row.due_at, workspace, row)
                for workspace, home in self._state.all_workspaces().items()
                for row in home.jobs.values()
                if row.due_at is not None
                and row.due_at <= now
                and (names is None or row.name in names)
            ]
            due.sort(key=lambda each: each[:2])
            return [row.take_lease(workspace, now, lease) for *_, workspace, row in due[:limit]]

    def claim_one(self, workspace: WorkspaceId, name: str, *, now: datetime) -> Job | None:
        with self._state.lock:
            row = self._state.get_workspace(workspace).jobs.get((name, ""))
            if row is None or (row.leased_until is not None and row.leased_until > now):
                return None
            return row.take_lease(workspace, now, LEASE_DURATION)

    def renew(
        self, jobs: Sequence[Job], *, now: datetime, lease: timedelta = LEASE_DURATION
    ) -> list[Job]:
        with self._state.lock:
            held = list(self._find_leased(jobs))
            for _, row in held:
                row.leased_until = row.due_at = now + lease
            return [job for job, _ in held]

    def finish(self, done: Sequence[FinishedStep], *, now: datetime) -> int:
        with self._state.lock:
            steps = {_job_key(each.job): each for each in done}
            held = list(self._find_leased([each.job for each in done]))
            for job, row in held:
                self._finish_job(row, steps[_job_key(job)], now)
            self._state.held_leases.release(each.job.lease for each in done)
            return len(held)

    def _finish_job(self, row: JobRow, done: FinishedStep, now: datetime) -> None:
        job, step = done.job, done.step
        if row.key and row.every is None and step.cursor is None and not row.woken:
            del self._state.get_workspace(job.workspace).jobs[row.name, row.key]
        row.due_at = row.next_due(done, now)
        row.cursor, row.last_run_at, row.leased_until = step.cursor, now, None
        row.attempts, row.error = 0, None
        row.seconds = job.seconds + done.seconds
        row.counts = done.counts_with_mark

    def fail(self, jobs: Sequence[Job], *, error: str, retry_at: datetime | None) -> int:
        with self._state.lock:
            held = list(self._find_leased(jobs))
            for _, row in held:
                row.attempts += 1
                row.error, row.due_at, row.dead = error, retry_at, retry_at is None
                row.leased_until = None
            self._state.held_leases.release(job.lease for job in jobs)
            return len(held)

    def list_jobs(self, grant: Grant) -> list[JobState]:
        workspace = check_administrator(grant)
        with self._state.lock:
            return [
                row.state for _, row in sorted(self._state.get_workspace(workspace).jobs.items())
            ]

    def _find_leased(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, JobRow]]:
        """Yield the jobs with a valid lease, and their rows."""
        for job in jobs:
            row = self._state.get_workspace(job.workspace).jobs.get((job.name, job.key))
            if row and row.fence == job.fence and row.leased_until is not None:
                yield job, row


def _ensure_recurring(rows: dict[JobKey, JobRow], when: RecurringJob, now: datetime) -> bool:
    """Create, change or end one recurring job; return whether anything changed."""
    if when.every is None:
        row = rows.get((when.name, ""))
        return row is not None and row.clear_schedule()
    first = now + when.every
    return rows.setdefault((when.name, ""), JobRow(when.name, "", first)).set_schedule(when, first)


def retry_jobs(rows: Iterable[JobRow], names: Sequence[str] | None, now: datetime) -> int:
    """Make failed jobs without a lease due now; return their number."""
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


def _job_key(job: Job) -> tuple[WorkspaceId, str, str]:
    return job.workspace, job.name, job.key


def job_to_line(row: JobRow) -> str:
    """Return the line that copies this job into another store."""
    return JobCopy(
        name=row.name,
        key=row.key,
        every_seconds=None if row.every is None else row.every.total_seconds(),
        on_news=row.on_news,
        priority=row.priority.value,
        due_at=None if row.due_at is None else format_time(row.due_at),
        attempts=row.attempts,
        error=row.error,
        dead=row.dead,
        cursor=None if row.cursor is None else canonical_json(row.cursor),
        last_run_at=None if row.last_run_at is None else format_time(row.last_run_at),
        seconds=float(row.seconds),
        counts=canonical_json(dict(row.counts)),
    ).line


def job_from_line(line: str) -> JobRow:
    copy = JobCopy.from_line(line)
    return JobRow(
        copy.name,
        copy.key,
        None if copy.due_at is None else parse_time(copy.due_at),
        every=None if copy.every_seconds is None else timedelta(seconds=copy.every_seconds),
        on_news=copy.on_news,
        priority=Priority(copy.priority),
        attempts=copy.attempts,
        error=copy.error,
        dead=copy.dead,
        cursor=None if copy.cursor is None else json.loads(copy.cursor),
        last_run_at=None if copy.last_run_at is None else parse_time(copy.last_run_at),
        seconds=copy.seconds,
        counts=json.loads(copy.counts),
    )
