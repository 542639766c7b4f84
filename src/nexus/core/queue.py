"""What a store must do with the work that events cause. Its other contracts are in `protocols`."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from .access import Grant
from .ids import WorkspaceId
from .records import Stage, Task, Waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """How much work is left, and since when."""

    waiting: int = 0
    failed: int = 0  # of these: tried, and to be tried again
    dead: int = 0  # of these: not tried before somebody says so
    since: datetime | None = None  # of the oldest that is not dead

    def __bool__(self) -> bool:
        return self.waiting > 0


class Queue(Protocol):
    """The outbox: work that was committed with the events that caused it."""

    def pending(self, grant: Grant) -> int:
        """How many visible events still need work, whenever it is due."""
        ...

    def backlog(self, grant: Grant) -> Backlog:
        """What is left to do for visible events.

        Work is as old as when it was asked for; what has failed is as old as its event.
        """
        ...

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
        """Lease the oldest due work; of this grant, or (the worker's own call) of everybody.

        Of any step, or of one. Of everybody, some is taken of each workspace in turn, so that none
        waits for another. What is said now comes before history that was brought along, and each
        in the order it was written; of a place and step, one worker at a time has anything. Work
        that somebody took and did not end in time is due again, with an attempt more.

        Somebody who waits also takes what another one has `leased`, or what `failed` and is
        backing off, and no lease. What was given up is taken by nobody before `retry`.
        """
        ...

    def announce(self) -> None:
        """Let workers elsewhere know that there is work. It may be late, and it may be lost."""
        ...

    def listen(self, until: threading.Event, seconds: float) -> bool:
        """Wait so long, or until the event is set, or until there is work; whether there is."""
        ...

    def renew(self, tasks: Sequence[Task], *, now: datetime) -> list[Task]:
        """Hold these for longer; those that are still ours."""
        ...

    def finish(self, tasks: Sequence[Task], *, reached: Stage, now: datetime) -> None:
        """These events have come this far: on to the next step, or out of the queue.

        What was leased must still be ours; the rest is left alone.
        """
        ...

    def fail(self, tasks: Sequence[Task], *, error: str, retry_at: datetime | None) -> None:
        """This step did not work; keep why, and when to try again.

        None: it is a dead letter. It stays to be seen, and waits for `retry`.
        """
        ...

    def requeue(self, workspace: WorkspaceId, event_ids: Sequence[str], *, now: datetime) -> int:
        """Put events back at the start, to be indexed and learned again."""
        ...

    def waiting(self, grant: Grant, *, limit: int) -> list[Waiting]:
        """Work of visible events: what failed first, then by when it is due, latest first."""
        ...

    def retry(self, workspace: WorkspaceId, which: Sequence[str] | None, *, now: datetime) -> int:
        """Make what failed due now: these events and jobs, or all; how much that was.

        Events are told by id and jobs by name. A job that somebody is at is left alone.
        """
        ...
