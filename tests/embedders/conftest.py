"""Fixtures: every embedder, and a scripted provider."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import certifi
import pytest
from tests.loopback import Loopback

from nexusmem.embedders.gemini import GeminiEmbedder
from nexusmem.embedders.ollama import OllamaEmbedder
from nexusmem.embedders.openai import OpenAIEmbedder
from nexusmem.runtime.backoff import RetryPolicy

Make = Callable[..., Any]


@pytest.fixture(autouse=True, scope="module")
def one_certificate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Use one certificate: loading the CA bundle takes 40 ms per client, and no test uses TLS."""
    end = "-----END CERTIFICATE-----\n"
    file = tmp_path_factory.mktemp("tls") / "one.pem"
    file.write_text(Path(certifi.where()).read_text(encoding="utf-8").partition(end)[0] + end)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(file))
        yield


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as loopback:
        yield loopback


@pytest.fixture
def waits() -> list[float]:
    """Record the seconds before each retry; the clock advances only by them."""
    return []


@pytest.fixture
def patience(waits: list[float]) -> RetryPolicy:
    return RetryPolicy(sleep=waits.append, clock=lambda: sum(waits))


@pytest.fixture
def openai_embedder(server: Loopback, patience: RetryPolicy) -> Iterator[Make]:
    made: list[OpenAIEmbedder] = []

    def make(**options: Any) -> OpenAIEmbedder:
        given = {"base_url": f"{server.url}/v1", "api_key": "key", "patience": patience}
        made.append(OpenAIEmbedder(**{**given, **options}))
        return made[-1]

    yield make
    for embedder in made:
        embedder.close()


@pytest.fixture
def gemini_embedder(server: Loopback, patience: RetryPolicy) -> Iterator[Make]:
    made: list[GeminiEmbedder] = []

    def make(**options: Any) -> GeminiEmbedder:
        key = {} if "project_id" in options else {"api_key": "key"}
        given = {"base_url": server.url, "patience": patience, **key}
        made.append(GeminiEmbedder(**{**given, **options}))
        return made[-1]

    yield make
    for embedder in made:
        embedder.close()


@pytest.fixture
def ollama_embedder(server: Loopback, patience: RetryPolicy) -> Make:
    return lambda **options: OllamaEmbedder(
        **{"base_url": server.url, "patience": patience, **options}
    )


@pytest.fixture(params=["openai", "gemini", "ollama"])
def provider(request: pytest.FixtureRequest) -> Make:
    """The embedder of each provider, connected to the loopback server."""
    make: Make = request.getfixturevalue(f"{request.param}_embedder")
    return make
