"""The outbox: work that was committed with the events that caused it."""

from __future__ import annotations

import json
import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from ...core.access import Grant
from ...core.canonical import LATEST, text_time, time_text
from ...core.codec import event_from_json
from ...core.ids import WorkspaceId
from ...core.leases import LEASE, LOST, Lease
from ...core.queue import Backlog
from ...core.records import Stage, Task, Waiting
from ...core.retries import kept_error
from ...core.scope import parse_scope
from ..checks import SERVED_AT_ONCE, shares
from .jobs import fence_at, wake_jobs
from .labels import known_workspace, locked_workspace, readable
from .session import Connections, Row, Session

HOMES_AT_ONCE = 200  # workspaces that are looked into together
LAST = 2**62  # no workspace has such a number
NEVER = time_text(LATEST)  # of a dead letter

log = logging.getLogger(__name__)


class _Due(NamedTuple):
    """Work as a query finds it."""

    name: str  # of the workspace
    workspace: int
    seq: int
    step: str
    attempts: int
    priority: int
    fence: int  # 0: it was not leased
    error: str | None

    @property
    def lease(self) -> Lease | None:
        place = (self.priority, self.seq)
        return Lease(WorkspaceId(self.name), "event", place, self.fence) if self.fence else None


class _Unreadable(NamedTuple):
    """Work of an event that cannot be decoded."""

    workspace: str
    known_by: tuple[int, str, str, int]
    error: str


class SqlQueue:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._served = 0  # the workspace whose turn was last

    def pending(self, grant: Grant) -> int:
        with self._connections.reading() as session:
            bound = readable(session, grant).parameters
            (count,) = session.run("pending", bound).fetchone()
        return int(count)

    def backlog(self, grant: Grant) -> Backlog:
        with self._connections.reading() as session:
            bound = {**readable(session, grant).parameters, "never": NEVER}
            counts = session.run("backlog", bound).fetchone()
            waiting, failed, dead, since, seq = counts
            oldest = [text_time(since)] if since else []
            if seq is not None:
                failing = {"workspace": bound["workspace"], "seqs": json.dumps([seq])}
                for _, content, _ in session.run("contents_at", failing):
                    oldest.append(text_time(json.loads(content)["recorded_at"]))
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
    ) -> list[Task]:
        wanted = None if step is None else step.value
        if grant is None:
            return self._claim_of_each(now, limit, wanted)
        due: dict[str, object] = {
            "now": time_text(now),
            "limit": limit,
            "leased": leased,
            "failed": failed,
            "never": NEVER,
            "step": wanted,
        }
        with self._connections.reading() as session:
            bound = {**due, **readable(session, grant).parameters}
            found = [_Due(*row) for row in session.run("due_work_of", bound)]
            if leased or not found:
                return _tasks(session, found)[0]
        lease = {"until": time_text(now + LEASE), "fence": fence_at(now)}
        # Looked up again where it is leased: each goes to one worker.
        return self._leased(lambda session: _lease_of(session, grant, {**due, **lease}))

    def _claim_of_each(self, now: datetime, limit: int, step: str | None) -> list[Task]:
        """Some of each workspace in which anything is due, beginning after the last one served."""
        look = (time_text(now), step)
        with self._connections.reading() as session:
            homes = _due_homes(session, self._served, look, min(limit, SERVED_AT_ONCE))
        if not homes:
            return []
        self._served = homes[-1]
        share = dict(zip(homes, shares(limit, len(homes)), strict=True))
        lease = (time_text(now + LEASE), fence_at(now), LOST)

        def claim(session: Session) -> list[_Due]:
            ours = {home for (home,) in session.run("lock_homes", {"homes": json.dumps(homes)})}
            rows = [(home, *look, share[home], *lease) for home in homes if home in ours]
            found = session.read_each("lease_in", rows)
            return [_Due(*row) for some in found for row in sorted(some, key=_in_order)]

        return self._leased(claim)

    def _leased(self, claim: Callable[[Session], list[_Due]]) -> list[Task]:
        """What was claimed and can be read; what cannot is given up, and keeps nothing waiting."""
        while taken := self._connections.write(claim):
            with self._connections.reading() as session:
                tasks, unreadable = _tasks(session, taken)
            self._give_up(unreadable)
            if tasks:
                return tasks
        return []

    def _give_up(self, unreadable: Sequence[_Unreadable]) -> None:
        def give_up(session: Session) -> None:
            for each in sorted(unreadable):
                locked_workspace(session, WorkspaceId(each.workspace))
                session.run_many("fail_work", [(*each.known_by, kept_error(each.error), NEVER)])

        if unreadable:
            log.error("%d events cannot be read by this version", len(unreadable))
            self._connections.write(give_up)

    def announce(self) -> None:
        """Nobody elsewhere can hear it: they look now and then."""

    def listen(self, until: threading.Event, seconds: float) -> bool:
        until.wait(seconds)
        return False

    def renew(self, tasks: Sequence[Task], *, now: datetime) -> list[Task]:
        leases = [task.lease for task in tasks if task.lease]
        held = [(each.workspace.value, *each.of, each.fence) for each in leases]
        bound = {"held": json.dumps(held, ensure_ascii=False), "until": time_text(now + LEASE)}
        rows = self._connections.write(lambda s: s.run("renew_work", bound).fetchall())
        ours = {(name, *row) for name, *row in rows}
        still = {lease for lease, told in zip(leases, held, strict=True) if told in ours}
        return [task for task in tasks if task.lease in still]

    def finish(self, tasks: Sequence[Task], *, reached: Stage, now: datetime) -> None:
        def finish(session: Session) -> None:
            for some in _by_workspace(session, tasks):
                if reached is Stage.INDEXED:
                    onward = (Stage.DERIVED.value, time_text(now))
                    session.run_many("next_step", [(*row, *onward) for row in some])
                else:
                    session.run_many("drop_work", some)
                wake_jobs(session, some[0][0], now)

        if tasks:
            self._connections.write(finish)
            self._let_go(tasks)

    def fail(self, tasks: Sequence[Task], *, error: str, retry_at: datetime | None) -> None:
        def fail(session: Session) -> None:
            why = (error, NEVER if retry_at is None else time_text(retry_at))
            for some in _by_workspace(session, tasks):
                session.run_many("fail_work", [(*row, *why) for row in some])

        if tasks:
            self._connections.write(fail)
            self._let_go(tasks)

    def _let_go(self, tasks: Sequence[Task]) -> None:
        self._connections.holding.let_go(task.lease for task in tasks if task.lease)

    def requeue(self, workspace: WorkspaceId, event_ids: Sequence[str], *, now: datetime) -> int:
        first = (Stage.INDEXED.value, time_text(now))

        def requeue(session: Session) -> int:
            number = locked_workspace(session, workspace)
            rows = [(number, id, *first) for id in dict.fromkeys(event_ids)]
            return session.run_many("requeue", rows)

        return self._connections.write(requeue)

    def waiting(self, grant: Grant, *, limit: int) -> list[Waiting]:
        with self._connections.reading() as session:
            bound = {**readable(session, grant).parameters, "limit": limit}
            rows = session.run("waiting", bound).fetchall()
        return [_waiting(row) for row in rows]

    def retry(self, workspace: WorkspaceId, which: Sequence[str] | None, *, now: datetime) -> int:
        named = None if which is None else json.dumps(list(which))

        def retry(session: Session) -> int:
            bound = {"workspace": locked_workspace(session, workspace), "now": time_text(now)}
            events = session.run("retry", {**bound, "ids": named, "never": NEVER}).rowcount
            return events + session.run("retry_jobs", {**bound, "names": named}).rowcount

        return self._connections.write(retry)


