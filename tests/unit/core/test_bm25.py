"""The parts of BM25 every store shares."""

from __future__ import annotations

from math import isclose, log

from hypothesis import given
from hypothesis import strategies as some

from nexus.core.bm25 import K1, best_possible, inverse_frequency


def test_the_formula_is_lucenes() -> None:
    assert isclose(inverse_frequency(10, 3), log(1 + 7.5 / 3.5))


@given(some.integers(1, 10_000), some.integers(0, 10_000))
def test_rarer_terms_tell_more_and_none_tells_less_than_nothing(
    documents: int, holding: int
) -> None:
    holding = min(holding, documents)

    weight = inverse_frequency(documents, holding)

    assert weight > 0
    assert holding == 0 or weight < inverse_frequency(documents, holding - 1)


def test_no_text_reaches_more_than_the_best_possible() -> None:
    weights = [0.5, 2.0]

    endless = sum(weight * 10**9 * (K1 + 1) / (10**9 + K1) for weight in weights)

    assert endless <= best_possible(weights)
    assert isclose(endless, best_possible(weights), rel_tol=1e-6)
    assert best_possible([]) == 0
