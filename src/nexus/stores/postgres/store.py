"""One Postgres database that holds everything, for many processes and machines."""

from __future__ import annotations

from pathlib import Path

from ..sql.keywords import Keywords
from ..sql.store import SqlStore
from .connections import LOCK_SECONDS, MOST_CONNECTIONS, STATEMENT_SECONDS, Connections
from .eraser import LARGE, SMALL, PostgresEraser
from .ledger import PostgresLedger
from .migrate import bring_up_to_date
from .vectors import PostgresVectors

CACHE_MEGABYTES = 256


class PostgresStore(SqlStore):
    """Brings the database up to date as far as it may, and hands out its parts."""

    def __init__(
        self,
        url: str,
        *,
        cache_megabytes: int = CACHE_MEGABYTES,
        connections: int = MOST_CONNECTIONS,
        statement_seconds: float = STATEMENT_SECONDS,
        lock_seconds: float = LOCK_SECONDS,
    ) -> None:
        home = bring_up_to_date(url)
        self._connections = Connections(
            url,
            home.schema_of_vector,
            home.vector,
            most=connections,
            statement_seconds=statement_seconds,
            lock_seconds=lock_seconds,
        )
        cache_bytes = cache_megabytes * 1_000_000 // 2
        keywords = Keywords(cache_bytes)
        super().__init__(self._connections, keywords)
        self.vectors = PostgresVectors(self._connections, keywords.cards, cache_bytes)
        self.ledger = PostgresLedger(self._connections)
        self.eraser = PostgresEraser(self._connections)

    def files(self) -> list[Path]:
        return []  # they are the server's

    def optimize(self) -> None:
        self._connections.vacuum([*SMALL, *LARGE], analyze=True)

    def close(self) -> None:
        self._connections.close()
