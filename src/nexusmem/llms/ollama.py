"""Ollama language models: JSON over HTTP, without an SDK."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

from ..core.errors import ModelUnavailable
from ..runtime.backoff import TransientError
from ..runtime.provider_sdk import INVALID_RESPONSE_ERRORS, JsonEndpoint, RequestRefused
from .provider_model import (
    ModelLimits,
    ModelRequest,
    ProviderAnswer,
    ProviderModel,
    StreamedText,
    status_error,
)


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
            return _collect_answer(
                self._endpoint.post_lines(
                    self._request_body(request), timeout_seconds=request.timeout_seconds
                ),
                self._model,
            )
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
            "stream": True,
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


def _collect_answer(lines: Iterable[dict[str, Any]], model: str) -> ProviderAnswer:
    """Return the answer of a stream; raise LookupError if the stream ends too early."""
    text, last = StreamedText(), None
    for line in lines:
        has_room = text.add(str(line["message"]["content"]))
        if line.get("done") or not has_room:
            last = line
            break
    if last is None:
        raise LookupError("the answer has no end")
    return ProviderAnswer(
        text=str(text),
        is_truncated=last.get("done_reason") == "length",
        input_tokens=int(last.get("prompt_eval_count", 0)),
        output_tokens=int(last.get("eval_count", 0)),
        model=str(last.get("model", model)),
    )
