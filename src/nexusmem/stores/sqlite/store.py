"""Store of one SQLite file, or of one SQLite database in memory."""

from __future__ import annotations

import io
import sqlite3
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, cast

from ...core.access import Grant
from ...core.canonical import format_time
from ...core.errors import ConfigError, StoreUnavailable
from ...core.ids import WorkspaceId
from ...core.protocols.vectors import Vectors
from ..query_files import load_migrations
from ..residue_search import FileOpener, count_occurrences
from ..sql.caches.label_cache import NameCache
from ..sql.caches.record_cache import CandidateCache
from ..sql.eraser import SqlEraser, is_still_stored
from ..sql.keywords.keyword_index import KeywordIndex
from ..sql.readable_labels import compile_grant
from ..sql.store import SqlStore
from ..sql.transactions import Connections as Sessions
from ..sql.transactions import HookedConnections, Transaction
from ..sql.vectors.vector_store import SqlVectors
from .connections import IN_MEMORY, InMemoryConnections, SqliteConnection, SqliteConnections
from .read_ahead import LARGE_BYTES, ReadAhead
from .sqlite_vec import erase_index_data

CHECKPOINT_TIMEOUT_SECONDS = 5.0  # to wait for readers that prevent truncating the log


class _SqliteEraser(SqlEraser):
    """Eraser that searches the bytes of the database after a deletion."""

    def __init__(
        self, connections: Sessions, database: SqliteConnections | InMemoryConnections
    ) -> None:
        super().__init__(connections)
        self._database = database

    def _erase_product_data(self, session: Transaction) -> None:
        erase_index_data(cast("SqliteConnection", session))

    def find_residue(self, workspace: WorkspaceId, pieces: Sequence[bytes]) -> dict[str, int]:
        del workspace  # all workspaces share one database
        residue = self._count_residue(pieces)
        if any(residue.values()):
            # Rows that moved when a page was split leave copies in its unused part, which
            # secure_delete does not overwrite. VACUUM writes the database again without them.
            self._database.vacuum()
            residue = self._count_residue(pieces)
        return residue

    def _count_residue(self, pieces: Sequence[bytes]) -> dict[str, int]:
        counts = self._count_pieces(pieces)
        with self._database.read_transaction() as session:
            suspects = set().union(*counts.values())
            erased = {piece for piece in suspects if not is_still_stored(session, piece)}
        return {
            name: sum(times for piece, times in counter.items() if piece in erased)
            for name, counter in counts.items()
        }

    def _count_pieces(self, pieces: Sequence[bytes]) -> dict[str, Counter[bytes]]:
        """Return how often each piece occurs, by the name of the file."""
        raise NotImplementedError


class InMemoryEraser(_SqliteEraser):
    """Eraser of a database in memory."""

    def __init__(self, connections: Sessions, database: InMemoryConnections) -> None:
        super().__init__(connections, database)
        self._memory = database

    def _count_pieces(self, pieces: Sequence[bytes]) -> dict[str, Counter[bytes]]:
        pages = self._memory.read_bytes()
        return {} if pages is None else {IN_MEMORY: count_occurrences(io.BytesIO(pages), pieces)}


class SqliteEraser(_SqliteEraser):
    """Eraser of a SQLite file and its write-ahead log."""

    def __init__(
        self, connections: Sessions, file_connections: SqliteConnections, open_file: FileOpener
    ) -> None:
        super().__init__(connections, file_connections)
        self._file_connections = file_connections
        self._open_file = open_file

    def _count_pieces(self, pieces: Sequence[bytes]) -> dict[str, Counter[bytes]]:
        self._truncate_log()
        path = self._file_connections.path
        files = (path, path.with_name(path.name + "-wal"))
        return {file.name: self._count_in_file(file, pieces) for file in files if file.exists()}

    def _count_in_file(self, path: Path, pieces: Sequence[bytes]) -> Counter[bytes]:
        with self._open_file(path) as file:
            return count_occurrences(file, pieces)

    def _truncate_log(self) -> None:
        deadline = time.monotonic() + CHECKPOINT_TIMEOUT_SECONDS
        while not self._file_connections.checkpoint() and time.monotonic() < deadline:
            time.sleep(0.01)


migrations = partial(load_migrations, __package__)


def migrate_schema(connections: SqliteConnections | InMemoryConnections) -> list[int]:
    """Apply the missing migrations and return their versions."""
    return connections.write(_migrate_connection)


def _migrate_connection(connection: SqliteConnection) -> list[int]:
    steps = migrations()
    applied = _schema_versions(connection)
    if applied and max(applied) > max(steps):
        raise StoreUnavailable(
            f"the file was written by a newer Nexus (schema {max(applied)}, this one supports"
            f" {max(steps)}): upgrade with pip install -U nexusmem"
        )
    missing = [version for version in steps if version not in applied]
    now = format_time(datetime.now(UTC))
    for version in missing:
        description, script = steps[version]
        _run_script(connection, script)
        row = {"version": version, "description": description, "applied_at": now}
        connection.execute_query("add_version", row)
    return missing


def _schema_versions(connection: SqliteConnection) -> list[int]:
    tables = "SELECT name FROM sqlite_master WHERE type = 'table'"
    names = {name for (name,) in connection.execute(tables)}
    return [v for (v,) in connection.execute_query("versions")] if names else []


