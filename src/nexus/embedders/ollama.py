"""Ollama's embeddings: two small JSON documents over HTTP, so no package is needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.errors import EmbedderUnavailable
from ..core.protocols import Floats
from ..core.records import EmbeddingProfile
from ..providers.extras import UNREADABLE
from ..providers.retry import Patience, Transient
from ..providers.web import Endpoint, Refused
from .remote import Limits, Remote, TooLong

LIMITS = Limits(texts=64)  # it has none; a request should end before its timeout


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
        self._model = model
        self._dimension = dimension
        self._timeout_seconds = timeout_seconds
        # A proxy for the outside world is in nobody's way to localhost.
        self._endpoint = Endpoint("Ollama", base_url.rstrip("/") + "/api/embed", proxied=False)
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
            answer = self._endpoint.post(body, timeout_seconds=self._timeout_seconds)
            vectors: list[list[float]] = answer["embeddings"]
        except Refused as refused:
            raise self._refusal(refused) from refused
        except UNREADABLE as error:
            raise Transient(f"Ollama sent no vectors ({type(error).__name__})") from error
        return vectors

    def _refusal(self, refused: Refused) -> Exception:
        """What a status means."""
        if refused.status == 400 and "context length" in refused.said:
            return TooLong()
        if refused.status == 404:
            return EmbedderUnavailable(f"Ollama has no such model: ollama pull {self._model}")
        return EmbedderUnavailable(f"Ollama refused the request ({refused.status})")
