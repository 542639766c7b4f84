"""A score that so many reach: never more than they do, and hardly less."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from nexus.stores.sql.reached import reached


@given(
    some.integers(1, 40), some.integers(0, 3_000), some.integers(0, 2**32 - 1), some.integers(1, 9)
)
def test_so_many_reach_it(count: int, more: int, seed: int, digits: int) -> None:
    """However they lie, and however many are equal."""
    scores = np.random.default_rng(seed).normal(size=count + more).round(digits)
    assert np.count_nonzero(scores >= reached(scores, count)) >= count


def test_hardly_more_than_so_many_reach_it() -> None:
    several = [np.random.default_rng(seed).normal(size=10_000) for seed in range(50)]
    more = [np.count_nonzero(scores >= reached(scores, 20)) - 20 for scores in several]
    assert max(more) <= 10


def test_the_best_may_all_lie_together() -> None:
    """In one group each is hidden behind the next: what is reached is lower, and still reached."""
    scores = np.zeros(10_000)
    scores[::160] = 1.0
    assert np.count_nonzero(scores >= reached(scores, 20)) >= 20


def test_of_few_it_is_the_very_one() -> None:
    assert reached(np.array([0.1, 0.4, 0.3, 0.2]), 3) == 0.2
