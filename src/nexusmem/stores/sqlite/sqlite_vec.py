"""Vector index with sqlite-vec: less memory, more time per query.

The `vectors` table has the authoritative floats; the vec0 table is a secondary index. vec0
filters other columns than the partition key after the search, so each label is one partition.
Each partition allocates full chunks, so chunks are small. Results are scored again from the
floats, and only checked vectors are indexed.
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
from ...core.protocols.embedder import Floats
from ...core.protocols.memories import ScoredId
from ...core.records import EmbeddingProfile, Memory
from ..sql.caches.record_cache import CandidateCache
from ..sql.readable_labels import LabelState, ReadableLabels, compile_grant
from ..sql.transactions import Connections as Sessions
from ..sql.vectors.top_k import load_exact_scores, score_vectors, top_k
from ..sql.vectors.vector_codes import Ints
from ..sql.vectors.vector_store import SqlVectors, profile_number
from ..validation import check_vector
from .connections import SqliteConnection, SqliteConnections

CHUNK_ROWS = 64  # the default of 1,024 turned 15 MB into 1.4 GB
MAX_NEIGHBOURS = 4_096  # limit of sqlite-vec
WORKSPACE_BITS = 40  # rowid = workspace << WORKSPACE_BITS | memory number
LABEL_BITS = 24
DISTANCE_TOLERANCE = 1e-5  # rounding error of single precision


def load_driver() -> ModuleType:
    """Return a SQLite module that can load extensions; many Python builds cannot."""
    if find_spec("sqlite_vec") is None:
        raise MissingExtra("sqlite-vec", "sqlite-vec")
    if hasattr(sqlite3.Connection, "enable_load_extension"):
        return sqlite3
    if find_spec("pysqlite3") is None:
        raise MissingExtra("sqlite-vec (this Python's SQLite loads no extensions)", "sqlite-vec")
    import pysqlite3.dbapi2 as pysqlite3

    module: ModuleType = pysqlite3
    return module


def load_extension(connection: SqliteConnection) -> None:
    import sqlite_vec

    connection.enable_load_extension(True)
    sqlite_vec.load(connection)
    connection.enable_load_extension(False)


class SqliteVecVectors:
    """SqlVectors that uses vec0 for nearest-neighbour search without a filter."""

    def __init__(
        self,
        connections: Sessions,
        file_connections: SqliteConnections,
        candidates: CandidateCache,
        cache_bytes: int,
    ) -> None:
        self._connections = file_connections
        self._plain = SqlVectors(connections, candidates, cache_bytes)

    def put(
        self, workspace: WorkspaceId, profile: EmbeddingProfile, vectors: Mapping[str, Floats]
    ) -> int:
        return self._plain.put(workspace, profile, vectors)

    def get(self, grant: Grant, profile: EmbeddingProfile, ids: Sequence[str]) -> dict[str, Floats]:
        return self._plain.get(grant, profile, ids)

    def score_ids(
        self, grant: Grant, profile: EmbeddingProfile, vector: Floats, ids: Sequence[str]
    ) -> dict[str, float]:
        return score_vectors(self._plain.get(grant, profile, ids), check_vector(profile, vector))

    def list_missing(
        self, grant: Grant, profile: EmbeddingProfile, *, limit: int, after: str = ""
    ) -> list[Memory]:
        return self._plain.list_missing(grant, profile, limit=limit, after=after)

    def coverage(self, grant: Grant, profile: EmbeddingProfile) -> dict[str, int]:
        return self._plain.coverage(grant, profile)

    def list_profiles(self) -> list[EmbeddingProfile]:
        return self._plain.list_profiles()

    def active_profile(self, workspace: WorkspaceId) -> EmbeddingProfile | None:
        return self._plain.active_profile(workspace)

    def activate_profile(self, workspace: WorkspaceId, profile: EmbeddingProfile) -> None:
        self._plain.activate_profile(workspace, profile)

    def delete_profile(
        self, workspace: WorkspaceId, profile: EmbeddingProfile, *, limit: int
    ) -> int:
        deleted = self._plain.delete_profile(workspace, profile, limit=limit)
        if deleted:
            self._connections.write(lambda writer: _clear_profile_index(writer, workspace, profile))
        return deleted

    def find_nearest(
        self,
        grant: Grant,
        profile: EmbeddingProfile,
        vector: Floats,
        *,
        where: Filter | None = None,
        limit: int,
        learned: bool = False,
    ) -> list[ScoredId]:
        if where is not None:  # vec0 filters after the search and would drop results
            return self._plain.find_nearest(
                grant, profile, vector, where=where, limit=limit, learned=learned
            )
        query_vector = check_vector(profile, vector)
        with self._connections.read_transaction() as connection:
            view = compile_grant(connection, grant).for_search(learned=learned)
            number = profile_number(connection, profile)
            if number < 0:
                return []
            stale = [s for s in view.labels if not _is_current(connection, view, s, number)]
            rows = (
                None if stale else _find_neighbours(connection, view, number, query_vector, limit)
            )
            if rows is not None:
                memories, scores = load_exact_scores(
                    connection, view.workspace, number, rows, query_vector
                )
                return top_k(connection, view, grant, memories, scores, where=None, limit=limit)
        if stale:  # for the next query: this one may be in an older snapshot
            self._connections.write(
                lambda writer: _update_index(writer, view.workspace, stale, profile, number)
            )
        return self._plain.find_nearest(grant, profile, vector, limit=limit, learned=learned)


def _partition_key(workspace: int, label: int) -> int:
    return (workspace << LABEL_BITS) | label


def _is_current(
    connection: SqliteConnection, view: ReadableLabels, state: LabelState, profile: int
) -> bool:
    if not state.latest:
        return True
    bound = {"workspace": view.workspace, "label": state.label, "profile": profile}
    row = connection.execute_query("index_position", bound).fetchone()
    return row is not None and row[0] >= state.latest and row[1] == state.generation


def _update_index(
    connection: SqliteConnection,
    workspace: int,
    stale: Sequence[LabelState],
    profile: EmbeddingProfile,
    number: int,
) -> None:
    _create_index(connection, profile, number)
    for state in stale:
        key = {"workspace": workspace, "label": state.label, "profile": number}
        row = connection.execute_query("index_position", key).fetchone()
        position = row if row and row[1] == state.generation else None
        partition = _partition_key(workspace, state.label)
        if not position:
            connection.execute(f"DELETE FROM vec_{number:d} WHERE place = ?", (partition,))  # noqa: S608
        after = {**key, "after": position[0] if position else 0}
        new_rows = connection.execute_query("new_vectors", after).fetchall()
        connection.executemany(
            f"INSERT INTO vec_{number:d} (rowid, place, embedding) VALUES (?, ?, ?)",  # noqa: S608
            [((workspace << WORKSPACE_BITS) | each, partition, data) for each, _, data in new_rows],
        )
        last_indexed = max([state.latest, *(row[0] for row in new_rows)])
        saved = {**key, "reached": last_indexed, "generation": state.generation}
        connection.execute_query("save_index_position", saved)


def _create_index(connection: SqliteConnection, profile: EmbeddingProfile, number: int) -> None:
    """Create the vec0 table. DDL takes no parameters; all inserted values are integers."""
    connection.execute(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS vec_{number:d} USING vec0("
        f"place INTEGER PARTITION KEY, embedding FLOAT[{profile.dimension:d}]"
        f" distance_metric=cosine, chunk_size={CHUNK_ROWS:d})"
    )


def _clear_profile_index(
    connection: SqliteConnection, workspace: WorkspaceId, profile: EmbeddingProfile
) -> None:
    """Delete a workspace from the index of an unused profile; a later query rebuilds it."""
    number = profile_number(connection, profile)
    view = compile_grant(connection, administrator_grant(workspace))
    for state in view.labels:
        key = {"workspace": view.workspace, "label": state.label, "profile": number}
        if connection.execute_query("index_position", key).fetchone():
            partition = _partition_key(view.workspace, state.label)
            connection.execute(f"DELETE FROM vec_{number:d} WHERE place = ?", (partition,))  # noqa: S608
            connection.execute_query("delete_index_position", key)


def _find_neighbours(
    connection: SqliteConnection,
    view: ReadableLabels,
    number: int,
    query_vector: Floats,
    limit: int,
) -> Ints | None:
    """Return the nearest rows of each partition, or None if vec0 cannot find enough."""
    rows = []
    for state in view.labels:
        if not state.latest:
            continue
        partition = _partition_key(view.workspace, state.label)
        found = _query_partition(connection, partition, number, query_vector, limit)
        if found is None:
            return None
        mask = (1 << WORKSPACE_BITS) - 1
        rows += [(state.label, rowid & mask, 0) for rowid in found]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def _query_partition(
    connection: SqliteConnection, partition: int, number: int, query_vector: Floats, limit: int
) -> list[int] | None:
    """Return at least `limit` rows, with all ties of the last one; None if there are too many.

    All vectors at 90 degrees or more count as equally distant: they score 0.
    """
    query = (
        f"SELECT rowid, distance FROM vec_{number:d}"  # noqa: S608
        " WHERE embedding MATCH ? AND k = ? AND place = ?"
    )
    wanted = limit + 16
    while wanted <= MAX_NEIGHBOURS:
        found: list[tuple[int, Any]] = connection.execute(
            query, (query_vector.tobytes(), wanted, partition)
        ).fetchall()
        if len(found) < wanted or min(found[-1][1], 1.0) > found[limit - 1][1] + DISTANCE_TOLERANCE:
            return [rowid for rowid, _ in found]
        wanted *= 4
    return None


def erase_index_data(connection: SqliteConnection) -> None:
    """Overwrite all vectors of sqlite-vec indexes; the next query rebuilds them.

    The shadow tables are ordinary tables, so this works without the extension.
    """
    tables = connection.execute_query("index_chunk_tables").fetchall()
    for (name,) in tables:
        connection.execute(f'UPDATE "{name}" SET vectors = zeroblob(length(vectors))')  # noqa: S608
    if tables:
        connection.execute_query("delete_all_index_positions")
