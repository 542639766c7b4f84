"""OpenAI language models, and every server with a compatible API (`base_url`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Unpack

from ..core.errors import ConfigError
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
    import openai
    from openai.types.chat import ChatCompletionChunk

NEW_LIMIT_PARAMETER = "max_completion_tokens"  # the only one that reasoning models accept
OLD_LIMIT_PARAMETER = "max_tokens"  # the only one that Ollama and LM Studio accept
UNSUPPORTED_STATUSES = (400, 422)  # of a request with a parameter that the server does not know


class OpenAIModel(ProviderModel):
    """Language model that sends prompts to `/v1/chat/completions`, which all such servers have."""

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        **limits: Unpack[ModelLimits],
    ) -> None:
        super().__init__(**limits)
        require_package("openai", "An OpenAI model", "openai")
        self._model = model
        self._api_key = api_key or (NO_KEY if base_url else None)
        self._base_url = base_url
        self._limit_parameter = OLD_LIMIT_PARAMETER if base_url else NEW_LIMIT_PARAMETER
        # Reasoning models refuse a temperature, and some servers the usage of a stream.
        self._options: dict[str, Any] = {
            "temperature": 0,
            "stream_options": {"include_usage": True},
        }
        self._client = LazyClient(self._make_client)

    def close(self) -> None:
        self._client.close()

    def _make_client(self) -> openai.OpenAI:
        import openai

        try:
            return openai.OpenAI(api_key=self._api_key, base_url=self._base_url, max_retries=0)
        except openai.OpenAIError as error:
            raise ConfigError("An OpenAI model needs an api_key, or OPENAI_API_KEY") from error

    def _send_request(self, request: ModelRequest) -> ProviderAnswer:
        client = self._client()
        import openai

        options: dict[str, Any] = {self._limit_parameter: request.max_tokens, **self._options}
        if request.schema is not None:
            schema = {"name": "answer", "strict": True, "schema": request.schema}
            options["response_format"] = {"type": "json_schema", "json_schema": schema}
        try:
            with client.chat.completions.create(
                model=self._model,
                messages=[
                    {"role": "system", "content": request.prompt.system},
                    {"role": "user", "content": request.prompt.user},
                ],
                timeout=request.timeout_seconds,
                stream=True,
                **options,
            ) as chunks:
                return _collect_answer(chunks)
        except openai.APIStatusError as error:
            raise self._refusal_error(error) from error
        except transport_errors(openai.OpenAIError) as error:
            raise TransientError(f"OpenAI did not answer ({type(error).__name__})") from error

    def _refusal_error(self, error: openai.APIStatusError) -> Exception:
        if error.status_code in UNSUPPORTED_STATUSES:
            message = str(error)
            if self._limit_parameter == OLD_LIMIT_PARAMETER and NEW_LIMIT_PARAMETER in message:
                # A reasoning model behind a base_url, such as Azure or a gateway.
                self._limit_parameter = NEW_LIMIT_PARAMETER
                return TransientError(f"OpenAI requires {NEW_LIMIT_PARAMETER}", retry_after="0")
            refused = [name for name in self._options if name in message]
            if refused:
                self._options = {
                    name: value for name, value in self._options.items() if name not in refused
                }
                return TransientError(f"OpenAI refuses {', '.join(refused)}", retry_after="0")
        retry_after = error.response.headers.get("retry-after")
        return status_error("OpenAI", error.status_code, retry_after)


def _collect_answer(chunks: Iterable[ChatCompletionChunk]) -> ProviderAnswer:
    """Return the answer of a stream; raise LookupError if the stream ends too early."""
    text, refusal = StreamedText(), StreamedText()
    reason, model, usage = None, "", None
    for chunk in chunks:
        model, usage = chunk.model or model, chunk.usage or usage
        if not chunk.choices:
            continue
        choice = chunk.choices[0]
        refusal.add(choice.delta.refusal)
        reason = choice.finish_reason or reason
        if not text.add(choice.delta.content):
            reason = "stop"
            break
    if reason is None:
        raise LookupError("the answer has no end")
    return ProviderAnswer(
        text=str(refusal) or str(text),
        is_refused=bool(str(refusal)) or reason == "content_filter",
        is_truncated=reason == "length",
        input_tokens=usage.prompt_tokens if usage else 0,
        output_tokens=usage.completion_tokens if usage else 0,
        model=model,
    )
