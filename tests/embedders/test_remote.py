"""Cutting, batching and putting together again, without a provider."""

from __future__ import annotations

import numpy as np
import pytest

from nexus.embedders.remote import Limits, Remote, TooLong, batches, tokens

pytestmark = pytest.mark.requirement("C12")

LONG = "a" * 30 + " " + "b" * 70


def remote(limits: Limits, longest: int = 1000) -> Remote:
    """Answers short vectors for texts with an a and long ones for the others."""

    def request(texts):
        if any(len(text) > longest for text in texts):
            raise TooLong
        return [[1.0, 0.0] if "a" in text else [0.0, 9.0] for text in texts]

    return Remote(request, limits, provider="test", model="test", dimension=2, patience=None)


@pytest.mark.parametrize(
    "cut",
    [remote(Limits(texts=9, tokens_per_text=28)), remote(Limits(texts=9), longest=80)],
    ids=["by our own count", "by the provider's"],
)
def test_pieces_count_by_their_length_and_not_by_their_vectors(cut: Remote):
    [vector] = cut.embed([LONG])

    assert vector == pytest.approx(np.array([30, 71]) / np.hypot(30, 71), abs=1e-6)


def test_pieces_of_one_text_may_travel_in_two_requests():
    [first, long, last] = remote(Limits(texts=2, tokens_per_text=28)).embed(["a", LONG, "b"])

    assert first.tolist() == [1, 0]
    assert last.tolist() == [0, 1]
    assert long == pytest.approx(np.array([30, 71]) / np.hypot(30, 71), abs=1e-6)


def test_requests_keep_the_order_and_the_limits():
    pieces = [(number, "x" * 30) for number in range(7)]  # 11 tokens each

    cut = list(batches(pieces, Limits(texts=3, tokens=25)))

    assert [[number for number, _ in batch] for batch in cut] == [[0, 1], [2, 3], [4, 5], [6]]


def test_a_piece_over_the_limit_of_a_request_goes_alone():
    assert len(list(batches([(0, "x" * 99), (1, "x")], Limits(texts=9, tokens=10)))) == 2


@pytest.mark.parametrize(("text", "least"), [("two words", 2), ("東京タワー", 5), ("😀😀", 2)])
def test_tokens_are_rather_overestimated(text: str, least: int):
    assert tokens(text) >= least
