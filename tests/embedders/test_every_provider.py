"""What the embedders of all providers have in common, through their real clients."""

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

from nexus.core.errors import ConfigError, EmbedderUnavailable
from nexus.providers.retry import Patience

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


def test_the_dimension_is_asked_for_once(provider, server):
    embedder = provider()

    embedder.embed(["tea"])
    embedder.embed(["coffee"])

    assert embedder.profile.dimension == DIMENSION
    assert len(server.requests) == 3


def test_a_given_dimension_is_requested_and_never_probed(provider, server):
    embedder = provider(dimension=16)

    vectors = embedder.embed(["tea"])

    assert vectors.shape == (1, 16)
    assert len(server.requests) == 1
    assert "16" in str(server.requests[0].body)


def test_longer_vectors_are_cut_and_brought_to_length_one(provider, server):
    server.honours_dimensions = False

    vectors = provider(dimension=48).embed(["tea and coffee and cake with cream"])

    assert vectors.shape == (1, 48)
    assert np.linalg.norm(vectors) == pytest.approx(1, abs=1e-6)


def test_shorter_vectors_than_asked_for_are_a_configuration_error(provider, server):
    server.script(dimensions(8))

    with pytest.raises(ConfigError, match="8 dimensions; 16 were asked for"):
        provider(dimension=16).embed(["tea"])


def test_a_model_that_changes_its_dimension_is_not_believed(provider, server):
    embedder = provider()
    assert embedder.profile.dimension == DIMENSION
    server.script(dimensions(8))

    with pytest.raises(EmbedderUnavailable, match="8 dimensions now and sent 64"):
        embedder.embed(["tea"])


def test_blank_texts_are_not_sent(provider, server):
    vectors = provider(dimension=DIMENSION).embed(["", "tea", " \n"])

    assert np.linalg.norm(vectors, axis=1) == pytest.approx([0, 1, 0], abs=1e-6)
    assert len(server.requests) == 1


@pytest.mark.parametrize("reply", BROKEN.values(), ids=BROKEN)
def test_a_passing_failure_is_not_noticed(provider, server, waits, reply: Reply):
    embedder = provider(dimension=DIMENSION)
    server.script(reply, reply)

    vectors = embedder.embed(["tea", "coffee"])

    assert vectors.shape == (2, DIMENSION)
    assert waits == [0.5, 1.0]


@pytest.mark.parametrize("reply", BROKEN.values(), ids=BROKEN)
def test_a_lasting_failure_is_unavailable_with_its_cause(provider, server, waits, reply: Reply):
    embedder = provider(dimension=DIMENSION)
    server.script(*[reply] * 5)

    with pytest.raises(EmbedderUnavailable, match="asked 5 times") as raised:
        embedder.embed(["tea"])

    assert raised.value.__cause__ is not None
    assert waits == [0.5, 1.0, 2.0, 4.0]
    assert len(server.requests) == 5


def test_retry_after_is_honoured_up_to_a_limit(provider, server, waits):
    server.script(status(429, retry_after="2"), status(429, retry_after="3600"))

    provider(dimension=DIMENSION).embed(["tea"])

    assert waits == [2.0, 5.0]


@pytest.mark.parametrize("code", [400, 401, 403, 404])
def test_a_refusal_is_not_asked_again(provider, server, waits, code: int):
    server.script(status(code))

    with pytest.raises(EmbedderUnavailable) as raised:
        provider(dimension=DIMENSION).embed(["a secret"])

    assert waits == []
    assert "secret" not in str(raised.value)
    assert raised.value.__cause__ is not None


def test_a_provider_that_hangs_is_unavailable(provider, server):
    server.script(hang())
    once = Patience(attempts=1)

    with pytest.raises(EmbedderUnavailable):
        provider(dimension=DIMENSION, timeout_seconds=0.1, patience=once).embed(["tea"])


def test_nobody_there_is_unavailable(provider, waits):
    with pytest.raises(EmbedderUnavailable):
        provider(dimension=DIMENSION, base_url="http://127.0.0.1:9").embed(["tea"])

    assert len(waits) == 4


def test_half_a_character_does_not_stop_the_others(provider):
    vectors = provider(dimension=DIMENSION).embed(["tea \ud83d", "coffee"])

    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1], abs=1e-6)


def test_a_dimension_below_one_is_refused(provider):
    with pytest.raises(ConfigError, match="at least one dimension"):
        provider(dimension=0)
