"""By the question's words: BM25 over what the viewer may read."""

from __future__ import annotations

from ..core.access import Grant
from ..core.bm25 import K1
from ..core.protocols import Scored, Store
from .asked import Asked, Strategy

BEST_SHARE = K1 + 1  # of a text of usual length that holds every term once


def keyword(store: Store) -> Strategy:
    def search(grant: Grant, asked: Asked) -> list[Scored]:
        terms, query = asked.understood.terms, asked.query
        found = store.memories.matching(
            grant, terms, where=query.where, limit=asked.depth, learned=query.learned
        )
        return [Scored(id, worded(score)) for id, score in found]

    return search


def worded(share: float) -> float:
    """The share of the question's words a text covers: once each, in a text of usual length."""
    return min(1.0, share * BEST_SHARE)
