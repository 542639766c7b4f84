"""Empty Postgres stores for tests, from a pool of databases that are emptied and used again."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from tests.servers.postgres import Database, Postgres

from nexusmem.stores.postgres.connections import PostgresConnections
from nexusmem.stores.postgres.store import PostgresStore

EMPTY = """
DO $$
DECLARE
    name text;
BEGIN
    PERFORM set_config('session_replication_role', 'replica', true);  -- no triggers
    FOR name IN SELECT relname FROM pg_class
                 WHERE relnamespace = 'nexus'::regnamespace AND relkind IN ('r', 'p')
                   AND NOT relispartition AND relname <> 'schema_version'
                 ORDER BY relname = 'workspaces'
    LOOP
        EXECUTE format('DELETE FROM nexus.%I', name);
    END LOOP;
END $$"""


@dataclass(frozen=True)
class PooledDatabase:
    """A database and its connections, with their prepared statements."""

    database: Database
    connections: PostgresConnections


_free: dict[int, list[PooledDatabase]] = defaultdict(list)  # by port of the server


class EmptiedStore(PostgresStore):
    """A store in an empty database, which returns to the pool when the store is closed."""

    def __init__(self, server: Postgres, **options: Any) -> None:
        free = _free[server.port]
        self._pooled = free.pop() if free else None
        self.database = self._pooled.database if self._pooled else server.database(prepared=prepare)
        self.database.run(EMPTY)
        self._is_returned = False
        super().__init__(self.database.url, **options)

    def _open_connections(self, url: str, **limits: Any) -> PostgresConnections:
        return (
            self._pooled.connections if self._pooled else super()._open_connections(url, **limits)
        )

    def close(self) -> None:
        if not self._is_returned:
            self._is_returned = True
            pooled = PooledDatabase(self.database, self._connections)
            _free[self.database.server.port].append(pooled)


def close_all(server: Postgres) -> None:
    """Close the pooled connections before the server stops."""
    for pooled in _free.pop(server.port, []):
        pooled.connections.close()


def prepare(url: str) -> None:
    """Create the schema in an empty database."""
    PostgresStore(url).close()
