"""The outbox: work that was committed with the events that caused it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from ...core.access import Grant
from ...core.canonical import text_time, time_text
from ...core.codec import event_from_json
from ...core.ids import WorkspaceId
from ...core.records import Stage, Task, Waiting
from ...core.scope import parse_scope
from .jobs import wake_jobs
from .labels import known_workspace, locked_workspace, readable
from .session import Connections, Row, Session

LEASE = timedelta(seconds=30)


class SqlQueue:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def pending(self, grant: Grant) -> int:
        with self._connections.reading() as session:
            bound = readable(session, grant).parameters
            (count,) = session.run("pending", bound).fetchone()
        return int(count)

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
        until = time_text(now + LEASE)
        due: dict[str, object] = {
            "now": time_text(now),
            "limit": limit,
            "leased": leased,
            "failed": failed,
            "step": None if step is None else step.value,
        }
        with self._connections.reading() as session:
            found = _due(session, grant, due)
            if leased or not found:
                return _tasks(session, found)
        # Looked up again where it is leased: each goes to one worker.
        taken = self._connections.write(lambda writer: _leased(writer, grant, due, until))
        with self._connections.reading() as session:
            return _tasks(session, taken)

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

    def fail(self, tasks: Sequence[Task], *, error: str, retry_at: datetime) -> None:
        def fail(session: Session) -> None:
            why = (error, time_text(retry_at))
            for some in _by_workspace(session, tasks):
                session.run_many("fail_work", [(*row, *why) for row in some])

        if tasks:
            self._connections.write(fail)

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

    def retry(
        self, workspace: WorkspaceId, event_ids: Sequence[str] | None, *, now: datetime
    ) -> int:
        ids = None if event_ids is None else json.dumps(list(event_ids))

        def retry(session: Session) -> int:
            bound = {"workspace": locked_workspace(session, workspace)}
            wanted = {**bound, "ids": ids, "now": time_text(now)}
            return session.run("retry", wanted).rowcount

        return self._connections.write(retry)


Due = tuple[str, int, int, str, int, str]  # workspace's name and number, seq, step, attempts, due


def _due(session: Session, grant: Grant | None, due: dict[str, object]) -> list[Due]:
    if grant is None:
        return session.run("due_work", due).fetchall()
    bound = {**due, **readable(session, grant).parameters}
    return session.run("due_work_of", bound).fetchall()


def _leased(session: Session, grant: Grant | None, due: dict[str, object], until: str) -> list[Due]:
    if grant is None:
        taken = session.run("lease_work", {**due, "until": until}).fetchall()
        return sorted(taken, key=lambda row: (row[5], row[1], row[2]))
    bound = {**due, **readable(session, grant).parameters, "until": until}
    taken = session.run("lease_work_of", bound).fetchall()
    return sorted(taken, key=lambda row: row[2])


def _tasks(session: Session, rows: Sequence[Due]) -> list[Task]:
    """Each with its event, which is read behind the wall of its workspace."""
    contents: dict[tuple[int, int], str] = {}
    for name, number in dict.fromkeys(row[:2] for row in rows):
        known_workspace(session, WorkspaceId(name))
        seqs = json.dumps([row[2] for row in rows if row[1] == number])
        bound = {"workspace": number, "seqs": seqs}
        for seq, content in session.run("contents_at", bound):
            contents[number, seq] = content
    return [
        Task(
            event=event_from_json(json.loads(contents[number, seq]), WorkspaceId(name)),
            step=Stage(step),
            attempts=attempts,
        )
        for name, number, seq, step, attempts, _ in rows
        if (number, seq) in contents
    ]


def _by_workspace(session: Session, tasks: Sequence[Task]) -> Iterator[list[Row]]:
    """Which work this is, one workspace after the other, always in the same order."""
    spaces: dict[WorkspaceId, list[Task]] = defaultdict(list)
    for task in tasks:
        spaces[task.event.workspace].append(task)
    for workspace in sorted(spaces, key=lambda workspace: workspace.value):
        number = locked_workspace(session, workspace)
        yield [(number, task.event.id, task.step.value) for task in spaces[workspace]]


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
