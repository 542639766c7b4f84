"""Ollama embedder: JSON over HTTP, without an SDK."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.errors import EmbedderUnavailable
from ..core.protocols.embedder import Floats
from ..core.records import EmbeddingProfile
from ..runtime.backoff import RetryPolicy, TransientError
from ..runtime.provider_sdk import INVALID_RESPONSE_ERRORS, JsonEndpoint, RequestRefused
from .provider_embedder import BatchLimits, ProviderEmbedder, TextTooLong

BATCH_LIMITS = BatchLimits(
    max_texts=64
)  # Ollama has no limit; this keeps a request below its timeout


class OllamaEmbedder:
    """Embedder for a model that Ollama serves, locally or remotely."""

    is_local = False

    def __init__(
        self,
        model: str = "nomic-embed-text",
        *,
        base_url: str = "http://localhost:11434",
        dimension: int | None = None,
        timeout_seconds: float = 60.0,
        patience: RetryPolicy | None = None,
    ) -> None:
        self._model = model
        self._dimension = dimension
        self._timeout_seconds = timeout_seconds
        # An HTTP proxy of the environment must not be used for localhost.
        self._endpoint = JsonEndpoint(
            "Ollama", base_url.rstrip("/") + "/api/embed", use_proxy=False
        )
        self._provider = ProviderEmbedder(
            self._request_vectors,
            BATCH_LIMITS,
            provider="ollama",
            model=model,
            dimension=dimension,
            patience=patience,
        )

    @property
    def profile(self) -> EmbeddingProfile:
        return self._provider.profile

    def embed(self, texts: Sequence[str]) -> Floats:
        return self._provider.embed(texts)

    def _request_vectors(self, texts: Sequence[str]) -> list[list[float]]:
        # By default Ollama truncates long texts without an error.
        body: dict[str, Any] = {"model": self._model, "input": list(texts), "truncate": False}
        if self._dimension:
            body["dimensions"] = self._dimension
        try:
            answer = self._endpoint.post(body, timeout_seconds=self._timeout_seconds)
            vectors: list[list[float]] = answer["embeddings"]
        except RequestRefused as refused:
            raise self._status_error(refused) from refused
        except INVALID_RESPONSE_ERRORS as error:
            raise TransientError(f"Ollama sent no vectors ({type(error).__name__})") from error
        return vectors

    def _status_error(self, error: RequestRefused) -> Exception:
        """Translate an HTTP status."""
        if error.status == 400 and "context length" in error.body:
            return TextTooLong()
        if error.status == 404:
            return EmbedderUnavailable(f"Ollama has no such model: ollama pull {self._model}")
        return EmbedderUnavailable(f"Ollama refused the request ({error.status})")
