"""BM25 formulas that all stores share."""

from __future__ import annotations

from math import isclose, log

from hypothesis import given
from hypothesis import strategies as some

from nexusmem.text.terms import BM25_K1, inverse_document_frequency, max_bm25_score


def test_formula_equals_that_of_lucene() -> None:
    assert isclose(inverse_document_frequency(10, 3), log(1 + 7.5 / 3.5))


@given(some.integers(1, 10_000), some.integers(0, 10_000))
def test_rarer_terms_weigh_more_and_never_less_than_zero(documents: int, holding: int) -> None:
    holding = min(holding, documents)

    weight = inverse_document_frequency(documents, holding)

    assert weight > 0
    assert holding == 0 or weight < inverse_document_frequency(documents, holding - 1)


def test_no_text_exceeds_the_maximum_score() -> None:
    weights = [0.5, 2.0]

    endless = sum(weight * 10**9 * (BM25_K1 + 1) / (10**9 + BM25_K1) for weight in weights)

    assert endless <= max_bm25_score(weights)
    assert isclose(endless, max_bm25_score(weights), rel_tol=1e-6)
    assert max_bm25_score([]) == 0
