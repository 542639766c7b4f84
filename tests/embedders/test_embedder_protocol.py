"""The Embedder protocol, for every embedder."""

from __future__ import annotations

import numpy as np
import pytest

from nexusmem.core.protocols.embedder import Embedder
from nexusmem.embedders.builtin import BuiltinEmbedder
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.embedders.wrappers import CachedEmbedder

TEXTS = ["The cat sat on the mat.", "", "Where is the cat?", "  ", "Paris is in France"]


@pytest.fixture(params=["builtin", "hashing", "cached", "openai", "gemini", "ollama"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    if request.param in ("openai", "gemini", "ollama"):
        made: Embedder = request.getfixturevalue(f"{request.param}_embedder")()
        return made
    return {
        "builtin": BuiltinEmbedder,
        "hashing": HashingEmbedder,
        "cached": lambda: CachedEmbedder(BuiltinEmbedder()),
    }[request.param]()


def test_one_row_per_text(embedder: Embedder):
    vectors = embedder.embed(TEXTS)

    assert vectors.shape == (len(TEXTS), embedder.profile.dimension)
    assert vectors.dtype == np.float32


def test_rows_are_unit_vectors_or_zero(embedder: Embedder):
    lengths = np.linalg.norm(embedder.embed(TEXTS), axis=1)

    assert lengths == pytest.approx([1, 0, 1, 0, 1], abs=1e-6)


def test_no_texts_give_no_rows(embedder: Embedder):
    assert embedder.embed([]).shape == (0, embedder.profile.dimension)


def test_vector_does_not_depend_on_the_batch(embedder: Embedder):
    together = embedder.embed(TEXTS)

    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])

    assert np.array_equal(together, alone)


def test_is_local_is_true_for_embedders_in_process(embedder: Embedder):
    assert embedder.is_local is (embedder.profile.provider in ("builtin", "hashing"))
