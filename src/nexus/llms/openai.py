"""OpenAI's models, and everything that speaks like OpenAI (`base_url`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from ..core.errors import ConfigError
from ..providers.extras import NO_KEY, UNREADABLE, require
from ..providers.once import Once
from ..providers.retry import Transient
from .asking import Answer, Limits, ProviderModel, Request, refusal

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletion

NEW_LIMIT = "max_completion_tokens"  # OpenAI's reasoning models take nothing else
OLD_LIMIT = "max_tokens"  # all that Ollama and LM Studio know


class OpenAIModel(ProviderModel):
    """Prompts to `/v1/chat/completions`: the one address that all such servers have."""

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        **limits: Unpack[Limits],
    ) -> None:
        super().__init__(**limits)
        require("openai", "An OpenAI model", "openai")
        self._model = model
        self._api_key = api_key or (NO_KEY if base_url else None)
        self._base_url = base_url
        self._limit = OLD_LIMIT if base_url else NEW_LIMIT
        self._client = Once(self._connect)

    def close(self) -> None:
        self._client.close()

    def _connect(self) -> openai.OpenAI:
        import openai  # noqa: PLC0415 - takes a second; only when asked

        try:
            return openai.OpenAI(api_key=self._api_key, base_url=self._base_url, max_retries=0)
        except openai.OpenAIError as error:
            raise ConfigError("An OpenAI model needs an api_key, or OPENAI_API_KEY") from error

    def _send(self, request: Request) -> Answer:
        client = self._client()
        import openai  # noqa: PLC0415 - there already

        options: dict[str, Any] = {self._limit: request.max_tokens}
        if request.schema is not None:
            shape = {"name": "answer", "strict": True, "schema": request.schema}
            options["response_format"] = {"type": "json_schema", "json_schema": shape}
        try:
            return _answer(
                client.chat.completions.create(
                    model=self._model,
                    messages=[
                        {"role": "system", "content": request.prompt.system},
                        {"role": "user", "content": request.prompt.user},
                    ],
                    timeout=request.timeout_seconds,
                    **options,
                )
            )
        except openai.APIStatusError as error:
            raise self._refusal(error) from error
        except (openai.OpenAIError, *UNREADABLE) as error:
            raise Transient(f"OpenAI gave no answer ({type(error).__name__})") from error

    def _refusal(self, error: openai.APIStatusError) -> Exception:
        if error.status_code == 400 and self._limit == OLD_LIMIT and NEW_LIMIT in str(error):
            self._limit = NEW_LIMIT  # a new model behind a base_url: Azure, a gateway
            return Transient(f"OpenAI wants {NEW_LIMIT}", retry_after="0")
        retry_after = error.response.headers.get("retry-after")
        return refusal("OpenAI", error.status_code, retry_after)


def _answer(completion: ChatCompletion) -> Answer:
    choice = completion.choices[0]
    usage = completion.usage
    return Answer(
        text=choice.message.refusal or choice.message.content or "",
        refused=bool(choice.message.refusal) or choice.finish_reason == "content_filter",
        cut_off=choice.finish_reason == "length",
        input_tokens=usage.prompt_tokens if usage else 0,
        output_tokens=usage.completion_tokens if usage else 0,
        model=completion.model,
    )
