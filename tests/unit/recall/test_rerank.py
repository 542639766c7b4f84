"""Reranking and its failures."""

from __future__ import annotations

import threading

import pytest

from nexusmem.core.errors import ModelUnavailable
from nexusmem.recall.ranking.rerank import RerankOutcome, rerank_texts

TEXTS = ["tea", "coffee", "cake"]


class Scores:
    def __init__(self, *scores: float) -> None:
        self.values = list(scores)
        self.calls = 0

    def score(self, question, texts) -> list[float]:
        self.calls += 1
        return self.values


def test_texts_are_sorted_by_score_and_ties_keep_order():
    assert rerank_texts(Scores(0.1, 7.5, 0.1), "hot?", TEXTS) == RerankOutcome(
        positions=(1, 0, 2), scores=(0.1, 7.5, 0.1)
    )


@pytest.mark.parametrize(
    "scores",
    [(1.0, 2.0), (1.0, 2.0, 3.0, 4.0), (1.0, float("nan"), 2.0), (1.0, float("inf"), 2.0), ()],
    ids=str,
)
def test_invalid_scores_keep_the_order(scores):
    assert rerank_texts(Scores(*scores), "hot?", TEXTS) == RerankOutcome(
        positions=(0, 1, 2),
        degraded=(f"rerank: expected 3 finite scores, got {len(scores)} scores",),
    )


def test_unavailable_reranker_keeps_the_order():
    class Unavailable:
        def score(self, question, texts) -> list[float]:
            raise ModelUnavailable("out of service")

    assert rerank_texts(Unavailable(), "hot?", TEXTS) == RerankOutcome(
        positions=(0, 1, 2), degraded=("rerank: out of service",)
    )


def test_slow_reranker_keeps_the_order():
    over = threading.Event()

    class Slow:
        def score(self, question, texts) -> list[float]:
            over.wait(10)
            return [3, 2, 1]

    reranked = rerank_texts(Slow(), "hot?", TEXTS, wait_seconds=0.05)
    over.set()

    assert reranked == RerankOutcome(
        positions=(0, 1, 2), degraded=("rerank: no answer within 0.05 seconds",)
    )


@pytest.mark.parametrize(("question", "texts"), [("hot?", []), ("hot?", ["tea"]), (" ", TEXTS)])
def test_reranker_is_not_called_without_need(question, texts):
    reranker = Scores()

    assert rerank_texts(reranker, question, texts) == RerankOutcome(
        positions=tuple(range(len(texts)))
    )
    assert reranker.calls == 0
