"""The trail in Postgres, where each day is a partition of its own."""

from __future__ import annotations

from datetime import date

from ..sql.audit import SqlAudit


class PostgresAudit(SqlAudit):
    """The trail of every SQL store, but for its days."""

    def prepare(self, *, today: date, ahead: int, before: date | None = None) -> dict[str, int]:
        bound = {
            "today": today.isoformat(),
            "ahead": ahead,
            "before": None if before is None else before.isoformat(),
        }
        made, dropped = self._connections.write(
            lambda session: session.run("audit_days", bound).fetchone()
        )
        return {"made": made, "dropped": dropped}
