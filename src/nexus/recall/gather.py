"""Collecting candidates: what the words find, what the meaning finds, and what stands beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..core.access import Grant
from ..core.errors import Unavailable
from ..core.ids import WorkspaceId
from ..core.protocols import Embedder, Floats, Scored, Store
from ..core.text import query_terms
from .features import Pool, Surroundings
from .query import Query
from .understand import Understood, understand

DEPTH = 100  # candidates of each strategy
HEADS = 60  # the best so far, whose neighbours are looked at too
REACH = 2


@dataclass(frozen=True, slots=True)
class Gatherer:
    """Asks a store for everything ranking needs, and never past the grant."""

    store: Store
    embedder: Embedder
    embed: Callable[[WorkspaceId, str], Floats]

    def gather(self, grant: Grant, query: Query) -> tuple[Pool, list[str]]:
        """The pool, and what could not take part and why."""
        depth = max(DEPTH, query.limit)
        worded = self.store.memories.matching(
            grant, query_terms(query.question), where=query.where, limit=depth
        )
        understood = self._understood(grant, query, worded)
        degraded: list[str] = []
        vector: Floats | None = None
        near: list[Scored] = []
        try:
            vector = self.embed(grant.workspace, understood.meaning)
            near = self._nearest(grant, query, vector, depth)
        except Unavailable as error:
            degraded.append(f"meaning: {error}")
        ids = list(dict.fromkeys(hit.id for hit in (*worded, *near)))
        seen = Seen(vector, {hit.id: hit.score for hit in near})
        return self._pool(grant, query, understood, seen, ids), degraded

    def _understood(self, grant: Grant, query: Query, worded: Sequence[Scored]) -> Understood:
        heard = self.store.memories.describe(grant, [hit.id for hit in worded[:HEADS]], ())
        speakers = {each.speaker for each in heard.values()} | set(query.people)
        return understand(query.question, speakers)

    def _nearest(self, grant: Grant, query: Query, vector: Floats, depth: int) -> list[Scored]:
        if not vector.any():
            return []
        profile = self.embedder.profile
        return self.store.vectors.nearest(grant, profile, vector, where=query.where, limit=depth)

    def _pool(
        self, grant: Grant, query: Query, understood: Understood, seen: Seen, ids: Sequence[str]
    ) -> Pool:
        """Everything found and what stands beside the best of it, fully described."""
        pool = self._described(grant, understood, seen, ids)
        heads = [pool.candidates[place].id for place in pool.best(HEADS)]
        around = widened(self.store.memories.neighbours(grant, heads, reach=REACH))
        if query.where is not None:  # a neighbour has not passed the filter
            return replace(pool, around=around)
        known = {each.id for each in pool.candidates}
        beside = self._described(grant, understood, seen, [id for id in around if id not in known])
        both = sorted((*pool.candidates, *beside.candidates), key=lambda each: each.id)
        return Pool(both, {**pool.meaning, **beside.meaning}, around, understood)

    def _described(
        self, grant: Grant, understood: Understood, seen: Seen, ids: Sequence[str]
    ) -> Pool:
        described = self.store.memories.describe(grant, ids, understood.terms)
        meaning = {id: seen.scores[id] for id in described if id in seen.scores}
        rest = [id for id in described if id not in meaning]
        if seen.vector is not None and seen.vector.any() and rest:
            profile = self.embedder.profile
            meaning |= self.store.vectors.scores(grant, profile, seen.vector, rest)
        ordered = sorted(described.values(), key=lambda each: each.id)
        return Pool(ordered, meaning, {}, understood)


@dataclass(frozen=True, slots=True)
class Seen:
    """The question as a vector, and what is known to lie close to it."""

    vector: Floats | None
    scores: Mapping[str, float]


def widened(around: Surroundings) -> Surroundings:
    """Also tell neighbours what stands around them, as far as it was seen from the heads."""
    wide: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = dict(around)
    for head, (before, after) in around.items():
        row = (*reversed(before), head, *after)
        for place, id in enumerate(row):
            if id not in wide:
                earlier = row[max(0, place - REACH) : place][::-1]
                wide[id] = (earlier, row[place + 1 : place + 1 + REACH])
    return wide
