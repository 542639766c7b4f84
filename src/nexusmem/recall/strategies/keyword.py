"""Keyword strategy: BM25 over the memories that the viewer may read."""

from __future__ import annotations

from ...core.access import Grant
from ...core.protocols.memories import ScoredId
from ...core.protocols.store import Store
from ...text.terms import BM25_K1
from ..strategy_run import PreparedQuestion, Strategy

COVERAGE_SCALE = BM25_K1 + 1  # 1 / score of an average-length text that has each term once


def keyword_strategy(store: Store) -> Strategy:
    """Return the strategy that searches by the terms of the question."""

    def search(grant: Grant, question: PreparedQuestion) -> list[ScoredId]:
        terms, query = question.analysis.terms, question.query
        scores = store.memories.search_keywords(
            grant, terms, where=query.where, limit=question.depth, learned=query.includes_learned
        )
        return [ScoredId(id, keyword_coverage(score)) for id, score in scores]

    return search


def keyword_coverage(share: float) -> float:
    """Convert a BM25 share to the share of terms that the text covers, from 0 to 1."""
    return min(1.0, share * COVERAGE_SCALE)
