"""The attribute `static` of embedders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from nexusmem.core.protocols.embedder import Embedder, Floats, is_static
from nexusmem.core.records import EmbeddingProfile
from nexusmem.embedders.builtin import BuiltinEmbedder
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.embedders.wrappers import CachedEmbedder, UserSuppliedEmbedder


class CustomEmbedder:
    """An embedder without the attribute `static`."""

    is_local = True
    profile = EmbeddingProfile(provider="somebody", model="some", dimension=2)

    def embed(self, texts: Sequence[str]) -> Floats:
        return np.ones((len(texts), 2), np.float32) / np.sqrt(np.float32(2))


@pytest.mark.parametrize(
    ("embedder", "static"),
    [(BuiltinEmbedder(), True), (HashingEmbedder(8), True), (CustomEmbedder(), False)],
)
def test_static_is_passed_through_wrappers(embedder: Embedder, static: bool) -> None:
    assert is_static(embedder) is static
    assert CachedEmbedder(embedder).static is static
    assert UserSuppliedEmbedder(embedder).static is static