def _due_homes(session: Session, served: int, look: Row, most: int) -> list[int]:
    """Workspaces in which something is due and free, each once around."""
    found: list[int] = []
    for start, last in ((served, LAST), (0, served)):
        after = start
        while len(found) < most:
            bound = {"after": after, "limit": HOMES_AT_ONCE}
            homes = [home for (home,) in session.run("homes_with_work", bound) if home <= last]
            if not homes:
                break
            due = session.read_each("any_due_in", [(home, *look) for home in homes])
            found += [home for home, any_due in zip(homes, due, strict=True) if any_due]
            after = homes[-1]
    return found[:most]


def _in_order(row: Row) -> Row:
    return row[5], row[2]  # by priority, as it was written


def _lease_of(session: Session, grant: Grant, due: dict[str, object]) -> list[_Due]:
    bound = {**due, **readable(session, grant).parameters}
    del bound["leased"]
    return [_Due(*row) for row in sorted(session.run("lease_work_of", bound), key=_in_order)]


def _tasks(session: Session, rows: Sequence[_Due]) -> tuple[list[Task], list[_Unreadable]]:
    """Each with its event, which is read behind the wall of its workspace."""
    contents: dict[tuple[int, int], tuple[str, str]] = {}
    for name, number in dict.fromkeys(row[:2] for row in rows):
        known_workspace(session, WorkspaceId(name))
        seqs = json.dumps([row.seq for row in rows if row.workspace == number])
        bound = {"workspace": number, "seqs": seqs}
        for seq, content, id in session.run("contents_at", bound):
            contents[number, seq] = (id, content)
    tasks: list[Task] = []
    unreadable: list[_Unreadable] = []
    for row in rows:
        if told := contents.get((row.workspace, row.seq)):
            id, content = told
            try:
                tasks.append(_task(row, content))
            except Exception as error:  # noqa: BLE001  # a newer version wrote it, or it is damaged
                known_by = (row.workspace, id, row.step, row.fence)
                unreadable.append(_Unreadable(row.name, known_by, f"cannot be read: {error!r}"))
    return tasks, unreadable


def _task(row: _Due, content: str) -> Task:
    return Task(
        event=event_from_json(json.loads(content), WorkspaceId(row.name)),
        step=Stage(row.step),
        attempts=row.attempts,
        error=row.error,
        lease=row.lease,
    )


def _by_workspace(session: Session, tasks: Sequence[Task]) -> Iterator[list[Row]]:
    """Which work this is, one workspace after the other, always in the same order."""
    spaces: dict[WorkspaceId, list[Task]] = defaultdict(list)
    for task in tasks:
        spaces[task.event.workspace].append(task)
    for workspace in sorted(spaces, key=lambda workspace: workspace.value):
        number = locked_workspace(session, workspace)
        yield [
            (number, task.event.id, task.step.value, task.lease.fence if task.lease else None)
            for task in spaces[workspace]
        ]


def _waiting(row: tuple[str, str, str, int, str | None, str]) -> Waiting:
    event_id, scope, step, attempts, error, due_at = row
    return Waiting(
        event_id=event_id,
        scope=parse_scope(scope),
        step=Stage(step),
        attempts=attempts,
        error=error,
        due_at=text_time(due_at),
    )
