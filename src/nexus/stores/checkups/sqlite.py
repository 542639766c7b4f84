"""A look at SQLite and at the file of a memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from ...core.checkup import NOTE, OK, PROBLEM, Check
from ...core.errors import NexusError
from ..queries import load_queries
from ..sqlite.encrypted import PLAIN_HEADER, Seal, driver
from ..sqlite.migrate import migrations

OLDEST = (3, 38, 0)  # STRICT tables and the JSON operators
SQL = load_queries(__package__, "sqlite.sql")
NEWEST = max(migrations())
TRAPS = {
    "two libraries": "two SQLite libraries in one process drop each other's locks: let no other"
    " code of yours open the file through another SQLite",
    "NaN": "a vector of NaN ranks first: Nexus refuses such vectors before they are stored",
    "chunks": "each partition fills whole chunks, and the default size made 1.4 GB of 15 MB:"
    " Nexus asks for small ones",
    "filters": "OR and JOIN conditions are applied after the search and lose hits: Nexus asks one"
    " partition at a time and filters by itself",
}


def examine_library() -> Iterator[Check]:
    """The SQLite of this Python, and what may be loaded into it."""
    version = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        yield Check("sqlite", PROBLEM, f"{version} is too old: Nexus needs {oldest}")
    else:
        yield Check("sqlite", OK, f"{version}, threads {sqlite3.threadsafety}")
    yield _sqlite_vec()
    yield from (Check(f"sqlite-vec: {name}", NOTE, trap) for name, trap in TRAPS.items())


def _sqlite_vec() -> Check:
    """Whether vectors: sqlite-vec could be chosen. The default needs none of it."""
    loads = hasattr(sqlite3.Connection, "enable_load_extension")
    if find_spec("sqlite_vec") is None:
        return Check("sqlite-vec", NOTE, "not installed: pip install 'nexus-memory[sqlite-vec]'")
    if loads:
        return Check("sqlite-vec", OK, "can be chosen: this Python's SQLite loads extensions")
    if find_spec("pysqlite3") is None:
        detail = "cannot be chosen: this Python's SQLite loads no extensions, and pysqlite3 is not"
        return Check("sqlite-vec", NOTE, f"{detail} installed")
    detail = "can be chosen: this Python's SQLite loads no extensions, so pysqlite3 is used instead"
    return Check("sqlite-vec", OK, detail)


def examine_file(file: Path, key: str | None = None) -> Iterator[Check]:
    """Asked before the store is opened: two libraries must not have one file open."""
    sizes = ", ".join(f"{part.name} {part.stat().st_size:,} bytes" for part in _parts(file))
    yield Check("files", OK, sizes)
    if not file.stat().st_size:
        detail = "it is empty, and holds no memory: the next opening begins one in it"
        yield Check("file", PROBLEM, f"{file}: {detail}")
        return
    encrypted = not _is_plain(file)
    if encrypted and key is None:
        detail = "it is encrypted, or no memory: set NEXUS_KEY or memory.store.key_command"
        yield Check("file", PROBLEM, f"{file}: {detail}")
        return
    try:
        with closing(_connected(file, key)) as connection:
            (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
            (damage,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            (version,) = connection.execute(SQL["schema_version"]).fetchone()
            waiting = connection.execute(SQL["waiting"]).fetchall() if version == NEWEST else []
    except _errors(key) as error:
        yield Check("file", PROBLEM, f"{file}: {error}")
        return
    kept = "as a whole, with SQLCipher" if encrypted else "no; a key would (NEXUS_KEY)"
    yield Check("encrypted", OK if encrypted else NOTE, kept)
    yield schema_of(version, NEWEST)
    yield Check("journal", OK if mode == "wal" else PROBLEM, f"journal_mode {mode}")
    yield Check("pages", OK if damage == "ok" else PROBLEM, damage)
    yield from (waiting_work(*row) for row in waiting)


def holds_todays_schema(file: Path, key: str | None) -> bool:
    """Whether opening it would change nothing: an empty file and an older schema are brought up."""
    try:
        with closing(_connected(file, key)) as connection:
            (version,) = connection.execute(SQL["schema_version"]).fetchone()
    except _errors(key):
        return False
    return bool(version == NEWEST)


def schema_of(version: int, newest: int) -> Check:
    if version > newest:
        detail = f"version {version} is of a newer Nexus: pip install -U nexus-memory"
        return Check("schema", PROBLEM, detail)
    if version < newest:
        return Check("schema", NOTE, f"version {version}; the next opening brings it to {newest}")
    return Check("schema", OK, f"version {version}")


def _errors(key: str | None) -> tuple[type[Exception], ...]:
    """What reading a file may raise; SQLCipher has errors of its own."""
    return (sqlite3.Error, NexusError, *([driver().Error] if key else []))


def _is_plain(file: Path) -> bool:
    with file.open("rb") as opened:
        header = opened.read(len(PLAIN_HEADER))
    return header in (b"", PLAIN_HEADER)


def _connected(file: Path, key: str | None) -> sqlite3.Connection:
    """To read from, and nothing else."""
    address = f"{file.resolve().as_uri()}?mode=ro"
    if key is None:
        return sqlite3.connect(address, uri=True)
    seal = Seal(file, key)
    connection: Any = driver().connect(address, uri=True)
    seal.open(connection)
    return cast("sqlite3.Connection", connection)


def _parts(file: Path) -> list[Path]:
    beside = (file.with_name(file.name + end) for end in ("", "-wal", "-shm"))
    return [part for part in beside if part.exists()]


def waiting_work(name: str, count: int, attempts: int, error: str | None) -> Check:
    """Work of a workspace that is still to be done."""
    if error is None:
        detail = f"{count} events of {name} wait to be learned; `nexus memory compact` does it now"
        return Check("outbox", NOTE, detail)
    detail = f"{count} events of {name} are stuck after {attempts} attempts: {error}"
    return Check("outbox", PROBLEM, detail)
