"""Google's Gemini models."""

from __future__ import annotations

import sys
from math import ceil
from typing import TYPE_CHECKING, Unpack

from ..core.errors import BadOutput, ConfigError
from ..providers.extras import NO_KEY, UNREADABLE, require
from ..providers.once import Once
from ..providers.retry import Transient
from .asking import Answer, Limits, ProviderModel, Request, refusal

if TYPE_CHECKING:
    from google import genai
    from google.genai import types

ENDED = (None, "STOP", "MAX_TOKENS")  # any other reason to stop is a kind of refusal
SHORTEST_DEADLINE = 10  # seconds; the server refuses to be given less


class GeminiModel(ProviderModel):
    """Prompts to `:generateContent`."""

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        **limits: Unpack[Limits],
    ) -> None:
        super().__init__(**limits)
        require("google.genai", "A Gemini model", "gemini")
        self._model = model
        self._api_key = api_key or (NO_KEY if base_url else None)
        self._base_url = base_url
        self._client = Once(self._connect)

    def close(self) -> None:
        self._client.close()

    def _connect(self) -> genai.Client:
        from google import genai  # noqa: PLC0415 - takes a second; only when asked
        from google.genai import types  # noqa: PLC0415

        try:
            return genai.Client(
                api_key=self._api_key, http_options=types.HttpOptions(base_url=self._base_url)
            )
        except ValueError as error:
            raise ConfigError("A Gemini model needs an api_key, or GEMINI_API_KEY") from error

    def _send(self, request: Request) -> Answer:
        client = self._client()
        from google.genai import errors  # noqa: PLC0415 - there already

        try:
            content = client.models.generate_content(
                model=self._model, contents=request.prompt.user, config=_config(request)
            )
            return _answer(content, self._model)
        except errors.APIError as error:
            headers = getattr(error.response, "headers", None) or {}
            raise refusal("Gemini", error.code, headers.get("retry-after")) from error
        except RecursionError as error:  # the SDK parses the answer too, and less carefully
            raise BadOutput("the answer is nested too deeply", problem="not JSON") from error
        except _silence() as error:
            raise Transient(f"Gemini gave no answer ({type(error).__name__})") from error


def _config(request: Request) -> types.GenerateContentConfig:
    from google.genai import types  # noqa: PLC0415 - there already

    seconds = request.timeout_seconds
    return types.GenerateContentConfig(
        system_instruction=request.prompt.system,
        max_output_tokens=request.max_tokens,
        response_mime_type=None if request.schema is None else "application/json",
        response_json_schema=request.schema,
        http_options=types.HttpOptions(
            timeout=ceil(seconds * 1000),
            # Else the SDK sends our own, shorter one; we hang up by ourselves.
            headers={"X-Server-Timeout": str(max(SHORTEST_DEADLINE, ceil(seconds)))},
        ),
    )


def _answer(content: types.GenerateContentResponse, model: str) -> Answer:
    """Thoughts are paid for like words. A prompt that was blocked gets no candidate."""
    if not content.candidates and not content.prompt_feedback:
        raise LookupError("neither a candidate nor why there is none")
    reason = content.candidates[0].finish_reason if content.candidates else None
    usage = content.usage_metadata
    return Answer(
        text=content.text or "",
        refused=not content.candidates or reason not in ENDED,
        cut_off=reason == "MAX_TOKENS",
        input_tokens=(usage.prompt_token_count or 0) if usage else 0,
        output_tokens=(
            (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0) if usage else 0
        ),
        model=content.model_version or model,
    )


def _silence() -> tuple[type[Exception], ...]:
    """What no proper answer looks like: the SDK lets the errors of its HTTP client out."""
    clients = [sys.modules[name] for name in ("httpx2", "httpx") if name in sys.modules]
    return (OSError, *(client.HTTPError for client in clients), *UNREADABLE)
