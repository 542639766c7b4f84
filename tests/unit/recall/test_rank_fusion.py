"""Reciprocal rank fusion."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nexusmem.core.protocols.memories import ScoredId
from nexusmem.recall.ranking.rank_fusion import RRF_K, STRATEGY_WEIGHTS, fuse_rankings


def ranking(**scores: float) -> list[ScoredId]:
    best_first = sorted(scores.items(), key=lambda each: -each[1])
    return [ScoredId(id=id, score=score) for id, score in best_first]


def test_first_of_all_strategies_is_first() -> None:
    fused = fuse_rankings({"vector": ranking(a=0.9, b=0.8), "keyword": ranking(a=0.7, c=0.6)})

    assert [each.id for each in fused] == ["a", "b", "c"]
    assert fused[0].score == pytest.approx(0.9)
    assert fused[0].reasons == {"vector": 0.9, "keyword": 0.7}
    assert fused[1].reasons == {"vector": 0.8}


@pytest.mark.requirement("E11", "E13")
def test_rank_contributes_weight_over_k_plus_rank() -> None:
    fused = fuse_rankings(
        {"vector": ranking(a=1.0, b=0.5), "keyword": ranking(b=1.0)}, explain=True
    )

    found = {each.id: each for each in fused}

    vector, keyword = STRATEGY_WEIGHTS["vector"], STRATEGY_WEIGHTS["keyword"]
    assert found["a"].explanation.parts == {"vector": vector / (RRF_K + 1)}
    assert found["b"].explanation.parts == {
        "vector": vector / (RRF_K + 2),
        "keyword": keyword / (RRF_K + 1),
    }
    first_everywhere = (vector + keyword) / (RRF_K + 1)
    for each in fused:
        assert each.score == pytest.approx(each.explanation.total / first_everywhere, abs=1e-9)


@pytest.mark.requirement("E11")
def test_heavier_strategy_wins_between_first_ranks() -> None:
    strategies = sorted(STRATEGY_WEIGHTS, key=STRATEGY_WEIGHTS.__getitem__)

    fused = fuse_rankings({name: ranking(**{name: 0.5}) for name in strategies})

    assert [each.id for each in fused] == strategies[::-1]


def test_strategy_without_weight_uses_the_default() -> None:
    fused = fuse_rankings({"new": ranking(a=0.5), "keyword": ranking(b=0.5)})

    assert {each.id for each in fused} == {"a", "b"}


@pytest.mark.requirement("X7")
def test_explanation_is_optional() -> None:
    lists = {"vector": ranking(a=0.9, b=0.8), "graph": ranking(b=1.0)}

    told = {each.id: each.explanation for each in fuse_rankings(lists, explain=True)}

    assert told["a"].found_by == {"vector": 1}
    assert told["b"].found_by == {"vector": 2, "graph": 1}
    assert told["b"].total == pytest.approx(sum(told["b"].parts.values()))
    assert all(each.explanation is None for each in fuse_rankings(lists))


def test_empty_strategy_changes_nothing() -> None:
    alone = fuse_rankings({"vector": ranking(a=0.9, b=0.1)})

    assert fuse_rankings({"vector": ranking(a=0.9, b=0.1), "keyword": []}) == alone
    assert alone[0].score == pytest.approx(0.9)


def test_score_is_limited_by_evidence() -> None:
    (only,) = fuse_rankings({"vector": ranking(a=0.05)})

    assert only.score == pytest.approx(0.05)


def test_empty_rankings_fuse_to_nothing() -> None:
    assert fuse_rankings({}) == fuse_rankings({"vector": [], "keyword": []}) == []


rankings = some.dictionaries(
    some.sampled_from(["vector", "keyword", "graph"]),
    some.dictionaries(some.sampled_from("abcdefgh"), some.floats(0, 1), max_size=8).map(
        lambda scores: ranking(**scores)
    ),
    max_size=3,
)


@given(rankings)
def test_scores_are_between_0_and_1_sorted_with_ties_by_id(given) -> None:
    fused = fuse_rankings(given)

    order = [(-each.score, each.id) for each in fused]
    assert order == sorted(order)
    assert all(0 <= each.score <= 1 for each in fused)
    assert {each.id for each in fused} == {hit.id for hits in given.values() for hit in hits}
