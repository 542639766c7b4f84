"""Vector search with LanceDB for the large labels of an SQL store.

The records keep the floats. They are searched directly in small labels, and for vectors that are
not replicated yet. Results of a table are scored again with the floats of the records. So the
results are the same with and without LanceDB, during replication and after a loss of its folder.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ....core.access import Grant
from ....core.errors import ConfigError
from ....core.filters import Filter
from ....core.ids import WorkspaceId
from ....core.protocols.embedder import Floats
from ....core.protocols.memories import ScoredId
from ....core.records import EmbeddingProfile, Memory
from ...residue_search import count_in_file
from ...sql.readable_labels import LabelState, ReadableLabels, compile_grant
from ...sql.store import SqlStore
from ...sql.transactions import Transaction
from ...sql.vectors.top_k import compute_cosines, load_exact_scores, score_vectors, top_k
from ...sql.vectors.vector_codes import Ints
from ...sql.vectors.vector_store import SqlVectors, profile_number
from ...validation import check_vector, rank_scores
from ..change_feed import VectorBatch, read_next_vectors
from .tables import BATCH, IndexFailed, LanceTables, TableId, TableProgress, TableReplicator

MAX_NEIGHBOURS = 4_096  # read from a table; a filter that needs more is run on the records
EXTRA_CANDIDATES = 16  # beyond the limit: some may be removed
DISTANCE_TOLERANCE = 1e-5  # error of distances in single precision
OVERSAMPLING = 20  # candidates of an approximate index per result
MIN_SAMPLE = 200
EFFORT_FACTOR = 4  # ef_search per candidate: recall@10 of 0.99 even without near vectors


@dataclass(frozen=True, slots=True)
class LanceQuery:
    """The arguments of a search, and its transaction."""

    session: Transaction
    grant: Grant
    workspace: int
    profile: int
    query_vector: Floats
    where: Filter | None
    limit: int


class TableSearcher:
    """Searches a table, and the records for vectors that are not replicated yet."""

    def __init__(
        self, tables: LanceTables, replicator: TableReplicator, *, approximate: bool
    ) -> None:
        self._tables = tables
        self._replicator = replicator
        self._approximate = approximate

    def search_label(
        self, query: LanceQuery, table_id: TableId, state: LabelState
    ) -> list[ScoredId] | None:
        """Return the top results of a label, or None if the records must be searched instead."""
        progress = self._tables.load_progress(table_id)
        if progress is None:
            return None
        key = (query.session, table_id.workspace, table_id.label, table_id.profile)
        read = partial(read_next_vectors, *key)
        if not self._replicator.is_trusted(table_id, state, progress, read):
            raise IndexFailed(f"{self._tables.folder}: {table_id} was made from other records")
        recent = read(after=progress.number, limit=BATCH + 1)
        if len(recent) > BATCH:
            return None
        view = ReadableLabels(table_id.workspace, (state,))
        results = self._search_table(query, view, table_id, progress)
        if results is None:
            return None
        results += _search_recent(query, view, recent)
        return rank_scores((each.id, each.score) for each in results)[: query.limit]

    def _search_table(
        self, query: LanceQuery, view: ReadableLabels, table_id: TableId, progress: TableProgress
    ) -> list[ScoredId] | None:
        """Fetch growing batches until no further row can beat the results that pass the filter."""
        exact = not (self._approximate and progress.indexed)
        batch = query.limit + EXTRA_CANDIDATES
        if not exact:
            batch = max(MIN_SAMPLE, OVERSAMPLING * query.limit)
        while batch <= MAX_NEIGHBOURS:
            effort = None if exact else EFFORT_FACTOR * batch
            numbers, distances = self._tables.find_neighbours(
                table_id, progress, query.query_vector, batch, effort=effort
            )
            results = _select_best(query, view, *_rescore_numbers(query, table_id, numbers))
            if exact and len(numbers) < batch:
                return results
            if len(results) == query.limit and not (
                exact
                and results[-1].score <= max(0.0, 1 - float(distances[-1])) + DISTANCE_TOLERANCE
            ):
                return results
            batch *= 4
        return None


def _search_recent(query: LanceQuery, view: ReadableLabels, recent: VectorBatch) -> list[ScoredId]:
    """Return the top results of vectors that are not replicated yet."""
    if not len(recent):
        return []
    return _select_best(
        query, view, recent.memories, compute_cosines(recent.table, query.query_vector)
    )


def _rescore_numbers(
    query: LanceQuery, table_id: TableId, numbers: Ints
) -> tuple[Ints, NDArray[np.float64]]:
    """Score these vectors with the floats of the records; skip removed vectors."""
    distinct = np.unique(numbers)
    rows = np.zeros((len(distinct), 3), dtype=np.int64)
    rows[:, 0], rows[:, 1] = table_id.label, distinct
    return load_exact_scores(
        query.session, table_id.workspace, table_id.profile, rows, query.query_vector
    )


def _select_best(
    query: LanceQuery, view: ReadableLabels, memories: Ints, scores: NDArray[np.float64]
) -> list[ScoredId]:
    return top_k(
        query.session,
        view,
        query.grant,
        memories,
        scores,
        where=query.where,
        limit=query.limit,
    )


MIN_DOCUMENTS = 250_000  # of a label: smaller ones fit the cache, where searches are faster

log = logging.getLogger(__name__)


class LanceVectors:
    """Vectors of the records, with Lance tables to search large labels."""

    def __init__(
        self,
        folder: Path,
        records: SqlStore,
        *,
        min_documents: int = MIN_DOCUMENTS,
        approximate: bool = False,
    ) -> None:
        if not isinstance(records.vectors, SqlVectors):
            raise ConfigError("LanceDB needs the built-in vectors of SQLite or Postgres")
        if records.is_encrypted:
            hint = "remove the key or memory.store.vector_index"
            raise ConfigError(f"LanceDB does not encrypt: {hint}")
        self._sql_vectors = records.vectors
        self._feed = records.change_feed
        self._min_documents = min_documents
        self._tables = LanceTables(folder)
        self._replicator = TableReplicator(
            self._feed, self._tables, min_documents=min_documents, approximate=approximate
        )
        self._searcher = TableSearcher(self._tables, self._replicator, approximate=approximate)

    def put(
        self, workspace: WorkspaceId, profile: EmbeddingProfile, vectors: Mapping[str, Floats]
    ) -> int:
        self._replicator.schedule_workspace(workspace)
        return self._sql_vectors.put(workspace, profile, vectors)

    def get(self, grant: Grant, profile: EmbeddingProfile, ids: Sequence[str]) -> dict[str, Floats]:
        return self._sql_vectors.get(grant, profile, ids)

    def score_ids(
        self, grant: Grant, profile: EmbeddingProfile, vector: Floats, ids: Sequence[str]
    ) -> dict[str, float]:
        with self._feed.connections.read_transaction() as session:
            labels = compile_grant(session, grant).labels
            if all(state.documents < self._min_documents for state in labels):
                return self._sql_vectors.score_ids(grant, profile, vector, ids)
        return score_vectors(self.get(grant, profile, ids), check_vector(profile, vector))

    def list_missing(
        self, grant: Grant, profile: EmbeddingProfile, *, limit: int, after: str = ""
    ) -> list[Memory]:
        return self._sql_vectors.list_missing(grant, profile, limit=limit, after=after)

    def coverage(self, grant: Grant, profile: EmbeddingProfile) -> dict[str, int]:
        return self._sql_vectors.coverage(grant, profile)

    def list_profiles(self) -> list[EmbeddingProfile]:
        return self._sql_vectors.list_profiles()

    def active_profile(self, workspace: WorkspaceId) -> EmbeddingProfile | None:
        return self._sql_vectors.active_profile(workspace)

    def activate_profile(self, workspace: WorkspaceId, profile: EmbeddingProfile) -> None:
        self._sql_vectors.activate_profile(workspace, profile)

    def delete_profile(
        self, workspace: WorkspaceId, profile: EmbeddingProfile, *, limit: int
    ) -> int:
        self._replicator.schedule_workspace(workspace)
        return self._sql_vectors.delete_profile(workspace, profile, limit=limit)

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
        query_vector = check_vector(profile, vector)
        with self._feed.connections.read_transaction() as session:
            view = compile_grant(session, grant).for_search(learned=learned)
            number = profile_number(session, profile)
            query = LanceQuery(session, grant, view.workspace, number, query_vector, where, limit)
            results: list[ScoredId] = []
            other_labels: list[LabelState] = []
            for state in view.labels:
                from_table = (
                    self._try_table(query, state)
                    if state.documents >= self._min_documents
                    else None
                )
                if from_table is None:
                    other_labels.append(state)
                else:
                    results += from_table
            results += self._sql_vectors._search_labels(  # not public: it does not check grants  # noqa: SLF001
                session,
                ReadableLabels(view.workspace, tuple(other_labels)),
                grant,
                number,
                query_vector,
                where=where,
                limit=limit,
            )
        return rank_scores((each.id, each.score) for each in results)[:limit]

    def _try_table(self, query: LanceQuery, state: LabelState) -> list[ScoredId] | None:
        """Return the top results of a label, or None if its table cannot be used."""
        table_id = TableId(query.workspace, state.label, query.profile)
        try:
            results = self._searcher.search_label(query, table_id, state)
        except IndexFailed as error:
            log.warning("searching the records instead of a Lance table: %s", error)
            self._replicator.mark_untrusted(table_id)
            results = None
        if results is None:
            self._replicator.schedule_workspace(query.grant.workspace)
        return results

    def catch_up(self) -> bool:
        """Replicate one batch; return whether more is pending."""
        try:
            return self._replicator.run_step()
        except IndexFailed as error:
            log.warning("replication to LanceDB failed, will retry: %s", error)
            return False

    def rebuild(self) -> None:
        """Drop every table; `catch_up` fills them from the records."""
        self._replicator.rebuild()

    def erase(self, workspace: WorkspaceId, ids: Sequence[str]) -> int:
        """Drop the tables with erased vectors; replication fills them again."""
        del ids  # numbers of the records show what was erased
        return self._replicator.drop_erased(workspace)

    def find_residue(self, workspace: WorkspaceId, pieces: Sequence[bytes]) -> dict[str, int]:
        """Count erased pieces in the files of this workspace's tables."""
        number = self._feed.all_labels(workspace).workspace
        counts = {
            file: count_in_file(file, pieces) for file in self._tables.workspace_files(number)
        }
        suspects = set().union(*counts.values())
        erased = suspects - self._replicator.pieces_in_records(workspace, number, suspects)
        parent = self._tables.folder.parent
        return {
            str(file.relative_to(parent)): sum(counted[piece] for piece in erased)
            for file, counted in counts.items()
        }

    def list_files(self) -> list[Path]:
        return self._tables.list_files()

    def close(self) -> None:
        self._tables.close()
