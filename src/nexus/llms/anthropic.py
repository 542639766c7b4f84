"""Anthropic's models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from ..core.errors import ConfigError
from ..providers.extras import NO_KEY, UNREADABLE, require
from ..providers.once import Once
from ..providers.retry import Transient
from .asking import Answer, Limits, ProviderModel, Request, refusal

if TYPE_CHECKING:
    import anthropic

NO_CREDENTIALS = "An Anthropic model needs an api_key, or ANTHROPIC_API_KEY"
CUT_OFF = ("max_tokens", "model_context_window_exceeded")


class AnthropicModel(ProviderModel):
    """Prompts to `/v1/messages`."""

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        **limits: Unpack[Limits],
    ) -> None:
        super().__init__(**limits)
        require("anthropic", "An Anthropic model", "anthropic")
        self._model = model
        self._api_key = api_key or (NO_KEY if base_url else None)
        self._base_url = base_url
        self._client = Once(self._connect)

    def close(self) -> None:
        self._client.close()

    def _connect(self) -> anthropic.Anthropic:
        import anthropic  # noqa: PLC0415 - takes two seconds; only when asked

        try:
            client = anthropic.Anthropic(
                api_key=self._api_key, base_url=self._base_url, max_retries=0
            )
        except anthropic.AnthropicError as error:  # it looks for profiles on the disk, too
            raise ConfigError(NO_CREDENTIALS) from error
        if self._api_key:
            client.auth_token = None  # older versions would send the environment's as well
        # Without any of these it raises a TypeError, but only when something is asked.
        if not (client.api_key or client.auth_token or getattr(client, "credentials", None)):
            raise ConfigError(NO_CREDENTIALS)
        return client

    def _send(self, request: Request) -> Answer:
        client = self._client()
        import anthropic  # noqa: PLC0415 - there already

        options: dict[str, Any] = {}
        if request.schema is not None:
            shape = {"type": "json_schema", "schema": request.schema}
            options["output_config"] = {"format": shape}
        try:
            return _answer(
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
            raise refusal("Anthropic", error.status_code, retry_after) from error
        except (anthropic.AnthropicError, *UNREADABLE) as error:
            raise Transient(f"Anthropic gave no answer ({type(error).__name__})") from error


def _answer(message: anthropic.types.Message) -> Answer:
    """Thinking is not part of the answer. What a cache held or keeps is counted apart there."""
    usage = message.usage
    cached = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
    return Answer(
        text="".join(block.text for block in message.content if block.type == "text"),
        refused=message.stop_reason == "refusal",
        cut_off=message.stop_reason in CUT_OFF,
        input_tokens=usage.input_tokens + cached,
        output_tokens=usage.output_tokens,
        model=message.model,
    )
