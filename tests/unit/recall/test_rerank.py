"""Reranking puts in order, or leaves the order there was."""

from __future__ import annotations

import threading

import pytest

from nexus.core.errors import ModelUnavailable
from nexus.recall.rerank import Reranked, rerank

TEXTS = ["tea", "coffee", "cake"]


class Scores:
    def __init__(self, *scores: float) -> None:
        self.given = list(scores)
        self.asked = 0

    def scores(self, question, texts) -> list[float]:
        self.asked += 1
        return self.given


def test_the_best_comes_first_and_ties_stay_as_they_were():
    assert rerank(Scores(0.1, 7.5, 0.1), "hot?", TEXTS) == Reranked(
        places=(1, 0, 2), scores=(0.1, 7.5, 0.1)
    )


@pytest.mark.parametrize(
    "scores",
    [(1.0, 2.0), (1.0, 2.0, 3.0, 4.0), (1.0, float("nan"), 2.0), (1.0, float("inf"), 2.0), ()],
    ids=str,
)
def test_scores_that_make_no_sense_are_not_used(scores):
    assert rerank(Scores(*scores), "hot?", TEXTS) == Reranked(
        places=(0, 1, 2), degraded=("rerank: the scores make no sense",)
    )


def test_a_reranker_that_is_away_changes_nothing_but_a_remark():
    class Away:
        def scores(self, question, texts) -> list[float]:
            raise ModelUnavailable("on holiday")

    assert rerank(Away(), "hot?", TEXTS) == Reranked(
        places=(0, 1, 2), degraded=("rerank: on holiday",)
    )


def test_a_reranker_that_is_slow_is_not_waited_for():
    over = threading.Event()

    class Slow:
        def scores(self, question, texts) -> list[float]:
            over.wait(10)
            return [3, 2, 1]

    reranked = rerank(Slow(), "hot?", TEXTS, wait_seconds=0.05)
    over.set()

    assert reranked == Reranked(
        places=(0, 1, 2), degraded=("rerank: no answer within 0.05 seconds",)
    )


@pytest.mark.parametrize(("question", "texts"), [("hot?", []), ("hot?", ["tea"]), (" ", TEXTS)])
def test_where_there_is_nothing_to_order_nobody_is_asked(question, texts):
    reranker = Scores()

    assert rerank(reranker, question, texts) == Reranked(places=tuple(range(len(texts))))
    assert reranker.asked == 0
