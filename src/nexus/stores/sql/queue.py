"""The outbox: work that was committed with the events that caused it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta

from ...core.access import Grant
from ...core.canonical import text_time, time_text
from ...core.codec import event_from_json
from ...core.ids import WorkspaceId
from ...core.records import Stage, Task, Waiting
from ...core.scope import parse_scope
from .labels import locked_workspace, readable
from .session import Connections, Session

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
        due = {
            "now": time_text(now),
            "limit": limit,
            "leased": leased,
            "failed": failed,
            "step": None if step is None else step.value,
        }
        with self._connections.reading() as session:
            rows = self._due(session, grant, due)
        if rows and not leased:  # looked up again where nobody else writes: each goes to one worker
            rows = self._connections.write(
                lambda writer: _lease(writer, self._due(writer, grant, due), now)
            )
        return [_task(row) for row in rows]

    @staticmethod
    def _due(
        session: Session, grant: Grant | None, due: dict[str, object]
    ) -> list[tuple[int, int, str, int, str, str]]:
        if grant is None:
            return session.run("due_work", due).fetchall()
        bound = {**due, **readable(session, grant).parameters}
        return session.run("due_work_of", bound).fetchall()

    def finish(self, tasks: Sequence[Task], *, reached: Stage, now: datetime) -> None:
        def finish(session: Session) -> None:
            for task in tasks:
                bound = {**_place(session, task), "step": task.step.value}
                if reached is Stage.INDEXED:
                    onward = {"next": Stage.DERIVED.value, "now": time_text(now)}
                    session.run("next_step", {**bound, **onward})
                else:
                    session.run("drop_work", bound)

        if tasks:
            self._connections.write(finish)

    def fail(self, tasks: Sequence[Task], *, error: str, retry_at: datetime) -> None:
        def fail(session: Session) -> None:
            why = {"error": error, "retry_at": time_text(retry_at)}
            for task in tasks:
                bound = {**_place(session, task), "step": task.step.value, **why}
                session.run("fail_work", bound)

        if tasks:
            self._connections.write(fail)

    def requeue(self, workspace: WorkspaceId, event_ids: Sequence[str], *, now: datetime) -> int:
        def requeue(session: Session) -> int:
            number = locked_workspace(session, workspace)
            found = [
                session.run("seq_of", {"workspace": number, "id": id}).fetchone()
                for id in event_ids
            ]
            rows = [(number, *row, Stage.INDEXED.value, time_text(now)) for row in found if row]
            session.run_many("requeue", rows)
            return len(rows)

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


def _lease(
    session: Session, rows: list[tuple[int, int, str, int, str, str]], now: datetime
) -> list[tuple[int, int, str, int, str, str]]:
    until = time_text(now + LEASE)
    leases = [(until, *row[:2]) for row in rows]
    session.run_many("lease", leases)
    return rows


def _task(row: tuple[int, int, str, int, str, str]) -> Task:
    _, _, step, attempts, content, name = row
    event = event_from_json(json.loads(content), WorkspaceId(name))
    return Task(event=event, step=Stage(step), attempts=attempts)


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


def _place(session: Session, task: Task) -> dict[str, object]:
    number = locked_workspace(session, task.event.workspace)
    bound = {"workspace": number, "id": task.event.id}
    row = session.run("seq_of", bound).fetchone()
    return {"workspace": number, "seq": row[0] if row else -1}
