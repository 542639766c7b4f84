"""Common behaviour of all remote embedders, through their real SDKs."""

from __future__ import annotations

import numpy as np
import pytest
from tests.loopback import (
    DIMENSION,
    Reply,
    dimensions,
    dropped,
    hang,
    not_a_number,
    page,
    status,
    truncated,
    wrong_count,
)

from nexusmem.core.errors import ConfigError, EmbedderUnavailable
from nexusmem.runtime.backoff import RetryPolicy

pytestmark = pytest.mark.requirement("C9", "C10", "C11")

BROKEN = {
    "429": status(429),
    "500": status(500),
    "503": status(503),
    "dropped": dropped(),
    "truncated": truncated(),
    "page": page(),
    "wrong count": wrong_count(),
    "not a number": not_a_number(),
}


def test_dimension_is_probed_once(provider, server):
    embedder = provider()

    embedder.embed(["tea"])
    embedder.embed(["coffee"])

    assert embedder.profile.dimension == DIMENSION
    assert len(server.requests) == 3


def test_configured_dimension_is_requested(provider, server):
    embedder = provider(dimension=16)

    vectors = embedder.embed(["tea"])

    assert vectors.shape == (1, 16)
    assert len(server.requests) == 1
    assert "16" in str(server.requests[0].body)


def test_longer_vectors_are_truncated_and_normalized(provider, server):
    server.honours_dimensions = False

    vectors = provider(dimension=48).embed(["tea and coffee and cake with cream"])

    assert vectors.shape == (1, 48)
    assert np.linalg.norm(vectors) == pytest.approx(1, abs=1e-6)


def test_shorter_vectors_are_a_config_error(provider, server):
    server.script(dimensions(8))

    with pytest.raises(ConfigError, match="must be at most 8, got 16"):
        provider(dimension=16).embed(["tea"])


def test_changed_dimension_is_unavailable(provider, server):
    embedder = provider()
    assert embedder.profile.dimension == DIMENSION
    server.script(dimensions(8))

    with pytest.raises(EmbedderUnavailable, match="vectors of 64 dimensions before and 8 now"):
        embedder.embed(["tea"])


def test_blank_texts_are_not_sent(provider, server):
    vectors = provider(dimension=DIMENSION).embed(["", "tea", " \n"])

    assert np.linalg.norm(vectors, axis=1) == pytest.approx([0, 1, 0], abs=1e-6)
    assert len(server.requests) == 1


@pytest.mark.parametrize("reply", BROKEN.values(), ids=BROKEN)
def test_transient_failure_is_retried(provider, server, waits, reply: Reply):
    embedder = provider(dimension=DIMENSION)
    server.script(reply, reply)

    vectors = embedder.embed(["tea", "coffee"])

    assert vectors.shape == (2, DIMENSION)
    assert waits == [0.5, 1.0]


@pytest.mark.parametrize("reply", BROKEN.values(), ids=BROKEN)
def test_permanent_failure_is_unavailable(provider, server, waits, reply: Reply):
    embedder = provider(dimension=DIMENSION)
    server.script(*[reply] * 5)

    with pytest.raises(EmbedderUnavailable, match="gave up after 5 attempts") as raised:
        embedder.embed(["tea"])

    assert raised.value.__cause__ is not None
    assert waits == [0.5, 1.0, 2.0, 4.0]
    assert len(server.requests) == 5


def test_retry_after_is_respected_up_to_a_limit(provider, server, waits):
    server.script(status(429, retry_after="2"), status(429, retry_after="3600"))

    provider(dimension=DIMENSION).embed(["tea"])

    assert waits == [2.0, 5.0]


@pytest.mark.parametrize("code", [400, 401, 403, 404])
def test_refusal_is_not_retried(provider, server, waits, code: int):
    server.script(status(code))

    with pytest.raises(EmbedderUnavailable) as raised:
        provider(dimension=DIMENSION).embed(["a secret"])

    assert waits == []
    assert "secret" not in str(raised.value)
    assert raised.value.__cause__ is not None


def test_hanging_provider_is_unavailable(provider, server):
    server.script(hang())
    once = RetryPolicy(attempts=1)

    with pytest.raises(EmbedderUnavailable):
        provider(dimension=DIMENSION, timeout_seconds=0.1, patience=once).embed(["tea"])


def test_unreachable_provider_is_unavailable(provider, waits):
    with pytest.raises(EmbedderUnavailable):
        provider(dimension=DIMENSION, base_url="http://127.0.0.1:9").embed(["tea"])

    assert len(waits) == 4


def test_lone_surrogate_is_replaced(provider):
    vectors = provider(dimension=DIMENSION).embed(["tea \ud83d", "coffee"])

    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1], abs=1e-6)


def test_dimension_must_be_positive(provider):
    with pytest.raises(ConfigError, match="dimension must be at least 1, got"):
        provider(dimension=0)
