"""By what the question means: the closest vectors."""

from __future__ import annotations

from ..core.access import Grant
from ..core.protocols import Embedder, Scored, Store
from .asked import Asked, Strategy


def meaning(store: Store, embedder: Embedder) -> Strategy:
    def search(grant: Grant, asked: Asked) -> list[Scored]:
        if asked.vector is None or not asked.vector.any():
            return []
        query = asked.query
        return store.vectors.nearest(
            grant,
            embedder.profile,
            asked.vector,
            where=query.where,
            limit=asked.depth,
            learned=query.learned,
        )

    return search
