"""Anthropic language models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    import anthropic

NO_CREDENTIALS = "An Anthropic model needs an api_key, or ANTHROPIC_API_KEY"
TRUNCATION_REASONS = ("max_tokens", "model_context_window_exceeded")


class AnthropicModel(ProviderModel):
    """Language model that sends prompts to `/v1/messages`."""

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        **limits: Unpack[ModelLimits],
    ) -> None:
        super().__init__(**limits)
        require_package("anthropic", "An Anthropic model", "anthropic")
        self._model = model
        self._api_key = api_key or (NO_KEY if base_url else None)
        self._base_url = base_url
        self._client = LazyClient(self._make_client)

    def close(self) -> None:
        self._client.close()

    def _make_client(self) -> anthropic.Anthropic:
        import anthropic

        try:
            client = anthropic.Anthropic(
                api_key=self._api_key, base_url=self._base_url, max_retries=0
            )
        except anthropic.AnthropicError as error:  # the SDK also reads profiles from disk
            raise ConfigError(NO_CREDENTIALS) from error
        if self._api_key:
            client.auth_token = None  # older versions also send the token of the environment
        # Without credentials the SDK raises TypeError, but only on the first request.
        if not (client.api_key or client.auth_token or getattr(client, "credentials", None)):
            raise ConfigError(NO_CREDENTIALS)
        return client

    def _send_request(self, request: ModelRequest) -> ProviderAnswer:
        client = self._client()
        import anthropic

        options: dict[str, Any] = {}  # no temperature: its API has none any more
        if request.schema is not None:
            output_format = {"type": "json_schema", "schema": drop_max_items(request.schema)}
            options["output_config"] = {"format": output_format}
        try:
            with client.messages.create(
                model=self._model,
                system=request.prompt.system,
                messages=[{"role": "user", "content": request.prompt.user}],
                max_tokens=request.max_tokens,
                timeout=request.timeout_seconds,
                stream=True,
                **options,
            ) as events:
                return _collect_answer(events)
        except anthropic.APIStatusError as error:
            retry_after = error.response.headers.get("retry-after")
            raise status_error("Anthropic", error.status_code, retry_after) from error
        except transport_errors(anthropic.AnthropicError) as error:
            raise TransientError(f"Anthropic did not answer ({type(error).__name__})") from error


def drop_max_items(schema: Any) -> Any:
    """Return the schema without `maxItems`, which this provider rejects."""
    if isinstance(schema, Mapping):
        return {name: drop_max_items(each) for name, each in schema.items() if name != "maxItems"}
    return [drop_max_items(each) for each in schema] if isinstance(schema, list) else schema


def _collect_answer(events: Iterable[anthropic.types.RawMessageStreamEvent]) -> ProviderAnswer:
    """Return the answer of a stream; raise LookupError if the stream ends too early.

    Thinking is dropped, and cached input tokens are added.
    """
    text = StreamedText()
    reason, model, input_tokens, output_tokens = None, "", 0, 0
    for event in events:
        if event.type == "message_start":
            usage, model = event.message.usage, event.message.model
            cached = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
            input_tokens, output_tokens = usage.input_tokens + cached, usage.output_tokens
        elif event.type == "content_block_start" and event.content_block.type == "text":
            text.add(event.content_block.text)
        elif event.type == "content_block_delta" and event.delta.type == "text_delta":
            if not text.add(event.delta.text):
                reason = "end_turn"
                break
        elif event.type == "message_delta":
            reason = event.delta.stop_reason or reason
            output_tokens = event.usage.output_tokens or output_tokens
    if reason is None:
        raise LookupError("the answer has no end")
    return ProviderAnswer(
        text=str(text),
        is_refused=reason == "refusal",
        is_truncated=reason in TRUNCATION_REASONS,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        model=model,
    )
