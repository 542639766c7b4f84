"""Google's Gemini embeddings, with an API key or on Vertex."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigError, EmbedderUnavailable
from ..core.protocols import Floats
from ..core.records import EmbeddingProfile
from ..providers.extras import NO_KEY, UNREADABLE, require
from ..providers.retry import Patience, Transient
from .remote import Limits, Remote

if TYPE_CHECKING:
    from google import genai
    from google.genai import errors

LIMITS = Limits(texts=100, tokens_per_text=8192)
LIMITS_OF_001 = Limits(texts=100, tokens_per_text=2048)
RETIRED = frozenset({"text-embedding-004", "embedding-001"})
WORTH_RETRYING = (408, 429)


class GeminiEmbedder:
    """One content per text: several parts of one content would share a single vector."""

    local = False

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
        patience: Patience | None = None,
    ) -> None:
        _check_model(model)
        require("google.genai", "Gemini embeddings", "gemini")
        if bool(project_id) != bool(location):
            raise ConfigError("Gemini on Vertex needs both project_id and location")
        self._model = model
        self._access: dict[str, Any] = (
            {"project": project_id, "location": location, "credentials": credentials}
            if project_id
            else {"api_key": api_key or (NO_KEY if base_url else None)}
        )
        self._base_url = base_url
        self._dimension = dimension
        self._timeout_seconds = timeout_seconds
        self._remote = Remote(
            self._request,
            _limits(model, vertex=bool(project_id)),
            provider="gemini",
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
    def _client(self) -> genai.Client:
        from google import genai  # noqa: PLC0415 - takes a second; only when asked
        from google.genai import types  # noqa: PLC0415

        options = types.HttpOptions(
            base_url=self._base_url,
            timeout=int(self._timeout_seconds * 1000),
        )
        try:
            return genai.Client(
                vertexai="project" in self._access, http_options=options, **self._access
            )
        except ValueError as error:
            raise ConfigError(
                "Gemini embeddings need an api_key (or GEMINI_API_KEY), "
                "or project_id and location for Vertex"
            ) from error

    def _request(self, texts: Sequence[str]) -> list[list[float]]:
        client = self._client
        from google.genai import errors, types  # noqa: PLC0415 - there already

        contents = [types.Content(parts=[types.Part(text=text)]) for text in texts]
        shorter = types.EmbedContentConfig(output_dimensionality=self._dimension)
        try:
            answer = client.models.embed_content(
                model=self._model, contents=list(contents), config=shorter
            )
            return [list(row.values or ()) for row in answer.embeddings or ()]
        except errors.APIError as error:
            raise _refusal(error) from error
        except _silence() as error:
            raise Transient(f"Gemini gave no answer ({type(error).__name__})") from error


def _check_model(model: str) -> None:
    if model.removeprefix("models/") in RETIRED:
        raise ConfigError(
            f"Google has switched {model} off; use gemini-embedding-2. It is another space, so "
            "what was embedded before has to be embedded again"
        )


def _limits(model: str, *, vertex: bool) -> Limits:
    limits = LIMITS_OF_001 if model.endswith("gemini-embedding-001") else LIMITS
    return Limits(texts=1, tokens_per_text=limits.tokens_per_text) if vertex else limits


def _refusal(error: errors.APIError) -> Exception:
    """What a status means. The provider's own words stay in the cause: they may quote a text."""
    if error.code in WORTH_RETRYING or error.code >= 500:
        headers = getattr(error.response, "headers", None) or {}
        return Transient(f"Gemini answered {error.code}", retry_after=headers.get("retry-after"))
    return EmbedderUnavailable(
        f"Gemini refused the request ({error.code}): check the key or project, and the model"
    )


def _silence() -> tuple[type[Exception], ...]:
    """What no proper answer looks like.

    The SDK speaks through httpx2, or httpx in its older versions, and lets their errors out.
    """
    from google.auth.exceptions import GoogleAuthError  # noqa: PLC0415 - comes with the SDK

    clients = [sys.modules[name] for name in ("httpx2", "httpx") if name in sys.modules]
    transport = [client.HTTPError for client in clients]
    return (OSError, GoogleAuthError, *transport, *UNREADABLE)
