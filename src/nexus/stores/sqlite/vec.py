"""sqlite-vec as the index for vectors: less memory, more time per question.

The floats in the `vectors` table stay the truth; the vec0 table beside them is an index that
follows. Its traps are handled here: it is asked one partition at a time, because it filters
anything else after searching; its chunks are small, because each partition fills whole ones;
what it finds is scored again from the floats; and no vector gets in that was not checked.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np

from ...core.access import Grant, administrator_grant
from ...core.errors import MissingExtra
from ...core.filters import Filter
from ...core.ids import WorkspaceId
from ...core.protocols import Floats, Scored
from ...core.records import EmbeddingProfile, Memory
from ..checks import check_vector
from ..sql.best import best_first
from ..sql.cards import CardBox
from ..sql.codes import Ints
from ..sql.labels import LabelState, Readable, readable
from ..sql.scoring import exact_scores, scored
from ..sql.session import Connections as Sessions
from ..sql.vectors import SqlVectors, profile_number
from .connections import Connection, Connections

CHUNK = 64  # rows a partition grows by; the default of 1,024 made 1.4 GB of 15 MB
MOST_NEIGHBOURS = 4_096  # sqlite-vec refuses to find more
WORKSPACE_BITS = 40  # a row's id is its workspace above, its number below
LABEL_BITS = 24
CLOSE = 1e-5  # distances of single precision that may be in the wrong order


def driver() -> ModuleType:
    """A SQLite that can load extensions; many Pythons are built without."""
    if find_spec("sqlite_vec") is None:
        raise MissingExtra("sqlite-vec", "sqlite-vec")
    if hasattr(sqlite3.Connection, "enable_load_extension"):
        return sqlite3
    if find_spec("pysqlite3") is None:
        raise MissingExtra("sqlite-vec (this Python's SQLite loads no extensions)", "sqlite-vec")
    import pysqlite3.dbapi2 as pysqlite3  # noqa: PLC0415

    module: ModuleType = pysqlite3
    return module


def load_extension(connection: Connection) -> None:
    import sqlite_vec  # noqa: PLC0415

    connection.enable_load_extension(True)
    sqlite_vec.load(connection)
    connection.enable_load_extension(False)


class SqliteVecVectors:
    """The plain vectors, with vec0 to find the nearest."""

    def __init__(
        self, sessions: Sessions, file: Connections, cards: CardBox, cache_bytes: int
    ) -> None:
        self._connections = file
        self._plain = SqlVectors(sessions, cards, cache_bytes)

    def put(
        self, workspace: WorkspaceId, profile: EmbeddingProfile, vectors: Mapping[str, Floats]
    ) -> int:
        return self._plain.put(workspace, profile, vectors)

    def get(self, grant: Grant, profile: EmbeddingProfile, ids: Sequence[str]) -> dict[str, Floats]:
        return self._plain.get(grant, profile, ids)

    def scores(
        self, grant: Grant, profile: EmbeddingProfile, vector: Floats, ids: Sequence[str]
    ) -> dict[str, float]:
        return scored(self._plain.get(grant, profile, ids), check_vector(profile, vector))

    def missing(
        self, grant: Grant, profile: EmbeddingProfile, *, limit: int, after: str = ""
    ) -> list[Memory]:
        return self._plain.missing(grant, profile, limit=limit, after=after)

    def coverage(self, grant: Grant, profile: EmbeddingProfile) -> dict[str, int]:
        return self._plain.coverage(grant, profile)

    def profiles(self) -> list[EmbeddingProfile]:
        return self._plain.profiles()

    def in_use(self, workspace: WorkspaceId) -> EmbeddingProfile | None:
        return self._plain.in_use(workspace)

    def use(self, workspace: WorkspaceId, profile: EmbeddingProfile) -> None:
        self._plain.use(workspace, profile)

    def drop(self, workspace: WorkspaceId, profile: EmbeddingProfile, *, limit: int) -> int:
        gone = self._plain.drop(workspace, profile, limit=limit)
        if gone:
            self._connections.write(lambda writer: _let_go(writer, workspace, profile))
        return gone

    def nearest(
        self,
        grant: Grant,
        profile: EmbeddingProfile,
        vector: Floats,
        *,
        where: Filter | None = None,
        limit: int,
        learned: bool = False,
    ) -> list[Scored]:
        if where is not None:  # vec0 filters after searching and would starve the answer
            return self._plain.nearest(
                grant, profile, vector, where=where, limit=limit, learned=learned
            )
        asked = check_vector(profile, vector)
        with self._connections.reading() as connection:
            view = readable(connection, grant).searched(learned=learned)
            number = profile_number(connection, profile)
            if number < 0:
                return []
            stale = [s for s in view.labels if not _is_current(connection, view, s, number)]
            rows = None if stale else _neighbours(connection, view, number, asked, limit)
            if rows is not None:
                memories, scores = exact_scores(connection, view.workspace, number, rows, asked)
                return best_first(
                    connection, view, grant, memories, scores, where=None, limit=limit
                )
        if stale:  # for the next question; this one may be inside a moment that ends before it
            self._connections.write(
                lambda writer: _bring_up_to_date(writer, view.workspace, stale, profile, number)
            )
        return self._plain.nearest(grant, profile, vector, limit=limit, learned=learned)


def _partition(workspace: int, label: int) -> int:
    return (workspace << LABEL_BITS) | label


def _is_current(connection: Connection, view: Readable, state: LabelState, profile: int) -> bool:
    if not state.latest:
        return True
    bound = {"workspace": view.workspace, "label": state.label, "profile": profile}
    row = connection.run("indexed_to", bound).fetchone()
    return row is not None and row[0] >= state.latest and row[1] == state.generation


def _bring_up_to_date(
    connection: Connection,
    workspace: int,
    stale: Sequence[LabelState],
    profile: EmbeddingProfile,
    number: int,
) -> None:
    _create_index(connection, profile, number)
    for state in stale:
        place = {"workspace": workspace, "label": state.label, "profile": number}
        row = connection.run("indexed_to", place).fetchone()
        known = row if row and row[1] == state.generation else None
        partition = _partition(workspace, state.label)
        if not known:
            connection.execute(f"DELETE FROM vec_{number:d} WHERE place = ?", (partition,))  # noqa: S608
        after = {**place, "after": known[0] if known else 0}
        found = connection.run("new_vectors", after).fetchall()
        connection.executemany(
            f"INSERT INTO vec_{number:d} (rowid, place, embedding) VALUES (?, ?, ?)",  # noqa: S608
            [((workspace << WORKSPACE_BITS) | each, partition, data) for each, _, data in found],
        )
        reached = max([state.latest, *(row[0] for row in found)])
        now = {**place, "reached": reached, "generation": state.generation}
        connection.run("index_reached", now)


def _create_index(connection: Connection, profile: EmbeddingProfile, number: int) -> None:
    """The names and sizes in a table's definition cannot be bound; both are our own integers."""
    connection.execute(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS vec_{number:d} USING vec0("
        f"place INTEGER PARTITION KEY, embedding FLOAT[{profile.dimension:d}]"
        f" distance_metric=cosine, chunk_size={CHUNK:d})"
    )


def _let_go(connection: Connection, workspace: WorkspaceId, profile: EmbeddingProfile) -> None:
    """Empty the index of a profile that nobody is to ask any more; asked again, it is made anew."""
    number = profile_number(connection, profile)
    view = readable(connection, administrator_grant(workspace))
    for state in view.labels:
        place = {"workspace": view.workspace, "label": state.label, "profile": number}
        if connection.run("indexed_to", place).fetchone():
            partition = _partition(view.workspace, state.label)
            connection.execute(f"DELETE FROM vec_{number:d} WHERE place = ?", (partition,))  # noqa: S608
            connection.run("forget_index", place)


def _neighbours(
    connection: Connection, view: Readable, number: int, asked: Floats, limit: int
) -> Ints | None:
    """Rows that hold the nearest, one partition after the other; None where it finds too few."""
    rows = []
    for state in view.labels:
        if not state.latest:
            continue
        partition = _partition(view.workspace, state.label)
        found = _nearest_in(connection, partition, number, asked, limit)
        if found is None:
            return None
        mask = (1 << WORKSPACE_BITS) - 1
        rows += [(state.label, rowid & mask, 0) for rowid in found]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def _nearest_in(
    connection: Connection, partition: int, number: int, asked: Floats, limit: int
) -> list[int] | None:
    """At least `limit` rows, and all that are as close as the last of them.

    Everything at right angles or beyond is equally far: it scores 0.
    """
    query = (
        f"SELECT rowid, distance FROM vec_{number:d}"  # noqa: S608
        " WHERE embedding MATCH ? AND k = ? AND place = ?"
    )
    wanted = limit + 16
    while wanted <= MOST_NEIGHBOURS:
        found: list[tuple[int, Any]] = connection.execute(
            query, (asked.tobytes(), wanted, partition)
        ).fetchall()
        if len(found) < wanted or min(found[-1][1], 1.0) > found[limit - 1][1] + CLOSE:
            return [rowid for rowid, _ in found]
        wanted *= 4
    return None


def blank_indexes(connection: Connection) -> None:
    """Empty what a sqlite-vec index holds of anybody; it is built anew when it is next asked.

    Its own tables are ordinary ones, so this works where the extension is not even installed.
    """
    tables = connection.run("index_chunks").fetchall()
    for (name,) in tables:
        connection.execute(f'UPDATE "{name}" SET vectors = zeroblob(length(vectors))')  # noqa: S608
    if tables:
        connection.run("forget_indexes")
