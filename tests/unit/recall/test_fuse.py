"""Ranked lists merged into one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nexus.core.protocols import Scored
from nexus.recall.fuse import SMOOTHING, WEIGHTS, fuse


def ranking(**scores: float) -> list[Scored]:
    best_first = sorted(scores.items(), key=lambda each: -each[1])
    return [Scored(id=id, score=score) for id, score in best_first]


def test_what_both_strategies_put_first_comes_first() -> None:
    fused = fuse({"meaning": ranking(a=0.9, b=0.8), "keyword": ranking(a=0.7, c=0.6)})

    assert [each.id for each in fused] == ["a", "b", "c"]
    assert fused[0].score == pytest.approx(0.9)
    assert fused[0].reasons == {"meaning": 0.9, "keyword": 0.7}
    assert fused[1].reasons == {"meaning": 0.8}


@pytest.mark.requirement("E11", "E13")
def test_a_place_counts_as_the_paper_says_times_the_strategys_weight() -> None:
    fused = fuse({"meaning": ranking(a=1.0, b=0.5), "keyword": ranking(b=1.0)}, explain=True)

    found = {each.id: each for each in fused}

    meaning, keyword = WEIGHTS["meaning"], WEIGHTS["keyword"]
    assert found["a"].explanation.parts == {"meaning": meaning / (SMOOTHING + 1)}
    assert found["b"].explanation.parts == {
        "meaning": meaning / (SMOOTHING + 2),
        "keyword": keyword / (SMOOTHING + 1),
    }
    first_everywhere = (meaning + keyword) / (SMOOTHING + 1)
    for each in fused:
        assert each.score == pytest.approx(each.explanation.total / first_everywhere, abs=1e-9)


@pytest.mark.requirement("E11")
def test_of_two_first_places_the_heavier_strategys_comes_first() -> None:
    strategies = sorted(WEIGHTS, key=WEIGHTS.__getitem__)

    fused = fuse({name: ranking(**{name: 0.5}) for name in strategies})

    assert [each.id for each in fused] == strategies[::-1]


def test_a_strategy_nobody_weighed_takes_part_all_the_same() -> None:
    fused = fuse({"new": ranking(a=0.5), "keyword": ranking(b=0.5)})

    assert {each.id for each in fused} == {"a", "b"}


@pytest.mark.requirement("X7")
def test_a_place_is_explained_only_when_asked() -> None:
    lists = {"meaning": ranking(a=0.9, b=0.8), "graph": ranking(b=1.0)}

    told = {each.id: each.explanation for each in fuse(lists, explain=True)}

    assert told["a"].found_by == {"meaning": 1}
    assert told["b"].found_by == {"meaning": 2, "graph": 1}
    assert told["b"].total == pytest.approx(sum(told["b"].parts.values()))
    assert all(each.explanation is None for each in fuse(lists))


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
