"""Provider language model: retries, deadlines and validation around one request."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, TypedDict

from ..core.canonical import clean_json
from ..core.errors import BadOutput, ConfigError, InvalidInput, ModelUnavailable
from ..core.protocols.models import (
    Completion,
    Prompt,
    Schema,
    SchemaFitter,
    TokenUsage,
    check_schema,
    find_mismatch,
)
from ..runtime.backoff import RetryPolicy, TransientError, retry_call
from ..runtime.provider_sdk import replace_surrogates

TIMEOUT_SECONDS = 60.0  # of silence
MAX_ANSWER_SECONDS = 1200.0
MAX_OUTPUT_TOKENS = 4096
MAX_OUTPUT_CHARS = 1_000_000  # far more than any schema of Nexus needs
MAX_ERROR_OUTPUT_CHARS = 4_000  # characters of the output in a BadOutput error
BYTES_PER_TOKEN = 4  # average in English
MIN_TIMEOUT_SECONDS = 0.05  # SDKs interpret 0 as no timeout
RETRYABLE_STATUSES = (408, 409, 429)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request to a provider."""

    prompt: Prompt
    schema: dict[str, Any] | None
    max_tokens: int
    timeout_seconds: float  # the longest silence, before and during the answer
    total_seconds: float = MAX_ANSWER_SECONDS  # for the server, which may stop then


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAnswer(TokenUsage):
    """The answer of a provider before validation."""

    text: str
    is_refused: bool = False
    is_truncated: bool = False


