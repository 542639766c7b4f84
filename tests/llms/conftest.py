"""Fixtures: the models of all providers and a local server with scripted responses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import certifi
import pytest
from tests.loopback import Loopback

from nexusmem.core.protocols.models import LanguageModel
from nexusmem.llms.anthropic import AnthropicModel
from nexusmem.llms.gemini import GeminiModel
from nexusmem.llms.ollama import OllamaModel
from nexusmem.llms.openai import OpenAIModel
from nexusmem.runtime.backoff import RetryPolicy

Make = Callable[..., Any]
PROVIDERS = {
    "openai": (OpenAIModel, "/v1"),
    "anthropic": (AnthropicModel, ""),
    "gemini": (GeminiModel, ""),
    "ollama": (OllamaModel, ""),
}


@pytest.fixture(autouse=True, scope="module")
def one_certificate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Skip loading the certificate authorities (40 ms per client); the tests use no TLS."""
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
    """Record the delays before retries instead of sleeping."""
    return []


@pytest.fixture
def patience(waits: list[float]) -> RetryPolicy:
    return RetryPolicy(sleep=waits.append, clock=lambda: sum(waits))


@pytest.fixture
def make(server: Loopback, patience: RetryPolicy) -> Iterator[Make]:
    """Return a function that makes a model of a provider against the server."""
    made: list[LanguageModel] = []

    def make(name: str, **options: Any) -> LanguageModel:
        kind, path = PROVIDERS[name]
        key = {} if name == "ollama" else {"api_key": "key"}
        given = {"base_url": server.url + path, "patience": patience, **key}
        made.append(kind("model", **{**given, **options}))
        return made[-1]

    yield make
    for model in made:
        model.close()


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest, make: Make) -> Make:
    return lambda **options: make(request.param, **options)
