"""What a language model and a reranker must do to be parts. A memory works without either."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Schema = Mapping[str, Any]  # in the language of `core.schema`


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a model is asked.

    `system` is ours and the same for everybody. What people said goes into `user`, as data:
    whoever writes a message must not be able to write an instruction.
    """

    system: str
    user: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """What one answer took, as the provider counts: thoughts and cached input among them."""

    input_tokens: int
    output_tokens: int
    model: str  # as the provider names it, which may be more exact than what was asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion(Tokens):
    """What it answered, and what that took."""

    text: str
    data: Any  # the answer as JSON that fits the schema; None where no schema was given


class LanguageModel(Protocol):
    """Answers prompts. Several threads may ask at once."""

    def complete(
        self,
        prompt: Prompt,
        *,
        schema: Schema | None = None,
        max_tokens: int | None = None,
        timeout: float | None = None,
    ) -> Completion:
        """One answer; with a schema, JSON that fits it.

        `max_tokens` and `timeout` (seconds, for all attempts together) have configured defaults.
        Raises ModelUnavailable when the provider does not answer, and BadOutput when it answers
        with something else than asked for: whether to ask again is for the caller to decide.
        """
        ...

    def close(self) -> None:
        """Let go of connections. It may be called twice, and the model used afterwards."""
        ...


class Reranker(Protocol):
    """Reads each text beside the question, which a vector made in advance cannot do."""

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each text fits: finite, higher is better, and on no particular scale.

        Raises ModelUnavailable when the provider does not answer.
        """
        ...
