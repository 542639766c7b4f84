"""Work queue of the reference store."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from ...core.access import Grant
from ...core.canonical import LATEST
from ...core.ids import WorkspaceId
from ...core.protocols.queue import Backlog, BatchWait
from ...core.records import Event, PendingTask, Stage, Task
from ...core.scope import Scope
from ...runtime.leases import LEASE_DURATION, LEASE_LOST_ERROR, Lease
from ...stores.validation import split_evenly
from .jobs import retry_jobs
from .state import StoredTask, StorePart, StoreState, WorkspaceData, as_write, with_lock


class ReferenceQueue(StorePart):
    """Reference implementation of the protocol `Queue`."""

    def __init__(self, state: StoreState) -> None:
        super().__init__(state)
        self._served_count = 0  # position of the round robin in the list of workspaces

    @with_lock
    def count_pending(self, grant: Grant) -> int:
        work = self._state.workspace_for(grant).work
        return sum(event.id in work for event in self._state.visible_events(grant))

    @with_lock
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
        if grant is None:
            return self._claim_round_robin(now, limit, step)
        home = self._state.workspace_for(grant)
        due = [
            (event, work)
            for event, work in _order_work(home, self._state.visible_events(grant))
            if (failed or work.due_at <= now or not work.attempts)
            and work.due_at < LATEST
            and step in (None, work.step)
            and (in_scope is None or in_scope(event.scope))
        ]
        if leased:
            return [_to_task(event, work) for event, work in due[:limit]]
        return _lease_tasks(home, _select_free(home, due, now)[:limit], now)

    def _claim_round_robin(self, now: datetime, limit: int, step: Stage | None) -> list[Task]:
        """Lease a share of each workspace with due work, starting after the last one served."""
        homes = list(self._state.workspaces.values())
        due = []
        for home in homes[self._served_count :] + homes[: self._served_count]:
            ready = [
                (event, work)
                for event, work in _order_work(home, home.iter_events())
                if work.due_at <= now and step in (None, work.step)
            ]
            due += [(home, free)] if (free := _select_free(home, ready, now)) else []
        if not due:
            return []
        turn = list(zip(due, split_evenly(limit, len(due)), strict=False))
        self._served_count = homes.index(turn[-1][0][0]) + 1
        return [task for (home, free), n in turn for task in _lease_tasks(home, free[:n], now)]

    def notify(self) -> None:
        """Do nothing: no other process can open this store."""

    def wait_for_work(self, until: threading.Event, seconds: float) -> bool:
        until.wait(seconds)
        return False

    @with_lock
    def renew(self, tasks: Sequence[Task], *, now: datetime) -> list[Task]:
        held = []
        for task in tasks:
            work = self._find_work(task)
            if task.lease and work and work.leased_until is not None:
                work.leased_until = now + LEASE_DURATION
                held.append(task)
        return held

    def _find_work(self, task: Task) -> StoredTask | None:
        """Return the work of `task` if it is at the same step and was not leased again."""
        work = self._state.get_workspace(task.event.workspace).work.get(task.event.id)
        if work is None or work.step is not task.step:
            return None
        return work if not task.lease or work.fence == task.lease.fence else None

    @as_write
    def finish(
        self,
        tasks: Sequence[Task],
        *,
        reached: Stage,
        now: datetime,
        wait: BatchWait | None = None,
    ) -> None:
        later = now + wait.pause if wait else now
        for task in tasks:
            work = self._find_work(task)
            if not work:
                continue
            rows = self._state.get_workspace(task.event.workspace).work
            if reached is Stage.INDEXED:
                rows[task.event.id] = replace(
                    work,
                    step=Stage.DERIVED,
                    due_at=later,
                    attempts=0,
                    leased_until=None,
                    error=None,
                )
            else:
                del rows[task.event.id]
        if wait and reached is Stage.INDEXED:
            for workspace, scope in {(task.event.workspace, task.event.scope) for task in tasks}:
                _gather_work(self._state.get_workspace(workspace), scope, now, wait)
        for workspace in {task.event.workspace for task in tasks}:
            for job in self._state.get_workspace(workspace).jobs.values():
                job.wake_on_news(now)
        self._state.held_leases.release(task.lease for task in tasks if task.lease)

    @as_write
    def fail(self, tasks: Sequence[Task], *, error: str, retry_at: datetime | None) -> None:
        for task in tasks:
            if work := self._find_work(task):
                work.attempts += 1
                work.error, work.due_at, work.leased_until = error, retry_at or LATEST, None
        self._state.held_leases.release(task.lease for task in tasks if task.lease)

    @as_write
    def reset_events(
        self, workspace: WorkspaceId, event_ids: Sequence[str], *, now: datetime
    ) -> int:
        home = self._state.get_workspace(workspace)
        existing = [id for id in event_ids if id in home.by_id and home.by_id[id].event]
        for id in existing:
            before = home.work.get(id)
            fence, priority = (before.fence + 1, before.priority) if before else (0, 0)
            home.work[id] = StoredTask(id, Stage.INDEXED, now, fence=fence, priority=priority)
        return len(existing)

    @with_lock
    def backlog(self, grant: Grant) -> Backlog:
        rows = self._state.workspace_for(grant).work
        every = [(rows[e.id], e) for e in self._state.visible_events(grant) if e.id in rows]
        living = [(work, event) for work, event in every if work.due_at < LATEST]
        failed = [(work, event) for work, event in living if work.error is not None]
        due_at = [work.due_at for work, _ in living if work.error is None]
        recorded_at = [event.recorded_at for _, event in failed[:1]]  # in ledger order
        return Backlog(
            waiting=len(every),
            failed=len(failed),
            dead=len(every) - len(living),
            since=min([*due_at, *recorded_at], default=None),
        )

    @with_lock
    def list_pending(self, grant: Grant, *, limit: int) -> list[PendingTask]:
        rows = self._state.workspace_for(grant).work
        visible = self._state.visible_events(grant)
        pending = [_to_pending_task(event, rows[event.id]) for event in visible if event.id in rows]
        pending.sort(key=lambda each: each.event_id)
        pending.sort(key=lambda each: each.due_at, reverse=True)
        return sorted(pending, key=lambda each: each.error is None)[:limit]

    @as_write
    def retry(self, workspace: WorkspaceId, which: Sequence[str] | None, *, now: datetime) -> int:
        home = self._state.get_workspace(workspace)
        rows = home.work
        wanted = rows.keys() if which is None else set(which)
        failed = [work for id, work in rows.items() if id in wanted and work.error is not None]
        for work in failed:
            work.attempts = 0 if work.due_at >= LATEST else work.attempts
            work.due_at, work.leased_until = now, None
        return len(failed) + retry_jobs(home.jobs.values(), which, now)


def _gather_work(home: WorkspaceData, scope: Scope, now: datetime, wait: BatchWait) -> None:
    """Make the waiting work of a scope due together."""
    waiting = [
        work
        for event, work in _order_work(home, home.iter_events())
        if event.scope == scope
        and work.step is Stage.DERIVED
        and not work.attempts
        and work.leased_until is None
    ]
    due_at = now if len(waiting) >= wait.enough else now + wait.pause
    for work in waiting:
        if work.due_at > now:
            work.due_at = due_at


def _to_pending_task(event: Event, work: StoredTask) -> PendingTask:
    return PendingTask(
        event_id=event.id,
        scope=event.scope,
        step=work.step,
        attempts=work.attempts,
        error=work.error,
        due_at=work.due_at,
    )


def _order_work(home: WorkspaceData, events: Iterable[Event]) -> list[tuple[Event, StoredTask]]:
    """Return events with their work: live before imported ones, each in ledger order."""
    rows = [(event, home.work[event.id]) for event in events if event.id in home.work]
    return sorted(rows, key=lambda each: each[1].priority)


def _select_free(
    home: WorkspaceData, due: Sequence[tuple[Event, StoredTask]], now: datetime
) -> list[tuple[Event, StoredTask]]:
    """Return the due work, without scopes where a worker has leased the same step."""
    held = {
        (event.scope, work.step)
        for event, work in _order_work(home, home.iter_events())
        if not work.is_free(now)
    }
    return [(e, work) for e, work in due if work.is_free(now) and (e.scope, work.step) not in held]


def _lease_tasks(
    home: WorkspaceData, selected: Sequence[tuple[Event, StoredTask]], now: datetime
) -> list[Task]:
    for _, work in selected:
        if work.leased_until is not None:  # the previous lease has expired
            work.attempts, work.error = work.attempts + 1, LEASE_LOST_ERROR
        work.leased_until = now + LEASE_DURATION
        work.fence = max(work.fence + 1, int(now.timestamp() * 1_000_000))
    return [
        replace(_to_task(event, work), lease=Lease(home.id, "event", (event.id,), work.fence))
        for event, work in selected
    ]


def _to_task(event: Event, work: StoredTask) -> Task:
    return Task(event=event, step=work.step, attempts=work.attempts, error=work.error)
