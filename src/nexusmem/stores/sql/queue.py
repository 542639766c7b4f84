"""Outbox in SQL: tasks that were committed together with their events."""

from __future__ import annotations

import json
import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from ...core.access import Grant
from ...core.canonical import LATEST, format_time, parse_time
from ...core.errors import InvalidInput
from ...core.ids import WorkspaceId
from ...core.json_codec import event_from_json
from ...core.protocols.queue import Backlog, BatchWait
from ...core.records import PendingTask, Stage, Task
from ...core.scope import Scope, parse_scope
from ...runtime.backoff import redact_error
from ...runtime.leases import LEASE_DURATION, LEASE_LOST_ERROR, Lease
from ..validation import MAX_WORKSPACES_PER_CLAIM, split_evenly
from .jobs import fence_at, wake_jobs
from .readable_labels import compile_grant, find_workspace, lock_workspace
from .transactions import Connections, Row, Transaction

WORKSPACES_PER_BATCH = 200  # workspaces checked by one query
MAX_WORKSPACE_NUMBER = 2**62  # larger than any workspace number
NEVER_DUE = format_time(LATEST)  # due time of a dead task

log = logging.getLogger(__name__)


class _DueRow(NamedTuple):
    """A row of the leasing queries."""

    name: str  # name of the workspace
    workspace: int
    seq: int
    step: str
    attempts: int
    priority: int
    fence: int  # 0: not leased
    error: str | None

    @property
    def lease(self) -> Lease | None:
        target = (self.priority, self.seq)
        return Lease(WorkspaceId(self.name), "event", target, self.fence) if self.fence else None


class _UnreadableRow(NamedTuple):
    """A leased task whose event cannot be decoded."""

    workspace: str
    work_key: tuple[int, str, str, int]
    error: str


