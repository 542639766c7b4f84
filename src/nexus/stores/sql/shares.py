"""How much of a question's words memories and conversations hold: BM25, as shares of the best.

A question finds few rows in a small place: to add them up one by one takes less time than numpy
needs to begin. Of many it is the other way round. Both come to the same, to the last digit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from ...core.bm25 import K1, B, best_possible, inverse_frequency
from ..checks import DIGITS

Ints = NDArray[np.int64]
Scores = NDArray[np.float64]
FEW_ROWS = 100  # that are added up one by one
SPARSE = 8  # when numbers are this much more spread out than rows, sort instead of spreading out
UNITS = 10.0**DIGITS


@dataclass(frozen=True)
class Postings:
    """Which memories of a label hold a term."""

    table: Ints  # a row each: numbers of memories, how often, their lengths and threads

    @property
    def memories(self) -> Ints:
        return np.asarray(self.table[0])

    @property
    def rows(self) -> list[tuple[int, int, int, int]]:
        """Number, how often, length and thread of each."""
        rows: list[tuple[int, int, int, int]] = self.table.T.tolist()
        return rows

    @property
    def bytes(self) -> int:
        return 6 * self.memories.nbytes + 300

    def until(self, number: int) -> Postings:
        return Postings(self.table[:, : self.memories.searchsorted(number, "right")])

    @cached_property
    def by_thread(self) -> tuple[Ints, Scores]:
        """Conversations that hold the term, rising, and how often."""
        _, frequencies, _, threads = self.table
        return _summed(threads, frequencies)

    def __len__(self) -> int:
        return int(self.table.shape[1])


EMPTY = Postings(np.zeros((4, 0), dtype=np.int64))


def joined(lists: Sequence[Postings]) -> Postings:
    return Postings(np.concatenate([each.table for each in lists], axis=1))


@dataclass(frozen=True, slots=True)
class ThreadLengths:
    """How long each conversation of a label is, in terms."""

    threads: Ints  # rising
    lengths: Ints

    @property
    def bytes(self) -> int:
        return 2 * self.threads.nbytes + 200

    def until(self, _number: int, /) -> ThreadLengths:
        """All: a conversation a little longer than it was is scored as well."""
        return self


NO_THREADS = ThreadLengths(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
NO_SCORES = (np.zeros(0, dtype=np.int64), np.zeros(0))


@dataclass(frozen=True, slots=True)
class Shares:
    """Scores of memories or of conversations by their numbers; of all others it is 0."""

    few: Mapping[int, float] | None = None
    many: tuple[Ints, Scores] = NO_SCORES  # numbers, rising

    @property
    def arrays(self) -> tuple[Ints, Scores]:
        if self.few is None:
            return self.many
        return np.array([*self.few], dtype=np.int64), np.array([*self.few.values()])

    def of(self, wanted: Sequence[int]) -> list[float]:
        if self.few is not None:
            return list(map(self.few.get, wanted, repeat(0.0)))
        return _looked_up(*self.many, wanted)

    def __len__(self) -> int:
        return len(self.many[0] if self.few is None else self.few)


def memory_shares(terms: Sequence[Postings], documents: int, average: float) -> Shares:
    """Of the memories that hold one of these terms, among so many of such a length."""
    sizes = [len(found) for found in terms]
    weights = [inverse_frequency(documents, size) for size in sizes]
    if sum(sizes) <= FEW_ROWS:
        rows = (
            (memory, weight, times, length)
            for found, weight in zip(terms, weights, strict=True)
            for memory, times, length, _ in found.rows
        )
        return Shares(_one_by_one(rows, average, best_possible(weights)))
    memories, times, lengths, _ = joined(terms).table
    parts = _worth(np.repeat(weights, sizes), times, lengths, average)
    numbers, scores = _summed(memories, parts)
    return Shares(many=(numbers, _rounded(scores / best_possible(weights))))


def thread_shares(
    terms: Sequence[Sequence[Postings]], talks: ThreadLengths, count: int, average: float
) -> Shares:
    """Of conversations, each counted as one text; terms are told label by label."""
    if sum(len(found) for each in terms for found in each) <= FEW_ROWS:
        return Shares(_few_threads(terms, talks, count, average))
    held = [[found.by_thread for found in each if len(found)] for each in terms]
    sizes = [sum(len(threads) for threads, _ in each) for each in held]
    weights = [inverse_frequency(count, size) for size in sizes]
    threads, times = map(np.concatenate, zip(*chain.from_iterable(held), strict=True))
    places = talks.threads.searchsorted(threads)
    # One whose length is lost is taken for a usual one: a worse answer, and no error.
    lengths = np.append(talks.lengths, average)[places]
    parts = _worth(np.repeat(weights, sizes), times, lengths, average)
    total = np.bincount(places, parts, len(talks.threads) + 1)[:-1]
    return Shares(many=(talks.threads, _rounded(total / best_possible(weights))))


def _few_threads(
    terms: Sequence[Sequence[Postings]], talks: ThreadLengths, count: int, average: float
) -> dict[int, float]:
    held: list[defaultdict[int, int]] = []
    for each in terms:
        held.append(defaultdict(int))
        for _, times, _, thread in chain.from_iterable([found.rows for found in each]):
            held[-1][thread] += times
    threads = list(set().union(*held))
    lengths = dict(zip(threads, _looked_up(talks.threads, talks.lengths, threads), strict=True))
    weights = [inverse_frequency(count, len(each)) for each in held]
    rows = (
        (thread, weight, times, lengths[thread])
        for each, weight in zip(held, weights, strict=True)
        for thread, times in each.items()
    )
    return _one_by_one(rows, average, best_possible(weights))


def _one_by_one(
    rows: Iterable[tuple[int, float, int, float]], average: float, best: float
) -> dict[int, float]:
    """Shares of the best by number, of rows of a number, a term's weight, how often and length."""
    total: defaultdict[int, float] = defaultdict(float)
    for number, weight, times, length in rows:
        total[number] += weight * times * (K1 + 1) / (times + K1 * (1 - B + B * length / average))
    return {number: min(1.0, round(each / best * UNITS) / UNITS) for number, each in total.items()}


def _worth(weights: Scores, times: Scores | Ints, lengths: Scores | Ints, average: float) -> Scores:
    """The same of many."""
    worth: Scores = weights * times * (K1 + 1) / (times + K1 * (1 - B + B * lengths / average))
    return worth


def _rounded(shares: Scores) -> Scores:
    return np.minimum(1.0, shares.round(DIGITS))


def _looked_up(numbers: Ints, values: Scores | Ints, wanted: Sequence[int] | Ints) -> list[float]:
    """What stands beside the wanted among rising numbers; 0 where there is none."""
    if not len(numbers):
        return [0.0] * len(wanted)
    asked = np.asarray(wanted, dtype=np.int64)
    found = np.minimum(numbers.searchsorted(asked), len(numbers) - 1)
    there: list[float] = np.where(numbers[found] == asked, values[found], 0.0).tolist()
    return there


def _summed(numbers: Ints, parts: Scores | Ints) -> tuple[Ints, Scores]:
    """Each number once, rising, and the sum of its parts, which are all above zero."""
    lowest, highest = int(numbers.min()), int(numbers.max())
    if highest - lowest < SPARSE * len(numbers) + 10_000:
        total = np.bincount(numbers - lowest, weights=parts).astype(np.float64, copy=False)
        held = np.flatnonzero(total)
        return held + lowest, total[held]
    each, places = np.unique(numbers, return_inverse=True)
    return each, np.bincount(places, weights=parts).astype(np.float64, copy=False)
