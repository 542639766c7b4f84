"""Protocol of background jobs: recurring or requested work of a workspace.

Work caused by events is in the outbox (`queue`). A job is identified by workspace, name and key, so
requesting it twice runs it once. It runs in short steps, each with an optional cursor for the next
one. So an interrupted job continues where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Any, NamedTuple, Protocol

from ...runtime.leases import LEASE_DURATION, Lease
from ..access import Grant
from ..ids import WorkspaceId

Json = Any  # any JSON value
MARK_KEY = "up_to"  # key of the watermark among the stored counts


class Priority(IntEnum):
    """Order of due jobs."""

    SOON = 0
    USUAL = 1
    LATER = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A request for a job."""

    name: str
    key: str = ""
    due_at: datetime
    priority: Priority = Priority.USUAL


@dataclass(frozen=True, slots=True, kw_only=True)
class RecurringJob:
    """A job that every workspace has."""

    name: str
    every: timedelta | None  # None: only on request
    on_news: bool = True  # False: also in workspaces without new memories
    priority: Priority = Priority.USUAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A claimed job, to run its next step."""

    workspace: WorkspaceId
    name: str
    key: str
    fence: int
    attempts: int
    cursor: Json = None  # where to continue; None: at the start
    error: str | None = None  # of the last attempt
    every: timedelta | None = None
    seconds: float = 0.0  # duration of its steps so far
    counts: Mapping[str, int] = field(default_factory=dict)  # results of its steps so far

    @property
    def lease(self) -> Lease:
        return Lease(self.workspace, "job", (self.name, self.key), self.fence)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStep:
    """Result of one step of a job."""

    counts: Mapping[str, int] = field(default_factory=dict)
    cursor: Json = None  # not None: the next step continues here
    again_at: datetime | None = None  # when the job has work again, if predictable
    mark: int | None = None  # sequence number that the next run starts from


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedStep:
    """A finished step with its duration."""

    job: Job
    step: JobStep
    seconds: float = 0.0

    @property
    def counts(self) -> dict[str, int]:
        """The counts of this run of the job, including this step."""
        before, new = plain_counts(self.job.counts), self.step.counts
        return {what: before.get(what, 0) + new.get(what, 0) for what in {**before, **new}}

    @property
    def counts_with_mark(self) -> dict[str, int]:
        """The counts, with the watermark (sequence number) under MARK_KEY."""
        mark = self.step.mark
        return self.counts if mark is None else {**self.counts, MARK_KEY: mark}


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """State of a job, for display."""

    name: str
    key: str
    every: timedelta | None  # None: only on request
    on_news: bool
    priority: Priority
    due_at: datetime | None  # None: waits for new memories or a request
    running: bool
    attempts: int
    error: str | None  # of the last attempt
    dead: bool  # failed too often; waits for a manual retry
    last_run_at: datetime | None
    last_seconds: float
    last_counts: Mapping[str, int]
    mark: int | None = None  # sequence number that the next run starts from

    def lag(self, now: datetime) -> timedelta:
        """Return for how long the job has been overdue; zero if it is running or dead."""
        late = self.due_at is not None and self.due_at < now and not (self.running or self.dead)
        return now - self.due_at if late and self.due_at else timedelta()


def plain_counts(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the stored counts without the watermark."""
    return {what: count for what, count in counts.items() if what != MARK_KEY}


class WorkspaceTurn(NamedTuple):
    """A workspace to process next, with the job's cursor there."""

    workspace: WorkspaceId
    cursor: Json = None


RunStep = Callable[[WorkspaceId, datetime, Json], JobStep]
RunBatch = Callable[[Sequence[WorkspaceTurn], datetime], list[JobStep]]  # a step in each workspace
LeaseGuard = Callable[[Sequence[Lease]], AbstractContextManager[None]]


class Jobs(Protocol):
    """The jobs of all workspaces; erasing a workspace erases its jobs."""

    def ensure_recurring(self, recurring: Sequence[RecurringJob], *, now: datetime) -> int:
        """Add these jobs to all workspaces; return the number of new or changed ones.

        A new job is due after its first interval. A changed interval moves the due time no later
        than that, unless the job is running or failed. A job without an interval loses its due time
        unless it is running. Repeating the call has no effect.
        """
        ...

    def schedule(self, workspace: WorkspaceId, jobs: Sequence[NewJob]) -> int:
        """Request these jobs; return the number of new ones.

        An existing job is due at the earlier of both times. A failed job is retried.
        """
        ...

    def claim(
        self,
        *,
        now: datetime,
        limit: int,
        names: Sequence[str] | None = None,
        lease: timedelta = LEASE_DURATION,
    ) -> list[Job]:
        """Lease due jobs of all workspaces, by priority and then longest wait.

        The returned jobs are ordered by priority only. A job with an expired lease is due again and
        counts an attempt.
        """
        ...

    def claim_one(self, workspace: WorkspaceId, name: str, *, now: datetime) -> Job | None:
        """Lease this job, due or not; None if it is missing or leased by another worker."""
        ...

    def renew(
        self, jobs: Sequence[Job], *, now: datetime, lease: timedelta = LEASE_DURATION
    ) -> list[Job]:
        """Extend the leases of these jobs; return those that this worker still holds."""
        ...

    def finish(self, done: Sequence[FinishedStep], *, now: datetime) -> int:
        """Store one finished step per job; return the number of jobs this worker still held.

        With a cursor, the next step is due immediately. Otherwise the job is due after its
        interval, or when its workspace gets new memories. A job with a key is removed.
        """
        ...

    def fail(self, jobs: Sequence[Job], *, error: str, retry_at: datetime | None) -> int:
        """Store a failed step; return the number of jobs this worker still held.

        `retry_at=None` means no retry until an administrator requests it.
        """
        ...

    def list_jobs(self, grant: Grant) -> list[JobState]:
        """Return the jobs of a workspace by name and key; for administrators."""
        ...
