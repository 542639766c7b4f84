"""Top-k selection of scored memories, with an optional filter."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ....core.access import Grant
from ....core.filters import Filter, matches_filter
from ....core.json_codec import memory_from_json
from ....core.protocols.embedder import Floats
from ....core.protocols.memories import ScoredId
from ...validation import SCORE_DIGITS
from ..caches.record_cache import CandidateRows
from ..readable_labels import ReadableLabels
from ..transactions import Transaction
from .vector_codes import LABEL, MEMORY, NUMBER, BinaryQuery, ByteCodes, Counts, Ints, Positions

GROUPS_PER_RESULT = 8  # so that two of the best scores are rarely in one group
MIN_GROUP_SIZE = 10  # scores; smaller groups save no time

F = TypeVar("F", np.float32, np.float64)


def kth_score(scores: NDArray[F], count: int) -> F:
    """Return a score that at least `count` of the scores reach, and few more.

    Compares the maxima of groups: if `count` maxima reach a score, `count` scores do. Needs at
    least `count` scores.
    """
    groups = GROUPS_PER_RESULT * count
    each = len(scores) // groups if groups else 0
    if each >= MIN_GROUP_SIZE:
        scores = scores[: each * groups].reshape(each, groups).max(axis=0)
    index = len(scores) - count
    threshold: F = np.partition(scores, index)[index]
    return threshold


def top_k(
    session: Transaction,
    view: ReadableLabels,
    grant: Grant,
    numbers: NDArray[np.int64],
    scores: NDArray[np.float64],
    *,
    where: Filter | None,
    limit: int,
    label_rows: Sequence[CandidateRows] = (),
) -> list[ScoredId]:
    """Return the `limit` best memories that match the filter; ids come from `label_rows` if cached.

    Reads growing batches, best first, until enough memories match: a selective filter makes the
    search slower, but never drops results.
    """
    rounded = np.minimum(1.0, np.round(scores, SCORE_DIGITS))
    passed: list[tuple[float, str]] = []
    for chosen in _batches_by_score(rounded, limit):
        ids = resolve_ids(
            session, view, grant, numbers[chosen].tolist(), where, label_rows=label_rows
        )
        portion = zip(numbers[chosen].tolist(), rounded[chosen].tolist(), strict=True)
        passed += [(-score, ids[number]) for number, score in portion if number in ids]
        if len(passed) >= limit:
            break
    passed.sort()
    return [ScoredId(id, -below) for below, id in passed[:limit]]


def top_k_small(
    session: Transaction,
    view: ReadableLabels,
    grant: Grant,
    scores: Mapping[int, float],
    *,
    limit: int,
    label_rows: Sequence[CandidateRows],
) -> list[ScoredId]:
    """Return the `limit` best of a few scores without a filter, by sorting all."""
    ids = resolve_ids(session, view, grant, list(scores), None, label_rows=label_rows)
    order = [(-min(1.0, score), ids[number]) for number, score in scores.items() if number in ids]
    order.sort()
    return [ScoredId(id, -below) for below, id in order[:limit]]


def _batches_by_score(scores: NDArray[np.float64], limit: int) -> Iterator[NDArray[np.intp]]:
    """Yield batches of positions by descending score; equal scores are in the same batch."""
    rest = np.arange(len(scores))
    size = max(limit, 1)
    while len(rest):
        if len(rest) > size:
            inside = scores[rest] >= kth_score(scores[rest], size)
            yield rest[inside]
            rest = rest[~inside]
        else:
            yield rest
            return
        size *= 4


def resolve_ids(
    session: Transaction,
    view: ReadableLabels,
    grant: Grant,
    wanted: Sequence[int],
    where: Filter | None,
    *,
    label_rows: Sequence[CandidateRows] = (),
) -> dict[int, str]:
    """Return the ids of these memory numbers, without those that the filter excludes."""
    if where is None:
        cached = {
            n: rows.by_number[n] for rows in label_rows for n in wanted if n in rows.by_number
        }
        if len(cached) == len(wanted):
            return cached
        rest = [number for number in wanted if number not in cached]
        bound = {**view.parameters, "numbers": json.dumps(rest)}
        return cached | dict(session.execute_query("ids_by_number", bound).fetchall())
    bound = {**view.parameters, "numbers": json.dumps(wanted)}
    rows = session.execute_query("memories_by_number", bound)
    memories = (
        (number, memory_from_json(json.loads(content), grant.workspace, *state))
        for number, content, *state in rows
    )
    return {number: memory.id for number, memory in memories if matches_filter(where, memory)}


EXACT_SEARCH_MAX = 20_000  # readable vectors; above it sign bits are used
FIRST_SAMPLE_SIZE = 1_000  # vectors that estimate the best scores


def prefilter(blocks: Sequence[ByteCodes], query_vector: Floats, limit: int) -> list[ByteCodes]:
    """Return the rows of all blocks that can be among the `limit` best, and few others."""
    selected = _select_by_sign_bits(blocks, query_vector, limit)
    pairs = list(zip(blocks, selected, strict=True))
    estimates = [
        block.coarse.approximate_scores(query_vector, positions) for block, positions in pairs
    ]
    errors = [_take_values(block.coarse.errors, positions) for block, positions in pairs]
    threshold = _kth_lower_bound(estimates, errors, limit)
    remaining, fine_scores = [], []
    for (block, positions), scores, error in zip(pairs, estimates, errors, strict=True):
        possible = np.flatnonzero(scores + error >= threshold)
        near = block.take_rows(possible if positions is None else positions[possible])
        remaining.append(near)
        fine_scores.append(
            scores[possible] + near.fine.approximate_scores(query_vector)
            if near.fine
            else scores[possible]
        )
    errors = [(near.fine or near.coarse).errors for near in remaining]
    fine_threshold = _kth_lower_bound(fine_scores, errors, limit)
    return [
        near.take_rows(np.flatnonzero(scores + error >= fine_threshold))
        for near, scores, error in zip(remaining, fine_scores, errors, strict=True)
    ]


def upper_bounds(blocks: Sequence[ByteCodes], query_vector: Floats) -> tuple[Ints, Floats]:
    """Return all rows, and the highest possible score of each."""
    bounds = [
        block.coarse.approximate_scores(query_vector) + block.coarse.errors for block in blocks
    ]
    rows = np.concatenate([block.rows for block in blocks])
    return rows, np.maximum(np.concatenate(bounds), 0)


def _select_by_sign_bits(
    blocks: Sequence[ByteCodes], query_vector: Floats, limit: int
) -> list[Positions | None]:
    """Return the positions to score in each block; None means all."""
    if sum(map(len, blocks)) <= EXACT_SEARCH_MAX or not any(block.sign_bits for block in blocks):
        return [None] * len(blocks)
    query = BinaryQuery.from_vector(query_vector)
    distances = [
        block.sign_bits.sign_distances(query) if block.sign_bits else None for block in blocks
    ]
    estimates, errors = [], []
    for block, counts in zip(blocks, distances, strict=True):
        if counts is not None:
            positions = _closest_positions(counts, max(FIRST_SAMPLE_SIZE, 4 * limit))
            estimates.append(block.coarse.approximate_scores(query_vector, positions))
            errors.append(block.coarse.errors[positions])
    max_distance = query.max_distance(float(_kth_lower_bound(estimates, errors, limit)))
    return [
        None if counts is None else _positions_within(counts, max_distance) for counts in distances
    ]


def _closest_positions(counts: Counts, size: int) -> Positions:
    """Return the `size` positions with the smallest sign distance, and ties of the last one."""
    within = np.bincount(counts).cumsum()
    return np.flatnonzero(counts <= np.searchsorted(within, min(size, len(counts))))


def _positions_within(counts: Counts, max_distance: int) -> Positions | None:
    near = counts <= max_distance
    if np.count_nonzero(near) > len(near) // 2:  # selecting rows would take longer than scoring all
        return None
    return np.flatnonzero(near)


def _take_values(values: Floats, positions: Positions | None) -> Floats:
    return values if positions is None else values[positions]


def _kth_lower_bound(scores: Sequence[Floats], errors: Sequence[Floats], limit: int) -> float:
    """Return a score that at least `limit` vectors reach, or -inf if it is not positive.

    All vectors with a cosine <= 0 score 0, and their order depends on their ids.
    """
    lower_bounds = [estimate - error for estimate, error in zip(scores, errors, strict=True)]
    if sum(map(len, lower_bounds)) < limit:
        return -np.inf
    floor = float(kth_score(np.concatenate(lower_bounds), limit))
    return floor if floor > 0 else -np.inf


Cosines = NDArray[np.float64]


def score_by_number(
    session: Transaction,
    view: ReadableLabels,
    profile: int,
    query_vector: Floats,
    ids: Mapping[int, str],
) -> dict[str, float]:
    """Return scores by id; a lookup by memory number needs no join with the memories."""
    bound = {**view.parameters, "profile": profile, "numbers": json.dumps(sorted(ids))}
    rows = session.execute_query("vectors_by_number", bound).fetchall()
    table = session.decode_vectors([data for _, data in rows])
    return score_vectors(
        {ids[memory]: row for (memory, _), row in zip(rows, table, strict=True)}, query_vector
    )


def score_vectors(vectors: Mapping[str, Floats], query_vector: Floats) -> dict[str, float]:
    if not vectors:
        return {}
    found = compute_cosines(np.stack(list(vectors.values())), query_vector)
    return dict(zip(vectors, found.tolist(), strict=True))


def compute_cosines(table: Floats, query_vector: Floats) -> Cosines:
    wide: Cosines = np.maximum(table.astype(np.float64) @ query_vector.astype(np.float64), 0.0)
    return wide.round(SCORE_DIGITS)


def load_exact_scores(
    session: Transaction, workspace: int, profile: int, rows: Ints, query_vector: Floats
) -> tuple[Ints, Cosines]:
    positions = json.dumps(rows[:, [LABEL, NUMBER]].tolist())
    bound = {"workspace": workspace, "profile": profile, "places": positions}
    found = session.execute_query("vectors_by_position", bound).fetchall()
    if not found:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    table = session.decode_vectors([data for _, data in found])
    numbers = np.array([memory for memory, _ in found], dtype=np.int64)
    return numbers, compute_cosines(table, query_vector)


@dataclass(frozen=True, slots=True)
class CosineScores:
    """Cosines of a few vectors with one query vector."""

    view: ReadableLabels
    profile: int
    query_bytes: bytes
    scores: dict[int, float]  # by memory number

    @classmethod
    def from_blocks(
        cls, view: ReadableLabels, profile: int, blocks: Sequence[ByteCodes], query_vector: Floats
    ) -> CosineScores | None:
        """Return the scores, or None if the blocks have no exact floats."""
        scores: dict[int, float] = {}
        for block in blocks:
            if (floats := block.floats) is None:
                return None
            found = compute_cosines(floats, query_vector).tolist()
            scores |= zip(block.rows[:, MEMORY].tolist(), found, strict=True)
        return cls(view, profile, query_vector.tobytes(), scores)

    def is_for_query(self, view: ReadableLabels, profile: int, query_vector: Floats) -> bool:
        is_same_view = self.view is view and self.profile == profile
        return is_same_view and self.query_bytes == query_vector.tobytes()
