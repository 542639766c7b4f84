"""Work of a workspace that comes again, or that was asked for; the outbox has what events cause.

A job is known by its workspace, its name and a key: asking for it twice is asking for it once. It
is done in steps. Each is short, and may say where the next one goes on; so a job that was broken
off goes on where it was, and nobody waits long for its end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Any, NamedTuple, Protocol

from .access import Grant
from .ids import WorkspaceId
from .leases import LEASE, Lease

Json = Any  # what JSON can hold
MARK = "up_to"  # beside the counts that are kept: no count, but how far a job has come


class Priority(IntEnum):
    """What comes first among what is due."""

    SOON = 0
    USUAL = 1
    LATER = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job as it is asked for."""

    name: str
    key: str = ""
    due_at: datetime
    priority: Priority = Priority.USUAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurring:
    """A job that every workspace has."""

    name: str
    every: timedelta | None  # None: only when it is asked for
    on_news: bool = True  # False: also in a workspace where nothing new was learned
    priority: Priority = Priority.USUAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job that was taken, to do the next step of it."""

    workspace: WorkspaceId
    name: str
    key: str
    fence: int
    attempts: int
    cursor: Json = None  # where to go on; None: at the start
    error: str | None = None  # of the last attempt
    every: timedelta | None = None
    seconds: float = 0.0  # that its steps took so far,
    counts: Mapping[str, int] = field(default_factory=dict)  # and what they did

    @property
    def lease(self) -> Lease:
        return Lease(self.workspace, "job", (self.name, self.key), self.fence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one step of a job did."""

    counts: Mapping[str, int] = field(default_factory=dict)
    cursor: Json = None  # not None: there is more, and this is where it goes on
    again_at: datetime | None = None  # when there will be something to do, if that is known
    mark: int | None = None  # how far it has come, for the next run to begin there


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A step that was done, and how long it took."""

    job: Job
    step: Step
    seconds: float = 0.0

    @property
    def counts(self) -> dict[str, int]:
        """What this run of the job did up to here."""
        before, new = counts_in(self.job.counts), self.step.counts
        return {what: before.get(what, 0) + new.get(what, 0) for what in {**before, **new}}

    @property
    def kept(self) -> dict[str, int]:
        """That, and how far the job has come."""
        mark = self.step.mark
        return self.counts if mark is None else {**self.counts, MARK: mark}


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """How a job stands, for people to look at."""

    name: str
    key: str
    every: timedelta | None  # None: only when it is asked for
    on_news: bool
    priority: Priority
    due_at: datetime | None  # None: it waits for news, or to be asked for
    running: bool
    attempts: int
    error: str | None  # of the last attempt
    dead: bool  # it failed too often, and is not tried before somebody says so
    last_run_at: datetime | None
    last_seconds: float
    last_counts: Mapping[str, int]
    mark: int | None = None  # how far it has come

    def lag(self, now: datetime) -> timedelta:
        """How long it has been due."""
        late = self.due_at is not None and self.due_at < now and not (self.running or self.dead)
        return now - self.due_at if late and self.due_at else timedelta()


def counts_in(kept: Mapping[str, int]) -> dict[str, int]:
    """What was counted, of what is kept."""
    return {what: count for what, count in kept.items() if what != MARK}


class Turn(NamedTuple):
    """Whose turn it is, and where the job goes on there."""

    workspace: WorkspaceId
    cursor: Json = None


Run = Callable[[WorkspaceId, datetime, Json], Step]
RunTogether = Callable[[Sequence[Turn], datetime], list[Step]]  # a step in each workspace
Holding = Callable[[Sequence[Lease]], AbstractContextManager[None]]


class Jobs(Protocol):
    """The jobs of all workspaces. Those of one go away with it."""

    def plant(self, recurring: Sequence[Recurring], *, now: datetime) -> int:
        """Let every workspace have these; how many are new, or other than before.

        A new one is due when its time has passed once, and one with another interval no later than
        that, unless somebody is at it or it failed. One without an interval comes no more, unless
        somebody is at it. Harmless to repeat.
        """
        ...

    def schedule(self, workspace: WorkspaceId, jobs: Sequence[NewJob]) -> int:
        """Ask for these; how many were not there yet.

        One that is there is due at the earlier of both times. If it failed, it is tried again.
        """
        ...

    def claim(
        self,
        *,
        now: datetime,
        limit: int,
        names: Sequence[str] | None = None,
        lease: timedelta = LEASE,
    ) -> list[Job]:
        """Take what is due, of anybody: by priority, and of each what has waited longest.

        What is taken together comes by priority, and else in no order that means anything.
        One that somebody took and did not end in time is due again, with an attempt more.
        """
        ...

    def take(self, workspace: WorkspaceId, name: str, *, now: datetime) -> Job | None:
        """Take this one, due or not; None if there is none, or if somebody is at it."""
        ...

    def keep(self, jobs: Sequence[Job], *, now: datetime, lease: timedelta = LEASE) -> list[Job]:
        """Hold these for longer; those that are still ours."""
        ...

    def finish(self, done: Sequence[Done], *, now: datetime) -> int:
        """A step of each was done; how many were still ours.

        With a cursor the next step is due at once. Else it is due when its time has passed, or
        when something new is learned in its workspace. One with a key of its own is gone.
        """
        ...

    def fail(self, jobs: Sequence[Job], *, error: str, retry_at: datetime | None) -> int:
        """A step did not work; None: not before somebody says so. How many were still ours."""
        ...

    def listed(self, grant: Grant) -> list[JobState]:
        """The jobs of a workspace by name and key, for its administrator."""
        ...
