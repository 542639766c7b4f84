"""Ollama's embeddings: two small JSON documents over HTTP, so no package is needed."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from http.client import HTTPException
from typing import Any

from ..core.errors import ConfigError, EmbedderUnavailable
from ..core.protocols import Floats
from ..core.records import EmbeddingProfile
from .remote import UNREADABLE, Limits, Remote, TooLong
from .retry import Patience, Transient

LIMITS = Limits(texts=64)  # it has none; a request should end before its timeout
WORTH_RETRYING = (408, 429)


class OllamaEmbedder:
    """A model served by Ollama, on this machine or another."""

    local = False

    def __init__(
        self,
        model: str = "nomic-embed-text",
        *,
        base_url: str = "http://localhost:11434",
        dimension: int | None = None,
        timeout_seconds: float = 60.0,
        patience: Patience | None = None,
    ) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise ConfigError(f"Ollama's base_url begins with http:// or https://, not {base_url}")
        self._model = model
        self._url = base_url.rstrip("/") + "/api/embed"
        self._dimension = dimension
        self._timeout_seconds = timeout_seconds
        # A proxy for the outside world is in nobody's way to localhost.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self._remote = Remote(
            self._request,
            LIMITS,
            provider="ollama",
            model=model,
            dimension=dimension,
            patience=patience,
        )

    @property
    def profile(self) -> EmbeddingProfile:
        return self._remote.profile

    def embed(self, texts: Sequence[str]) -> Floats:
        return self._remote.embed(texts)

    def _request(self, texts: Sequence[str]) -> list[list[float]]:
        # By default Ollama drops what does not fit and says nothing.
        body: dict[str, Any] = {"model": self._model, "input": list(texts), "truncate": False}
        if self._dimension:
            body["dimensions"] = self._dimension
        try:
            answer: list[list[float]] = self._post(body)["embeddings"]
        except urllib.error.HTTPError as error:
            raise self._refusal(error) from error
        except (OSError, HTTPException, *UNREADABLE) as error:
            raise Transient(f"Ollama gave no answer ({type(error).__name__})") from error
        return answer

    def _post(self, body: dict[str, Any]) -> Any:
        request = urllib.request.Request(  # noqa: S310 - the scheme was checked
            self._url,
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with self._opener.open(request, timeout=self._timeout_seconds) as response:
            return json.load(response)

    def _refusal(self, error: urllib.error.HTTPError) -> Exception:
        """What a status means."""
        with error:
            said = error.read().decode(errors="replace")
        if error.code == 400 and "context length" in said:
            return TooLong()
        if error.code == 404:
            return EmbedderUnavailable(f"Ollama has no such model: ollama pull {self._model}")
        if error.code in WORTH_RETRYING or error.code >= 500:
            retry_after = error.headers.get("Retry-After")
            return Transient(f"Ollama answered {error.code}", retry_after=retry_after)
        return EmbedderUnavailable(f"Ollama refused the request ({error.code})")
