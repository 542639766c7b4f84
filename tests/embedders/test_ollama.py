"""Ollama embedder."""

from __future__ import annotations

import numpy as np
import pytest
from tests.loopback import DIMENSION, status

from nexusmem.core.errors import ConfigError, EmbedderUnavailable
from nexusmem.embedders.ollama import OllamaEmbedder

pytestmark = pytest.mark.requirement("C11")


def test_truncation_is_disabled(ollama_embedder, server):
    ollama_embedder(model="nomic-embed-text", dimension=32).embed(["tea"])

    [request] = server.requests
    assert request.path == "/api/embed"
    assert request.body == {
        "model": "nomic-embed-text",
        "input": ["tea"],
        "truncate": False,
        "dimensions": 32,
    }


def test_long_text_is_the_mean_of_its_halves(ollama_embedder, server):
    embedder = ollama_embedder(dimension=DIMENSION)
    server.longest_text = 200

    [vector] = embedder.embed(["tea " * 100 + "coffee " * 50])

    assert vector @ embedder.embed(["tea"])[0] > 0.5
    assert vector @ embedder.embed(["coffee"])[0] > 0.5


def test_long_text_does_not_change_the_others(ollama_embedder, server):
    embedder = ollama_embedder(dimension=DIMENSION)
    server.longest_text = 50

    vectors = embedder.embed(["tea", "cake " * 50, "coffee"])

    assert np.array_equal(vectors[[0, 2]], embedder.embed(["tea", "coffee"]))
    assert np.linalg.norm(vectors[1]) == pytest.approx(1, abs=1e-6)


def test_splitting_ends_at_short_texts(ollama_embedder, server):
    server.longest_text = 0

    with pytest.raises(EmbedderUnavailable, match="too long"):
        ollama_embedder(dimension=DIMENSION).embed(["tea " * 20])


@pytest.mark.requirement("C12")
def test_many_texts_are_sent_in_batches(ollama_embedder, server):
    vectors = ollama_embedder(dimension=DIMENSION).embed([f"tea {i}" for i in range(130)])

    assert vectors.shape == (130, DIMENSION)
    assert [len(request.body["input"]) for request in server.requests] == [64, 64, 2]


def test_missing_model_names_the_pull_command(ollama_embedder, server):
    server.script(status(404))

    with pytest.raises(EmbedderUnavailable, match="ollama pull nomic-embed-text"):
        ollama_embedder(model="nomic-embed-text").embed(["tea"])


def test_only_http_urls_are_accepted():
    with pytest.raises(ConfigError, match="http://"):
        OllamaEmbedder(base_url="file:///etc")


def test_environment_proxy_is_ignored(ollama_embedder, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")

    assert ollama_embedder(dimension=DIMENSION).embed(["tea"]).shape == (1, DIMENSION)
