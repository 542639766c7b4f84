"""Jobs: what workspaces have to have done again and again, or have asked for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ...core.access import Grant
from ...core.canonical import canonical_json, text_time, time_text
from ...core.ids import WorkspaceId
from ...core.jobs import MARK, Done, Job, JobState, NewJob, Priority, Recurring, counts_in
from ...core.leases import LEASE, LOST
from ...core.moving import check_administrator
from .labels import known_workspace, locked_workspace, workspace_number
from .session import Connections, Row, Session

PLANTED_AT_ONCE = 250  # workspaces
PLANTED_ANEW = timedelta(hours=1)  # until all are looked at again, and not only new ones


@dataclass(frozen=True, slots=True)
class _Planted:
    """What was planted, up to which workspace, and when that began."""

    wanted: tuple[Recurring, ...] = ()
    last: int = 0
    since: datetime | None = None

    def holds(self, wanted: tuple[Recurring, ...], now: datetime) -> bool:
        """Not for long: a workspace of a smaller number may be committed later than others."""
        recent = self.since is not None and self.since <= now < self.since + PLANTED_ANEW
        return self.wanted == wanted and recent


class SqlJobs:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._planted = _Planted()

    def plant(self, recurring: Sequence[Recurring], *, now: datetime) -> int:
        wanted = tuple(recurring)
        known = self._planted
        known = known if known.holds(wanted, now) else _Planted(wanted, since=now)
        told = {
            "recurring": json.dumps([_planted(each, now) for each in wanted if each.every]),
            "asked": json.dumps([each.name for each in wanted if each.every is None]),
        }
        new, after = 0, known.last
        while wanted and (last := self._last_after(after)) is not None:
            new += self._plant({"after": after, "last": last}, told)
            after = last
        self._planted = replace(known, last=after)
        return new

    def _plant(self, where: dict[str, object], told: dict[str, str]) -> int:
        """Only where something is otherwise: mostly nothing is, and reading hinders nobody."""
        wanted = {**where, "recurring": told["recurring"]}
        with self._connections.reading() as session:
            (missing,) = session.run("jobs_to_plant", wanted).fetchone()

        def plant(session: Session) -> int:
            new = session.run("plant_jobs", wanted).rowcount if missing else 0
            gone = session.run("ask_only_jobs", {**where, "names": told["asked"]}).rowcount
            return new + gone

        return self._connections.write(plant) if missing or told["asked"] != "[]" else 0

    def _last_after(self, after: int) -> int | None:
        with self._connections.reading() as session:
            bound = {"after": after, "limit": PLANTED_AT_ONCE}
            (last,) = session.run("last_workspace", bound).fetchone()
        return None if last is None else int(last)

    def schedule(self, workspace: WorkspaceId, jobs: Sequence[NewJob]) -> int:
        def schedule(session: Session) -> int:
            number = workspace_number(session, workspace)
            known = set(session.run("job_names", {"workspace": number}).fetchall())
            rows = [
                (number, each.name, each.key, each.priority.value, time_text(each.due_at))
                for each in jobs
            ]
            session.run_many("schedule_job", rows)
            return len({row[1:3] for row in rows} - known)

        return self._connections.write(schedule)

    def claim(
        self,
        *,
        now: datetime,
        limit: int,
        names: Sequence[str] | None = None,
        lease: timedelta = LEASE,
    ) -> list[Job]:
        bound = {**_taken(now, lease), "names": None if names is None else json.dumps(list(names))}
        with self._connections.reading() as session:
            if not session.run("any_due_job", bound).fetchone():
                return []

        def claim(session: Session) -> list[Row]:
            found: list[Row] = []
            for priority in Priority:
                left = {"priority": priority.value, "limit": limit - len(found)}
                found += session.run("claim_jobs", {**bound, **left}).fetchall()
            return found

        return [_job(WorkspaceId(row[0]), row[1:]) for row in self._connections.write(claim)]

    def take(self, workspace: WorkspaceId, name: str, *, now: datetime) -> Job | None:
        def take(session: Session) -> Row | None:
            number = locked_workspace(session, workspace)
            bound = {"workspace": number, "name": name, **_taken(now, LEASE)}
            row: Row | None = session.run("take_job", bound).fetchone()
            return row

        row = self._connections.write(take)
        return _job(workspace, row) if row else None

    def keep(self, jobs: Sequence[Job], *, now: datetime, lease: timedelta = LEASE) -> list[Job]:
        until = time_text(now + lease)

        def keep(session: Session) -> list[Job]:
            return [
                job for job in jobs if session.run_many("keep_jobs", [(*_known_by(job), until)])
            ]

        return self._connections.write(keep)

    def finish(self, done: Sequence[Done], *, now: datetime) -> int:
        gone = [_known_by(each.job) for each in done if _is_over(each)]
        rows = [_finished(each, now) for each in done]

        def finish(session: Session) -> int:
            dropped = session.run_many("drop_jobs", gone)
            return dropped + session.run_many("finish_jobs", rows)

        ours = self._connections.write(finish) if done else 0
        self._connections.holding.let_go(each.job.lease for each in done)
        return ours

    def fail(self, jobs: Sequence[Job], *, error: str, retry_at: datetime | None) -> int:
        again = None if retry_at is None else time_text(retry_at)
        rows = [(*_known_by(job), error, again) for job in jobs]
        ours = self._connections.write(lambda session: session.run_many("fail_jobs", rows))
        self._connections.holding.let_go(job.lease for job in jobs)
        return ours

    def listed(self, grant: Grant) -> list[JobState]:
        workspace = check_administrator(grant)
        with self._connections.reading() as session:
            bound = {"workspace": known_workspace(session, workspace)}
            return [_state(row) for row in session.run("job_states", bound)]


def wake_jobs(session: Session, number: int, now: datetime) -> None:
    """Something new was learned in a workspace: what waits for news is due when its time passed."""
    sleeping = session.run("sleeping_jobs", {"workspace": number}).fetchall()
    rows = [
        (number, name, key, time_text(now + timedelta(seconds=every or 0)))
        for name, key, every in sleeping
    ]
    if rows:
        session.run_many("wake_jobs", rows)


def _planted(each: Recurring, now: datetime) -> Row:
    every = each.every or timedelta()
    due_at = time_text(now + every)
    return (each.name, every.total_seconds(), each.on_news, each.priority.value, due_at)


def fence_at(now: datetime) -> int:
    """A number that grows with time, also when a row goes and comes again."""
    return int(now.timestamp() * 1_000_000)


def _taken(now: datetime, lease: timedelta) -> dict[str, object]:
    until = time_text(now + lease)
    return {"now": time_text(now), "until": until, "fence": fence_at(now), "lost": LOST}


def _job(workspace: WorkspaceId, row: Row) -> Job:
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


def _known_by(job: Job) -> Row:
    return (job.workspace.value, job.name, job.key, job.fence)


def _is_over(done: Done) -> bool:
    """One that was asked for under a key of its own, and has no more to do."""
    return bool(done.job.key) and done.job.every is None and done.step.cursor is None


def _finished(done: Done, now: datetime) -> Row:
    job, step = done.job, done.step
    return (
        *_known_by(job),
        None if step.cursor is None else canonical_json(step.cursor),
        job.seconds + done.seconds,
        canonical_json(done.kept),
        time_text(now),
        None if step.again_at is None else time_text(step.again_at),
        None if job.every is None else time_text(now + job.every),
    )


def _state(row: Row) -> JobState:
    (name, key, every, on_news, priority, due_at, leased, attempts, error, dead, ran, *took) = row
    kept = json.loads(took[1])
    return JobState(
        name=name,
        key=key,
        every=None if every is None else timedelta(seconds=every),
        on_news=bool(on_news),
        priority=Priority(priority),
        due_at=None if due_at is None else text_time(due_at),
        running=leased is not None,
        attempts=attempts,
        error=error,
        dead=bool(dead),
        last_run_at=None if ran is None else text_time(ran),
        last_seconds=took[0],
        last_counts=counts_in(kept),
        mark=kept.get(MARK),
    )
