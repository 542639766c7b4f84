"""Feature hashing: an embedder without semantics, for tests."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ..core.errors import ConfigError
from ..core.protocols.embedder import Floats
from ..core.records import EmbeddingProfile
from ..text.terms import extract_terms


def normalize_rows(vectors: Floats) -> Floats:
    """Return rows of unit length; zero rows stay zero.

    Uses no BLAS, so that every machine computes the same bits.
    """
    lengths = np.sqrt(np.add.reduce(vectors.astype(np.float64) ** 2, axis=1, keepdims=True))
    scaled: Floats = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return scaled


class HashingEmbedder:
    """Embedder that adds +1 or -1 per term at a hashed position (Weinberger et al. 2009)."""

    is_local = True
    static = True

    def __init__(self, dimension: int = 64) -> None:
        if dimension < 1:
            raise ConfigError(f"dimension must be at least 1, got {dimension}")
        self.profile = EmbeddingProfile(provider="hashing", model="terms", dimension=dimension)

    def embed(self, texts: Sequence[str]) -> Floats:
        vectors = np.zeros((len(texts), self.profile.dimension), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for term in extract_terms(text):
                number = _hash_term(term)
                vector[(number >> 1) % len(vector)] += 1 if number & 1 else -1
        return normalize_rows(vectors)


@lru_cache(maxsize=10_000)
def _hash_term(term: str) -> int:
    """Return a hash that is the same in every process, unlike `hash`."""
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=8).digest(), "big")