class StreamedText:
    """Collects the text of an answer while it arrives; stops at MAX_OUTPUT_CHARS."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0

    def add(self, part: str | None) -> bool:
        """Add a part; return whether there is room for more."""
        if part:
            self._parts.append(part)
            self._length += len(part)
        return self._length <= MAX_OUTPUT_CHARS

    def __str__(self) -> str:
        return "".join(self._parts)


class ModelLimits(TypedDict, total=False):
    """Keyword arguments of every provider model: timeout, output limit and retry policy."""

    timeout_seconds: float
    max_output_tokens: int
    patience: RetryPolicy | None


class ProviderModel(ABC):
    """Base class of language models of a provider."""

    def __init__(
        self,
        *,
        timeout_seconds: float = TIMEOUT_SECONDS,
        max_output_tokens: int = MAX_OUTPUT_TOKENS,
        patience: RetryPolicy | None = None,
    ) -> None:
        if timeout_seconds <= 0 or max_output_tokens < 1:
            raise ConfigError(
                f"timeout_seconds must be above 0 and max_output_tokens at least 1, got"
                f" {timeout_seconds} and {max_output_tokens}"
            )
        self._timeout_seconds = timeout_seconds
        self._max_output_tokens = max_output_tokens
        self._patience = patience or RetryPolicy()

    @abstractmethod
    def _send_request(self, request: ModelRequest) -> ProviderAnswer:
        """Send one request and collect the answer while it arrives.

        The answer is streamed, so that a slow one is distinguished from none. May raise only
        TransientError, ModelUnavailable, BadOutput or ConfigError.
        """

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
        """Complete a prompt; see `LanguageModel.complete`."""
        if schema is not None:
            check_schema(schema)
        seconds = timeout or self._timeout_seconds
        clock = self._patience.clock
        ends_at = clock() + seconds  # no attempt begins later; one that began is not interrupted
        request = ModelRequest(
            prompt=Prompt(
                system=replace_surrogates(prompt.system), user=replace_surrogates(prompt.user)
            ),
            schema=None if schema is None else dict(schema),
            max_tokens=min(max_tokens or self._max_output_tokens, self._max_output_tokens),
            timeout_seconds=seconds,
        )

        def send_once() -> ProviderAnswer:
            if timeout is None:
                return self._send_request(request)
            left = max(MIN_TIMEOUT_SECONDS, ends_at - clock())
            return self._send_request(replace(request, timeout_seconds=left, total_seconds=left))

        patience = replace(self._patience, total_seconds=seconds)
        answer = retry_call(send_once, patience, ModelUnavailable)
        return validate_answer(fill_token_counts(answer, request.prompt), schema)


def fill_token_counts(answer: ProviderAnswer, prompt: Prompt) -> ProviderAnswer:
    """Estimate token counts that the server did not report, because budgets need them."""
    input_tokens = answer.input_tokens or _estimate_tokens(prompt.system + prompt.user)
    return replace(
        answer,
        input_tokens=input_tokens,
        output_tokens=answer.output_tokens or _estimate_tokens(answer.text),
    )


def _estimate_tokens(text: str) -> int:
    return ceil(len(text.encode()) / BYTES_PER_TOKEN)


def validate_answer(answer: ProviderAnswer, schema: Schema | None) -> Completion:
    """Return the answer as a Completion; raise BadOutput if it is unusable."""
    text = answer.text
    if answer.is_refused:
        raise _bad_output(answer, "refused", "the model refused to answer")
    if answer.is_truncated:
        raise _bad_output(
            answer, "cut off", f"the answer was cut off after {answer.output_tokens} tokens"
        )
    if not text.strip():
        raise _bad_output(answer, "empty", "the answer is empty")
    if len(text) > MAX_OUTPUT_CHARS:
        raise _bad_output(
            answer,
            "too long",
            f"the answer has {len(text)} characters, more than {MAX_OUTPUT_CHARS}",
        )
    data, dropped = (None, ()) if schema is None else _parse_json(answer, schema)
    return Completion(
        text=text,
        data=data,
        dropped=dropped,
        input_tokens=answer.input_tokens,
        output_tokens=answer.output_tokens,
        model=answer.model,
    )


def _parse_json(answer: ProviderAnswer, schema: Schema) -> tuple[Any, tuple[str, ...]]:
    """Return the answer as JSON in the form of the schema, and the faults of dropped items.

    Raise BadOutput if there is no JSON, or if it has another form.
    """
    try:
        data = find_json(answer.text)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else type(error).__name__
        raise _bad_output(answer, "not JSON", f"the answer is not JSON: {reason}") from error
    dropped: list[str] = []
    data = SchemaFitter(dropped).fit(data, schema)
    mismatch = find_mismatch(data, schema, "the answer")
    if mismatch:
        raise _bad_output(answer, "wrong shape", f"the answer does not fit the schema: {mismatch}")
    try:
        return clean_json(data, "the answer"), tuple(dropped)
    except InvalidInput as error:  # a lone surrogate or NUL, which stores reject
        raise _bad_output(answer, "not JSON", str(error)) from error


THINKING_END = "</think>"
JSON_DECODER = json.JSONDecoder()


def find_json(text: str) -> Any:
    """Return the JSON of an answer, also after thinking, in a code fence or between prose.

    Raise ValueError if there is none. Only the first brace is tried: the time is linear.
    """
    shown = text.rpartition(THINKING_END)[2].strip()
    try:
        return json.loads(shown)
    except ValueError:
        start = shown.find("{")
        if start < 0:
            raise
        return JSON_DECODER.raw_decode(shown, start)[0]


def _bad_output(answer: ProviderAnswer, problem: str, message: str) -> BadOutput:
    used = TokenUsage(
        input_tokens=answer.input_tokens, output_tokens=answer.output_tokens, model=answer.model
    )
    return BadOutput(
        message, problem=problem, output=answer.text[:MAX_ERROR_OUTPUT_CHARS], used=used
    )


def status_error(provider: str, status: int, retry_after: str | None = None) -> Exception:
    """Translate an HTTP status. The provider's message may quote a key: only the cause has it."""
    if status in RETRYABLE_STATUSES or status >= 500:
        return TransientError(f"{provider} answered {status}", retry_after=retry_after)
    return ModelUnavailable(
        f"{provider} refused the request ({status}): check api_key, base_url and model"
    )