def _run_script(connection: SqliteConnection, script: str) -> None:
    """Run the statements of a script inside the transaction; `executescript` would commit it."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""


CACHE_MEGABYTES = 256


class SqliteStore(SqlStore):
    """All records in one SQLite file. The path `:memory:` means a database in memory.

    A database in memory has exact vectors and needs no key: it is deleted by `close`.
    """

    _connections: SqliteConnections | InMemoryConnections
    _read_ahead: ReadAhead | None

    def __init__(
        self,
        path: Path | str,
        *,
        vectors: str = "exact",
        cache_megabytes: int = CACHE_MEGABYTES,
        key: str | None = None,
    ) -> None:
        cache_bytes = cache_megabytes * 1_000_000 // 2
        keywords = KeywordIndex(cache_bytes)
        if str(path) == IN_MEMORY:
            self.path, self.is_in_memory = Path(IN_MEMORY), True
            sessions = self._open_in_memory()
            self.vectors = SqlVectors(sessions, keywords.candidates, cache_bytes)
        else:
            # Resolved: the process may change its folder, and a link its target.
            self.path = Path(path).expanduser().resolve()
            self.is_encrypted = key is not None
            sessions = self._open_file(vectors, key)
            self.vectors = self._make_vectors(sessions, vectors, keywords.candidates, cache_bytes)
        super().__init__(sessions, keywords, NameCache(cache_bytes))

    def _open_in_memory(self) -> HookedConnections:
        database = InMemoryConnections()
        migrate_schema(database)
        sessions = HookedConnections(database)
        self._connections, self._read_ahead = database, None
        self.eraser = InMemoryEraser(sessions, database)
        return sessions

    def _open_file(self, vectors: str, key: str | None) -> HookedConnections:
        database, open_file = _open_connections(self.path, vectors, key)
        try:
            migrate_schema(database)
        except BaseException:
            database.close()
            raise
        sessions = HookedConnections(database)
        is_large = self.path.stat().st_size >= LARGE_BYTES
        self._connections = database
        self._read_ahead = ReadAhead(sessions) if is_large else None
        self.eraser = SqliteEraser(sessions, database, open_file)
        return sessions

    def _make_vectors(
        self,
        connections: HookedConnections,
        kind: str,
        candidates: CandidateCache,
        cache_bytes: int,
    ) -> Vectors:
        if kind == "exact":
            return SqlVectors(connections, candidates, cache_bytes)
        from . import sqlite_vec

        file = cast("SqliteConnections", self._connections)
        return sqlite_vec.SqliteVecVectors(connections, file, candidates, cache_bytes)

    def epoch(self, grant: Grant) -> int:
        """Return the epoch of the grant, and start reading ahead for the query that follows."""
        with self._hooked_connections.read_transaction() as session:
            view = compile_grant(session, grant)
        if self._read_ahead:
            self._read_ahead.prefetch_labels(view)
        return view.epoch

    def list_files(self) -> list[Path]:
        if self.is_in_memory:
            return []
        names = (self.path.name + suffix for suffix in ("", "-wal", "-shm"))
        files = (self.path.with_name(name) for name in names)
        return [file for file in files if file.exists()]

    def optimize(self) -> None:
        self._connections.vacuum()
        self._connections.checkpoint()

    def close(self) -> None:
        if self._read_ahead:
            self._read_ahead.close()
        self._connections.close()


def _open_connections(
    path: Path, vectors: str, key: str | None
) -> tuple[SqliteConnections, FileOpener]:
    """Return the connections to the file, and a function that opens its raw bytes."""
    if key is not None:
        return _open_encrypted(path, vectors, key)
    if vectors == "exact":
        return SqliteConnections(_create_file(path), sqlite3), _open_raw_file
    if vectors == "sqlite-vec":
        from . import sqlite_vec  # an extra

        library = sqlite_vec.load_driver()
        return SqliteConnections(
            _create_file(path), library, sqlite_vec.load_extension
        ), _open_raw_file
    raise ConfigError(f"unknown vectors {vectors!r}; expected exact or sqlite-vec")


def _open_raw_file(path: Path) -> IO[bytes]:
    return path.open("rb")


def _open_encrypted(path: Path, vectors: str, key: str) -> tuple[SqliteConnections, FileOpener]:
    from . import sqlcipher  # an extra

    if vectors != "exact":
        raise ConfigError(
            f"an encrypted SQLite file has exact vectors only, got vectors={vectors!r}"
        )
    library = sqlcipher.load_driver()
    file_key = sqlcipher.FileKey(_create_file(path), key)
    try:
        return SqliteConnections(path, library, file_key.unlock), file_key.open_decrypted
    except sqlcipher.WrongKey:
        if not file_key.is_new:
            raise
    # Another process created the file in the meantime, with its own salt.
    file_key = sqlcipher.FileKey(path, key)
    return SqliteConnections(path, library, file_key.unlock), file_key.open_decrypted


def _create_file(path: Path) -> Path:
    """Create the file and its folder if they are missing; return the path.

    Called after optional packages were imported, so that a missing one leaves no empty file.
    """
    if path.is_dir():
        raise StoreUnavailable(f"{path} is a folder; give a file, such as {path}/memory.db")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.touch(mode=0o600)  # not readable by other users of the machine
    except OSError as error:
        raise StoreUnavailable(f"cannot create {path}: {error.strerror}") from error
    return path
