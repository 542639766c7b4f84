"""BM25 over posting lists, with statistics of the viewer's own labels only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate, chain, islice, pairwise

import numpy as np

from ...core.access import Grant
from ...core.candidate import Candidate
from ...core.filters import Filter
from ...core.metrics import CacheUse
from ...core.protocols import Scored
from .best import best_first, few_first
from .cache import LabelCache
from .cards import KINDS, Card, CardBox, Cards, Neighbours, pick
from .labels import Readable
from .session import Session
from .shares import (
    EMPTY,
    NO_THREADS,
    Ints,
    Postings,
    Shares,
    ThreadLengths,
    joined,
    memory_shares,
    thread_shares,
)

_candidate = tuple.__new__  # hundreds are made a question: without a call in between


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

    @cached_property
    def of_memory(self) -> Shares:
        """The scores of the memories that hold a term."""
        average = sum(state.terms for state in self.view.labels) / self.documents
        every = [each[0] if len(each) == 1 else joined([EMPTY, *each]) for each in self.found]
        return memory_shares(every, self.documents, average)

    @cached_property
    def of_thread(self) -> Shares:
        """The scores of conversations."""
        count = sum(state.threads for state in self.view.labels)
        average = sum(state.terms for state in self.view.labels) / max(count, 1) or 1.0
        return thread_shares(self.found, self.conversations, count, average)


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
        shares = asked.of_memory
        if where is not None:
            return best_first(session, view, grant, *shares.arrays, where=where, limit=limit)
        boxes = self.cards.at_hand(session, view)
        if shares.few is not None:
            return few_first(session, view, grant, shares.few, limit=limit, boxes=boxes)
        found = (session, view, grant, *shares.arrays)
        return best_first(*found, where=None, limit=limit, boxes=boxes)

    def count(self, session: Session, view: Readable, terms: Sequence[str]) -> int:
        """How many memories hold one of the terms."""
        asked = self._asked(session, view, terms)
        return len(asked.of_memory) if asked.documents and asked.terms else 0

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
        return {
            id: _candidate(
                Candidate, (id, KINDS[kind], by, role, talk, at, n, asks, directs, own, all)
            )
            for (id, kind, by, role, talk, at, n, asks, directs), own, all in made
        }

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


def _read(
    session: Session, stale: Mapping[tuple[int, int, str], tuple[Postings | None, int]]
) -> list[Postings]:
    """All of them as one table first: most terms are held by few."""
    found = session.read_each("new_postings", [(*key, at) for key, (_, at) in stale.items()])
    every = [row for rows in found for row in rows]
    table = np.fromiter(chain.from_iterable(every), np.int64, 4 * len(every)).reshape(-1, 4)
    places = pairwise(accumulate(map(len, found), initial=0))
    parts = zip(stale.items(), places, strict=True)
    return [_grown(key[1], known, table[start:end]) for (key, (known, _)), (start, end) in parts]


def _grown(label: int, known: Postings | None, found: Ints) -> Postings:
    if not len(found):
        return known or EMPTY
    rows = np.ascontiguousarray(found.T)  # its own: nothing else is kept with it
    rows[3] |= label << 32
    return joined([known, Postings(rows)]) if known else Postings(rows)


def _lengths(
    session: Session, stale: Mapping[tuple[int, int], tuple[ThreadLengths | None, int]]
) -> list[ThreadLengths]:
    lengths = []
    for key, found in zip(stale, session.read_each("thread_lengths", list(stale)), strict=True):
        table = np.array(sorted(found), dtype=np.int64).reshape(-1, 2)
        lengths.append(ThreadLengths(table[:, 0] | (key[1] << 32), table[:, 1].copy()))
    return lengths
