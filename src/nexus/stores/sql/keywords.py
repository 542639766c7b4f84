"""BM25 over posting lists, with statistics of the viewer's own labels only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, islice, repeat

import numpy as np
from numpy.typing import NDArray

from ...core.access import Grant
from ...core.bm25 import K1, B, best_possible, inverse_frequency
from ...core.candidate import Candidate
from ...core.filters import Filter
from ...core.metrics import CacheUse
from ...core.protocols import Scored
from ..checks import DIGITS
from .best import best_first
from .cache import LabelCache
from .cards import Card, CardBox, Cards, Neighbours, pick
from .labels import Readable
from .session import Session

Ints = NDArray[np.int64]
Scores = NDArray[np.float64]
SPARSE = 8  # when numbers are this much more spread out than rows, sort instead of spreading out
FEW = 1_000  # scores: to look them up in a dictionary takes less time than to ask numpy for some


@dataclass(frozen=True)
class Postings:
    """Which memories of a label hold a term: a row each of numbers, how often, length, thread."""

    rows: Ints

    @property
    def memories(self) -> Ints:
        return self.rows[0]

    @property
    def bytes(self) -> int:
        return 6 * self.memories.nbytes + 300

    def until(self, number: int) -> Postings:
        return Postings(self.rows[:, : self.memories.searchsorted(number, "right")])

    @cached_property
    def by_thread(self) -> tuple[Ints, Scores]:
        """Conversations that hold the term, rising, and how often."""
        _, frequencies, _, threads = self.rows
        return _summed(threads, frequencies)

    def __len__(self) -> int:
        return self.rows.shape[1]


_candidate = tuple.__new__  # hundreds are made a question: without a call in between

EMPTY = Postings(np.zeros((4, 0), dtype=np.int64))


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


@dataclass(frozen=True)
class _Asked:
    """The terms of one question, with their postings in what a viewer may read."""

    view: Readable
    terms: tuple[str, ...]
    found: Sequence[Sequence[Postings]]  # of each term, label by label
    conversations: ThreadLengths

    @property
    def documents(self) -> int:
        return sum(state.documents for state in self.view.labels)

    @property
    def average(self) -> float:
        return sum(state.terms for state in self.view.labels) / self.documents

    @cached_property
    def lists(self) -> list[Postings]:
        """The postings of each term, in all labels together."""
        return [each[0] if len(each) == 1 else _joined([EMPTY, *each]) for each in self.found]

    @cached_property
    def scores(self) -> tuple[Ints, Scores]:
        """Memories that hold a term, and their scores as a share of the best possible."""
        weights = [inverse_frequency(self.documents, len(found)) for found in self.lists]
        numbers, scores = _added_up(self.lists, weights, self.average)
        return numbers, _rounded(scores / best_possible(weights))

    @cached_property
    def of_memory(self) -> Shares:
        """The same scores, to be looked up by the numbers of memories."""
        return Shares(*self.scores)

    @cached_property
    def of_thread(self) -> Shares:
        """The score of each conversation, counted as one text."""
        count = sum(state.threads for state in self.view.labels)
        average = sum(state.terms for state in self.view.labels) / max(count, 1) or 1.0
        slack = K1 * (1 - B + B * self.conversations.lengths / average)
        slack = np.append(slack, K1)  # for one whose length is lost: a worse answer, and no error
        held = [[each.by_thread for each in found if len(each)] for found in self.found]
        sizes = [sum(len(threads) for threads, _ in each) for each in held]
        weights = [inverse_frequency(count, size) for size in sizes]
        parts = [NO_SCORES, *chain.from_iterable(held)]
        threads, times = (np.concatenate(column) for column in zip(*parts, strict=True))
        places = self.conversations.threads.searchsorted(threads)
        worth = np.repeat(weights, sizes) * times * (K1 + 1) / (times + slack[places])
        total = np.bincount(places, worth, len(slack))[:-1]
        return Shares(self.conversations.threads, _rounded(total / best_possible(weights)))


class Shares:
    """Scores that are looked up by numbers; where there is none, it is 0."""

    def __init__(self, numbers: Ints, scores: Scores) -> None:
        self._numbers = numbers  # rising
        self._scores = scores
        few = len(numbers) <= FEW
        self._few = dict(zip(numbers.tolist(), scores.tolist(), strict=True)) if few else None

    def of(self, wanted: Sequence[int]) -> list[float]:
        if self._few is not None:
            return list(map(self._few.get, wanted, repeat(0.0)))
        asked = np.array(wanted, dtype=np.int64)
        found = np.minimum(self._numbers.searchsorted(asked), len(self._numbers) - 1)
        there = np.where(self._numbers[found] == asked, self._scores[found], 0.0)
        shares: list[float] = there.tolist()
        return shares


class Keywords:
    def __init__(self, cache_bytes: int) -> None:
        self._cache: LabelCache[Postings] = LabelCache(cache_bytes)
        self._lengths: LabelCache[ThreadLengths] = LabelCache(cache_bytes)
        self.cards = CardBox(cache_bytes)
        self._last: dict[bool, _Asked] = {}  # one question asks several times: of told, of all

    def caches(self) -> dict[str, CacheUse]:
        return {"keywords": self._cache.use, "cards": self.cards.use}

    def search(
        self,
        session: Session,
        view: Readable,
        grant: Grant,
        terms: Sequence[str],
        *,
        where: Filter | None,
        limit: int,
    ) -> list[Scored]:
        asked = self._asked(session, view, terms)
        if not asked.documents or not asked.terms:
            return []
        boxes = self.cards.at_hand(session, view) if where is None else ()
        found = (session, view, grant, *asked.scores)
        return best_first(*found, where=where, limit=limit, boxes=boxes)

    def count(self, session: Session, view: Readable, terms: Sequence[str]) -> int:
        """How many memories hold one of the terms."""
        asked = self._asked(session, view, terms)
        return len(asked.scores[0]) if asked.documents and asked.terms else 0

    def describe(
        self, session: Session, view: Readable, ids: Sequence[str], terms: Sequence[str]
    ) -> dict[str, Candidate]:
        """What was told is scored among its own; what was learned is scored among everything."""
        cards = pick(self.cards.readable(session, view.told), ids)
        described = self._scored(session, view.told, cards, terms)
        if len(described) < len(ids) and view.learned.labels:
            rest = [id for id in ids if id not in described]
            cards = pick(self.cards.readable(session, view.learned), rest)
            described |= self._scored(session, view, cards, terms)
        return described

    def _scored(
        self, session: Session, view: Readable, cards: Sequence[Card], terms: Sequence[str]
    ) -> dict[str, Candidate]:
        if not cards:
            return {}
        asked = self._asked(session, view, terms)
        memories, places, traits = zip(*cards, strict=True)
        keyword = thread_keyword = [0.0] * len(cards)
        if asked.terms:
            keyword = asked.of_memory.of(memories)
            thread_keyword = asked.of_thread.of(places)
        made = zip(traits, keyword, thread_keyword, strict=True)
        return {each[0]: _candidate(Candidate, (*each, own, all)) for each, own, all in made}

    def neighbours(
        self, session: Session, view: Readable, ids: Sequence[str], reach: int
    ) -> dict[str, Neighbours]:
        found = _around(self.cards.readable(session, view.told), ids, reach)
        if len(found) < len(ids) and view.learned.labels:
            rest = [id for id in ids if id not in found]
            found |= _around(self.cards.readable(session, view.learned), rest, reach)
        return found

    def _asked(self, session: Session, view: Readable, terms: Sequence[str]) -> _Asked:
        wanted = tuple(dict.fromkeys(terms))
        if not wanted:
            return _Asked(view, (), [], NO_THREADS)
        learned = any(state.learned for state in view.labels)
        last = self._last.get(learned)
        if last is None or last.terms != wanted or last.view != view:
            found = self._postings(session, view, wanted)
            last = _Asked(view, wanted, found, self._thread_lengths(session, view))
            self._last[learned] = last
        return last

    def _postings(
        self, session: Session, view: Readable, terms: Sequence[str]
    ) -> list[list[Postings]]:
        """The postings of each term, label by label."""
        full = [state for state in view.labels if state.documents]
        wanted = {(view.workspace, s.label, term): s for term in terms for s in full}
        found = iter(self._cache.fresh(wanted, partial(_read, session)))
        return [list(islice(found, len(full))) for _ in terms]

    def _thread_lengths(self, session: Session, view: Readable) -> ThreadLengths:
        full = sorted((s for s in view.labels if s.documents), key=lambda state: state.label)
        wanted = {(view.workspace, state.label): state for state in full}
        parts = self._lengths.fresh(wanted, partial(_lengths, session))
        if len(parts) == 1:
            return parts[0]
        return ThreadLengths(
            np.concatenate([NO_THREADS.threads, *(part.threads for part in parts)]),
            np.concatenate([NO_THREADS.lengths, *(part.lengths for part in parts)]),
        )


def _around(boxes: Sequence[Cards], ids: Sequence[str], reach: int) -> dict[str, Neighbours]:
    found: dict[str, Neighbours] = {}
    for box in boxes:
        found |= box.around(ids, reach)
    return found


def _rounded(shares: Scores) -> Scores:
    return np.minimum(1.0, shares.round(DIGITS))


def _joined(lists: Sequence[Postings]) -> Postings:
    return Postings(np.concatenate([each.rows for each in lists], axis=1))


def _read(
    session: Session, stale: Mapping[tuple[int, int, str], tuple[Postings | None, int]]
) -> list[Postings]:
    """All of them as one table first: most terms are held by few."""
    found = session.read_each("new_postings", [(*key, at) for key, (_, at) in stale.items()])
    every = [row for rows in found for row in rows]
    table = np.fromiter(chain.from_iterable(every), np.int64, 4 * len(every)).reshape(-1, 4)
    ends = np.cumsum([len(rows) for rows in found]).tolist()
    parts = zip(stale.items(), [0, *ends], ends, strict=False)
    return [_grown(key[1], known, table[start:end]) for (key, (known, _)), start, end in parts]


def _grown(label: int, known: Postings | None, found: Ints) -> Postings:
    if not len(found):
        return known or EMPTY
    rows = np.ascontiguousarray(found.T)  # its own: nothing else is kept with it
    rows[3] |= label << 32
    return _joined([known, Postings(rows)]) if known else Postings(rows)


def _lengths(
    session: Session, stale: Mapping[tuple[int, int], tuple[ThreadLengths | None, int]]
) -> list[ThreadLengths]:
    lengths = []
    for key, found in zip(stale, session.read_each("thread_lengths", list(stale)), strict=True):
        table = np.array(sorted(found), dtype=np.int64).reshape(-1, 2)
        lengths.append(ThreadLengths(table[:, 0] | (key[1] << 32), table[:, 1].copy()))
    return lengths


def _added_up(
    lists: Sequence[Postings], weights: Sequence[float], average: float
) -> tuple[Ints, Scores]:
    """Each memory's score: the sum over the terms it holds."""
    memories, times, lengths, _ = _joined(lists).rows
    weight = np.repeat(weights, [len(found) for found in lists])
    slack = K1 * (1 - B + B * lengths / average)
    return _summed(memories, weight * times * (K1 + 1) / (times + slack))


def _summed(numbers: Ints, parts: Scores | Ints) -> tuple[Ints, Scores]:
    """Each number once, rising, and the sum of its parts, which are all above zero."""
    if not len(numbers):
        return numbers, np.zeros(0)
    lowest, highest = int(numbers.min()), int(numbers.max())
    if highest - lowest < SPARSE * len(numbers) + 10_000:
        total = np.bincount(numbers - lowest, weights=parts).astype(np.float64, copy=False)
        held = np.flatnonzero(total)
        return held + lowest, total[held]
    each, places = np.unique(numbers, return_inverse=True)
    return each, np.bincount(places, weights=parts).astype(np.float64, copy=False)
