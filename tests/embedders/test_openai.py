"""OpenAI embedder with the real SDK."""

from __future__ import annotations

import sys

import numpy as np
import openai
import pytest
from tests.loopback import DIMENSION, status

from nexusmem.core.errors import ConfigError, EmbedderUnavailable, MissingExtra
from nexusmem.core.records import EmbeddingProfile
from nexusmem.embedders.openai import OpenAIEmbedder
from nexusmem.runtime.provider_sdk import INVALID_RESPONSE_ERRORS

pytestmark = pytest.mark.requirement("C9")


def test_request_has_model_and_key(openai_embedder, server):
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


def test_vectors_are_sorted_by_index(openai_embedder):
    embedder = openai_embedder()

    both = embedder.embed(["tea", "coffee"])

    assert np.array_equal(both, np.concatenate([embedder.embed([t]) for t in ("tea", "coffee")]))


@pytest.mark.requirement("C12")
def test_batch_has_at_most_2048_texts(openai_embedder, server):
    vectors = openai_embedder(dimension=DIMENSION).embed([f"tea {i}" for i in range(2049)])

    assert vectors.shape == (2049, DIMENSION)
    assert [len(request.body["input"]) for request in server.requests] == [2048, 1]


@pytest.mark.requirement("C12")
def test_batch_has_at_most_300000_tokens(openai_embedder, server):
    text = "tea " * 6000  # 8,001 estimated tokens

    openai_embedder(dimension=DIMENSION).embed([text] * 40)

    assert [len(request.body["input"]) for request in server.requests] == [37, 3]


@pytest.mark.requirement("C12")
def test_long_text_is_the_mean_of_its_pieces(openai_embedder, server):
    embedder = openai_embedder(dimension=DIMENSION)

    [vector] = embedder.embed(["tea " * 6000 + "coffee " * 6000])

    sent = [text for request in server.requests for text in request.body["input"]]
    assert len(sent) > 1
    assert max(map(len, sent)) < 3 * 8192
    assert sum(text.count("coffee") for text in sent) == 6000
    assert vector @ embedder.embed(["tea"])[0] > 0.5
    assert vector @ embedder.embed(["coffee"])[0] > 0.5


def test_rejected_text_is_halved(openai_embedder, server):
    server.longest_text = 100

    [long, short] = openai_embedder(dimension=DIMENSION).embed(["tea and cake " * 20, "tea"])

    assert np.linalg.norm([long, short], axis=1) == pytest.approx([1, 1], abs=1e-6)


def test_environment_key_is_not_sent_to_base_url(openai_embedder, server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")

    openai_embedder(api_key=None, dimension=DIMENSION).embed(["tea"])

    assert "secret" not in str(server.requests[0].headers)


def test_missing_key_is_a_config_error(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        OpenAIEmbedder().embed(["tea"])


def test_refused_key_is_not_in_the_message(openai_embedder, server):
    server.script(status(401))

    with pytest.raises(EmbedderUnavailable, match=r"refused .*401.*api_key") as raised:
        openai_embedder(api_key="secret", dimension=DIMENSION).embed(["tea"])

    assert "secret" not in str(raised.value)


def test_missing_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)

    with pytest.raises(MissingExtra, match=r"nexusmem\[openai\]"):
        OpenAIEmbedder()


def test_every_sdk_error_is_translated():
    kinds = [kind for kind in vars(openai._exceptions).values() if isinstance(kind, type)]
    errors = [kind for kind in kinds if issubclass(kind, Exception)]

    assert len(errors) > 10
    assert all(issubclass(kind, (openai.OpenAIError, *INVALID_RESPONSE_ERRORS)) for kind in errors)


def test_embedder_works_after_close(openai_embedder):
    embedder = openai_embedder(dimension=DIMENSION)
    embedder.embed(["tea"])

    embedder.close()
    embedder.close()

    assert embedder.embed(["tea"]).shape == (1, DIMENSION)
