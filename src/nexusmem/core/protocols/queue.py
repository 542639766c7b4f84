"""Protocol of the outbox: pending work of events."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from ..access import Grant
from ..ids import WorkspaceId
from ..records import PendingTask, Stage, Task
from ..scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """Amount and age of pending work."""

    waiting: int = 0
    failed: int = 0  # of these: failed and waiting for a retry
    dead: int = 0  # of these: failed too often, waiting for a manual retry
    since: datetime | None = None  # age of the oldest task that is not dead

    def __bool__(self) -> bool:
        return self.waiting > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchWait:
    """How long tasks of one scope wait for further ones, so that a worker gets them together."""

    pause: timedelta  # since the last task
    enough: int  # so many tasks do not wait


class Queue(Protocol):
    """Outbox: tasks committed in the same transaction as their events."""

    def count_pending(self, grant: Grant) -> int:
        """Return the number of visible events with pending work, due or not."""
        ...

    def backlog(self, grant: Grant) -> Backlog:
        """Return the pending work of visible events.

        The age of a task counts from its request; that of a failed task from its event.
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
        in_scope: Callable[[Scope], bool] | None = None,
    ) -> list[Task]:
        """Lease up to `limit` due tasks, oldest first.

        `grant=None` (workers) takes from every workspace, round robin; `step` selects one stage.
        Live events come before imported ones, each in write order. A scope and step is leased to
        one worker at a time. An expired lease is due again and counts as an attempt.

        `leased` and `failed` are for waiting callers: they also return tasks leased by others or
        backing off, without taking a lease. Dead tasks are never returned.

        `in_scope` selects scopes of the grant's events before `limit` is applied, so tasks of
        other scopes never take the place of selected ones. Workers do not use it.
        """
        ...

    def notify(self) -> None:
        """Notify workers of other processes that there is work; the notice may be late or lost."""
        ...

    def wait_for_work(self, until: threading.Event, seconds: float) -> bool:
        """Wait up to `seconds`, or until `until` is set; return whether there is work."""
        ...

    def renew(self, tasks: Sequence[Task], *, now: datetime) -> list[Task]:
        """Extend the leases of these tasks; return those that this worker still holds."""
        ...

    def finish(
        self,
        tasks: Sequence[Task],
        *,
        reached: Stage,
        now: datetime,
        wait: BatchWait | None = None,
    ) -> None:
        """Move these events to the next stage, or remove them from the queue.

        Tasks whose lease was lost are skipped. With `wait`, the tasks of the next stage become due
        for workers together: after a pause without new tasks of their scope, or when enough of
        them wait. A claim with a grant does not wait.
        """
        ...

    def fail(self, tasks: Sequence[Task], *, error: str, retry_at: datetime | None) -> None:
        """Store the error of these tasks and when to retry.

        `retry_at=None` makes them dead letters, which stay visible and wait for `retry`.
        """
        ...

    def reset_events(
        self, workspace: WorkspaceId, event_ids: Sequence[str], *, now: datetime
    ) -> int:
        """Reset events to the first stage, so that they are indexed and learned again."""
        ...

    def list_pending(self, grant: Grant, *, limit: int) -> list[PendingTask]:
        """Return tasks of visible events: failed ones first, then by due time, latest first."""
        ...

    def retry(self, workspace: WorkspaceId, which: Sequence[str] | None, *, now: datetime) -> int:
        """Make failed tasks and jobs due now: these or all; return their number.

        Events are given by id, jobs by name. Running jobs are skipped.
        """
        ...