class SqlQueue:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._last_served = 0  # number of the workspace served last

    def count_pending(self, grant: Grant) -> int:
        with self._connections.read_transaction() as session:
            bound = compile_grant(session, grant).parameters
            (count,) = session.execute_query("count_pending", bound).fetchone()
        return int(count)

    def backlog(self, grant: Grant) -> Backlog:
        with self._connections.read_transaction() as session:
            bound = {**compile_grant(session, grant).parameters, "never": NEVER_DUE}
            counts = session.execute_query("backlog", bound).fetchone()
            waiting, failed, dead, since, seq = counts
            oldest = [parse_time(since)] if since else []
            if seq is not None:
                failing = {"workspace": bound["workspace"], "seqs": json.dumps([seq])}
                for _, content, _ in session.execute_query("event_contents_by_seq", failing):
                    oldest.append(parse_time(json.loads(content)["recorded_at"]))
        return Backlog(
            waiting=waiting, failed=failed, dead=dead, since=min(oldest) if oldest else None
        )

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
        wanted = None if step is None else step.value
        if grant is None:
            return self._claim_round_robin(now, limit, wanted)
        due: dict[str, object] = {
            "now": format_time(now),
            "limit": limit,
            "leased": leased,
            "failed": failed,
            "never": NEVER_DUE,
            "step": wanted,
        }
        with self._connections.read_transaction() as session:
            bound = {**due, **_bind_labels(session, grant, in_scope)}
            found = [_DueRow(*row) for row in session.execute_query("due_work", bound)]
            if leased or not found:
                return _decode_tasks(session, found)[0]
        lease = {"until": format_time(now + LEASE_DURATION), "fence": fence_at(now)}
        # The write transaction looks them up again, so that one worker gets each task.
        return self._claim_readable(
            lambda session: _lease_granted(
                session, {**due, **lease, **_bind_labels(session, grant, in_scope)}
            )
        )

    def _claim_round_robin(self, now: datetime, limit: int, step: str | None) -> list[Task]:
        """Lease some due tasks of each workspace, starting after the workspace served last."""
        due_params = (format_time(now), step)
        with self._connections.read_transaction() as session:
            workspaces = _find_due_workspaces(
                session, self._last_served, due_params, min(limit, MAX_WORKSPACES_PER_CLAIM)
            )
        if not workspaces:
            return []
        self._last_served = workspaces[-1]
        share = dict(zip(workspaces, split_evenly(limit, len(workspaces)), strict=True))
        lease = (format_time(now + LEASE_DURATION), fence_at(now), LEASE_LOST_ERROR)

        def claim_rows(session: Transaction) -> list[_DueRow]:
            locked = {
                workspace
                for (workspace,) in session.execute_query(
                    "lock_workspaces_with_work", {"homes": json.dumps(workspaces)}
                )
            }
            rows = [
                (workspace, *due_params, share[workspace], *lease)
                for workspace in workspaces
                if workspace in locked
            ]
            found = session.fetch_each("lease_workspace_work", rows)
            return [_DueRow(*row) for some in found for row in sorted(some, key=_priority_order)]

        return self._claim_readable(claim_rows)

    def _claim_readable(self, claim: Callable[[Transaction], list[_DueRow]]) -> list[Task]:
        """Return the decoded tasks; mark undecodable ones as dead, so that they block nothing."""
        while taken := self._connections.write(claim):
            with self._connections.read_transaction() as session:
                tasks, unreadable = _decode_tasks(session, taken)
            self._mark_dead(unreadable)
            if tasks:
                return tasks
        return []

    def _mark_dead(self, unreadable: Sequence[_UnreadableRow]) -> None:
        def mark_dead(session: Transaction) -> None:
            for each in sorted(unreadable):
                lock_workspace(session, WorkspaceId(each.workspace))
                session.execute_batch(
                    "fail_work", [(*each.work_key, redact_error(each.error), NEVER_DUE)]
                )

        if unreadable:
            log.error("%d events cannot be read by this version", len(unreadable))
            self._connections.write(mark_dead)

    def notify(self) -> None:
        """Do nothing: workers of other processes poll a SQLite file."""

    def wait_for_work(self, until: threading.Event, seconds: float) -> bool:
        until.wait(seconds)
        return False

    def renew(self, tasks: Sequence[Task], *, now: datetime) -> list[Task]:
        leases = [task.lease for task in tasks if task.lease]
        held = [(each.workspace.value, *each.target, each.fence) for each in leases]
        bound = {
            "held": json.dumps(held, ensure_ascii=False),
            "until": format_time(now + LEASE_DURATION),
        }
        rows = self._connections.write(lambda s: s.execute_query("renew_work", bound).fetchall())
        renewed = {(name, *row) for name, *row in rows}
        renewed_leases = {lease for lease, key in zip(leases, held, strict=True) if key in renewed}
        return [task for task in tasks if task.lease in renewed_leases]

    def finish(
        self,
        tasks: Sequence[Task],
        *,
        reached: Stage,
        now: datetime,
        wait: BatchWait | None = None,
    ) -> None:
        later = format_time(now + wait.pause if wait else now)
        onward = (Stage.DERIVED.value, later)
        last_ids = {(task.event.workspace, task.event.scope): task.event.id for task in tasks}
        gathered = set(last_ids.values() if wait else ())

        def finish_rows(session: Transaction) -> None:
            for some in _group_by_workspace(session, tasks):
                if reached is Stage.INDEXED:
                    session.execute_batch("advance_work_step", [(*row, *onward) for row in some])
                    due = {"step": Stage.DERIVED.value, "now": format_time(now), "later": later}
                    for number, id, *_ in some:
                        if wait and id in gathered:
                            bound = {"workspace": number, "id": id, "enough": wait.enough}
                            session.execute_query("gather_work", {**due, **bound})
                else:
                    session.execute_batch("drop_work", some)
                wake_jobs(session, some[0][0], now)

        if tasks:
            self._connections.write(finish_rows)
            self._release_leases(tasks)

    def fail(self, tasks: Sequence[Task], *, error: str, retry_at: datetime | None) -> None:
        def fail_rows(session: Transaction) -> None:
            why = (error, NEVER_DUE if retry_at is None else format_time(retry_at))
            for some in _group_by_workspace(session, tasks):
                session.execute_batch("fail_work", [(*row, *why) for row in some])

        if tasks:
            self._connections.write(fail_rows)
            self._release_leases(tasks)

    def _release_leases(self, tasks: Sequence[Task]) -> None:
        self._connections.held_leases.release(task.lease for task in tasks if task.lease)

    def reset_events(
        self, workspace: WorkspaceId, event_ids: Sequence[str], *, now: datetime
    ) -> int:
        first = (Stage.INDEXED.value, format_time(now))

        def reset_rows(session: Transaction) -> int:
            number = lock_workspace(session, workspace)
            rows = [(number, id, *first) for id in dict.fromkeys(event_ids)]
            return session.execute_batch("reset_work", rows)

        return self._connections.write(reset_rows)

    def list_pending(self, grant: Grant, *, limit: int) -> list[PendingTask]:
        with self._connections.read_transaction() as session:
            bound = {**compile_grant(session, grant).parameters, "limit": limit}
            rows = session.execute_query("list_pending", bound).fetchall()
        return [_task_state_from_row(row) for row in rows]

    def retry(self, workspace: WorkspaceId, which: Sequence[str] | None, *, now: datetime) -> int:
        named = None if which is None else json.dumps(list(which))

        def retry_rows(session: Transaction) -> int:
            bound = {"workspace": lock_workspace(session, workspace), "now": format_time(now)}
            events = session.execute_query(
                "retry_work", {**bound, "ids": named, "never": NEVER_DUE}
            ).rowcount
            return events + session.execute_query("retry_jobs", {**bound, "names": named}).rowcount

        return self._connections.write(retry_rows)


