"""Health checks of the SQLite library and of a database file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from ...core.errors import NexusError
from ...runtime.health import NOTE, OK, PROBLEM, HealthCheck
from ..query_files import load_queries
from ..sqlite.sqlcipher import PLAIN_HEADER, FileKey, load_driver
from ..sqlite.store import migrations

MIN_SQLITE_VERSION = (3, 38, 0)  # STRICT tables and the JSON operators
SQL = load_queries(__package__, "sqlite.sql")
NEWEST_VERSION = max(migrations())
SQLITE_VEC_PITFALLS = {
    "two libraries": "two SQLite libraries in one process drop each other's locks: do not open"
    " the file through another SQLite library",
    "NaN": "a NaN vector would rank first: Nexus rejects such vectors",
    "chunks": "each partition allocates complete chunks, and the default size made 1.4 GB of 15"
    " MB: Nexus uses small chunks",
    "filters": "OR and JOIN conditions are applied after the search and lose hits: Nexus searches"
    " one partition at a time and filters the results",
}


def check_library() -> Iterator[HealthCheck]:
    """Yield the check of the SQLite version."""
    version = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info < MIN_SQLITE_VERSION:
        oldest = ".".join(map(str, MIN_SQLITE_VERSION))
        yield HealthCheck("sqlite", PROBLEM, f"{version} is too old: Nexus needs {oldest}")
    else:
        yield HealthCheck("sqlite", OK, f"{version}, threads {sqlite3.threadsafety}")


def check_sqlite_vec() -> Iterator[HealthCheck]:
    """Yield whether sqlite-vec can be used, and notes for its users."""
    yield _check_sqlite_vec()
    yield from (
        HealthCheck(f"sqlite-vec: {name}", NOTE, text) for name, text in SQLITE_VEC_PITFALLS.items()
    )


def _check_sqlite_vec() -> HealthCheck:
    """Check whether the optional setting `vector_index: sqlite-vec` can be used."""
    loads_extensions = hasattr(sqlite3.Connection, "enable_load_extension")
    if find_spec("sqlite_vec") is None:
        return HealthCheck("sqlite-vec", NOTE, "not installed: pip install 'nexusmem[sqlite-vec]'")
    if loads_extensions:
        return HealthCheck("sqlite-vec", OK, "usable: the SQLite of this Python loads extensions")
    if find_spec("pysqlite3") is None:
        detail = "not usable: the SQLite of this Python loads no extensions, and pysqlite3 is not"
        return HealthCheck("sqlite-vec", NOTE, f"{detail} installed")
    detail = "usable with pysqlite3: the SQLite of this Python loads no extensions"
    return HealthCheck("sqlite-vec", OK, detail)


def check_file(file: Path, key: str | None = None) -> Iterator[HealthCheck]:
    """Yield checks of a file.

    Call this before the store is opened: two SQLite libraries must not open one file.
    """
    sizes = ", ".join(
        f"{part.name} {part.stat().st_size:,} bytes" for part in _database_files(file)
    )
    yield HealthCheck("files", OK, sizes)
    if not file.stat().st_size:
        detail = "the file is empty: the next opening creates a memory in it"
        yield HealthCheck("file", PROBLEM, f"{file}: {detail}")
        return
    encrypted = not _is_plain(file)
    if encrypted and key is None:
        detail = "encrypted, or not a memory: set NEXUS_KEY or memory.store.key_command"
        yield HealthCheck("file", PROBLEM, f"{file}: {detail}")
        return
    try:
        with closing(_open_connection(file, key)) as connection:
            (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
            (integrity,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            (version,) = connection.execute(SQL["schema_version"]).fetchone()
            pending = (
                connection.execute(SQL["pending_work"]).fetchall()
                if version == NEWEST_VERSION
                else []
            )
    except _error_types(key) as error:
        yield HealthCheck("file", PROBLEM, f"{file}: {error}")
        return
    detail = "complete file, with SQLCipher" if encrypted else "no; set NEXUS_KEY to encrypt"
    yield HealthCheck("encrypted", OK if encrypted else NOTE, detail)
    yield check_schema_version(version, NEWEST_VERSION)
    yield HealthCheck("journal", OK if mode == "wal" else PROBLEM, f"journal_mode {mode}")
    yield HealthCheck("pages", OK if integrity == "ok" else PROBLEM, integrity)
    yield from (check_pending_work(*row) for row in pending)


def has_current_schema(file: Path, key: str | None) -> bool:
    """Return whether the file has the newest schema, so that opening it does not migrate it."""
    try:
        with closing(_open_connection(file, key)) as connection:
            (version,) = connection.execute(SQL["schema_version"]).fetchone()
    except _error_types(key):
        return False
    return bool(version == NEWEST_VERSION)


def check_schema_version(version: int, newest: int) -> HealthCheck:
    if version > newest:
        detail = f"version {version} was written by a newer Nexus: pip install -U nexusmem"
        return HealthCheck("schema", PROBLEM, detail)
    if version < newest:
        return HealthCheck(
            "schema", NOTE, f"version {version}; the next opening migrates it to {newest}"
        )
    return HealthCheck("schema", OK, f"version {version}")


def _error_types(key: str | None) -> tuple[type[Exception], ...]:
    """Return the exceptions of reading a file; SQLCipher has a separate base class."""
    return (sqlite3.Error, NexusError, *([load_driver().Error] if key else []))


def _is_plain(file: Path) -> bool:
    with file.open("rb") as opened:
        header = opened.read(len(PLAIN_HEADER))
    return header in (b"", PLAIN_HEADER)


def _open_connection(file: Path, key: str | None) -> sqlite3.Connection:
    """Open the file read-only."""
    address = f"{file.resolve().as_uri()}?mode=ro"
    if key is None:
        return sqlite3.connect(address, uri=True)
    file_key = FileKey(file, key)
    connection: Any = load_driver().connect(address, uri=True)
    file_key.unlock(connection)
    return cast("sqlite3.Connection", connection)


def _database_files(file: Path) -> list[Path]:
    files = (file.with_name(file.name + end) for end in ("", "-wal", "-shm"))
    return [part for part in files if part.exists()]


def check_pending_work(workspace: str, count: int, attempts: int, error: str | None) -> HealthCheck:
    """Return the check of the queued work of a workspace."""
    if error is None:
        detail = f"{count} events of {workspace} are queued; `nexus memory vacuum` learns them now"
        return HealthCheck("outbox", NOTE, detail)
    detail = f"{count} events of {workspace} failed after {attempts} attempts: {error}"
    return HealthCheck("outbox", PROBLEM, detail)
