"""Vector search: small labels in the memory of this process, large labels with pgvector.

The server compares the query with all vectors of a label, so the result is exact. The setting
`memory.store.approximate_search` adds an HNSW index for each very large label and profile. Such a
partial index keeps other labels out of the results and the cost; its results are approximate.
There is no index over all labels: the planner would use it for small labels and lose rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, cast

import numpy as np
from psycopg import sql

from ...core.access import Grant
from ...core.filters import Filter
from ...core.protocols.embedder import Floats
from ...core.protocols.memories import ScoredId
from ...core.records import EmbeddingProfile
from ..sql.caches.record_cache import CandidateCache
from ..sql.readable_labels import LabelState, ReadableLabels, compile_grant
from ..sql.transactions import Connections as Sessions
from ..sql.transactions import Transaction as AnySession
from ..sql.vectors.top_k import load_exact_scores, top_k
from ..sql.vectors.vector_codes import ByteCodes
from ..sql.vectors.vector_store import SqlVectors
from ..validation import rank_scores
from .connections import PostgresConnections
from .transaction import PostgresTransaction

BYTES_PER_VECTOR = 2_000  # in memory, with ids and byte codes
EXTRA_CANDIDATES = 16  # beyond the limit: vectors as near as the last one
DISTANCE_TOLERANCE = 1e-5  # error of distances in single precision
MIN_INDEXED_VECTORS = 100_000  # of one label
MIN_SAMPLE, OVERSAMPLING, MAX_EF_SEARCH = 100, 4, 1_000


class _VectorQuery(NamedTuple):
    """The arguments of a vector search."""

    session: AnySession
    workspace: int
    profile: int
    grant: Grant
    query_vector: Floats
    where: Filter | None
    limit: int


class PostgresVectors(SqlVectors):
    """Vectors of the SQL store; labels above `cache_bytes` are searched by the server."""

    def __init__(
        self,
        sessions: Sessions,
        server: PostgresConnections,
        candidates: CandidateCache,
        cache_bytes: int,
        *,
        approximate: bool = False,
    ) -> None:
        super().__init__(sessions, candidates, cache_bytes)
        self.approximate = approximate  # whether HNSW indexes are created and used
        self._server = server
        self._max_documents = cache_bytes // 2 // BYTES_PER_VECTOR
        self._indexes: set[str] | None = None  # names; None: not loaded

    def _search_labels(
        self,
        session: AnySession,
        view: ReadableLabels,
        grant: Grant,
        profile: int,
        query_vector: Floats,
        *,
        where: Filter | None,
        limit: int,
    ) -> list[ScoredId]:
        results = super()._search_labels(
            session, view, grant, profile, query_vector, where=where, limit=limit
        )
        query = _VectorQuery(session, view.workspace, profile, grant, query_vector, where, limit)
        large = [state for state in view.labels if self._is_large(state)]
        for state in large:
            results += self._search_server(query, state)
        return rank_scores((each.id, each.score) for each in results)[:limit] if large else results

    def _is_large(self, state: LabelState) -> bool:
        return state.documents > self._max_documents

    def _load_blocks(
        self, session: AnySession, view: ReadableLabels, profile: int
    ) -> Iterator[ByteCodes]:
        small = tuple(state for state in view.labels if not self._is_large(state))
        return super()._load_blocks(session, ReadableLabels(view.workspace, small), profile)

    def _search_server(self, query: _VectorQuery, state: LabelState) -> list[ScoredId]:
        """Fetch growing batches until no further row can beat the results that pass the filter."""
        name = _index_name(query.workspace, state.label, query.profile)
        session = query.session
        exact = not (
            self.approximate
            and isinstance(session, PostgresTransaction)
            and name in self._load_indexes(session)
        )
        batch = query.limit + EXTRA_CANDIDATES
        if not exact:
            batch = max(MIN_SAMPLE, OVERSAMPLING * query.limit)
        while True:
            rows = (_nearest_exact if exact else _nearest_approximate)(query, state, batch)
            best = _rescore_rows(query, state, [(state.label, number, 0) for number, _ in rows])
            lowest_score = max(0.0, 1 - rows[-1][1]) if rows else 0.0
            is_full = len(best) == query.limit
            if len(rows) < batch or (
                is_full and (not exact or best[-1].score > lowest_score + DISTANCE_TOLERANCE)
            ):
                return best
            batch *= 4

    def _load_indexes(self, session: AnySession) -> set[str]:
        if self._indexes is None:
            self._indexes = {name for (name,) in session.execute_query("vector_indexes")}
        return self._indexes

    def index_large_labels(
        self, grant: Grant, profile: EmbeddingProfile, *, min_vectors: int = MIN_INDEXED_VECTORS
    ) -> int:
        """Create an HNSW index for each label with at least `min_vectors`; return their number.

        This takes a while and needs the privileges of the owner. Reads and writes continue.
        """
        with self._server.read_transaction() as session:
            view = compile_grant(session, grant)
            number = self._profile_number(session, profile)
            (part,) = session.execute_query(
                "find_partition", {"workspace": view.workspace}
            ).fetchone()
            existing = self._load_indexes(session)
        missing = [
            state.label
            for state in view.labels
            if state.documents >= min_vectors
            and _index_name(view.workspace, state.label, number) not in existing
        ]
        for label in missing:
            self._server.run_maintenance(
                _create_index_sql(view.workspace, label, number, profile.dimension, part)
            )
        self._indexes = None
        return len(missing)


def _nearest_exact(query: _VectorQuery, state: LabelState, portion: int) -> list[tuple[int, float]]:
    """Return (number, distance) of the nearest vectors, by comparing all of the label."""
    bound = {
        "workspace": query.workspace,
        "label": state.label,
        "profile": query.profile,
        "asked": str(query.query_vector.tolist()),
        "limit": portion,
    }
    return query.session.execute_query("nearest_in_label", bound).fetchall()


def _nearest_approximate(
    query: _VectorQuery, state: LabelState, portion: int
) -> list[tuple[int, float]]:
    """Return (number, distance) of the nearest vectors by the HNSW index of the label.

    A partial index is used only if the query contains its conditions as literals.
    """
    size = len(query.query_vector)
    connection = cast("PostgresTransaction", query.session).connection
    effort = sql.Literal(min(2 * portion, MAX_EF_SEARCH))
    connection.execute(sql.SQL("SET LOCAL hnsw.ef_search = {}").format(effort))
    nearest = sql.SQL(
        "SELECT number, (data::vector({size})) <=> %s::vector({size}) FROM vectors"
        " WHERE workspace = {workspace} AND label = {label} AND profile = {profile}"
        " ORDER BY (data::vector({size})) <=> %s::vector({size}) LIMIT {portion}"
    ).format(
        size=sql.Literal(size),
        workspace=sql.Literal(query.workspace),
        label=sql.Literal(state.label),
        profile=sql.Literal(query.profile),
        portion=sql.Literal(portion),
    )
    vector = str(query.query_vector.tolist())
    return connection.execute(nearest, (vector, vector), prepare=False).fetchall()


def _rescore_rows(
    query: _VectorQuery, state: LabelState, rows: list[tuple[int, int, int]]
) -> list[ScoredId]:
    """Score these rows again with the floats, as the other vector searches do."""
    if not rows:
        return []
    table = np.array(rows, dtype=np.int64)
    memories, scores = load_exact_scores(
        query.session, query.workspace, query.profile, table, query.query_vector
    )
    return top_k(
        query.session,
        ReadableLabels(query.workspace, (state,)),
        query.grant,
        memories,
        scores,
        where=query.where,
        limit=query.limit,
    )


def _index_name(workspace: int, label: int, profile: int) -> str:
    return f"vectors_near_{workspace:d}_{label:d}_{profile:d}"


def _create_index_sql(
    workspace: int, label: int, profile: int, size: int, part: int
) -> sql.Composed:
    return sql.SQL(
        "CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {table}"
        " USING hnsw ((data::vector({size})) vector_cosine_ops)"
        " WHERE workspace = {workspace} AND label = {label} AND profile = {profile}"
    ).format(
        name=sql.Identifier(_index_name(workspace, label, profile)),
        table=sql.Identifier("nexus", f"vectors_{part}"),
        size=sql.Literal(size),
        workspace=sql.Literal(workspace),
        label=sql.Literal(label),
        profile=sql.Literal(profile),
    )
