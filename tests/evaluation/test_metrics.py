"""Metrics compared with values computed by hand."""

from __future__ import annotations

from math import log2

import pytest

from nexusmem.evaluation.run import (
    DEPTHS,
    all_at,
    any_at,
    compute_metrics,
    gold_ranks,
    ndcg_at,
    percentile,
    recall_at,
    reciprocal_rank,
)

FOUND = ["x", "a", "y", "b", "z"]
GOLD = frozenset("abc")  # a at 2, b at 4, c never


@pytest.mark.parametrize(
    ("k", "any_of_it", "share", "all_of_it"),
    [(1, 0, 0, 0), (2, 1, 1 / 3, 0), (3, 1, 1 / 3, 0), (4, 1, 2 / 3, 0), (50, 1, 2 / 3, 0)],
)
def test_any_recall_and_all_at_k(k, any_of_it, share, all_of_it) -> None:
    assert any_at(k, FOUND, GOLD) == any_of_it
    assert recall_at(k, FOUND, GOLD) == pytest.approx(share)
    assert all_at(k, FOUND, GOLD) == all_of_it


def test_all_needs_every_gold_item() -> None:
    gold = frozenset("ab")

    assert [all_at(k, FOUND, gold) for k in (1, 3, 4, 5)] == [0, 0, 1, 1]
    assert [all_at(k, ["a", "b"], gold) for k in (1, 3)] == [0, 1]


def test_ndcg_counts_missing_gold() -> None:
    gained = 1 / log2(3) + 1 / log2(5)  # at ranks 2 and 4
    ideal = 1 + 1 / log2(3) + 1 / log2(4)  # three gold, though only two were found

    assert ndcg_at(5, FOUND, GOLD) == pytest.approx(gained / ideal)
    assert ndcg_at(5, FOUND, GOLD) == pytest.approx(0.49818, abs=1e-5)


def test_perfect_list_has_ndcg_1() -> None:
    gold = frozenset("abcd")

    assert [ndcg_at(k, ["a", "b", "c", "d", "x"], gold) for k in (1, 3, 5)] == [1, 1, 1]
    assert ndcg_at(2, ["a", "x"], gold) == pytest.approx(1 / (1 + 1 / log2(3)))
    assert ndcg_at(3, ["x", "y", "z"], gold) == 0


def test_reciprocal_rank_of_the_first_gold() -> None:
    assert reciprocal_rank(FOUND, GOLD) == 1 / 2
    assert reciprocal_rank(FOUND, frozenset("bc")) == 1 / 4
    assert reciprocal_rank(FOUND, frozenset("c")) == 0
    assert reciprocal_rank([], GOLD) == 0


def test_gold_ranks() -> None:
    assert gold_ranks(FOUND, GOLD) == {"a": 2, "b": 4, "c": None}


def test_metrics_at_every_depth() -> None:
    measured = compute_metrics(FOUND, GOLD)

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
def test_percentile_is_a_measured_value(values, percent, expected) -> None:
    assert percentile(values, percent) == expected
