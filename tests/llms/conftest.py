"""Every provider's model, and a server that can be told what to say and how to fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import certifi
import pytest
from tests.loopback import Loopback

from nexus.core.models import LanguageModel
from nexus.llms.anthropic import AnthropicModel
from nexus.llms.gemini import GeminiModel
from nexus.llms.ollama import OllamaModel
from nexus.llms.openai import OpenAIModel
from nexus.providers.retry import Patience

Make = Callable[..., Any]
PROVIDERS = {
    "openai": (OpenAIModel, "/v1"),
    "anthropic": (AnthropicModel, ""),
    "gemini": (GeminiModel, ""),
    "ollama": (OllamaModel, ""),
}


@pytest.fixture(autouse=True, scope="module")
def one_certificate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Clients read all certificate authorities of the world, 40 ms each time; here is no TLS."""
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
    """How long was waited before each further attempt. Time passes only here."""
    return []


@pytest.fixture
def patience(waits: list[float]) -> Patience:
    return Patience(sleep=waits.append, clock=lambda: sum(waits))


@pytest.fixture
def make(server: Loopback, patience: Patience) -> Iterator[Make]:
    """A provider's model by its name, against the server."""
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
