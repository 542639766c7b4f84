"""Gemini language models."""

from __future__ import annotations

import sys
from math import ceil
from typing import TYPE_CHECKING, Unpack

from ..core.errors import BadOutput, ConfigError
from ..runtime.backoff import TransientError
from ..runtime.provider_sdk import INVALID_RESPONSE_ERRORS, NO_KEY, LazyClient, require_package
from .provider_model import ModelLimits, ModelRequest, ProviderAnswer, ProviderModel, status_error

if TYPE_CHECKING:
    from google import genai
    from google.genai import types

NORMAL_FINISH_REASONS = (
    None,
    "STOP",
    "MAX_TOKENS",
)  # any other finish reason is a refusal
MIN_DEADLINE_SECONDS = 10  # the server rejects shorter deadlines


class GeminiModel(ProviderModel):
    """Language model that sends prompts to `:generateContent`."""

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        **limits: Unpack[ModelLimits],
    ) -> None:
        super().__init__(**limits)
        require_package("google.genai", "A Gemini model", "gemini")
        self._model = model
        self._api_key = api_key or (NO_KEY if base_url else None)
        self._base_url = base_url
        self._client = LazyClient(self._make_client)

    def close(self) -> None:
        self._client.close()

    def _make_client(self) -> genai.Client:
        from google import genai
        from google.genai import types

        try:
            return genai.Client(
                api_key=self._api_key, http_options=types.HttpOptions(base_url=self._base_url)
            )
        except ValueError as error:
            raise ConfigError("A Gemini model needs an api_key, or GEMINI_API_KEY") from error

    def _send_request(self, request: ModelRequest) -> ProviderAnswer:
        client = self._client()
        from google.genai import errors

        try:
            content = client.models.generate_content(
                model=self._model, contents=request.prompt.user, config=_request_config(request)
            )
            return _parse_answer(content, self._model)
        except errors.APIError as error:
            headers = getattr(error.response, "headers", None) or {}
            raise status_error("Gemini", error.code, headers.get("retry-after")) from error
        except RecursionError as error:  # the SDK parses the answer without a depth limit
            raise BadOutput("the answer is nested too deeply", problem="not JSON") from error
        except _transport_errors() as error:
            raise TransientError(f"Gemini did not answer ({type(error).__name__})") from error


def _request_config(request: ModelRequest) -> types.GenerateContentConfig:
    from google.genai import types

    seconds = request.timeout_seconds
    return types.GenerateContentConfig(
        system_instruction=request.prompt.system,
        max_output_tokens=request.max_tokens,
        response_mime_type=None if request.schema is None else "application/json",
        response_json_schema=request.schema,
        http_options=types.HttpOptions(
            timeout=ceil(seconds * 1000),
            # Without this header the SDK sends `timeout`, which may be below the minimum.
            headers={"X-Server-Timeout": str(max(MIN_DEADLINE_SECONDS, ceil(seconds)))},
        ),
    )


def _parse_answer(content: types.GenerateContentResponse, model: str) -> ProviderAnswer:
    """Convert a response; thought tokens count as output. A blocked prompt has no candidate."""
    if not content.candidates and not content.prompt_feedback:
        raise LookupError("the response has neither a candidate nor prompt feedback")
    reason = content.candidates[0].finish_reason if content.candidates else None
    usage = content.usage_metadata
    return ProviderAnswer(
        text=content.text or "",
        is_refused=not content.candidates or reason not in NORMAL_FINISH_REASONS,
        is_truncated=reason == "MAX_TOKENS",
        input_tokens=(usage.prompt_token_count or 0) if usage else 0,
        output_tokens=(
            (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0) if usage else 0
        ),
        model=content.model_version or model,
    )


def _transport_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions of a failed transport: the SDK does not wrap its HTTP client's."""
    clients = [sys.modules[name] for name in ("httpx2", "httpx") if name in sys.modules]
    return (OSError, *(client.HTTPError for client in clients), *INVALID_RESPONSE_ERRORS)
