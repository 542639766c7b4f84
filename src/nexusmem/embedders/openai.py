"""OpenAI embedder: OpenAI, and every server with a compatible API (`base_url`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigError, EmbedderUnavailable
from ..core.protocols.embedder import Floats
from ..core.records import EmbeddingProfile
from ..runtime.backoff import RetryPolicy, TransientError
from ..runtime.provider_sdk import INVALID_RESPONSE_ERRORS, NO_KEY, require_package
from .provider_embedder import BatchLimits, ProviderEmbedder, TextTooLong

if TYPE_CHECKING:
    import openai

BATCH_LIMITS = BatchLimits(max_texts=2048, max_tokens=300_000, max_tokens_per_text=8192)
RETRYABLE_STATUSES = (408, 409, 429)


class OpenAIEmbedder:
    """Embedder that sends batches of texts to `/v1/embeddings`."""

    is_local = False

    def __init__(
        self,
        model: str = "text-embedding-3-small",
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        dimension: int | None = None,
        timeout_seconds: float = 30.0,
        patience: RetryPolicy | None = None,
    ) -> None:
        require_package("openai", "OpenAI embeddings", "openai")
        self._model = model
        self._api_key = api_key or (NO_KEY if base_url else None)
        self._base_url = base_url
        self._dimension = dimension
        self._timeout_seconds = timeout_seconds
        self._provider = ProviderEmbedder(
            self._request_vectors,
            BATCH_LIMITS,
            provider="openai",
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
    def _client(self) -> openai.OpenAI:
        import openai

        try:
            return openai.OpenAI(
                api_key=self._api_key,
                base_url=self._base_url,
                timeout=self._timeout_seconds,
                max_retries=0,
            )
        except openai.OpenAIError as error:
            raise ConfigError("OpenAI embeddings need an api_key, or OPENAI_API_KEY") from error

    def _request_vectors(self, texts: Sequence[str]) -> list[list[float]]:
        client = self._client
        import openai

        options: dict[str, Any] = {"dimensions": self._dimension} if self._dimension else {}
        try:
            answer = client.embeddings.create(model=self._model, input=list(texts), **options)
            return [row.embedding for row in sorted(answer.data, key=lambda row: row.index)]
        except openai.APIStatusError as error:
            raise _status_error(error) from error
        except (openai.OpenAIError, *INVALID_RESPONSE_ERRORS) as error:
            raise TransientError(f"OpenAI did not answer ({type(error).__name__})") from error


def _status_error(error: openai.APIStatusError) -> Exception:
    """Translate an HTTP status. The provider's message may quote a key: only the cause has it."""
    status = error.status_code
    if status in RETRYABLE_STATUSES or status >= 500:
        retry_after = error.response.headers.get("retry-after")
        return TransientError(f"OpenAI answered {status}", retry_after=retry_after)
    if status == 400 and "maximum context length" in str(error):
        return TextTooLong()
    return EmbedderUnavailable(
        f"OpenAI refused the request ({status}): check api_key, base_url, model and dimension"
    )
