"""Gemini language models."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import TYPE_CHECKING, Unpack

from ..core.errors import BadOutput, ConfigError
from ..runtime.backoff import TransientError
from ..runtime.provider_sdk import NO_KEY, LazyClient, require_package, transport_errors
from .provider_model import (
    ModelLimits,
    ModelRequest,
    ProviderAnswer,
    ProviderModel,
    StreamedText,
    status_error,
)

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
    """Language model that sends prompts to `:streamGenerateContent`."""

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
            chunks = client.models.generate_content_stream(
                model=self._model, contents=request.prompt.user, config=_request_config(request)
            )
            return _collect_answer(chunks, self._model)
        except errors.APIError as error:
            headers = getattr(error.response, "headers", None) or {}
            raise status_error("Gemini", error.code, headers.get("retry-after")) from error
        except RecursionError as error:  # the SDK parses the answer without a depth limit
            raise BadOutput("the answer is nested too deeply", problem="not JSON") from error
        except transport_errors() as error:
            raise TransientError(f"Gemini did not answer ({type(error).__name__})") from error


def _request_config(request: ModelRequest) -> types.GenerateContentConfig:
    from google.genai import types

    silence, total = request.timeout_seconds, request.total_seconds
    return types.GenerateContentConfig(
        system_instruction=request.prompt.system,
        max_output_tokens=request.max_tokens,
        temperature=0,
        response_mime_type=None if request.schema is None else "application/json",
        response_json_schema=request.schema,
        http_options=types.HttpOptions(
            timeout=ceil(silence * 1000),
            # Without this header the SDK sends `timeout`, which may be below the minimum.
            headers={"X-Server-Timeout": str(max(MIN_DEADLINE_SECONDS, ceil(total)))},
        ),
    )


def _collect_answer(chunks: Iterable[types.GenerateContentResponse], model: str) -> ProviderAnswer:
    """Return the answer of a stream; raise LookupError if the stream ends too early.

    Thought tokens count as output. A blocked prompt has no candidate.
    """
    text = StreamedText()
    reason, usage, is_blocked = None, None, False
    for chunk in chunks:
        usage, model = chunk.usage_metadata or usage, chunk.model_version or model
        is_blocked = is_blocked or (not chunk.candidates and chunk.prompt_feedback is not None)
        if chunk.candidates:
            reason = chunk.candidates[0].finish_reason or reason
        if not text.add(chunk.text if chunk.candidates else None):
            break
    if reason is None and not is_blocked and text.add(None):
        raise LookupError("the answer has no end")
    return ProviderAnswer(
        text=str(text),
        is_refused=is_blocked or reason not in NORMAL_FINISH_REASONS,
        is_truncated=reason == "MAX_TOKENS",
        input_tokens=(usage.prompt_token_count or 0) if usage else 0,
        output_tokens=(
            (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0) if usage else 0
        ),
        model=model,
    )
