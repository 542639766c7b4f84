"""Background jobs in SQL: recurring jobs of every workspace, and jobs scheduled once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ...core.access import Grant
from ...core.canonical import canonical_json, format_time, parse_time
from ...core.ids import WorkspaceId
from ...core.protocols.bulk_copy import check_administrator
from ...core.protocols.jobs import (
    MARK_KEY,
    FinishedStep,
    Job,
    JobState,
    NewJob,
    Priority,
    RecurringJob,
    plain_counts,
)
from ...runtime.leases import LEASE_DURATION, LEASE_LOST_ERROR
from .readable_labels import ensure_workspace, find_workspace, lock_workspace
from .transactions import Connections, Row, Transaction

WORKSPACES_PER_BATCH = 250
FULL_CHECK_INTERVAL = timedelta(hours=1)  # checks all workspaces again, not only new ones


@dataclass(frozen=True, slots=True)
class _EnsuredJobs:
    """Recurring jobs that exist in all workspaces up to `last`, checked at `since`."""

    recurring: tuple[RecurringJob, ...] = ()
    last: int = 0
    since: datetime | None = None

    def is_current(self, recurring: tuple[RecurringJob, ...], now: datetime) -> bool:
        """Return whether these jobs were checked in the last hour.

        Later all workspaces are checked again, because they may commit in another order than that
        of their numbers.
        """
        recent = self.since is not None and self.since <= now < self.since + FULL_CHECK_INTERVAL
        return self.recurring == recurring and recent


class SqlJobs:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._ensured = _EnsuredJobs()

    def ensure_recurring(self, recurring: Sequence[RecurringJob], *, now: datetime) -> int:
        wanted = tuple(recurring)
        ensured = self._ensured
        ensured = ensured if ensured.is_current(wanted, now) else _EnsuredJobs(wanted, since=now)
        job_lists = {
            "recurring": json.dumps([_new_job_row(each, now) for each in wanted if each.every]),
            "asked": json.dumps([each.name for each in wanted if each.every is None]),
        }
        new, after = 0, ensured.last
        while wanted and (last := self._last_workspace_after(after)) is not None:
            new += self._ensure_range({"after": after, "last": last}, job_lists)
            after = last
        self._ensured = replace(ensured, last=after)
        return new

    def _ensure_range(self, workspace_range: dict[str, object], job_lists: dict[str, str]) -> int:
        """Write missing jobs of a range of workspaces, after a read that mostly finds none."""
        wanted = {**workspace_range, "recurring": job_lists["recurring"]}
        with self._connections.read_transaction() as session:
            (missing,) = session.execute_query("count_missing_jobs", wanted).fetchone()

        def write_jobs(session: Transaction) -> int:
            new = session.execute_query("ensure_recurring_jobs", wanted).rowcount if missing else 0
            unscheduled = session.execute_query(
                "unschedule_jobs", {**workspace_range, "names": job_lists["asked"]}
            ).rowcount
            return new + unscheduled

        return self._connections.write(write_jobs) if missing or job_lists["asked"] != "[]" else 0

    def _last_workspace_after(self, after: int) -> int | None:
        with self._connections.read_transaction() as session:
            bound = {"after": after, "limit": WORKSPACES_PER_BATCH}
            (last,) = session.execute_query("last_workspace", bound).fetchone()
        return None if last is None else int(last)

    def schedule(self, workspace: WorkspaceId, jobs: Sequence[NewJob]) -> int:
        def insert_jobs(session: Transaction) -> int:
            number = ensure_workspace(session, workspace)
            existing = set(session.execute_query("job_names", {"workspace": number}).fetchall())
            rows = [
                (number, each.name, each.key, each.priority.value, format_time(each.due_at))
                for each in jobs
            ]
            session.execute_batch("schedule_job", rows)
            return len({row[1:3] for row in rows} - existing)

        return self._connections.write(insert_jobs)

    def claim(
        self,
        *,
        now: datetime,
        limit: int,
        names: Sequence[str] | None = None,
        lease: timedelta = LEASE_DURATION,
    ) -> list[Job]:
        bound = {
            **_lease_params(now, lease),
            "names": None if names is None else json.dumps(list(names)),
        }
        with self._connections.read_transaction() as session:
            if not session.execute_query("any_due_job", bound).fetchone():
                return []

        def claim_rows(session: Transaction) -> list[Row]:
            found: list[Row] = []
            for priority in Priority:
                left = {"priority": priority.value, "limit": limit - len(found)}
                found += session.execute_query("claim_jobs", {**bound, **left}).fetchall()
            return found

        return [
            _job_from_row(WorkspaceId(row[0]), row[1:])
            for row in self._connections.write(claim_rows)
        ]

    def claim_one(self, workspace: WorkspaceId, name: str, *, now: datetime) -> Job | None:
        def lease_row(session: Transaction) -> Row | None:
            number = lock_workspace(session, workspace)
            bound = {"workspace": number, "name": name, **_lease_params(now, LEASE_DURATION)}
            row: Row | None = session.execute_query("lease_job", bound).fetchone()
            return row

        row = self._connections.write(lease_row)
        return _job_from_row(workspace, row) if row else None

    def renew(
        self, jobs: Sequence[Job], *, now: datetime, lease: timedelta = LEASE_DURATION
    ) -> list[Job]:
        until = format_time(now + lease)

        def extend_leases(session: Transaction) -> list[Job]:
            return [
                job
                for job in jobs
                if session.execute_batch("extend_job_leases", [(*_job_key(job), until)])
            ]

        return self._connections.write(extend_leases)

    def finish(self, done: Sequence[FinishedStep], *, now: datetime) -> int:
        completed = [_job_key(each.job) for each in done if _is_complete(each)]
        rows = [_result_row(each, now) for each in done]

        def finish_rows(session: Transaction) -> int:
            dropped = session.execute_batch("drop_jobs", completed)
            return dropped + session.execute_batch("finish_jobs", rows)

        changed = self._connections.write(finish_rows) if done else 0
        self._connections.held_leases.release(each.job.lease for each in done)
        return changed

    def fail(self, jobs: Sequence[Job], *, error: str, retry_at: datetime | None) -> int:
        due_at = None if retry_at is None else format_time(retry_at)
        rows = [(*_job_key(job), error, due_at) for job in jobs]
        changed = self._connections.write(lambda session: session.execute_batch("fail_jobs", rows))
        self._connections.held_leases.release(job.lease for job in jobs)
        return changed

    def list_jobs(self, grant: Grant) -> list[JobState]:
        workspace = check_administrator(grant)
        with self._connections.read_transaction() as session:
            bound = {"workspace": find_workspace(session, workspace)}
            return [_state_from_row(row) for row in session.execute_query("job_states", bound)]


def wake_jobs(session: Transaction, number: int, now: datetime) -> None:
    """Schedule the jobs of a workspace that wait for new memories."""
    sleeping = session.execute_query("jobs_waiting_for_news", {"workspace": number}).fetchall()
    rows = [
        (number, name, key, format_time(now + timedelta(seconds=every or 0)))
        for name, key, every in sleeping
    ]
    if rows:
        session.execute_batch("wake_jobs", rows)


def _new_job_row(each: RecurringJob, now: datetime) -> Row:
    every = each.every or timedelta()
    due_at = format_time(now + every)
    return (each.name, every.total_seconds(), each.on_news, each.priority.value, due_at)


def fence_at(now: datetime) -> int:
    """Return a fencing token that grows with time, even if a row is deleted and inserted again."""
    return int(now.timestamp() * 1_000_000)


def _lease_params(now: datetime, lease: timedelta) -> dict[str, object]:
    until = format_time(now + lease)
    return {
        "now": format_time(now),
        "until": until,
        "fence": fence_at(now),
        "lost": LEASE_LOST_ERROR,
    }


def _job_from_row(workspace: WorkspaceId, row: Row) -> Job:
    name, key, fence, attempts, error, cursor, every, seconds, counts = row
    return Job(
        workspace=workspace,
        name=name,
        key=key,
        fence=fence,
        attempts=attempts,
        error=error,
        cursor=None if cursor is None else json.loads(cursor),
        every=None if every is None else timedelta(seconds=every),
        seconds=0.0 if cursor is None else seconds,
        counts={} if cursor is None else json.loads(counts),
    )


def _job_key(job: Job) -> Row:
    return (job.workspace.value, job.name, job.key, job.fence)


def _is_complete(done: FinishedStep) -> bool:
    """Return whether the job was scheduled once, with a key, and has finished."""
    return bool(done.job.key) and done.job.every is None and done.step.cursor is None


def _result_row(done: FinishedStep, now: datetime) -> Row:
    job, step = done.job, done.step
    return (
        *_job_key(job),
        None if step.cursor is None else canonical_json(step.cursor),
        job.seconds + done.seconds,
        canonical_json(done.counts_with_mark),
        format_time(now),
        None if step.again_at is None else format_time(step.again_at),
        None if job.every is None else format_time(now + job.every),
    )


def _state_from_row(row: Row) -> JobState:
    (name, key, every, on_news, priority, due_at, leased, attempts, error, dead, ran, *took) = row
    counts = json.loads(took[1])
    return JobState(
        name=name,
        key=key,
        every=None if every is None else timedelta(seconds=every),
        on_news=bool(on_news),
        priority=Priority(priority),
        due_at=None if due_at is None else parse_time(due_at),
        running=leased is not None,
        attempts=attempts,
        error=error,
        dead=bool(dead),
        last_run_at=None if ran is None else parse_time(ran),
        last_seconds=took[0],
        last_counts=plain_counts(counts),
        mark=counts.get(MARK_KEY),
    )
