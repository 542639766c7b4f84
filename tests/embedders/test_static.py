"""Whether an embedder reads sentences, as ranking asks of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from nexus.core.protocols import Embedder, Floats, is_static
from nexus.core.records import EmbeddingProfile
from nexus.embedders.builtin import BuiltinEmbedder
from nexus.embedders.cached import CachedEmbedder
from nexus.embedders.given import GivenEmbedder
from nexus.embedders.hashing import HashingEmbedder


class Somebodys:
    """Says nothing of how it works."""

    local = True
    profile = EmbeddingProfile(provider="somebody", model="some", dimension=2)

    def embed(self, texts: Sequence[str]) -> Floats:
        return np.ones((len(texts), 2), np.float32) / np.sqrt(np.float32(2))


@pytest.mark.parametrize(
    ("embedder", "static"),
    [(BuiltinEmbedder(), True), (HashingEmbedder(8), True), (Somebodys(), False)],
)
def test_what_an_embedder_says_holds_behind_a_cache_too(embedder: Embedder, static: bool) -> None:
    assert is_static(embedder) is static
    assert CachedEmbedder(embedder).static is static
    assert GivenEmbedder(embedder).static is static
