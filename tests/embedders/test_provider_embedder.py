"""Provider embedder: splitting, batching and merging."""

from __future__ import annotations

import numpy as np
import pytest

from nexusmem.embedders.provider_embedder import (
    BatchLimits,
    ProviderEmbedder,
    TextTooLong,
    estimate_tokens,
    split_batches,
)

pytestmark = pytest.mark.requirement("C12")

LONG = "a" * 30 + " " + "b" * 70


def remote(limits: BatchLimits, longest: int = 1000) -> ProviderEmbedder:
    """Make an embedder with short vectors for texts with an "a" and long ones for others."""

    def request(texts):
        if any(len(text) > longest for text in texts):
            raise TextTooLong
        return [[1.0, 0.0] if "a" in text else [0.0, 9.0] for text in texts]

    return ProviderEmbedder(
        request, limits, provider="test", model="test", dimension=2, patience=None
    )


@pytest.mark.parametrize(
    "cut",
    [
        remote(BatchLimits(max_texts=9, max_tokens_per_text=28)),
        remote(BatchLimits(max_texts=9), longest=80),
    ],
    ids=["by our own count", "by the provider's"],
)
def test_pieces_are_weighted_by_length(cut: ProviderEmbedder):
    [vector] = cut.embed([LONG])

    assert vector == pytest.approx(np.array([30, 71]) / np.hypot(30, 71), abs=1e-6)


def test_pieces_of_a_text_may_be_in_two_batches():
    [first, long, last] = remote(BatchLimits(max_texts=2, max_tokens_per_text=28)).embed(
        ["a", LONG, "b"]
    )

    assert first.tolist() == [1, 0]
    assert last.tolist() == [0, 1]
    assert long == pytest.approx(np.array([30, 71]) / np.hypot(30, 71), abs=1e-6)


def test_batches_keep_order_and_limits():
    pieces = [(number, "x" * 30) for number in range(7)]  # 11 tokens each

    cut = list(split_batches(pieces, BatchLimits(max_texts=3, max_tokens=25)))

    assert [[number for number, _ in batch] for batch in cut] == [[0, 1], [2, 3], [4, 5], [6]]


def test_piece_over_the_limit_is_a_batch():
    assert (
        len(list(split_batches([(0, "x" * 99), (1, "x")], BatchLimits(max_texts=9, max_tokens=10))))
        == 2
    )


@pytest.mark.parametrize(("text", "least"), [("two words", 2), ("東京タワー", 5), ("😀😀", 2)])
def test_tokens_are_overestimated(text: str, least: int):
    assert estimate_tokens(text) >= least
