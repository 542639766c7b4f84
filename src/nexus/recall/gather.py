"""Collecting candidates: what every strategy finds, and what stands beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..core.access import Grant
from ..core.candidate import Candidate
from ..core.protocols import Embedder, Store
from .asked import Asked, Asker, Results, Strategy
from .features import Neighbours, Pool, Surroundings
from .query import Query
from .understand import understand

DEPTH = 60  # candidates of each strategy
HEADS = 50  # the best so far, whose neighbours are looked at too
REACH = 2
FIRST = "keyword"  # its finds tell who was heard speaking, before the question is embedded


@dataclass(frozen=True, slots=True)
class Gatherer:
    """Asks a store for everything ranking needs, and never past the grant."""

    store: Store
    embedder: Embedder
    asker: Asker
    strategies: Mapping[str, Strategy]

    def gather(self, grant: Grant, query: Query) -> tuple[Pool, Results]:
        """The pool, and what each strategy did."""
        results = Results()
        asked = self._asked(grant, query, results)
        done = asked.query.where == query.where  # else a model narrowed the question meanwhile
        rest = {name: run for name, run in self.strategies.items() if name != FIRST or not done}
        with self.store.moment():
            results.run(rest, grant, asked)
            return self._pool(grant, asked, results), results

    def _asked(self, grant: Grant, query: Query, results: Results) -> Asked:
        """Read the question; no transaction is open while it is embedded."""
        depth = max(DEPTH, query.limit)
        asked = Asked(query, understand(query.question, query.people, query.now), None, depth)
        with self.store.moment():
            first = {FIRST: self.strategies[FIRST]} if FIRST in self.strategies else {}
            results.run(first, grant, asked)
            heard = self.store.memories.describe(grant, results.ids[:HEADS], ())
        speakers = {each.speaker for each in heard.values()} | set(query.people)
        understood = understand(query.question, speakers, query.now)
        if "timeline" not in self.strategies:
            understood = replace(understood, window=None)
        return self.asker.ask(grant, query, understood, depth, results)

    def _pool(self, grant: Grant, asked: Asked, results: Results) -> Pool:
        """Everything found and what stands beside the best of it, fully described."""
        near = {hit.id: hit.score for hit in results.lists.get("meaning", ())}
        pool = self._described(grant, asked, near, results.ids)
        pool.linked |= {hit.id: hit.score for hit in results.lists.get("graph", ())}
        heads = [pool.candidates[place].id for place in pool.best(HEADS)]
        around = self.store.memories.neighbours(grant, heads, reach=REACH)
        pool.around |= widened(around)
        pool.opening |= openings(around)
        if asked.query.where is not None:  # a neighbour has not passed the filter
            return pool
        known = {each.id for each in pool.candidates}
        beside = [id for id in pool.around if id not in known]
        more = self._described(grant, asked, near, beside)
        both: list[Candidate] = sorted((*pool.candidates, *more.candidates), key=lambda c: c.id)
        meaning = {**pool.meaning, **more.meaning}
        return Pool(both, meaning, asked.understood, pool.around, pool.linked, pool.opening)

    def _described(
        self, grant: Grant, asked: Asked, near: Mapping[str, float], ids: Sequence[str]
    ) -> Pool:
        described = self.store.memories.describe(grant, ids, asked.understood.terms)
        meaning = {id: near[id] for id in described if id in near}
        rest = [id for id in described if id not in meaning]
        if asked.vector is not None and asked.vector.any() and rest:
            profile = self.embedder.profile
            meaning |= self.store.vectors.scores(grant, profile, asked.vector, rest)
        ordered = sorted(described.values(), key=lambda each: each.id)
        return Pool(ordered, meaning, asked.understood)


def widened(around: Surroundings) -> dict[str, Neighbours]:
    """Also tell neighbours what stands around them, as far as it was seen from the heads."""
    beside: dict[str, Neighbours] = {}
    for head, (before, after) in sorted(around.items()):  # in no store's own order
        row = (*reversed(before), head, *after)
        for place, id in enumerate(row):
            seen = (row[max(0, place - REACH) : place][::-1], row[place + 1 : place + 1 + REACH])
            if id not in beside or _size(seen) > _size(beside[id]):
                beside[id] = seen
    return {**beside, **around}


def openings(around: Surroundings) -> set[str]:
    """What opens a conversation: nothing stands before it, and the view reached that far."""
    return {
        before[-1] if before else head
        for head, (before, _) in around.items()
        if len(before) < REACH
    }


def _size(neighbours: Neighbours) -> int:
    before, after = neighbours
    return len(before) + len(after)
