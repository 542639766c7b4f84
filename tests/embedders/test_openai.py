"""OpenAI's embeddings through the real SDK."""

from __future__ import annotations

import sys

import numpy as np
import openai
import pytest
from tests.loopback import DIMENSION, status

from nexus.core.errors import ConfigError, EmbedderUnavailable, MissingExtra
from nexus.core.records import EmbeddingProfile
from nexus.embedders.openai import OpenAIEmbedder
from nexus.providers.extras import UNREADABLE

pytestmark = pytest.mark.requirement("C9")


def test_a_text_is_sent_to_the_model_with_the_key(openai_embedder, server):
    embedder = openai_embedder(model="text-embedding-3-large", api_key="secret", dimension=32)

    embedder.embed(["tea"])

    request = server.requests[0]
    assert request.path == "/v1/embeddings"
    assert request.headers["authorization"] == "Bearer secret"
    assert request.body["model"] == "text-embedding-3-large"
    assert request.body["dimensions"] == 32
    assert embedder.profile == EmbeddingProfile(
        provider="openai", model="text-embedding-3-large", dimension=32
    )


def test_answers_are_put_in_order_by_their_index(openai_embedder):
    embedder = openai_embedder()

    both = embedder.embed(["tea", "coffee"])

    assert np.array_equal(both, np.concatenate([embedder.embed([t]) for t in ("tea", "coffee")]))


@pytest.mark.requirement("C12")
def test_two_thousand_and_forty_eight_texts_fit_a_request(openai_embedder, server):
    vectors = openai_embedder(dimension=DIMENSION).embed([f"tea {i}" for i in range(2049)])

    assert vectors.shape == (2049, DIMENSION)
    assert [len(request.body["input"]) for request in server.requests] == [2048, 1]


@pytest.mark.requirement("C12")
def test_three_hundred_thousand_tokens_fit_a_request(openai_embedder, server):
    text = "tea " * 6000  # 8,001 tokens as we count them

    openai_embedder(dimension=DIMENSION).embed([text] * 40)

    assert [len(request.body["input"]) for request in server.requests] == [37, 3]


@pytest.mark.requirement("C12")
def test_a_text_beyond_the_models_context_is_the_mean_of_its_pieces(openai_embedder, server):
    embedder = openai_embedder(dimension=DIMENSION)

    [vector] = embedder.embed(["tea " * 6000 + "coffee " * 6000])

    sent = [text for request in server.requests for text in request.body["input"]]
    assert len(sent) > 1
    assert max(map(len, sent)) < 3 * 8192
    assert sum(text.count("coffee") for text in sent) == 6000
    assert vector @ embedder.embed(["tea"])[0] > 0.5
    assert vector @ embedder.embed(["coffee"])[0] > 0.5


def test_a_text_the_model_finds_too_long_is_halved(openai_embedder, server):
    server.longest_text = 100

    [long, short] = openai_embedder(dimension=DIMENSION).embed(["tea and cake " * 20, "tea"])

    assert np.linalg.norm([long, short], axis=1) == pytest.approx([1, 1], abs=1e-6)


def test_a_key_from_the_environment_is_not_sent_to_another_server(
    openai_embedder, server, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")

    openai_embedder(api_key=None, dimension=DIMENSION).embed(["tea"])

    assert "secret" not in str(server.requests[0].headers)


def test_no_key_at_all_is_a_configuration_error(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        OpenAIEmbedder().embed(["tea"])


def test_a_refused_key_is_not_repeated_in_the_message(openai_embedder, server):
    server.script(status(401))

    with pytest.raises(EmbedderUnavailable, match=r"refused .*401.*api_key") as raised:
        openai_embedder(api_key="secret", dimension=DIMENSION).embed(["tea"])

    assert "secret" not in str(raised.value)


def test_without_the_package_the_pip_line_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)

    with pytest.raises(MissingExtra, match=r"nexus-memory\[openai\]"):
        OpenAIEmbedder()


def test_every_error_of_the_sdk_is_mapped():
    kinds = [kind for kind in vars(openai._exceptions).values() if isinstance(kind, type)]
    errors = [kind for kind in kinds if issubclass(kind, Exception)]

    assert len(errors) > 10
    assert all(issubclass(kind, (openai.OpenAIError, *UNREADABLE)) for kind in errors)


def test_it_can_be_used_after_it_was_closed(openai_embedder):
    embedder = openai_embedder(dimension=DIMENSION)
    embedder.embed(["tea"])

    embedder.close()
    embedder.close()

    assert embedder.embed(["tea"]).shape == (1, DIMENSION)
