"""Every measure against numbers worked out by hand."""

from __future__ import annotations

from math import log2

import pytest

from nexus.evaluation.metrics import (
    DEPTHS,
    all_at,
    any_at,
    measure,
    ndcg_at,
    percentile,
    ranks,
    recall_at,
    reciprocal_rank,
)

FOUND = ["x", "a", "y", "b", "z"]
GOLD = frozenset("abc")  # a at 2, b at 4, c never


@pytest.mark.parametrize(
    ("k", "any_of_it", "share", "all_of_it"),
    [(1, 0, 0, 0), (2, 1, 1 / 3, 0), (3, 1, 1 / 3, 0), (4, 1, 2 / 3, 0), (50, 1, 2 / 3, 0)],
)
def test_any_recall_and_all_count_gold_among_the_first_k(k, any_of_it, share, all_of_it) -> None:
    assert any_at(k, FOUND, GOLD) == any_of_it
    assert recall_at(k, FOUND, GOLD) == pytest.approx(share)
    assert all_at(k, FOUND, GOLD) == all_of_it


def test_all_needs_the_last_one() -> None:
    gold = frozenset("ab")

    assert [all_at(k, FOUND, gold) for k in (1, 3, 4, 5)] == [0, 0, 1, 1]
    assert [all_at(k, ["a", "b"], gold) for k in (1, 3)] == [0, 1]


def test_ndcg_is_over_all_gold_found_or_not() -> None:
    gained = 1 / log2(3) + 1 / log2(5)  # at ranks 2 and 4
    ideal = 1 + 1 / log2(3) + 1 / log2(4)  # three gold, though only two were found

    assert ndcg_at(5, FOUND, GOLD) == pytest.approx(gained / ideal)
    assert ndcg_at(5, FOUND, GOLD) == pytest.approx(0.49818, abs=1e-5)


def test_a_perfect_list_has_ndcg_1_even_where_gold_is_more_than_k() -> None:
    gold = frozenset("abcd")

    assert [ndcg_at(k, ["a", "b", "c", "d", "x"], gold) for k in (1, 3, 5)] == [1, 1, 1]
    assert ndcg_at(2, ["a", "x"], gold) == pytest.approx(1 / (1 + 1 / log2(3)))
    assert ndcg_at(3, ["x", "y", "z"], gold) == 0


def test_the_reciprocal_rank_is_that_of_the_first_gold() -> None:
    assert reciprocal_rank(FOUND, GOLD) == 1 / 2
    assert reciprocal_rank(FOUND, frozenset("bc")) == 1 / 4
    assert reciprocal_rank(FOUND, frozenset("c")) == 0
    assert reciprocal_rank([], GOLD) == 0


def test_ranks_say_where_each_gold_was() -> None:
    assert ranks(FOUND, GOLD) == {"a": 2, "b": 4, "c": None}


def test_a_question_is_measured_at_every_depth() -> None:
    measured = measure(FOUND, GOLD)

    assert list(measured) == [
        *(f"{name}@{k}" for name in ("any", "all", "recall", "ndcg") for k in DEPTHS),
        "mrr",
    ]
    assert DEPTHS == (1, 3, 5, 10, 20, 50)
    assert (measured["any@1"], measured["any@3"], measured["mrr"]) == (0, 1, 0.5)


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [([7], 50, 7), ([4, 1, 3, 2], 50, 2), ([4, 1, 3, 2], 95, 4), (list(range(1, 101)), 95, 95)],
)
def test_percentiles_are_values_that_were_measured(values, percent, expected) -> None:
    assert percentile(values, percent) == expected
