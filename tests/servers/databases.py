"""Empty Postgres stores in a moment: databases are emptied and used again, not made anew."""

from __future__ import annotations

from collections import defaultdict

from tests.servers.postgres import Database, Postgres

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

_free: dict[int, list[Database]] = defaultdict(list)  # of each server


class EmptiedStore(PostgresStore):
    """A store of its own database, which is given back when it is closed."""

    def __init__(self, server: Postgres) -> None:
        free = _free[server.port]
        self.database = free.pop() if free else server.database(prepared=_prepare)
        self.database.run(EMPTY)
        super().__init__(self.database.url)

    def close(self) -> None:
        if not self._connections.closed:
            super().close()
            _free[self.database.server.port].append(self.database)


def _prepare(url: str) -> None:
    PostgresStore(url).close()
