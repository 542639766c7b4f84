"""Cache of query vectors."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from nexusmem.core.errors import ConfigError, EmbedderUnavailable
from nexusmem.core.ids import WorkspaceId
from nexusmem.core.protocols.embedder import Floats, TextRole
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.embedders.wrappers import CachedEmbedder

pytestmark = pytest.mark.requirement("C13")

ACME = WorkspaceId("acme")
OTHER = WorkspaceId("other")


class Counting(HashingEmbedder):
    """Records the texts it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Floats:
        self.asked.extend(texts)
        return super().embed(texts)


def test_repeated_question_is_embedded_once():
    embedder = Counting()
    cached = CachedEmbedder(embedder)

    first = cached.embed_query(ACME, "where is the cat?")
    second = cached.embed_query(ACME, "where is the cat?")

    assert np.array_equal(first, second)
    assert np.array_equal(first, HashingEmbedder().embed(["where is the cat?"])[0])
    assert embedder.asked == ["where is the cat?"]
    assert (cached.hits, cached.misses) == (1, 1)


def test_cache_is_separate_per_workspace():
    embedder = Counting()
    cached = CachedEmbedder(embedder)

    cached.embed_query(ACME, "a secret")
    cached.embed_query(OTHER, "a secret")

    assert embedder.asked == ["a secret", "a secret"]
    assert cached.hits == 0


def test_cache_is_separate_per_profile():
    embedder = Counting()
    cached = CachedEmbedder(embedder)
    cached.embed_query(ACME, "tea")

    embedder.profile = HashingEmbedder(8).profile

    assert cached.embed_query(ACME, "tea").shape == (8,)


def test_cache_is_separate_per_role():
    embedder = Counting()
    cached = CachedEmbedder(embedder)

    for role in (TextRole.QUERY, TextRole.DOCUMENT, TextRole.QUERY, TextRole.DOCUMENT):
        cached.embed_query(ACME, "tea", role)

    assert embedder.asked == ["tea", "tea"]
    assert (cached.hits, cached.misses) == (2, 2)


def test_least_recently_used_question_is_evicted():
    embedder = Counting()
    cached = CachedEmbedder(embedder, size=2)

    for text in ("tea", "coffee", "tea", "cake", "tea", "coffee"):
        cached.embed_query(ACME, text)

    assert embedder.asked == ["tea", "coffee", "cake", "coffee"]


def test_cached_vectors_are_read_only():
    vector = CachedEmbedder(HashingEmbedder()).embed_query(ACME, "tea")

    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1


def test_failures_are_not_cached():
    class Failing(HashingEmbedder):
        def embed(self, texts: Sequence[str]) -> Floats:
            raise EmbedderUnavailable

    cached = CachedEmbedder(Failing())

    for _ in range(2):
        with pytest.raises(EmbedderUnavailable):
            cached.embed_query(ACME, "tea")
    assert (cached.hits, cached.misses) == (0, 2)


def test_workspace_can_be_cleared():
    embedder = Counting()
    cached = CachedEmbedder(embedder)
    cached.embed_query(ACME, "tea")
    cached.embed_query(OTHER, "tea")

    cached.clear_workspace(ACME)
    cached.embed_query(ACME, "tea")
    cached.embed_query(OTHER, "tea")

    assert embedder.asked == ["tea", "tea", "tea"]


def test_cache_keys_are_digests():
    cached = CachedEmbedder(HashingEmbedder())

    cached.embed_query(ACME, "a secret")

    assert "secret" not in repr(cached._vectors)


def test_cache_is_thread_safe():
    cached = CachedEmbedder(HashingEmbedder(), size=3)
    texts = [f"tea {number % 5}" for number in range(400)]

    with ThreadPoolExecutor(8) as pool:
        vectors = list(pool.map(lambda text: cached.embed_query(ACME, text), texts))

    assert np.array_equal(np.stack(vectors), HashingEmbedder().embed(texts))
    assert cached.hits + cached.misses == 400
    assert len(cached._vectors) == 3


def test_embed_bypasses_the_cache():
    cached = CachedEmbedder(HashingEmbedder(16))

    assert cached.embed(["tea", "tea"]).shape == (2, 16)
    assert cached.profile == HashingEmbedder(16).profile
    assert cached.is_local
    assert cached.misses == 0


def test_cache_size_must_be_positive():
    with pytest.raises(ConfigError):
        CachedEmbedder(HashingEmbedder(), size=0)
