"""Vector strategy: the nearest neighbours of the question vector."""

from __future__ import annotations

from ...core.access import Grant
from ...core.protocols.embedder import Embedder
from ...core.protocols.memories import ScoredId
from ...core.protocols.store import Store
from ..strategy_run import PreparedQuestion, Strategy


def vector_strategy(store: Store, embedder: Embedder) -> Strategy:
    """Return the strategy that searches by cosine; it finds nothing without a vector."""

    def search(grant: Grant, question: PreparedQuestion) -> list[ScoredId]:
        if question.vector is None or not question.vector.any():
            return []
        query = question.query
        return store.vectors.find_nearest(
            grant,
            embedder.profile,
            question.vector,
            where=query.where,
            limit=question.depth,
            learned=query.includes_learned,
        )

    return search
