"""What models cost, added up."""

from __future__ import annotations

from datetime import datetime

from ...core.canonical import text_time, time_text
from ...core.clock import day_of
from ...core.ids import WorkspaceId
from ...core.records import Spent
from ..checks import entered
from .labels import known_workspace, workspace_number
from .session import Connections, Session


class SqlAccounts:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def add(self, workspace: WorkspaceId, spent: Spent) -> None:
        bill = entered(spent)
        row = {
            "day": time_text(bill.at),
            "purpose": bill.purpose,
            "model": bill.model,
            "calls": bill.calls,
            "input_tokens": bill.input_tokens,
            "output_tokens": bill.output_tokens,
            "cost": float(bill.cost),
        }

        def add(session: Session) -> None:
            number = workspace_number(session, workspace)
            session.run("add_spending", {"workspace": number, **row})

        self._connections.write(add)

    def spent(self, workspace: WorkspaceId, *, since: datetime | None = None) -> list[Spent]:
        first = None if since is None else time_text(day_of(since))
        with self._connections.reading() as session:
            bound = {"workspace": known_workspace(session, workspace), "since": first}
            rows = session.run("spending", bound).fetchall()
        return [
            Spent(
                at=text_time(day),
                purpose=purpose,
                model=model,
                calls=calls,
                input_tokens=told,
                output_tokens=answered,
                cost=cost,
            )
            for day, purpose, model, calls, told, answered, cost in rows
        ]