def _find_due_workspaces(
    session: Transaction, last_served: int, due_params: Row, limit: int
) -> list[int]:
    """Return up to `limit` workspaces with a due task that is not leased, in round robin order."""
    found: list[int] = []
    for start, last in ((last_served, MAX_WORKSPACE_NUMBER), (0, last_served)):
        after = start
        while len(found) < limit:
            bound = {"after": after, "limit": WORKSPACES_PER_BATCH}
            workspaces = [
                workspace
                for (workspace,) in session.execute_query("workspaces_with_work", bound)
                if workspace <= last
            ]
            if not workspaces:
                break
            due = session.fetch_each(
                "any_due_work", [(workspace, *due_params) for workspace in workspaces]
            )
            found += [
                workspace for workspace, any_due in zip(workspaces, due, strict=True) if any_due
            ]
            after = workspaces[-1]
    return found[:limit]


def _priority_order(row: Row) -> Row:
    return row[5], row[2]  # priority, then order of writing


def _bind_labels(
    session: Transaction, grant: Grant, in_scope: Callable[[Scope], bool] | None
) -> dict[str, object]:
    """Return the workspace and the labels of a grant, only those of the selected scopes."""
    bound = compile_grant(session, grant).parameters
    if in_scope is None:
        return bound
    pending = session.execute_query("pending_scopes", bound).fetchall()
    granted = set(json.loads(str(bound["labels"])))
    selected = [
        label for label, scope in pending if label in granted and _is_selected(scope, in_scope)
    ]
    return {**bound, "labels": json.dumps(selected)}


def _is_selected(scope: str, in_scope: Callable[[Scope], bool]) -> bool:
    try:
        return in_scope(parse_scope(scope))
    except InvalidInput:  # written by a newer version
        return False


def _lease_granted(session: Transaction, bound: dict[str, object]) -> list[_DueRow]:
    del bound["leased"]
    return [
        _DueRow(*row)
        for row in sorted(session.execute_query("lease_granted_work", bound), key=_priority_order)
    ]


def _decode_tasks(
    session: Transaction, rows: Sequence[_DueRow]
) -> tuple[list[Task], list[_UnreadableRow]]:
    """Return tasks with their events, read inside each workspace, and undecodable rows."""
    contents: dict[tuple[int, int], tuple[str, str]] = {}
    for name, number in dict.fromkeys(row[:2] for row in rows):
        find_workspace(session, WorkspaceId(name))
        seqs = json.dumps([row.seq for row in rows if row.workspace == number])
        bound = {"workspace": number, "seqs": seqs}
        for seq, content, id in session.execute_query("event_contents_by_seq", bound):
            contents[number, seq] = (id, content)
    tasks: list[Task] = []
    unreadable: list[_UnreadableRow] = []
    for row in rows:
        if stored := contents.get((row.workspace, row.seq)):
            id, content = stored
            try:
                tasks.append(_task_from_row(row, content))
            except Exception as error:  # written by a newer version, or damaged  # noqa: BLE001
                work_key = (row.workspace, id, row.step, row.fence)
                unreadable.append(_UnreadableRow(row.name, work_key, f"cannot be read: {error!r}"))
    return tasks, unreadable


def _task_from_row(row: _DueRow, content: str) -> Task:
    return Task(
        event=event_from_json(json.loads(content), WorkspaceId(row.name)),
        step=Stage(row.step),
        attempts=row.attempts,
        error=row.error,
        lease=row.lease,
    )


def _group_by_workspace(session: Transaction, tasks: Sequence[Task]) -> Iterator[list[Row]]:
    """Yield the keys of tasks per workspace, in a fixed order that avoids deadlocks."""
    spaces: dict[WorkspaceId, list[Task]] = defaultdict(list)
    for task in tasks:
        spaces[task.event.workspace].append(task)
    for workspace in sorted(spaces, key=lambda workspace: workspace.value):
        number = lock_workspace(session, workspace)
        yield [
            (number, task.event.id, task.step.value, task.lease.fence if task.lease else None)
            for task in spaces[workspace]
        ]


def _task_state_from_row(row: tuple[str, str, str, int, str | None, str]) -> PendingTask:
    event_id, scope, step, attempts, error, due_at = row
    return PendingTask(
        event_id=event_id,
        scope=parse_scope(scope),
        step=Stage(step),
        attempts=attempts,
        error=error,
        due_at=parse_time(due_at),
    )
