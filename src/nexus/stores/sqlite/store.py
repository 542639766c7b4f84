"""One SQLite file that holds everything."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...core.access import Grant
from ...core.errors import ConfigError, StoreUnavailable
from ...core.ids import WorkspaceId
from ...core.protocols import Vectors
from .accounts import SqliteAccounts
from .cards import CardBox
from .connections import Connections
from .eraser import SqliteEraser
from .keywords import Keywords
from .labels import SQL, readable
from .ledger import SqliteLedger
from .memories import SqliteMemories
from .migrate import bring_up_to_date
from .queue import SqliteQueue
from .vectors import SqliteVectors
from .window import SqliteWindow

CACHE_MEGABYTES = 256


class SqliteStore:
    """Opens the file, brings it up to date, and hands out its parts."""

    def __init__(
        self,
        path: Path | str,
        *,
        vectors: str = "plain",
        cache_megabytes: int = CACHE_MEGABYTES,
    ) -> None:
        self.path = Path(path).expanduser()
        self._connections = _connect(_prepared(self.path), vectors)
        try:
            bring_up_to_date(self._connections)
        except BaseException:
            self._connections.close()
            raise
        cache_bytes = cache_megabytes * 1_000_000 // 2
        self.ledger = SqliteLedger(self._connections)
        self.queue = SqliteQueue(self._connections)
        keywords = Keywords(cache_bytes)
        self.memories = SqliteMemories(self._connections, keywords)
        self.vectors = _vectors(self._connections, vectors, keywords.cards, cache_bytes)
        self.eraser = SqliteEraser(self._connections)
        self.accounts = SqliteAccounts(self._connections)
        self.window = SqliteWindow(self._connections)

    @contextmanager
    def moment(self) -> Iterator[None]:
        with self._connections.reading():
            yield

    def workspaces(self) -> list[WorkspaceId]:
        with self._connections.reading() as connection:
            return [WorkspaceId(name) for (name,) in connection.execute(SQL["workspaces"])]

    def count(self, grant: Grant) -> dict[str, int]:
        with self._connections.reading() as connection:
            bound = readable(connection, grant).parameters
            (events,) = connection.execute(SQL["count_events"], bound).fetchone()
            kinds = dict(connection.execute(SQL["count_memories"], bound).fetchall())
            (vectors,) = connection.execute(SQL["count_vectors"], bound).fetchone()
        return {"events": events, **kinds, "vectors": vectors}

    def epoch(self, grant: Grant) -> int:
        with self._connections.reading() as connection:
            return sum(state.epoch for state in readable(connection, grant).labels)

    def files(self) -> list[Path]:
        beside = (self.path.with_name(self.path.name + end) for end in ("", "-wal", "-shm"))
        return [file for file in beside if file.exists()]

    def optimize(self) -> None:
        self._connections.vacuum()
        self._connections.checkpoint()

    def close(self) -> None:
        self._connections.close()


def _connect(path: Path, vectors: str) -> Connections:
    if vectors == "plain":
        return Connections(path, sqlite3)
    if vectors == "sqlite-vec":
        from . import vec  # noqa: PLC0415  # an extra

        return Connections(path, vec.driver(), vec.load_extension)
    raise ConfigError(f"unknown vectors {vectors!r}; a SQLite file has plain or sqlite-vec")


def _vectors(connections: Connections, vectors: str, cards: CardBox, cache_bytes: int) -> Vectors:
    if vectors == "plain":
        return SqliteVectors(connections, cards, cache_bytes)
    from . import vec  # noqa: PLC0415

    return vec.SqliteVecVectors(connections, cards, cache_bytes)


def _prepared(path: Path) -> Path:
    if path.is_dir():
        raise StoreUnavailable(f"{path} is a folder; a memory is one file, like {path}/memory.db")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.touch(mode=0o600)  # other users of this machine have no business in it
    except OSError as error:
        raise StoreUnavailable(f"cannot create {path}: {error.strerror}") from error
    return path
