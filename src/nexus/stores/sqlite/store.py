"""One SQLite file that holds everything."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import IO

from ...core.access import Grant
from ...core.errors import ConfigError, StoreUnavailable
from ...core.protocols import Vectors
from ..residue import Reader
from ..sql.accompanied import Accompanied
from ..sql.cards import CardBox
from ..sql.keywords import Keywords
from ..sql.labels import readable
from ..sql.naming import NameBox
from ..sql.store import SqlStore
from ..sql.vectors import SqlVectors
from .ahead import LARGE_BYTES, ReadAhead
from .connections import Connections
from .eraser import SqliteEraser
from .migrate import bring_up_to_date

CACHE_MEGABYTES = 256


class SqliteStore(SqlStore):
    """Opens the file, brings it up to date, and hands out its parts."""

    def __init__(
        self,
        path: Path | str,
        *,
        vectors: str = "plain",
        cache_megabytes: int = CACHE_MEGABYTES,
        key: str | None = None,
    ) -> None:
        # The file itself: a process may go elsewhere, and a link may be turned to another one.
        self.path = Path(path).expanduser().resolve()
        self.encrypted = key is not None
        self._connections, reader = _connect(self.path, vectors, key)
        try:
            bring_up_to_date(self._connections)
        except BaseException:
            self._connections.close()
            raise
        cache_bytes = cache_megabytes * 1_000_000 // 2
        keywords = Keywords(cache_bytes)
        sessions = Accompanied(self._connections)
        super().__init__(sessions, keywords, NameBox(cache_bytes))
        self.vectors = self._vectors(sessions, vectors, keywords.cards, cache_bytes)
        self.eraser = SqliteEraser(sessions, self._connections, reader)
        large = self.path.stat().st_size >= LARGE_BYTES
        self._ahead = ReadAhead(sessions) if large else None

    def _vectors(
        self, sessions: Accompanied, kind: str, cards: CardBox, cache_bytes: int
    ) -> Vectors:
        if kind == "plain":
            return SqlVectors(sessions, cards, cache_bytes)
        from . import vec  # noqa: PLC0415

        return vec.SqliteVecVectors(sessions, self._connections, cards, cache_bytes)

    def epoch(self, grant: Grant) -> int:
        """The first that a question asks; what else it will want is read meanwhile."""
        with self._sessions.reading() as session:
            view = readable(session, grant)
        if self._ahead:
            self._ahead.look(view)
        return view.epoch

    def files(self) -> list[Path]:
        beside = (self.path.with_name(self.path.name + end) for end in ("", "-wal", "-shm"))
        return [file for file in beside if file.exists()]

    def optimize(self) -> None:
        self._connections.vacuum()
        self._connections.checkpoint()

    def close(self) -> None:
        if self._ahead:
            self._ahead.close()
        self._connections.close()


def _connect(path: Path, vectors: str, key: str | None) -> tuple[Connections, Reader]:
    """The ways to the file, and how to read it as it lies on the disk."""
    if key is not None:
        return _sealed(path, vectors, key)
    if vectors == "plain":
        return Connections(_prepared(path), sqlite3), _as_it_lies
    if vectors == "sqlite-vec":
        from . import vec  # noqa: PLC0415  # an extra

        library = vec.driver()
        return Connections(_prepared(path), library, vec.load_extension), _as_it_lies
    raise ConfigError(f"unknown vectors {vectors!r}; a SQLite file has plain or sqlite-vec")


def _as_it_lies(path: Path) -> IO[bytes]:
    return path.open("rb")


def _sealed(path: Path, vectors: str, key: str) -> tuple[Connections, Reader]:
    from . import encrypted  # noqa: PLC0415  # an extra

    if vectors != "plain":
        raise ConfigError("an encrypted SQLite file has plain vectors: leave vectors out")
    library = encrypted.driver()
    seal = encrypted.Seal(_prepared(path), key)
    try:
        return Connections(path, library, seal.open), seal.reader
    except encrypted.WrongKey:
        if not seal.is_new:
            raise
    seal = encrypted.Seal(path, key)  # another process has just begun this file, with its salt
    return Connections(path, library, seal.open), seal.reader


def _prepared(path: Path) -> Path:
    """A file that is there, made after everything else that could be missing was found."""
    if path.is_dir():
        raise StoreUnavailable(f"{path} is a folder; a memory is one file, like {path}/memory.db")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.touch(mode=0o600)  # other users of this machine have no business in it
    except OSError as error:
        raise StoreUnavailable(f"cannot create {path}: {error.strerror}") from error
    return path
