"""What every provider's model does around its one request.

The request is repeated while there is time and hope, and the answer is believed only if it is
what was asked for.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, TypedDict

from ..core.canonical import clean_json
from ..core.errors import BadOutput, ConfigError, InvalidInput, ModelUnavailable
from ..core.models import Completion, Prompt, Schema, Tokens
from ..core.schema import check_schema, mismatch
from ..providers.extras import sendable
from ..providers.retry import Patience, Transient, persist

TIMEOUT_SECONDS = 60.0
MAX_OUTPUT_TOKENS = 4096
LONGEST_OUTPUT = 1_000_000  # characters: far more than any of our schemas can ask for
KEPT_OUTPUT = 4_000  # of it in an error
BYTES_A_TOKEN = 4  # about, in English
SHORTEST_WAIT = 0.05  # seconds; an SDK takes 0 for "for ever"
WORTH_RETRYING = (408, 409, 429)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a provider is to be asked, once."""

    prompt: Prompt
    schema: dict[str, Any] | None
    max_tokens: int
    timeout_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Tokens):
    """What a provider sent, before anybody believes it."""

    text: str
    refused: bool = False
    cut_off: bool = False


class Limits(TypedDict, total=False):
    """How long a model may take, how much it may say, and how often it is asked again."""

    timeout_seconds: float
    max_output_tokens: int
    patience: Patience | None


class ProviderModel(ABC):
    """Completions from a provider that answers one request at a time."""

    def __init__(
        self,
        *,
        timeout_seconds: float = TIMEOUT_SECONDS,
        max_output_tokens: int = MAX_OUTPUT_TOKENS,
        patience: Patience | None = None,
    ) -> None:
        if timeout_seconds <= 0 or max_output_tokens < 1:
            raise ConfigError("a model needs some time and at least one token to answer")
        self._timeout_seconds = timeout_seconds
        self._max_output_tokens = max_output_tokens
        self._patience = patience or Patience()

    @abstractmethod
    def _send(self, request: Request) -> Answer:
        """Ask once; raises Transient, ModelUnavailable, BadOutput or ConfigError, nothing else."""

    @abstractmethod
    def close(self) -> None: ...

    def complete(
        self,
        prompt: Prompt,
        *,
        schema: Schema | None = None,
        max_tokens: int | None = None,
        timeout: float | None = None,
    ) -> Completion:
        if schema is not None:
            check_schema(schema)
        seconds = timeout or self._timeout_seconds
        clock = self._patience.clock
        ends_at = clock() + seconds
        request = Request(
            prompt=Prompt(system=sendable(prompt.system), user=sendable(prompt.user)),
            schema=None if schema is None else dict(schema),
            max_tokens=min(max_tokens or self._max_output_tokens, self._max_output_tokens),
            timeout_seconds=seconds,
        )

        def ask() -> Answer:
            left = max(SHORTEST_WAIT, ends_at - clock())
            return self._send(replace(request, timeout_seconds=left))

        patience = replace(self._patience, total_seconds=seconds)
        answer = persist(ask, patience, ModelUnavailable)
        return believed(counted(answer, request.prompt), schema)


def counted(answer: Answer, prompt: Prompt) -> Answer:
    """With a guess where a server does not count: a budget must not depend on its manners."""
    asked = answer.input_tokens or _guess(prompt.system + prompt.user)
    return replace(
        answer, input_tokens=asked, output_tokens=answer.output_tokens or _guess(answer.text)
    )


def _guess(text: str) -> int:
    return ceil(len(text.encode()) / BYTES_A_TOKEN)


def believed(answer: Answer, schema: Schema | None) -> Completion:
    """The answer as a completion, or BadOutput with the reason."""
    text = answer.text
    if answer.refused:
        raise _bad(answer, "refused", "the model refused to answer")
    if answer.cut_off:
        raise _bad(answer, "cut off", f"the answer was cut off after {answer.output_tokens} tokens")
    if not text.strip():
        raise _bad(answer, "empty", "the model answered nothing")
    if len(text) > LONGEST_OUTPUT:
        raise _bad(answer, "too long", f"the answer is {len(text)} characters long")
    return Completion(
        text=text,
        data=None if schema is None else _parsed(answer, schema),
        input_tokens=answer.input_tokens,
        output_tokens=answer.output_tokens,
        model=answer.model,
    )


def _parsed(answer: Answer, schema: Schema) -> Any:
    """JSON and nothing around it: what needs repairing was not made by the schema's grammar."""
    try:
        data = json.loads(answer.text)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else type(error).__name__
        raise _bad(answer, "not JSON", f"the answer is not JSON: {reason}") from error
    differs = mismatch(data, schema, "the answer")
    if differs:
        raise _bad(answer, "wrong shape", f"the answer does not fit the schema: {differs}")
    try:
        return clean_json(data, "the answer")
    except InvalidInput as error:  # half a character, or a NUL, that no store could keep
        raise _bad(answer, "not JSON", str(error)) from error


def _bad(answer: Answer, problem: str, message: str) -> BadOutput:
    used = Tokens(
        input_tokens=answer.input_tokens, output_tokens=answer.output_tokens, model=answer.model
    )
    return BadOutput(message, problem=problem, output=answer.text[:KEPT_OUTPUT], used=used)


def refusal(provider: str, status: int, retry_after: str | None = None) -> Exception:
    """What a status means. The provider's own words stay in the cause: they may quote a key."""
    if status in WORTH_RETRYING or status >= 500:
        return Transient(f"{provider} answered {status}", retry_after=retry_after)
    return ModelUnavailable(
        f"{provider} refused the request ({status}): check api_key, base_url and model"
    )
