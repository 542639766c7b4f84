"""Ollama language models: JSON over HTTP, without an SDK."""

from __future__ import annotations

from typing import Any, Unpack

from ..core.errors import ModelUnavailable
from ..runtime.backoff import TransientError
from ..runtime.provider_sdk import INVALID_RESPONSE_ERRORS, JsonEndpoint, RequestRefused
from .provider_model import ModelLimits, ModelRequest, ProviderAnswer, ProviderModel, status_error


class OllamaModel(ProviderModel):
    """Language model that sends prompts to `/api/chat` of a local or remote server."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str = "http://localhost:11434",
        **limits: Unpack[ModelLimits],
    ) -> None:
        super().__init__(**limits)
        self._model = model
        # An HTTP proxy of the environment must not be used for localhost.
        self._endpoint = JsonEndpoint("Ollama", base_url.rstrip("/") + "/api/chat", use_proxy=False)

    def close(self) -> None:
        """Do nothing: there are no open connections."""

    def _send_request(self, request: ModelRequest) -> ProviderAnswer:
        try:
            answer = self._endpoint.post(
                self._request_body(request), timeout_seconds=request.timeout_seconds
            )
            return _parse_answer(answer)
        except RequestRefused as refused:
            raise self._refusal_error(refused) from refused
        except INVALID_RESPONSE_ERRORS as error:
            raise TransientError(f"Ollama did not answer ({type(error).__name__})") from error

    def _request_body(self, request: ModelRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [
                {"role": "system", "content": request.prompt.system},
                {"role": "user", "content": request.prompt.user},
            ],
            "stream": False,
            # By default Ollama truncates long prompts, instructions first.
            "truncate": False,
            "shift": False,
            "options": {"num_predict": request.max_tokens, "temperature": 0},
        }
        if request.schema is not None:
            # The grammar of a schema does not allow thinking output.
            body |= {"format": request.schema, "think": False}
        return body

    def _refusal_error(self, error: RequestRefused) -> Exception:
        if error.status == 404:
            return ModelUnavailable(f"Ollama has no such model: ollama pull {self._model}")
        return status_error("Ollama", error.status)


def _parse_answer(body: dict[str, Any]) -> ProviderAnswer:
    return ProviderAnswer(
        text=str(body["message"]["content"]),
        is_truncated=body.get("done_reason") == "length",
        input_tokens=int(body.get("prompt_eval_count", 0)),
        output_tokens=int(body.get("eval_count", 0)),
        model=str(body["model"]),
    )
