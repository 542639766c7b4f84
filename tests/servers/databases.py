"""Empty Postgres stores in a moment: databases are emptied and used again, not made anew."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from tests.servers.postgres import Database, Postgres

from nexus.stores.postgres.connections import Connections
from nexus.stores.postgres.store import PostgresStore

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
class Kept:
    """A database, and the connections to it with all that they have prepared."""

    database: Database
    connections: Connections


_free: dict[int, list[Kept]] = defaultdict(list)  # of each server


class EmptiedStore(PostgresStore):
    """A store of its own database, which is given back when it is closed."""

    def __init__(self, server: Postgres, **options: Any) -> None:
        free = _free[server.port]
        self._kept = free.pop() if free else None
        self.database = self._kept.database if self._kept else server.database(prepared=prepare)
        self.database.run(EMPTY)
        self._given_back = False
        super().__init__(self.database.url, **options)

    def _connected(self, url: str, **limits: Any) -> Connections:
        return self._kept.connections if self._kept else super()._connected(url, **limits)

    def close(self) -> None:
        if not self._given_back:
            self._given_back = True
            kept = Kept(self.database, self._connections)
            _free[self.database.server.port].append(kept)


def close_all(server: Postgres) -> None:
    """The server is about to end."""
    for kept in _free.pop(server.port, []):
        kept.connections.close()


def prepare(url: str) -> None:
    """Make the schema in an empty database."""
    PostgresStore(url).close()
