"""Ranked lists merged into one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nexus.core.protocols import Scored
from nexus.recall.fuse import SMOOTHING, fuse


def ranking(**scores: float) -> list[Scored]:
    best_first = sorted(scores.items(), key=lambda each: -each[1])
    return [Scored(id=id, score=score) for id, score in best_first]


def test_what_both_strategies_put_first_comes_first() -> None:
    fused = fuse({"meaning": ranking(a=0.9, b=0.8), "keyword": ranking(a=0.7, c=0.6)})

    assert [each.id for each in fused] == ["a", "b", "c"]
    assert fused[0].score == pytest.approx(0.9)
    assert fused[0].reasons == {"meaning": 0.9, "keyword": 0.7}
    assert fused[1].reasons == {"meaning": 0.8}


def test_a_place_counts_as_the_paper_says() -> None:
    fused = fuse({"meaning": ranking(a=1.0, b=0.5), "keyword": ranking(b=1.0)})

    places = {each.id: each.score for each in fused}

    both_first = 2 / (SMOOTHING + 1)
    assert places["a"] == pytest.approx((1 / (SMOOTHING + 1)) / both_first)
    assert places["b"] == pytest.approx((1 / (SMOOTHING + 1) + 1 / (SMOOTHING + 2)) / both_first)


def test_a_strategy_that_found_nothing_takes_nothing_away() -> None:
    alone = fuse({"meaning": ranking(a=0.9, b=0.1)})

    assert fuse({"meaning": ranking(a=0.9, b=0.1), "keyword": []}) == alone
    assert alone[0].score == pytest.approx(0.9)


def test_a_first_place_with_weak_evidence_stays_weak() -> None:
    (only,) = fuse({"meaning": ranking(a=0.05)})

    assert only.score == pytest.approx(0.05)


def test_nothing_found_is_nothing() -> None:
    assert fuse({}) == fuse({"meaning": [], "keyword": []}) == []


rankings = some.dictionaries(
    some.sampled_from(["meaning", "keyword", "graph"]),
    some.dictionaries(some.sampled_from("abcdefgh"), some.floats(0, 1), max_size=8).map(
        lambda scores: ranking(**scores)
    ),
    max_size=3,
)


@given(rankings)
def test_scores_lie_between_0_and_1_best_first_and_ties_by_id(given) -> None:
    fused = fuse(given)

    order = [(-each.score, each.id) for each in fused]
    assert order == sorted(order)
    assert all(0 <= each.score <= 1 for each in fused)
    assert {each.id for each in fused} == {hit.id for hits in given.values() for hit in hits}
