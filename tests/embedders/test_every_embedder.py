"""What `core.protocols.Embedder` promises, of every embedder."""

from __future__ import annotations

import numpy as np
import pytest

from nexus.core.protocols import Embedder
from nexus.embedders.builtin import BuiltinEmbedder
from nexus.embedders.cached import CachedEmbedder
from nexus.embedders.hashing import HashingEmbedder

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


def test_there_is_one_row_of_its_dimension_per_text(embedder: Embedder):
    vectors = embedder.embed(TEXTS)

    assert vectors.shape == (len(TEXTS), embedder.profile.dimension)
    assert vectors.dtype == np.float32


def test_rows_have_length_one_or_are_zeros(embedder: Embedder):
    lengths = np.linalg.norm(embedder.embed(TEXTS), axis=1)

    assert lengths == pytest.approx([1, 0, 1, 0, 1], abs=1e-6)


def test_no_texts_are_no_rows(embedder: Embedder):
    assert embedder.embed([]).shape == (0, embedder.profile.dimension)


def test_company_changes_nothing(embedder: Embedder):
    together = embedder.embed(TEXTS)

    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])

    assert np.array_equal(together, alone)


def test_it_says_whether_it_answers_in_this_process(embedder: Embedder):
    assert embedder.local is (embedder.profile.provider in ("builtin", "hashing"))
