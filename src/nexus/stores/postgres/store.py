"""One Postgres database that holds everything, for many processes and machines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...core.access import administrator_grant
from ...core.urls import masked
from ..sql.accompanied import Accompanied
from ..sql.keywords import Keywords
from ..sql.naming import NameBox
from ..sql.store import SqlStore
from .audit import PostgresAudit
from .connections import LOCK_SECONDS, MOST_CONNECTIONS, STATEMENT_SECONDS, Connections
from .encryption import sealed
from .eraser import LARGE, SMALL, PostgresEraser
from .ledger import PostgresLedger
from .migrate import bring_up_to_date
from .queue import PostgresQueue
from .vectors import VERY_LARGE, PostgresVectors

CACHE_MEGABYTES = 256


class PostgresStore(SqlStore):
    """Brings the database up to date as far as it may, and hands out its parts."""

    def __init__(
        self,
        url: str,
        *,
        cache_megabytes: int = CACHE_MEGABYTES,
        key: str | None = None,
        connections: int = MOST_CONNECTIONS,
        statement_seconds: float = STATEMENT_SECONDS,
        lock_seconds: float = LOCK_SECONDS,
        approximate: bool = False,
    ) -> None:
        self._connections = self._connected(
            url,
            most=connections,
            statement_seconds=statement_seconds,
            lock_seconds=lock_seconds,
        )
        cache_bytes = cache_megabytes * 1_000_000 // 2
        keywords = Keywords(cache_bytes)
        sessions = self._sealed(url, key)
        # Sealed names are told apart by the server alone.
        super().__init__(sessions, keywords, None if key else NameBox(cache_bytes))
        self.vectors = self._near = PostgresVectors(
            sessions, self._connections, keywords.cards, cache_bytes, approximate=approximate
        )
        self.queue = self._news = PostgresQueue(self._sessions, url)
        self.ledger = PostgresLedger(sessions)
        self.eraser = PostgresEraser(sessions, self._connections)
        self.audit = PostgresAudit(sessions)

    def _connected(self, url: str, **limits: Any) -> Connections:
        home = bring_up_to_date(url)
        return Connections(url, home.schema_of_vector, home.vector, **limits)

    def _sealed(self, url: str, key: str | None) -> Accompanied:
        try:
            return Accompanied(sealed(self._connections, key, masked(url)))
        except BaseException:
            self._connections.close()
            raise

    def files(self) -> list[Path]:
        return []  # they are the server's

    def optimize(self) -> None:
        self._connections.vacuum([*SMALL, *LARGE], analyze=True)
        for workspace in self.workspaces() if self._near.approximate else ():
            if profile := self._near.in_use(workspace):
                grant = administrator_grant(workspace)
                self._near.index_large_labels(grant, profile, at_least=VERY_LARGE)

    def close(self) -> None:
        self._news.close()
        self._connections.close()
