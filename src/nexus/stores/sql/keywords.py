"""BM25 over posting lists, with statistics of the viewer's own labels only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, islice

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
from .session import Row, Session

Ints = NDArray[np.int64]
Scores = NDArray[np.float64]
SPARSE = 8  # when numbers are this much more spread out than rows, sort instead of spreading out


@dataclass(frozen=True)
class Postings:
    """Which memories of a label hold a term: number, how often, length and thread of each."""

    memories: Ints
    frequencies: Ints
    lengths: Ints
    threads: Ints

    @property
    def bytes(self) -> int:
        return 6 * self.memories.nbytes + 300

    def until(self, number: int) -> Postings:
        there = int(np.searchsorted(self.memories, number, "right"))
        columns = (self.memories, self.frequencies, self.lengths, self.threads)
        return Postings(*(column[:there] for column in columns))

    @cached_property
    def by_thread(self) -> tuple[Ints, Ints]:
        """Conversations that hold the term, rising, and how often."""
        threads, places = np.unique(self.threads, return_inverse=True)
        return threads, np.bincount(places, weights=self.frequencies).astype(np.int64)

    def __len__(self) -> int:
        return len(self.memories)


_candidate = tuple.__new__  # hundreds are made a question: without a call in between

EMPTY = Postings(*(np.zeros(0, dtype=np.int64) for _ in range(4)))


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
        return numbers, scores / best_possible(weights)

    @cached_property
    def _by_thread(self) -> Scores:
        """The score of each conversation, counted as one text, in their order."""
        count = sum(state.threads for state in self.view.labels)
        average = sum(state.terms for state in self.view.labels) / max(count, 1) or 1.0
        slack = K1 * (1 - B + B * self.conversations.lengths / average)
        slack = np.append(slack, K1)  # for one whose length is lost: a worse answer, and no error
        total, weights = np.zeros(len(slack)), []
        for found in self.found:
            held = [postings.by_thread for postings in found if len(postings)]
            weights.append(inverse_frequency(count, sum(len(threads) for threads, _ in held)))
            for threads, times in held:  # no conversation is in two labels
                places = np.searchsorted(self.conversations.threads, threads)
                total[places] += weights[-1] * times * (K1 + 1) / (times + slack[places])
        scores: Scores = total[:-1] / best_possible(weights)
        return scores

    def thread_scores(self, wanted: Ints) -> Scores:
        """The scores of these conversations."""
        return _looked_up(self.conversations.threads, self._by_thread, wanted)


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
            keyword = _share(_looked_up(*asked.scores, np.array(memories, dtype=np.int64)))
            thread_keyword = _share(asked.thread_scores(np.array(places, dtype=np.int64)))
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
        return ThreadLengths(
            np.concatenate([NO_THREADS.threads, *(part.threads for part in parts)]),
            np.concatenate([NO_THREADS.lengths, *(part.lengths for part in parts)]),
        )


def _around(boxes: Sequence[Cards], ids: Sequence[str], reach: int) -> dict[str, Neighbours]:
    found: dict[str, Neighbours] = {}
    for box in boxes:
        found |= box.around(ids, reach)
    return found


def _share(scores: Scores) -> list[float]:
    shares: list[float] = np.minimum(1.0, np.round(scores, DIGITS)).tolist()
    return shares


def _looked_up(numbers: Ints, scores: Scores | Ints, wanted: Ints) -> Scores:
    """What stands beside the wanted among rising numbers; 0 where there is none."""
    if not len(numbers):
        return np.zeros(len(wanted))
    found = np.minimum(np.searchsorted(numbers, wanted), len(numbers) - 1)
    return np.where(numbers[found] == wanted, scores[found], 0.0)


def _joined(lists: Sequence[Postings]) -> Postings:
    return Postings(
        np.concatenate([each.memories for each in lists]),
        np.concatenate([each.frequencies for each in lists]),
        np.concatenate([each.lengths for each in lists]),
        np.concatenate([each.threads for each in lists]),
    )


def _read(
    session: Session, stale: Mapping[tuple[int, int, str], tuple[Postings | None, int]]
) -> list[Postings]:
    places = [(*key, after) for key, (_, after) in stale.items()]
    found = session.read_each("new_postings", places)
    known = (postings for postings, _ in stale.values())
    return [_grown(*each) for each in zip(stale, known, found, strict=True)]


def _grown(key: tuple[int, int, str], known: Postings | None, found: Sequence[Row]) -> Postings:
    if not found:
        return known or EMPTY
    table = np.fromiter(chain.from_iterable(found), np.int64, 4 * len(found)).reshape(-1, 4)
    memories, frequencies, lengths, threads = np.ascontiguousarray(table.T)
    added = Postings(memories, frequencies, lengths, threads | (key[1] << 32))
    return _joined([known, added]) if known else added


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
    every = _joined(lists)
    if not len(every):
        return every.memories, np.zeros(0)
    weight, times = np.repeat(weights, [len(found) for found in lists]), every.frequencies
    slack = K1 * (1 - B + B * every.lengths / average)
    parts = weight * times * (K1 + 1) / (times + slack)
    lowest, highest = int(every.memories.min()), int(every.memories.max())
    if highest - lowest < SPARSE * len(every) + 10_000:
        total = np.bincount(every.memories - lowest, weights=parts).astype(np.float64, copy=False)
        held = np.flatnonzero(total)
        return held + lowest, total[held]
    numbers, places = np.unique(every.memories, return_inverse=True)
    return numbers, np.bincount(places, weights=parts).astype(np.float64, copy=False)
