"""OpenAI's embeddings, and those of everything that speaks like OpenAI (`base_url`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigError, EmbedderUnavailable
from ..core.protocols import Floats
from ..core.records import EmbeddingProfile
from ..providers.extras import NO_KEY, UNREADABLE, require
from ..providers.retry import Patience, Transient
from .remote import Limits, Remote, TooLong

if TYPE_CHECKING:
    import openai

LIMITS = Limits(texts=2048, tokens=300_000, tokens_per_text=8192)
WORTH_RETRYING = (408, 409, 429)


class OpenAIEmbedder:
    """Text in batches to `/v1/embeddings`."""

    local = False

    def __init__(
        self,
        model: str = "text-embedding-3-small",
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        dimension: int | None = None,
        timeout_seconds: float = 30.0,
        patience: Patience | None = None,
    ) -> None:
        require("openai", "OpenAI embeddings", "openai")
        self._model = model
        self._api_key = api_key or (NO_KEY if base_url else None)
        self._base_url = base_url
        self._dimension = dimension
        self._timeout_seconds = timeout_seconds
        self._remote = Remote(
            self._request,
            LIMITS,
            provider="openai",
            model=model,
            dimension=dimension,
            patience=patience,
        )

    @property
    def profile(self) -> EmbeddingProfile:
        return self._remote.profile

    def embed(self, texts: Sequence[str]) -> Floats:
        return self._remote.embed(texts)

    def close(self) -> None:
        """Let go of the connections. It may be used again afterwards."""
        client = self.__dict__.pop("_client", None)
        if client is not None:
            client.close()

    @cached_property
    def _client(self) -> openai.OpenAI:
        import openai  # noqa: PLC0415 - takes a second; only when asked

        try:
            return openai.OpenAI(
                api_key=self._api_key,
                base_url=self._base_url,
                timeout=self._timeout_seconds,
                max_retries=0,
            )
        except openai.OpenAIError as error:
            raise ConfigError("OpenAI embeddings need an api_key, or OPENAI_API_KEY") from error

    def _request(self, texts: Sequence[str]) -> list[list[float]]:
        client = self._client
        import openai  # noqa: PLC0415 - there already

        shorter: dict[str, Any] = {"dimensions": self._dimension} if self._dimension else {}
        try:
            answer = client.embeddings.create(model=self._model, input=list(texts), **shorter)
            return [row.embedding for row in sorted(answer.data, key=lambda row: row.index)]
        except openai.APIStatusError as error:
            raise _refusal(error) from error
        except (openai.OpenAIError, *UNREADABLE) as error:
            raise Transient(f"OpenAI gave no answer ({type(error).__name__})") from error


def _refusal(error: openai.APIStatusError) -> Exception:
    """What a status means. The provider's own words stay in the cause: they may quote a key."""
    status = error.status_code
    if status in WORTH_RETRYING or status >= 500:
        retry_after = error.response.headers.get("retry-after")
        return Transient(f"OpenAI answered {status}", retry_after=retry_after)
    if status == 400 and "maximum context length" in str(error):
        return TooLong()
    return EmbedderUnavailable(
        f"OpenAI refused the request ({status}): check api_key, base_url, model and dimension"
    )
