"""The trail in Postgres, where each day is a partition of its own."""

from __future__ import annotations

from datetime import date

from ..sql.accompanied import Accompanied
from ..sql.audit import SqlAudit


class PostgresAudit(SqlAudit):
    """The trail of every SQL store, but for its days."""

    def __init__(self, connections: Accompanied) -> None:
        super().__init__(connections)
        self._prepared: date | None = None

    def prepare(self, *, today: date, ahead: int, before: date | None = None) -> dict[str, int]:
        if self._prepared == today:  # every workspace asks for the same
            return {}
        bound = {
            "today": today.isoformat(),
            "ahead": ahead,
            "before": None if before is None else before.isoformat(),
        }
        made, dropped = self._connections.write(
            lambda session: session.run("audit_days", bound).fetchone()
        )
        self._prepared = today
        return {"made": made, "dropped": dropped}
