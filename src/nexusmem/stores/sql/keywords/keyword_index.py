"""Keyword search: BM25 over posting lists, with statistics of the readable labels only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate, chain, islice, pairwise, repeat

import numpy as np
from numpy.typing import NDArray

from ....core.access import Grant
from ....core.filters import Filter
from ....core.protocols.memories import ScoredId
from ....core.records.projections import Candidate
from ....telemetry.metrics import CacheStats
from ....text.terms import BM25_B, BM25_K1, inverse_document_frequency, max_bm25_score
from ...validation import SCORE_DIGITS
from ..caches.label_cache import LabelCache
from ..caches.record_cache import (
    KINDS_BY_VALUE,
    CandidateCache,
    CandidateRow,
    CandidateRows,
    Neighbours,
    pick_rows,
)
from ..readable_labels import ReadableLabels
from ..transactions import Transaction
from ..vectors.top_k import top_k, top_k_small

Ints = NDArray[np.int64]
Scores = NDArray[np.float64]
SMALL_ROW_COUNT = 100  # up to this number plain Python is faster than numpy
SPARSE_FACTOR = 8  # value range per row; above it sorting is faster than bincount
ROUNDING_UNITS = 10.0**SCORE_DIGITS


@dataclass(frozen=True)
class PostingList:
    """The memories of a label that contain a term."""

    table: Ints  # rows: memory numbers, term frequencies, lengths, conversations

    @property
    def memory_numbers(self) -> Ints:
        return np.asarray(self.table[0])

    @property
    def rows(self) -> list[tuple[int, int, int, int]]:
        """Tuples of memory number, term frequency, length and conversation."""
        rows: list[tuple[int, int, int, int]] = self.table.T.tolist()
        return rows

    @property
    def size_bytes(self) -> int:
        return 6 * self.memory_numbers.nbytes + 300

    def as_of(self, number: int) -> PostingList:
        return PostingList(self.table[:, : self.memory_numbers.searchsorted(number, "right")])

    @cached_property
    def by_conversation(self) -> tuple[Ints, Scores]:
        """Sorted conversations that contain the term, and the term frequency of each."""
        _, frequencies, _, conversations = self.table
        return _sum_by_number(conversations, frequencies)

    def __len__(self) -> int:
        return int(self.table.shape[1])


EMPTY_POSTINGS = PostingList(np.zeros((4, 0), dtype=np.int64))


def concat_postings(lists: Sequence[PostingList]) -> PostingList:
    return PostingList(np.concatenate([each.table for each in lists], axis=1))


@dataclass(frozen=True, slots=True)
class ConversationLengths:
    """The length of each conversation of a label, in terms."""

    conversations: Ints  # sorted
    lengths: Ints

    @property
    def size_bytes(self) -> int:
        return 2 * self.conversations.nbytes + 200

    def as_of(self, _number: int, /) -> ConversationLengths:
        """Return all lengths: a newer length changes a score only slightly."""
        return self


NO_CONVERSATIONS = ConversationLengths(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
NO_SCORES = (np.zeros(0, dtype=np.int64), np.zeros(0))


@dataclass(frozen=True, slots=True)
class Bm25Scores:
    """Scores of memories or conversations by number; missing numbers score 0."""

    by_number: Mapping[int, float] | None = None
    sorted_arrays: tuple[Ints, Scores] = NO_SCORES  # sorted numbers and their scores

    @property
    def as_arrays(self) -> tuple[Ints, Scores]:
        if self.by_number is None:
            return self.sorted_arrays
        return np.array([*self.by_number], dtype=np.int64), np.array([*self.by_number.values()])

    def scores_for(self, wanted: Sequence[int]) -> list[float]:
        if self.by_number is not None:
            return list(map(self.by_number.get, wanted, repeat(0.0)))
        return _look_up_values(*self.sorted_arrays, wanted)

    def __len__(self) -> int:
        return len(self.sorted_arrays[0] if self.by_number is None else self.by_number)


def score_memories(terms: Sequence[PostingList], documents: int, average: float) -> Bm25Scores:
    """Score the memories that contain one of the terms, given the statistics of all documents."""
    sizes = [len(found) for found in terms]
    weights = [inverse_document_frequency(documents, size) for size in sizes]
    if sum(sizes) <= SMALL_ROW_COUNT:
        rows = (
            (memory, weight, times, length)
            for found, weight in zip(terms, weights, strict=True)
            for memory, times, length, _ in found.rows
        )
        return Bm25Scores(_score_rows(rows, average, max_bm25_score(weights)))
    memories, times, lengths, _ = concat_postings(terms).table
    parts = _term_scores(np.repeat(weights, sizes), times, lengths, average)
    numbers, scores = _sum_by_number(memories, parts)
    return Bm25Scores(sorted_arrays=(numbers, _round_scores(scores / max_bm25_score(weights))))


def score_conversations(
    terms: Sequence[Sequence[PostingList]],
    conversation_lengths: ConversationLengths,
    count: int,
    average: float,
) -> Bm25Scores:
    """Score conversations as single documents; `terms` has one posting list per label and term."""
    if sum(len(found) for each in terms for found in each) <= SMALL_ROW_COUNT:
        return Bm25Scores(_score_few_conversations(terms, conversation_lengths, count, average))
    held = [[found.by_conversation for found in each if len(found)] for each in terms]
    sizes = [sum(len(numbers) for numbers, _ in each) for each in held]
    weights = [inverse_document_frequency(count, size) for size in sizes]
    numbers, times = map(np.concatenate, zip(*chain.from_iterable(held), strict=True))
    positions = conversation_lengths.conversations.searchsorted(numbers)
    # A missing length is replaced by the average: a worse score instead of an error.
    lengths = np.append(conversation_lengths.lengths, average)[positions]
    parts = _term_scores(np.repeat(weights, sizes), times, lengths, average)
    total = np.bincount(positions, parts, len(conversation_lengths.conversations) + 1)[:-1]
    return Bm25Scores(
        sorted_arrays=(
            conversation_lengths.conversations,
            _round_scores(total / max_bm25_score(weights)),
        )
    )


def _score_few_conversations(
    terms: Sequence[Sequence[PostingList]],
    conversation_lengths: ConversationLengths,
    count: int,
    average: float,
) -> dict[int, float]:
    held: list[defaultdict[int, int]] = []
    for each in terms:
        held.append(defaultdict(int))
        for _, times, _, number in chain.from_iterable([found.rows for found in each]):
            held[-1][number] += times
    numbers = list(set().union(*held))
    values = _look_up_values(
        conversation_lengths.conversations, conversation_lengths.lengths, numbers
    )
    lengths = dict(zip(numbers, values, strict=True))
    weights = [inverse_document_frequency(count, len(each)) for each in held]
    rows = (
        (number, weight, times, lengths[number])
        for each, weight in zip(held, weights, strict=True)
        for number, times in each.items()
    )
    return _score_rows(rows, average, max_bm25_score(weights))


def _score_rows(
    rows: Iterable[tuple[int, float, int, float]], average: float, best: float
) -> dict[int, float]:
    """Sum the BM25 scores of rows (number, weight, frequency, length), divided by `best`."""
    total: defaultdict[int, float] = defaultdict(float)
    for number, weight, times, length in rows:
        total[number] += (
            weight
            * times
            * (BM25_K1 + 1)
            / (times + BM25_K1 * (1 - BM25_B + BM25_B * length / average))
        )
    return {
        number: min(1.0, round(each / best * ROUNDING_UNITS) / ROUNDING_UNITS)
        for number, each in total.items()
    }


def _term_scores(
    weights: Scores, times: Scores | Ints, lengths: Scores | Ints, average: float
) -> Scores:
    """Return the BM25 score of each row, vectorized."""
    worth: Scores = (
        weights
        * times
        * (BM25_K1 + 1)
        / (times + BM25_K1 * (1 - BM25_B + BM25_B * lengths / average))
    )
    return worth


def _round_scores(scores: Scores) -> Scores:
    return np.minimum(1.0, scores.round(SCORE_DIGITS))


def _look_up_values(
    numbers: Ints, values: Scores | Ints, wanted: Sequence[int] | Ints
) -> list[float]:
    """Return the value of each wanted number; `numbers` is sorted, missing ones give 0."""
    if not len(numbers):
        return [0.0] * len(wanted)
    keys = np.asarray(wanted, dtype=np.int64)
    positions = np.minimum(numbers.searchsorted(keys), len(numbers) - 1)
    found: list[float] = np.where(numbers[positions] == keys, values[positions], 0.0).tolist()
    return found


def _sum_by_number(numbers: Ints, parts: Scores | Ints) -> tuple[Ints, Scores]:
    """Return the distinct numbers, sorted, and the sum of the parts of each; parts are > 0."""
    lowest, highest = int(numbers.min()), int(numbers.max())
    if highest - lowest < SPARSE_FACTOR * len(numbers) + 10_000:
        total = np.bincount(numbers - lowest, weights=parts).astype(np.float64, copy=False)
        held = np.flatnonzero(total)
        return held + lowest, total[held]
    each, positions = np.unique(numbers, return_inverse=True)
    return each, np.bincount(positions, weights=parts).astype(np.float64, copy=False)


_new_candidate = tuple.__new__  # hundreds per recall: faster than the constructor


@dataclass(frozen=True)
class _KeywordQuery:
    """The terms of a query, with their postings in the readable labels."""

    view: ReadableLabels
    terms: tuple[str, ...]
    postings: Sequence[Sequence[PostingList]]  # per term, one list per label
    conversation_lengths: ConversationLengths

    @property
    def document_count(self) -> int:
        return sum(state.documents for state in self.view.labels)

    @cached_property
    def memory_scores(self) -> Bm25Scores:
        """Scores of the memories that contain a term."""
        average = sum(state.terms for state in self.view.labels) / self.document_count
        every = [
            each[0] if len(each) == 1 else concat_postings([EMPTY_POSTINGS, *each])
            for each in self.postings
        ]
        return score_memories(every, self.document_count, average)

    @cached_property
    def conversation_scores(self) -> Bm25Scores:
        count = sum(state.threads for state in self.view.labels)
        average = sum(state.terms for state in self.view.labels) / max(count, 1) or 1.0
        return score_conversations(self.postings, self.conversation_lengths, count, average)


class KeywordIndex:
    def __init__(self, cache_bytes: int) -> None:
        self._postings_cache: LabelCache[PostingList] = LabelCache(cache_bytes)
        self._lengths_cache: LabelCache[ConversationLengths] = LabelCache(cache_bytes)
        self.candidates = CandidateCache(cache_bytes)
        # One recall repeats its query, with and without derived memories (the key).
        self._last_queries: dict[bool, _KeywordQuery] = {}

    def cache_stats(self) -> dict[str, CacheStats]:
        return {"keywords": self._postings_cache.stats, "cards": self.candidates.stats}

    def search(
        self,
        session: Transaction,
        view: ReadableLabels,
        grant: Grant,
        terms: Sequence[str],
        *,
        where: Filter | None,
        limit: int,
    ) -> list[ScoredId]:
        query = self._prepare_query(session, view, terms)
        if not query.document_count or not query.terms:
            return []
        scores = query.memory_scores
        if where is not None:
            return top_k(session, view, grant, *scores.as_arrays, where=where, limit=limit)
        rows = self.candidates.load_if_small(session, view)
        if scores.by_number is not None:
            return top_k_small(session, view, grant, scores.by_number, limit=limit, label_rows=rows)
        scored = (session, view, grant, *scores.as_arrays)
        return top_k(*scored, where=None, limit=limit, label_rows=rows)

    def count_matching(
        self, session: Transaction, view: ReadableLabels, terms: Sequence[str]
    ) -> int:
        """Return the number of memories that contain one of the terms."""
        query = self._prepare_query(session, view, terms)
        if not query.document_count or not query.terms:
            return 0
        if len(query.terms) == 1:  # no memory is counted twice, so scores are not needed
            return sum(map(len, query.postings[0]))
        return len(query.memory_scores)

    def describe_candidates(
        self, session: Transaction, view: ReadableLabels, ids: Sequence[str], terms: Sequence[str]
    ) -> dict[str, Candidate]:
        """Return the candidates by id.

        Source memories are scored with the statistics of source memories, derived ones with
        those of all memories.
        """
        rows = pick_rows(self.candidates.load_rows(session, view.only_source), ids)
        described = self._score_candidates(session, view.only_source, rows, terms)
        if len(described) < len(ids) and view.only_derived.labels:
            rest = [id for id in ids if id not in described]
            rows = pick_rows(self.candidates.load_rows(session, view.only_derived), rest)
            described |= self._score_candidates(session, view, rows, terms)
        return described

    def _score_candidates(
        self,
        session: Transaction,
        view: ReadableLabels,
        candidates: Sequence[CandidateRow],
        terms: Sequence[str],
    ) -> dict[str, Candidate]:
        if not candidates:
            return {}
        query = self._prepare_query(session, view, terms)
        memories, conversations, fields = zip(*candidates, strict=True)
        own_scores = conversation_scores = [0.0] * len(candidates)
        if query.terms:
            own_scores = query.memory_scores.scores_for(memories)
            conversation_scores = query.conversation_scores.scores_for(conversations)
        scored = zip(fields, own_scores, conversation_scores, strict=True)
        return {
            id: _new_candidate(Candidate, (id, KINDS_BY_VALUE[kind], *more, own, conversation))
            for (id, kind, *more), own, conversation in scored
        }

    def find_neighbours(
        self, session: Transaction, view: ReadableLabels, ids: Sequence[str], reach: int
    ) -> dict[str, Neighbours]:
        found = _find_neighbours(self.candidates.load_rows(session, view.only_source), ids, reach)
        if len(found) < len(ids) and view.only_derived.labels:
            rest = [id for id in ids if id not in found]
            found |= _find_neighbours(
                self.candidates.load_rows(session, view.only_derived), rest, reach
            )
        return found

    def _prepare_query(
        self, session: Transaction, view: ReadableLabels, terms: Sequence[str]
    ) -> _KeywordQuery:
        wanted = tuple(dict.fromkeys(terms))
        if not wanted:
            return _KeywordQuery(view, (), [], NO_CONVERSATIONS)
        learned = any(state.learned for state in view.labels)
        last = self._last_queries.get(learned)
        if last is None or last.terms != wanted or last.view != view:
            found = self._load_postings(session, view, wanted)
            last = _KeywordQuery(view, wanted, found, self._load_lengths(session, view))
            self._last_queries[learned] = last
        return last

    def _load_postings(
        self, session: Transaction, view: ReadableLabels, terms: Sequence[str]
    ) -> list[list[PostingList]]:
        """Return the posting lists per term, one per label."""
        full = [state for state in view.labels if state.documents]
        wanted = {(view.workspace, s.label, term): s for term in terms for s in full}
        found = iter(self._postings_cache.get_fresh(wanted, partial(_load_stale_postings, session)))
        return [list(islice(found, len(full))) for _ in terms]

    def _load_lengths(self, session: Transaction, view: ReadableLabels) -> ConversationLengths:
        full = sorted((s for s in view.labels if s.documents), key=lambda state: state.label)
        wanted = {(view.workspace, state.label): state for state in full}
        parts = self._lengths_cache.get_fresh(wanted, partial(_load_stale_lengths, session))
        if len(parts) == 1:
            return parts[0]
        return ConversationLengths(
            np.concatenate(
                [NO_CONVERSATIONS.conversations, *(part.conversations for part in parts)]
            ),
            np.concatenate([NO_CONVERSATIONS.lengths, *(part.lengths for part in parts)]),
        )


def _find_neighbours(
    label_rows: Sequence[CandidateRows], ids: Sequence[str], reach: int
) -> dict[str, Neighbours]:
    found: dict[str, Neighbours] = {}
    for rows in label_rows:
        found |= rows.find_neighbours(ids, reach)
    return found


def _load_stale_postings(
    session: Transaction, stale: Mapping[tuple[int, int, str], tuple[PostingList | None, int]]
) -> list[PostingList]:
    """Read all rows into one table first: most posting lists are short."""
    found = session.fetch_each("new_postings", [(*key, at) for key, (_, at) in stale.items()])
    every = [row for rows in found for row in rows]
    table = np.fromiter(chain.from_iterable(every), np.int64, 4 * len(every)).reshape(-1, 4)
    ranges = pairwise(accumulate(map(len, found), initial=0))
    parts = zip(stale.items(), ranges, strict=True)
    return [
        _extend_postings(key[1], cached, table[start:end])
        for (key, (cached, _)), (start, end) in parts
    ]


def _extend_postings(label: int, cached: PostingList | None, found: Ints) -> PostingList:
    if not len(found):
        return cached or EMPTY_POSTINGS
    rows = np.ascontiguousarray(found.T)  # a copy, so that the large table can be freed
    rows[3] |= label << 32
    return concat_postings([cached, PostingList(rows)]) if cached else PostingList(rows)


def _load_stale_lengths(
    session: Transaction, stale: Mapping[tuple[int, int], tuple[ConversationLengths | None, int]]
) -> list[ConversationLengths]:
    lengths = []
    for key, found in zip(
        stale, session.fetch_each("conversation_lengths", list(stale)), strict=True
    ):
        table = np.array(sorted(found), dtype=np.int64).reshape(-1, 2)
        lengths.append(ConversationLengths(table[:, 0] | (key[1] << 32), table[:, 1].copy()))
    return lengths
