"""`nexus doctor`: what could go wrong on this machine, and what to do about it."""

from __future__ import annotations

import platform
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..config import settings_file
from ..core.errors import NexusError
from ..products import make_embedder
from ..stores.queries import load_queries
from ..storing import file_of, make_store
from .lazy import FOUND_NOTHING
from .options import Door, json_option, store_options
from .output import message, print_json, print_table

if TYPE_CHECKING:
    from ..config import Settings

OLDEST_SQLITE = (3, 38, 0)  # STRICT tables and the JSON operators
TRAPS = {
    "two libraries": "two SQLite libraries in one process drop each other's locks: let no other"
    " code of yours open the file through another SQLite",
    "NaN": "a vector of NaN ranks first: Nexus refuses such vectors before they are stored",
    "chunks": "each partition fills whole chunks, and the default size made 1.4 GB of 15 MB:"
    " Nexus asks for small ones",
    "filters": "OR and JOIN conditions are applied after the search and lose hits: Nexus asks one"
    " partition at a time and filters by itself",
}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    state: str  # ok | note | problem
    detail: str


@click.command()
@json_option
@store_options
def doctor(door: Door, as_json: bool) -> None:
    """Look for what could go wrong on this machine.

    Nothing is changed or created. A problem is exit 1.

    \b
        nexus doctor
        nexus doctor --store ./memory.db --json
    """
    checks = [*_machine(), *_settings(door)]
    if as_json:
        for check in checks:
            print_json(asdict(check))
    else:
        print_table(["", "what", "how it is"], [(c.state, c.name, c.detail) for c in checks])
    problems = sum(check.state == "problem" for check in checks)
    message(f"problems: {problems}")
    if problems:
        sys.exit(FOUND_NOTHING)


def _machine() -> Iterator[Check]:
    yield Check("python", "ok", f"{platform.python_version()} on {platform.system()}")
    version = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        oldest = ".".join(map(str, OLDEST_SQLITE))
        yield Check("sqlite", "problem", f"{version} is too old: Nexus needs {oldest}")
    else:
        yield Check("sqlite", "ok", f"{version}, threads {sqlite3.threadsafety}")
    yield _sqlite_vec()
    yield from (Check(f"sqlite-vec: {name}", "note", trap) for name, trap in TRAPS.items())


def _sqlite_vec() -> Check:
    """Whether vectors: sqlite-vec could be chosen. The default needs none of it."""
    loads = hasattr(sqlite3.Connection, "enable_load_extension")
    if find_spec("sqlite_vec") is None:
        return Check("sqlite-vec", "note", "not installed: pip install 'nexus-memory[sqlite-vec]'")
    if loads:
        return Check("sqlite-vec", "ok", "can be chosen: this Python's SQLite loads extensions")
    if find_spec("pysqlite3") is None:
        detail = "cannot be chosen: this Python's SQLite loads no extensions, and pysqlite3 is not"
        return Check("sqlite-vec", "note", f"{detail} installed")
    detail = "can be chosen: this Python's SQLite loads no extensions, so pysqlite3 is used instead"
    return Check("sqlite-vec", "ok", detail)


def _settings(door: Door) -> Iterator[Check]:
    try:
        file = settings_file(door.config)
        settings = door.settings
    except NexusError as error:
        yield Check("settings", "problem", str(error))
        return
    yield Check("settings", "ok", str(file) if file else "the defaults; no nexus.yaml here")
    if not settings.enabled:
        yield Check("settings", "problem", "memory.enabled is false: opening is refused")
    for look in (_store, _embedder):
        try:
            yield from look(settings)
        except NexusError as error:
            yield Check(look.__name__.strip("_"), "problem", str(error))


def _store(settings: Settings) -> Iterator[Check]:
    file = file_of(settings.store)
    if file and not file.exists():
        yield Check("store", "note", f"{file} is not there yet; `nexus init` makes it")
        return
    if file:
        yield from _file(file)
    with closing(make_store(settings.store)) as store:
        names = [workspace.value for workspace in store.workspaces()]
        yield Check("store", "ok", f"{settings.store.url} opens; workspaces: {len(names)}")


def _file(file: Path) -> Iterator[Check]:
    """Asked before the store is opened: two libraries must not have one file open."""
    sizes = ", ".join(f"{part.name} {part.stat().st_size:,} bytes" for part in _parts(file))
    yield Check("files", "ok", sizes)
    ask = load_queries(__package__, "doctor.sql")
    try:
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
            (damage,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            (version,) = connection.execute(ask["schema_version"]).fetchone()
            waiting = connection.execute(ask["waiting"]).fetchall()
    except sqlite3.Error as error:
        yield Check("file", "problem", f"{file}: {error}")
        return
    yield Check("schema", "ok", f"version {version}")
    yield Check("journal", "ok" if mode == "wal" else "problem", f"journal_mode {mode}")
    yield Check("pages", "ok" if damage == "ok" else "problem", damage)
    yield from map(_waiting, waiting)


def _parts(file: Path) -> list[Path]:
    beside = (file.with_name(file.name + end) for end in ("", "-wal", "-shm"))
    return [part for part in beside if part.exists()]


def _waiting(row: tuple[str, int, int, str | None]) -> Check:
    name, count, attempts, error = row
    if error is None:
        detail = f"{count} events of {name} wait to be learned; `nexus memory compact` does it now"
        return Check("outbox", "note", detail)
    detail = f"{count} events of {name} are stuck after {attempts} attempts: {error}"
    return Check("outbox", "problem", detail)


def _embedder(settings: Settings) -> Iterator[Check]:
    ours = make_embedder(settings.embeddings).profile
    yield Check("embedder", "ok", ours.name)
    file = file_of(settings.store)
    if file is None or not file.exists():
        return
    with closing(make_store(settings.store)) as store:
        kept = store.vectors.profiles()
    if kept and kept[0] != ours:
        detail = f"the memory holds vectors of {kept[0].name}: configure that, or `nexus reembed`"
        yield Check("vectors", "problem", detail)
    elif kept:
        yield Check("vectors", "ok", f"of the configured embedder, {kept[0].name}")
