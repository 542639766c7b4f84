"""kth_score: at least `count` scores reach it, and few more."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from nexusmem.stores.sql.vectors.top_k import kth_score


@given(
    some.integers(1, 40), some.integers(0, 3_000), some.integers(0, 2**32 - 1), some.integers(1, 9)
)
def test_at_least_count_scores_reach_it(count: int, more: int, seed: int, digits: int) -> None:
    """For any order and any number of equal scores."""
    scores = np.random.default_rng(seed).normal(size=count + more).round(digits)
    assert np.count_nonzero(scores >= kth_score(scores, count)) >= count


def test_few_more_than_count_reach_it() -> None:
    several = [np.random.default_rng(seed).normal(size=10_000) for seed in range(50)]
    more = [np.count_nonzero(scores >= kth_score(scores, 20)) - 20 for scores in several]
    assert max(more) <= 10


def test_best_scores_in_one_group() -> None:
    """Only the maximum of a group counts, so the result is lower, but still valid."""
    scores = np.zeros(10_000)
    scores[::160] = 1.0
    assert np.count_nonzero(scores >= kth_score(scores, 20)) >= 20


def test_few_scores_give_the_exact_value() -> None:
    assert kth_score(np.array([0.1, 0.4, 0.3, 0.2]), 3) == 0.2
