"""Ways to look for an answer. Each gives a ranked list; none sees past the grant."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..core.access import Grant
from ..core.bm25 import K1
from ..core.ids import WorkspaceId
from ..core.protocols import Embedder, Floats, Scored, Store
from ..core.text import query_terms
from .query import Query

Strategy = Callable[[Grant, Query, int], list[Scored]]


def meaning(
    store: Store, embedder: Embedder, embed: Callable[[WorkspaceId, str], Floats]
) -> Strategy:
    """By what the question means: closest vectors."""

    def search(grant: Grant, query: Query, depth: int) -> list[Scored]:
        vector = embed(grant.workspace, query.question)
        if not vector.any():
            return []
        return store.vectors.nearest(
            grant, embedder.profile, vector, where=query.where, limit=depth
        )

    return search


def keyword(store: Store) -> Strategy:
    """By the question's words: BM25, as a share of the words asked for."""

    def search(grant: Grant, query: Query, depth: int) -> list[Scored]:
        terms = query_terms(query.question)
        found = store.memories.matching(grant, terms, where=query.where, limit=depth)
        return [Scored(id=hit.id, score=min(1.0, hit.score * (K1 + 1))) for hit in found]

    return search


Strategies = Mapping[str, Strategy]
