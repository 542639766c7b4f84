"""Exact vector search in SQL: vectors as blobs, with quantized copies cached per label."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from ....core.access import Grant
from ....core.filters import Filter
from ....core.ids import WorkspaceId
from ....core.json_codec import memory_from_json
from ....core.protocols.embedder import Floats
from ....core.protocols.memories import ScoredId
from ....core.records import EmbeddingProfile, Memory
from ....telemetry.metrics import CacheStats
from ...validation import SCORE_DIGITS, check_vector, rank_scores
from ..caches.label_cache import LabelCache
from ..caches.record_cache import CandidateCache, CandidateRow, CandidateRows, pick_rows
from ..readable_labels import (
    ReadableLabels,
    allocate_numbers,
    compile_grant,
    ensure_workspace,
    find_workspace,
    lock_workspace,
)
from ..transactions import Connections, Transaction
from .top_k import (
    Cosines,
    CosineScores,
    compute_cosines,
    load_exact_scores,
    prefilter,
    resolve_ids,
    score_by_number,
    score_vectors,
    top_k,
    top_k_small,
    upper_bounds,
)
from .vector_codes import (
    LABEL,
    MEMORY,
    NUMBER,
    ByteCodes,
    Ints,
    LabelVectors,
    VectorPrecision,
    encode_vectors,
)

FIRST_BATCH = 64
EXACT_SCAN_MAX = 1_000  # vectors that are scored without the prefilter
CACHED_SCORES_MAX = 200  # vectors whose scores are cached for the same query
VECTORS_PER_READ = 10_000  # per query, to limit memory while a large label is quantized


class SqlVectors:
    def __init__(
        self, connections: Connections, candidates: CandidateCache, cache_bytes: int
    ) -> None:
        self._connections = connections
        self._candidates = candidates
        self._cache: LabelCache[LabelVectors] = LabelCache(cache_bytes)
        self._profiles: dict[
            EmbeddingProfile, int
        ] = {}  # committed profiles only; they never change
        self._last_scores: CosineScores | None = None  # one recall repeats its query

    @property
    def cache_stats(self) -> CacheStats:
        return self._cache.stats

    def put(
        self, workspace: WorkspaceId, profile: EmbeddingProfile, vectors: Mapping[str, Floats]
    ) -> int:
        checked = {id: check_vector(profile, vector) for id, vector in vectors.items()}
        return self._connections.write(
            lambda writer: put_vectors(writer, workspace, profile, checked)
        )

    def get(self, grant: Grant, profile: EmbeddingProfile, ids: Sequence[str]) -> dict[str, Floats]:
        with self._connections.read_transaction() as session:
            bound = {**compile_grant(session, grant).parameters, "ids": json.dumps(ids)}
            bound["profile"] = self._profile_number(session, profile)
            rows = session.execute_query("vectors_by_id", bound).fetchall()
            table = session.decode_vectors([data for _, data in rows])
        return dict(zip((id for id, _ in rows), table, strict=True))

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
        with self._connections.read_transaction() as session:
            view = compile_grant(session, grant).for_search(learned=learned)
            number = self._profile_number(session, profile)
            return self._search_labels(
                session, view, grant, number, query_vector, where=where, limit=limit
            )

    def _search_labels(
        self,
        session: Transaction,
        view: ReadableLabels,
        grant: Grant,
        profile: int,
        query_vector: Floats,
        *,
        where: Filter | None,
        limit: int,
    ) -> list[ScoredId]:
        """Return the `limit` nearest memories of the readable labels."""
        blocks = [block for block in self._load_blocks(session, view, profile) if len(block)]
        if not blocks:
            return []
        search = _VectorSearch(session, view, grant, profile, query_vector, limit)
        if where:
            return search.search_with_filter(blocks, where)
        label_rows = self._candidates.load_if_small(session, view)
        if sum(map(len, blocks)) <= CACHED_SCORES_MAX and (
            scores := CosineScores.from_blocks(view, profile, blocks, query_vector)
        ):
            self._last_scores = scores
            return top_k_small(
                session, view, grant, scores.scores, limit=limit, label_rows=label_rows
            )
        return search.search_all(blocks, label_rows)

    def _load_blocks(
        self, session: Transaction, view: ReadableLabels, profile: int
    ) -> Iterator[ByteCodes]:
        wanted = {(view.workspace, s.label, profile): s for s in view.labels if s.latest}
        for codes in self._cache.get_fresh(wanted, partial(_load_stale_vectors, session)):
            yield from codes.blocks

    def _profile_number(self, session: Transaction, profile: EmbeddingProfile) -> int:
        number = self._profiles.get(profile)
        if number is None:
            number = profile_number(session, profile)
            if number >= 0:
                self._profiles[profile] = number
        return number

    def score_ids(
        self, grant: Grant, profile: EmbeddingProfile, vector: Floats, ids: Sequence[str]
    ) -> dict[str, float]:
        query_vector = check_vector(profile, vector)
        with self._connections.read_transaction() as session:
            view = compile_grant(session, grant).for_search(learned=False)
            number = self._profile_number(session, profile)
            rows = pick_rows(self._candidates.load_if_small(session, view), ids)
            scores = self._score_cached(session, view, number, query_vector, rows)
            by_number = {memory: fields[0] for memory, _, fields in rows if fields[0] not in scores}
            if by_number:
                scores |= score_by_number(session, view, number, query_vector, by_number)
            if len(rows) < len(ids):
                row_ids = {fields[0] for *_, fields in rows}
                rest = [id for id in ids if id not in row_ids]
                scores |= score_vectors(self.get(grant, profile, rest), query_vector)
            return scores

    def _score_cached(
        self,
        session: Transaction,
        view: ReadableLabels,
        profile: int,
        query_vector: Floats,
        candidates: Sequence[CandidateRow],
    ) -> dict[str, float]:
        """Return the scores of candidates whose vectors are cached."""
        if (last := self._last_scores) and last.is_for_query(view, profile, query_vector):
            return {fields[0]: last.scores[n] for n, _, fields in candidates if n in last.scores}
        scores: dict[str, float] = {}
        for block in self._load_blocks(session, view, profile):
            if (floats := block.floats) is not None:
                positions = block.memory_positions()
                position_by_id = {
                    fields[0]: positions[memory]
                    for memory, _, fields in candidates
                    if memory in positions
                }
                if position_by_id:
                    found = compute_cosines(floats[list(position_by_id.values())], query_vector)
                    scores |= zip(position_by_id, found.tolist(), strict=True)
        return scores

    def list_missing(
        self, grant: Grant, profile: EmbeddingProfile, *, limit: int, after: str = ""
    ) -> list[Memory]:
        with self._connections.read_transaction() as session:
            bound = {**compile_grant(session, grant).parameters, "limit": limit, "after": after}
            bound["profile"] = self._profile_number(session, profile)
            rows = session.execute_query("memories_without_vector", bound).fetchall()
        return [
            memory_from_json(json.loads(content), grant.workspace, *state)
            for content, *state in rows
        ]

    def list_profiles(self) -> list[EmbeddingProfile]:
        with self._connections.read_transaction() as session:
            rows = session.execute_query("profiles").fetchall()
        return [_make_profile(*row) for row in rows]

    def coverage(self, grant: Grant, profile: EmbeddingProfile) -> dict[str, int]:
        with self._connections.read_transaction() as session:
            bound = dict(compile_grant(session, grant).parameters)
            bound["profile"] = self._profile_number(session, profile)
            done, left = session.execute_query("vector_coverage", bound).fetchone()
        return {"embedded": done, "missing": left}

    def active_profile(self, workspace: WorkspaceId) -> EmbeddingProfile | None:
        with self._connections.read_transaction() as session:
            bound = {"workspace": find_workspace(session, workspace)}
            row = session.execute_query("active_profile", bound).fetchone()
        return _make_profile(*row) if row else None

    def activate_profile(self, workspace: WorkspaceId, profile: EmbeddingProfile) -> None:
        def set_active_profile(session: Transaction) -> None:
            number = ensure_workspace(session, workspace)
            bound = {"workspace": number, "profile": ensure_profile(session, profile)}
            session.execute_query("activate_profile", bound)
            session.execute_query("bump_all_epochs", {"workspace": number})

        self._connections.write(set_active_profile)

    def delete_profile(
        self, workspace: WorkspaceId, profile: EmbeddingProfile, *, limit: int
    ) -> int:
        return self._connections.write(
            lambda session: delete_some_vectors(session, workspace, profile, limit)
        )


@dataclass(slots=True)
class _VectorSearch:
    """One search: from score bounds to exact scores, best first."""

    session: Transaction
    view: ReadableLabels
    grant: Grant
    profile: int
    query_vector: Floats
    limit: int

    def search_all(
        self, blocks: Sequence[ByteCodes], label_rows: Sequence[CandidateRows]
    ) -> list[ScoredId]:
        if sum(map(len, blocks)) <= EXACT_SCAN_MAX and all(
            block.floats is not None for block in blocks
        ):
            near = blocks  # the prefilter would take longer
        else:
            near = [
                block for block in prefilter(blocks, self.query_vector, self.limit) if len(block)
            ]
        found = [self._exact_scores(block.rows, block.floats) for block in near]
        return top_k(
            self.session,
            self.view,
            self.grant,
            np.concatenate([numbers for numbers, _ in found]),
            np.concatenate([scores for _, scores in found]),
            where=None,
            limit=self.limit,
            label_rows=label_rows,
        )

    def search_with_filter(self, blocks: Sequence[ByteCodes], where: Filter) -> list[ScoredId]:
        """Read growing batches until no remaining vector can beat the results."""
        rows, bounds = upper_bounds(blocks, self.query_vector)
        passed: list[tuple[str, float]] = []
        size = max(FIRST_BATCH, 4 * self.limit)
        rest = np.arange(len(rows))
        while len(rest):
            taken, rest = _take_highest(bounds, rest, size)
            ids = resolve_ids(
                self.session, self.view, self.grant, rows[taken, MEMORY].tolist(), where
            )
            matching = taken[np.isin(rows[taken, MEMORY], list(ids))]
            for memory, score in zip(*self._exact_scores(rows[matching]), strict=True):
                passed.append((ids[int(memory)], float(score)))
            best = sorted((score for _, score in passed), reverse=True)[: self.limit]
            if len(best) == self.limit:
                rest = rest[bounds[rest] >= best[-1] - 10**-SCORE_DIGITS]
            size *= 4
        return rank_scores(passed)[: self.limit]

    def _exact_scores(self, rows: Ints, floats: Floats | None = None) -> tuple[Ints, Cosines]:
        """Return memory numbers and cosines, from cached floats or from the database."""
        if floats is not None:
            return rows[:, MEMORY], compute_cosines(floats, self.query_vector)
        return load_exact_scores(
            self.session, self.view.workspace, self.profile, rows, self.query_vector
        )


def _take_highest(
    upper_bounds: Floats, rest: NDArray[np.intp], size: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    if len(rest) <= size:
        return rest, rest[:0]
    order = np.argpartition(-upper_bounds[rest], size)
    return rest[order[:size]], rest[order[size:]]


BlockKey = tuple[int, int, int]  # workspace, label, profile


def _load_stale_vectors(
    session: Transaction, stale: Mapping[BlockKey, tuple[LabelVectors | None, int]]
) -> list[LabelVectors]:
    params = [(*key, after, VECTORS_PER_READ) for key, (_, after) in stale.items()]
    first = session.fetch_each("vectors_after", params)
    cached = (codes or LabelVectors() for codes, _ in stale.values())
    return [_extend_vectors(session, *each) for each in zip(stale, cached, first, strict=True)]


def _extend_vectors(
    session: Transaction, key: BlockKey, cached: LabelVectors, first: list[tuple[int, int, bytes]]
) -> LabelVectors:
    new = []
    batch = first
    while batch:
        new.append(_build_table(session, key[1], batch))
        is_full = len(batch) == VECTORS_PER_READ
        after = batch[-1][0]
        batch = (
            session.fetch_each("vectors_after", [(*key, after, VECTORS_PER_READ)])[0]
            if is_full
            else []
        )
    if not new:
        return cached
    precision = VectorPrecision.for_count(len(cached) + sum(len(numbers) for numbers, _ in new))
    if not cached.has_precision(precision):  # the label has outgrown its cached form
        (again,) = _load_stale_vectors(session, {key: (None, 0)})
        return again
    return cached.with_added([encode_vectors(numbers, table, precision) for numbers, table in new])


def _build_table(
    session: Transaction, label: int, rows: list[tuple[int, int, bytes]]
) -> tuple[Ints, Floats]:
    numbers, memories, vectors = zip(*rows, strict=True)
    positions = np.empty((len(rows), 3), dtype=np.int64)
    positions[:, LABEL], positions[:, NUMBER], positions[:, MEMORY] = label, numbers, memories
    return positions, session.decode_vectors(vectors)


def _profile_params(profile: EmbeddingProfile) -> dict[str, object]:
    return {
        "provider": profile.provider,
        "model": profile.model,
        "dimension": profile.dimension,
        "revision": profile.revision,
    }


def _make_profile(provider: str, model: str, dimension: int, revision: str) -> EmbeddingProfile:
    return EmbeddingProfile(provider=provider, model=model, dimension=dimension, revision=revision)


def profile_number(session: Transaction, profile: EmbeddingProfile) -> int:
    row = session.execute_query("find_profile", _profile_params(profile)).fetchone()
    return int(row[0]) if row else -1


def ensure_profile(session: Transaction, profile: EmbeddingProfile) -> int:
    existing = profile_number(session, profile)
    if existing >= 0:
        return existing
    (number,) = session.execute_query("add_profile", _profile_params(profile)).fetchone()
    return int(number)


def put_vectors(
    session: Transaction,
    workspace: WorkspaceId,
    profile: EmbeddingProfile,
    vectors: Mapping[str, Floats],
) -> int:
    """Store checked vectors; return the number of their memories that exist."""
    number = lock_workspace(session, workspace)
    profile_key = ensure_profile(session, profile)
    encoded = {id: vector.astype("<f4").tobytes() for id, vector in vectors.items()}
    bound = {"workspace": number, "profile": profile_key, "ids": json.dumps(list(vectors))}
    found = session.execute_query("memories_with_vectors", bound).fetchall()
    # Unchanged vectors are not written again.
    changed = [row for row in found if row[3] != encoded[row[0]]]
    # Rows of a label are stored together, because a search reads whole labels.
    changed.sort(key=itemgetter(2))
    numbers = allocate_numbers(session, number, len(changed))
    old = [(number, profile_key, memory) for _, memory, _, data in changed if data is not None]
    session.execute_batch("drop_vector", old)
    rows = [
        (number, label, profile_key, vector_number, memory, encoded[id])
        for vector_number, (id, memory, label, _) in zip(numbers, changed, strict=True)
    ]
    session.execute_batch("add_vector", rows)
    latest = {label: vector_number for _, label, _, vector_number, *_ in rows}
    replaced = Counter(label for _, _, label, data in changed if data is not None)
    growth = [
        (number, label, vector_number, replaced[label]) for label, vector_number in latest.items()
    ]
    session.execute_batch("update_label_vectors", growth)
    if found:
        session.execute_query(
            "activate_first_profile", {"workspace": number, "profile": profile_key}
        )
    return len(found)


def delete_some_vectors(
    session: Transaction, workspace: WorkspaceId, profile: EmbeddingProfile, limit: int
) -> int:
    """Delete vectors of an inactive profile; bump generations, so that caches are rebuilt."""
    number = lock_workspace(session, workspace)
    profile_key = profile_number(session, profile)
    bound = {"workspace": number, "profile": profile_key, "limit": limit}
    rows = session.execute_query("some_vectors", bound).fetchall()
    session.execute_batch("drop_vector", [(number, profile_key, memory) for _, _, memory in rows])
    session.execute_batch(
        "bump_label_generation", [(number, label) for label in {label for _, label, _ in rows}]
    )
    return len(rows)
