"""Questions asked before."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from nexus.core.errors import ConfigError, EmbedderUnavailable
from nexus.core.ids import WorkspaceId
from nexus.core.protocols import Floats
from nexus.embedders.cached import CachedEmbedder
from nexus.embedders.hashing import HashingEmbedder

pytestmark = pytest.mark.requirement("C13")

ACME = WorkspaceId("acme")
OTHER = WorkspaceId("other")


class Counting(HashingEmbedder):
    """Remembers what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Floats:
        self.asked.extend(texts)
        return super().embed(texts)


def test_a_question_is_embedded_once():
    embedder = Counting()
    cached = CachedEmbedder(embedder)

    first = cached.query(ACME, "where is the cat?")
    second = cached.query(ACME, "where is the cat?")

    assert np.array_equal(first, second)
    assert np.array_equal(first, HashingEmbedder().embed(["where is the cat?"])[0])
    assert embedder.asked == ["where is the cat?"]
    assert (cached.hits, cached.misses) == (1, 1)


def test_one_workspace_cannot_tell_what_another_asked():
    embedder = Counting()
    cached = CachedEmbedder(embedder)

    cached.query(ACME, "a secret")
    cached.query(OTHER, "a secret")

    assert embedder.asked == ["a secret", "a secret"]
    assert cached.hits == 0


def test_another_profile_is_another_answer():
    embedder = Counting()
    cached = CachedEmbedder(embedder)
    cached.query(ACME, "tea")

    embedder.profile = HashingEmbedder(8).profile

    assert cached.query(ACME, "tea").shape == (8,)


def test_the_question_not_asked_for_longest_is_dropped():
    embedder = Counting()
    cached = CachedEmbedder(embedder, size=2)

    for text in ("tea", "coffee", "tea", "cake", "tea", "coffee"):
        cached.query(ACME, text)

    assert embedder.asked == ["tea", "coffee", "cake", "coffee"]


def test_what_is_shared_cannot_be_changed():
    vector = CachedEmbedder(HashingEmbedder()).query(ACME, "tea")

    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1


def test_a_failure_is_not_remembered():
    class Failing(HashingEmbedder):
        def embed(self, texts: Sequence[str]) -> Floats:
            raise EmbedderUnavailable

    cached = CachedEmbedder(Failing())

    for _ in range(2):
        with pytest.raises(EmbedderUnavailable):
            cached.query(ACME, "tea")
    assert (cached.hits, cached.misses) == (0, 2)


def test_a_workspace_can_be_forgotten():
    embedder = Counting()
    cached = CachedEmbedder(embedder)
    cached.query(ACME, "tea")
    cached.query(OTHER, "tea")

    cached.forget(ACME)
    cached.query(ACME, "tea")
    cached.query(OTHER, "tea")

    assert embedder.asked == ["tea", "tea", "tea"]


def test_texts_are_kept_as_digests_only():
    cached = CachedEmbedder(HashingEmbedder())

    cached.query(ACME, "a secret")

    assert "secret" not in repr(cached._vectors)


def test_threads_share_it():
    cached = CachedEmbedder(HashingEmbedder(), size=3)
    texts = [f"tea {number % 5}" for number in range(400)]

    with ThreadPoolExecutor(8) as pool:
        vectors = list(pool.map(lambda text: cached.query(ACME, text), texts))

    assert np.array_equal(np.stack(vectors), HashingEmbedder().embed(texts))
    assert cached.hits + cached.misses == 400
    assert len(cached._vectors) == 3


def test_other_calls_go_straight_through():
    cached = CachedEmbedder(HashingEmbedder(16))

    assert cached.embed(["tea", "tea"]).shape == (2, 16)
    assert cached.profile == HashingEmbedder(16).profile
    assert cached.local
    assert cached.misses == 0


def test_a_cache_for_nothing_is_refused():
    with pytest.raises(ConfigError):
        CachedEmbedder(HashingEmbedder(), size=0)
