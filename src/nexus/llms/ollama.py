"""Models served by Ollama, over its own protocol: no package is needed."""

from __future__ import annotations

from typing import Any, Unpack

from ..core.errors import ModelUnavailable
from ..providers.extras import UNREADABLE
from ..providers.retry import Transient
from ..providers.web import Endpoint, Refused
from .asking import Answer, Limits, ProviderModel, Request, refusal


class OllamaModel(ProviderModel):
    """Prompts to `/api/chat`, on this machine or another."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str = "http://localhost:11434",
        **limits: Unpack[Limits],
    ) -> None:
        super().__init__(**limits)
        self._model = model
        # A proxy for the outside world is in nobody's way to localhost.
        self._endpoint = Endpoint("Ollama", base_url.rstrip("/") + "/api/chat", proxied=False)

    def close(self) -> None:
        """Nothing is kept open."""

    def _send(self, request: Request) -> Answer:
        try:
            said = self._endpoint.post(self._body(request), timeout_seconds=request.timeout_seconds)
            return _answer(said)
        except Refused as refused:
            raise self._refusal(refused) from refused
        except UNREADABLE as error:
            raise Transient(f"Ollama sent no answer ({type(error).__name__})") from error

    def _body(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [
                {"role": "system", "content": request.prompt.system},
                {"role": "user", "content": request.prompt.user},
            ],
            "stream": False,
            # By default it drops what does not fit its context, instructions first.
            "truncate": False,
            "shift": False,
            "options": {"num_predict": request.max_tokens, "temperature": 0},
        }
        if request.schema is not None:
            # The grammar of a schema leaves no room for thoughts.
            body |= {"format": request.schema, "think": False}
        return body

    def _refusal(self, refused: Refused) -> Exception:
        if refused.status == 404:
            return ModelUnavailable(f"Ollama has no such model: ollama pull {self._model}")
        return refusal("Ollama", refused.status)


def _answer(said: dict[str, Any]) -> Answer:
    return Answer(
        text=str(said["message"]["content"]),
        cut_off=said.get("done_reason") == "length",
        input_tokens=int(said.get("prompt_eval_count", 0)),
        output_tokens=int(said.get("eval_count", 0)),
        model=str(said["model"]),
    )
