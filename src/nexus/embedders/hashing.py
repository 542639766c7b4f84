"""Feature hashing: an embedder that knows words but no meanings. For tests."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ..core.errors import ConfigError
from ..core.protocols import Floats
from ..core.records import EmbeddingProfile
from ..core.text import terms
from .vectors import unit


class HashingEmbedder:
    """Each term adds one or takes one away in a place of its own (Weinberger et al. 2009)."""

    local = True
    static = True

    def __init__(self, dimension: int = 64) -> None:
        if dimension < 1:
            raise ConfigError(f"an embedding needs at least one dimension, not {dimension}")
        self.profile = EmbeddingProfile(provider="hashing", model="terms", dimension=dimension)

    def embed(self, texts: Sequence[str]) -> Floats:
        vectors = np.zeros((len(texts), self.profile.dimension), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for term in terms(text):
                number = _number(term)
                vector[(number >> 1) % len(vector)] += 1 if number & 1 else -1
        return unit(vectors)


@lru_cache(maxsize=10_000)
def _number(term: str) -> int:
    """The same in every process, unlike `hash`."""
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=8).digest(), "big")
