"""OpenAI language models, and every server with a compatible API (`base_url`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from ..core.errors import ConfigError
from ..runtime.backoff import TransientError
from ..runtime.provider_sdk import INVALID_RESPONSE_ERRORS, NO_KEY, LazyClient, require_package
from .provider_model import ModelLimits, ModelRequest, ProviderAnswer, ProviderModel, status_error

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletion

NEW_LIMIT_PARAMETER = "max_completion_tokens"  # the only one that reasoning models accept
OLD_LIMIT_PARAMETER = "max_tokens"  # the only one that Ollama and LM Studio accept


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

        options: dict[str, Any] = {self._limit_parameter: request.max_tokens}
        if request.schema is not None:
            schema = {"name": "answer", "strict": True, "schema": request.schema}
            options["response_format"] = {"type": "json_schema", "json_schema": schema}
        try:
            return _parse_answer(
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
            raise self._refusal_error(error) from error
        except (openai.OpenAIError, *INVALID_RESPONSE_ERRORS) as error:
            raise TransientError(f"OpenAI did not answer ({type(error).__name__})") from error

    def _refusal_error(self, error: openai.APIStatusError) -> Exception:
        if (
            error.status_code == 400
            and self._limit_parameter == OLD_LIMIT_PARAMETER
            and NEW_LIMIT_PARAMETER in str(error)
        ):
            # A reasoning model behind a base_url, such as Azure or a gateway.
            self._limit_parameter = NEW_LIMIT_PARAMETER
            return TransientError(f"OpenAI requires {NEW_LIMIT_PARAMETER}", retry_after="0")
        retry_after = error.response.headers.get("retry-after")
        return status_error("OpenAI", error.status_code, retry_after)


def _parse_answer(completion: ChatCompletion) -> ProviderAnswer:
    choice = completion.choices[0]
    usage = completion.usage
    return ProviderAnswer(
        text=choice.message.refusal or choice.message.content or "",
        is_refused=bool(choice.message.refusal) or choice.finish_reason == "content_filter",
        is_truncated=choice.finish_reason == "length",
        input_tokens=usage.prompt_tokens if usage else 0,
        output_tokens=usage.completion_tokens if usage else 0,
        model=completion.model,
    )
