"""Collecting candidates: what every strategy finds, and what stands beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from ..core.access import Grant
from ..core.candidate import Candidate
from ..core.errors import Unavailable
from ..core.protocols import Embedder, Store
from .asked import Asked, Asker, Results, Strategy
from .features import Pool
from .query import Query
from .surroundings import REACH, openings
from .understand import understand

DEPTH = 60  # candidates of each strategy
HEADS = 50  # the best so far, whose neighbours are looked at too
NOBODY: Mapping[str, Candidate] = {}
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
        asked, heard = self._asked(grant, query, results)
        done = asked.query.where == query.where  # else a model narrowed the question meanwhile
        rest = {name: run for name, run in self.strategies.items() if name != FIRST or not done}
        with self.store.moment():
            results.run(rest, grant, asked)
            return self._pool(grant, asked, heard, results), results

    def _asked(
        self, grant: Grant, query: Query, results: Results
    ) -> tuple[Asked, dict[str, Candidate]]:
        """Read the question; no transaction is open while it is embedded.

        Who was heard speaking tells whom it names: the candidates that told of them come along.
        """
        depth = max(DEPTH, query.limit)
        read = understand(query.question, query.people, query.now)
        with self.store.moment():
            first = {FIRST: self.strategies[FIRST]} if FIRST in self.strategies else {}
            results.run(first, grant, Asked(query, read, None, depth))
            heard = self.store.memories.describe(grant, results.ids[:HEADS], read.terms)
        speakers = {each.speaker for each in heard.values()}
        understood = read.naming(speakers.union(query.people))
        if "timeline" not in self.strategies:
            understood = replace(understood, window=None)
        return self.asker.ask(grant, query, understood, depth, results), heard

    def _pool(
        self, grant: Grant, asked: Asked, heard: dict[str, Candidate], results: Results
    ) -> Pool:
        """Everything found and what stands beside the best of it, fully described."""
        near = {hit.id: hit.score for hit in results.lists.get("meaning", ())}
        linked = {hit.id: hit.score for hit in results.lists.get("graph", ())}
        found, meaning = self._described(grant, asked, near, results.ids, heard)
        pool = Pool(list(found.values()), meaning, asked.understood)
        heads = [pool.candidates[place].id for place in pool.best(HEADS)]
        around = self.store.memories.neighbours(grant, heads, reach=REACH)
        if asked.query.where is None:  # else a neighbour has not passed the filter
            seen = {id for before, after in around.values() for id in (*before, *after)}
            beside, more = self._described(grant, asked, near, sorted(seen - found.keys()))
            found, meaning = found | beside, meaning | more
        every = list(found.values())
        return Pool(every, meaning, asked.understood, around, linked, openings(around))

    def _described(
        self,
        grant: Grant,
        asked: Asked,
        near: Mapping[str, float],
        ids: Sequence[str],
        heard: Mapping[str, Candidate] = NOBODY,
    ) -> tuple[dict[str, Candidate], dict[str, float]]:
        """What these are, and how near in meaning."""
        new = [id for id in ids if id not in heard]
        described = self.store.memories.describe(grant, new, asked.understood.terms)
        described |= {id: heard[id] for id in ids if id in heard}
        meaning = {id: near[id] for id in described if id in near}
        rest = [id for id in described if id not in meaning]
        if asked.vector is not None and asked.vector.any() and rest:
            profile = self.embedder.profile
            with suppress(Unavailable):  # who looks for meaning has said so
                meaning |= self.store.vectors.scores(grant, profile, asked.vector, rest)
        return described, meaning
