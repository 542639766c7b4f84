"""Gemini embedder with the real SDK."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from google.auth.credentials import Credentials
from tests.loopback import DIMENSION

from nexusmem.core.errors import ConfigError, MissingExtra
from nexusmem.embedders.gemini import GeminiEmbedder

pytestmark = pytest.mark.requirement("C10")


class Badge(Credentials):
    """Stand-in for Google credentials."""

    def refresh(self, request: object) -> None:
        self.token = "badge"


def test_one_content_per_text(gemini_embedder, server):
    tea, coffee = gemini_embedder(dimension=DIMENSION).embed(["tea", "coffee"])

    [request] = server.requests
    assert request.path.endswith("/models/gemini-embedding-2:batchEmbedContents")
    assert request.headers["x-goog-api-key"] == "key"
    assert [len(each["content"]["parts"]) for each in request.body["requests"]] == [1, 1]
    assert not np.array_equal(tea, coffee)


@pytest.mark.requirement("C12")
def test_batch_has_at_most_100_texts(gemini_embedder, server):
    vectors = gemini_embedder(dimension=DIMENSION).embed([f"tea {i}" for i in range(101)])

    assert vectors.shape == (101, DIMENSION)
    assert [len(request.body["requests"]) for request in server.requests] == [100, 1]


@pytest.mark.requirement("C12")
@pytest.mark.parametrize(
    ("model", "tokens"), [("gemini-embedding-2", 8192), ("gemini-embedding-001", 2048)]
)
def test_long_text_is_sent_in_pieces(gemini_embedder, server, model, tokens):
    gemini_embedder(model=model, dimension=DIMENSION).embed(["tea " * 10_000])

    sent = [each for request in server.requests for each in request.body["requests"]]
    longest = max(len(each["content"]["parts"][0]["text"]) for each in sent)
    assert 1.5 * tokens < longest < 3 * tokens


@pytest.mark.requirement("C12")
def test_vertex_batch_has_one_text(gemini_embedder, server):
    embedder = gemini_embedder(
        project_id="nexus", location="europe-west1", credentials=Badge(), dimension=32
    )

    vectors = embedder.embed(["tea", "coffee"])

    assert vectors.shape == (2, 32)
    assert len(server.requests) == 2
    for request in server.requests:
        assert "/projects/nexus/locations/europe-west1/" in request.path
        assert request.path.endswith("gemini-embedding-2:embedContent")
        assert request.headers["authorization"] == "Bearer badge"


@pytest.mark.parametrize("model", ["text-embedding-004", "models/text-embedding-004"])
def test_retired_model_is_a_config_error(model: str):
    with pytest.raises(ConfigError, match="gemini-embedding-2"):
        GeminiEmbedder(model, api_key="key")


def test_vertex_needs_project_and_location():
    with pytest.raises(ConfigError, match="project_id and location"):
        GeminiEmbedder(project_id="nexus")


def test_missing_key_is_a_config_error(monkeypatch):
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(ConfigError, match="GEMINI_API_KEY"):
        GeminiEmbedder().embed(["tea"])


def test_environment_key_is_not_sent_to_base_url(gemini_embedder, server, monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", "secret")

    gemini_embedder(api_key=None, dimension=DIMENSION).embed(["tea"])

    assert "secret" not in str(server.requests[0].headers)


def test_missing_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "google.genai", None)

    with pytest.raises(MissingExtra, match=r"nexusmem\[gemini\]"):
        GeminiEmbedder(api_key="key")
