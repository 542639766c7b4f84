"""Postgres store: one database, shared by many processes and machines."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from secrets import token_bytes
from typing import Any

from ...core.access import administrator_grant
from ...core.errors import ConfigError
from ...text.urls import mask_passwords
from ..sql.audit import SqlAudit
from ..sql.caches.label_cache import NameCache
from ..sql.keywords.keyword_index import KeywordIndex
from ..sql.store import SqlStore
from ..sql.transactions import Connections, HookedConnections
from .connections import LOCK_SECONDS, MAX_CONNECTIONS, STATEMENT_SECONDS, PostgresConnections
from .eraser import PARTITIONED_TABLES, SMALL_TABLES, PostgresEraser
from .ledger import PostgresLedger, PostgresQueue
from .migrate import migrate_database
from .vectors import MIN_INDEXED_VECTORS, PostgresVectors


class PostgresAudit(SqlAudit):
    """The SQL audit log in daily partitions."""

    def __init__(self, connections: HookedConnections) -> None:
        super().__init__(connections)
        self._last_prepared: date | None = None

    def prepare_days(
        self, *, today: date, ahead: int, before: date | None = None
    ) -> dict[str, int]:
        if self._last_prepared == today:  # each workspace calls this
            return {}
        bound = {
            "today": today.isoformat(),
            "ahead": ahead,
            "before": None if before is None else before.isoformat(),
        }
        made, dropped = self._connections.write(
            lambda session: session.execute_query("rotate_audit_partitions", bound).fetchone()
        )
        self._last_prepared = today
        return {"made": made, "dropped": dropped}


def with_encryption(connections: Connections, key: str | None, where: str) -> Connections:
    """Return `connections`, wrapped with encryption if the database is encrypted.

    Raise ConfigError if the key is missing or wrong, or the database was written without one.
    """
    with connections.read_transaction() as session:
        row = session.execute_query("read_key_vault").fetchone()
        used = session.execute_query("workspace_names").fetchone() is not None
    if row is None and key is None:
        return connections
    if key is None:
        raise ConfigError(f"{where} is encrypted: set NEXUS_KEY or memory.store.key_command")
    from .encryption import EncryptedConnections  # needs an extra
    from .key_vault import KeyVault

    if row is not None:
        salt, proof = row
        vault = KeyVault(key, salt)
        vault.check_proof(proof)
        return EncryptedConnections(connections, vault)
    if used:
        hint = "open it without a key, or copy it with `nexus migrate` into a new database"
        raise ConfigError(f"{where} was written without a key: {hint}")
    salt = token_bytes(16)
    new = {"salt": salt, "proof": KeyVault(key, salt).make_proof()}
    connections.write(lambda session: session.execute_query("add_key_vault", new))
    return with_encryption(connections, key, where)  # another process may have added its vault


CACHE_MEGABYTES = 256


class PostgresStore(SqlStore):
    """A store in a Postgres database; opening it migrates the schema."""

    def __init__(
        self,
        url: str,
        *,
        cache_megabytes: int = CACHE_MEGABYTES,
        key: str | None = None,
        connections: int = MAX_CONNECTIONS,
        statement_seconds: float = STATEMENT_SECONDS,
        lock_seconds: float = LOCK_SECONDS,
        approximate: bool = False,
    ) -> None:
        self._connections = self._open_connections(
            url,
            max_connections=connections,
            statement_seconds=statement_seconds,
            lock_seconds=lock_seconds,
        )
        cache_bytes = cache_megabytes * 1_000_000 // 2
        keywords = KeywordIndex(cache_bytes)
        sessions = self._wrap_connections(url, key)
        # Encrypted names are digests, which only the server can look up.
        super().__init__(sessions, keywords, None if key else NameCache(cache_bytes))
        self.vectors = self._postgres_vectors = PostgresVectors(
            sessions, self._connections, keywords.candidates, cache_bytes, approximate=approximate
        )
        self.queue = self._postgres_queue = PostgresQueue(self._hooked_connections, url)
        self.ledger = PostgresLedger(sessions)
        self.eraser = PostgresEraser(sessions, self._connections)
        self.audit = PostgresAudit(sessions)

    def _open_connections(self, url: str, **limits: Any) -> PostgresConnections:
        home = migrate_database(url)
        return PostgresConnections(url, home.schema, home.type_oid, **limits)

    def _wrap_connections(self, url: str, key: str | None) -> HookedConnections:
        try:
            return HookedConnections(with_encryption(self._connections, key, mask_passwords(url)))
        except BaseException:
            self._connections.close()
            raise

    def list_files(self) -> list[Path]:
        return []  # the server has them

    def optimize(self) -> None:
        self._connections.vacuum([*SMALL_TABLES, *PARTITIONED_TABLES], analyze=True)
        for workspace in self.list_workspaces() if self._postgres_vectors.approximate else ():
            if profile := self._postgres_vectors.active_profile(workspace):
                grant = administrator_grant(workspace)
                self._postgres_vectors.index_large_labels(
                    grant, profile, min_vectors=MIN_INDEXED_VECTORS
                )

    def close(self) -> None:
        self._postgres_queue.close()
        self._connections.close()
