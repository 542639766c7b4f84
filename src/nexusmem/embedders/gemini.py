"""Gemini embedder: Google's embedding models, with an API key or on Vertex."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigError, EmbedderUnavailable
from ..core.protocols.embedder import Floats
from ..core.records import EmbeddingProfile
from ..runtime.backoff import RetryPolicy, TransientError
from ..runtime.provider_sdk import INVALID_RESPONSE_ERRORS, NO_KEY, require_package
from .provider_embedder import BatchLimits, ProviderEmbedder

if TYPE_CHECKING:
    from google import genai
    from google.genai import errors

BATCH_LIMITS = BatchLimits(max_texts=100, max_tokens_per_text=8192)
BATCH_LIMITS_001 = BatchLimits(max_texts=100, max_tokens_per_text=2048)
RETIRED_MODELS = frozenset({"text-embedding-004", "embedding-001"})
RETRYABLE_STATUSES = (408, 429)


class GeminiEmbedder:
    """Embedder for Gemini. Sends one content per text: parts of a content share one vector."""

    is_local = False

    def __init__(
        self,
        model: str = "gemini-embedding-2",
        *,
        api_key: str | None = None,
        project_id: str | None = None,
        location: str | None = None,
        credentials: Any = None,
        base_url: str | None = None,
        dimension: int | None = None,
        timeout_seconds: float = 30.0,
        patience: RetryPolicy | None = None,
    ) -> None:
        _check_model(model)
        require_package("google.genai", "Gemini embeddings", "gemini")
        if bool(project_id) != bool(location):
            raise ConfigError("Gemini on Vertex needs both project_id and location")
        self._model = model
        self._credentials: dict[str, Any] = (
            {"project": project_id, "location": location, "credentials": credentials}
            if project_id
            else {"api_key": api_key or (NO_KEY if base_url else None)}
        )
        self._base_url = base_url
        self._dimension = dimension
        self._timeout_seconds = timeout_seconds
        self._provider = ProviderEmbedder(
            self._request_vectors,
            _model_limits(model, vertex=bool(project_id)),
            provider="gemini",
            model=model,
            dimension=dimension,
            patience=patience,
        )

    @property
    def profile(self) -> EmbeddingProfile:
        return self._provider.profile

    def embed(self, texts: Sequence[str]) -> Floats:
        return self._provider.embed(texts)

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        client = self.__dict__.pop("_client", None)
        if client is not None:
            client.close()

    @cached_property
    def _client(self) -> genai.Client:
        from google import genai
        from google.genai import types

        options = types.HttpOptions(
            base_url=self._base_url,
            timeout=int(self._timeout_seconds * 1000),
        )
        try:
            return genai.Client(
                vertexai="project" in self._credentials, http_options=options, **self._credentials
            )
        except ValueError as error:
            raise ConfigError(
                "Gemini embeddings need an api_key (or GEMINI_API_KEY), "
                "or project_id and location for Vertex"
            ) from error

    def _request_vectors(self, texts: Sequence[str]) -> list[list[float]]:
        client = self._client
        from google.genai import errors, types

        contents = [types.Content(parts=[types.Part(text=text)]) for text in texts]
        config = types.EmbedContentConfig(output_dimensionality=self._dimension)
        try:
            answer = client.models.embed_content(
                model=self._model, contents=list(contents), config=config
            )
            return [list(row.values or ()) for row in answer.embeddings or ()]
        except errors.APIError as error:
            raise _status_error(error) from error
        except _transport_errors() as error:
            raise TransientError(f"Gemini did not answer ({type(error).__name__})") from error


def _check_model(model: str) -> None:
    if model.removeprefix("models/") in RETIRED_MODELS:
        raise ConfigError(
            f"Google has retired {model}; use gemini-embedding-2. Its vectors are not compatible:"
            " all memories must be embedded again"
        )


def _model_limits(model: str, *, vertex: bool) -> BatchLimits:
    limits = BATCH_LIMITS_001 if model.endswith("gemini-embedding-001") else BATCH_LIMITS
    return (
        BatchLimits(max_texts=1, max_tokens_per_text=limits.max_tokens_per_text)
        if vertex
        else limits
    )


def _status_error(error: errors.APIError) -> Exception:
    """Translate an HTTP status. The provider's message may quote a text: only the cause has it."""
    if error.code in RETRYABLE_STATUSES or error.code >= 500:
        headers = getattr(error.response, "headers", None) or {}
        return TransientError(
            f"Gemini answered {error.code}", retry_after=headers.get("retry-after")
        )
    return EmbedderUnavailable(
        f"Gemini refused the request ({error.code}): check the key or project, and the model"
    )


def _transport_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions of a failed transport.

    The SDK uses httpx2, or httpx in older versions, and does not wrap their errors.
    """
    from google.auth.exceptions import GoogleAuthError

    clients = [sys.modules[name] for name in ("httpx2", "httpx") if name in sys.modules]
    transport = [client.HTTPError for client in clients]
    return (OSError, GoogleAuthError, *transport, *INVALID_RESPONSE_ERRORS)
