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
    TokenUsage,
    check_schema,
    find_mismatch,
)
from ..runtime.backoff import RetryPolicy, TransientError, retry_call
from ..runtime.provider_sdk import replace_surrogates

TIMEOUT_SECONDS = 60.0
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
    timeout_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAnswer(TokenUsage):
    """The answer of a provider before validation."""

    text: str
    is_refused: bool = False
    is_truncated: bool = False


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
        """Send one request.

        May raise only TransientError, ModelUnavailable, BadOutput or ConfigError.
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
        ends_at = clock() + seconds
        request = ModelRequest(
            prompt=Prompt(
                system=replace_surrogates(prompt.system), user=replace_surrogates(prompt.user)
            ),
            schema=None if schema is None else dict(schema),
            max_tokens=min(max_tokens or self._max_output_tokens, self._max_output_tokens),
            timeout_seconds=seconds,
        )

        def send_once() -> ProviderAnswer:
            left = max(MIN_TIMEOUT_SECONDS, ends_at - clock())
            return self._send_request(replace(request, timeout_seconds=left))

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
    return Completion(
        text=text,
        data=None if schema is None else _parse_json(answer, schema),
        input_tokens=answer.input_tokens,
        output_tokens=answer.output_tokens,
        model=answer.model,
    )


def _parse_json(answer: ProviderAnswer, schema: Schema) -> Any:
    """Parse the answer as JSON that fits the schema; raise BadOutput otherwise.

    Broken JSON is not repaired: a provider that applies the schema does not produce it.
    """
    try:
        data = json.loads(answer.text)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else type(error).__name__
        raise _bad_output(answer, "not JSON", f"the answer is not JSON: {reason}") from error
    mismatch = find_mismatch(data, schema, "the answer")
    if mismatch:
        raise _bad_output(answer, "wrong shape", f"the answer does not fit the schema: {mismatch}")
    try:
        return clean_json(data, "the answer")
    except InvalidInput as error:  # a lone surrogate or NUL, which stores reject
        raise _bad_output(answer, "not JSON", str(error)) from error


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
