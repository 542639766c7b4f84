"""Anthropic language models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from ..core.errors import ConfigError
from ..runtime.backoff import TransientError
from ..runtime.provider_sdk import INVALID_RESPONSE_ERRORS, NO_KEY, LazyClient, require_package
from .provider_model import ModelLimits, ModelRequest, ProviderAnswer, ProviderModel, status_error

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

        options: dict[str, Any] = {}
        if request.schema is not None:
            output_format = {"type": "json_schema", "schema": request.schema}
            options["output_config"] = {"format": output_format}
        try:
            return _parse_answer(
                client.messages.create(
                    model=self._model,
                    system=request.prompt.system,
                    messages=[{"role": "user", "content": request.prompt.user}],
                    max_tokens=request.max_tokens,
                    timeout=request.timeout_seconds,
                    **options,
                )
            )
        except anthropic.APIStatusError as error:
            retry_after = error.response.headers.get("retry-after")
            raise status_error("Anthropic", error.status_code, retry_after) from error
        except (anthropic.AnthropicError, *INVALID_RESPONSE_ERRORS) as error:
            raise TransientError(f"Anthropic did not answer ({type(error).__name__})") from error


def _parse_answer(message: anthropic.types.Message) -> ProviderAnswer:
    """Convert a message; thinking blocks are dropped and cached input tokens are added."""
    usage = message.usage
    cached = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
    return ProviderAnswer(
        text="".join(block.text for block in message.content if block.type == "text"),
        is_refused=message.stop_reason == "refusal",
        is_truncated=message.stop_reason in TRUNCATION_REASONS,
        input_tokens=usage.input_tokens + cached,
        output_tokens=usage.output_tokens,
        model=message.model,
    )
