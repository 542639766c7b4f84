"""A question in other words, made by a model.

Each way is optional and none is needed: a model that is away, slow or wrong leaves the question
as it was, and a remark. What it says is never shown and never believed; it is only searched by.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from ..core.bounded import WAIT_SECONDS
from ..core.breaker import Breaker
from ..core.canonical import clean_text, time_text
from ..core.filters import Filter
from ..core.models import LanguageModel, Schema
from ..prompts import load_prompt

MAX_TOKENS = 1_000
LONGEST_QUESTION = 4_000  # characters; what is longer is no question any more
LONGEST_TEXT = 2_000
TEXT_ONLY = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, when, and among whom."""

    text: str
    now: datetime
    people: tuple[str, ...] = ()  # names that may stand in it, spelt as they are stored


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """What to search by, beside the question or instead of it. All of it may be empty."""

    meaning: str | None = None  # to search by meaning with, instead of the question
    beside: tuple[str, ...] = ()  # texts whose vectors may be added to the question's
    where: Filter | None = None  # what else to ask of a hit; it can only narrow
    why: tuple[str, ...] = ()  # what was done, for whoever wants to know
    degraded: tuple[str, ...] = ()  # what could not be done

    @property
    def texts(self) -> tuple[str, ...]:
        """Everything that is searched by instead of the question, or beside it."""
        return (self.meaning, *self.beside) if self.meaning else self.beside


Rewriter = Callable[[LanguageModel, Question, float], Rewritten]  # the number is a timeout
Rewrite = Callable[[Question], Rewritten]


def rewriting(
    model: LanguageModel,
    rewriters: Mapping[str, Rewriter],
    *,
    wait_seconds: float = WAIT_SECONDS,
    breaker: Breaker | None = None,
) -> Rewrite:
    """These ways of rewriting, tried at the same time; their failures become remarks."""
    guard = breaker or Breaker("the model")

    def rewrite(question: Question) -> Rewritten:
        if not question.text.strip():
            return Rewritten()
        calls = {
            name: partial(rewriter, model, question, wait_seconds)
            for name, rewriter in rewriters.items()
        }
        made, failed = guard.ask_all(calls, wait_seconds)
        remarks = tuple(f"{name}: {error}" for name, error in failed.items())
        return _together(list(made.values()), remarks)

    return rewrite


def _together(parts: Sequence[Rewritten], failed: tuple[str, ...]) -> Rewritten:
    """The first wording and the first filter that were made, and everything else."""
    return Rewritten(
        meaning=next((part.meaning for part in parts if part.meaning), None),
        beside=tuple(text for part in parts for text in part.beside),
        where=next((part.where for part in parts if part.where), None),
        why=tuple(remark for part in parts for remark in part.why),
        degraded=(*failed, *(remark for part in parts for remark in part.degraded)),
    )


def as_statement(model: LanguageModel, question: Question, timeout: float) -> Rewritten:
    """The statement an answer would be: memories are statements, and lie closer to one."""
    text = searchable(ask(model, "statement", question, TEXT_ONLY, timeout)["text"])
    return Rewritten(meaning=text, why=(f"statement: {text}",)) if text else Rewritten()


def hypothetical(model: LanguageModel, question: Question, timeout: float) -> Rewritten:
    """A made-up passage that would answer it (HyDE; Gao, Ma, Lin, Callan 2022)."""
    text = searchable(ask(model, "hyde", question, TEXT_ONLY, timeout)["text"])
    return Rewritten(beside=(text,), why=(f"hyde: {text}",)) if text else Rewritten()


def ask(
    model: LanguageModel, prompt: str, question: Question, schema: Schema, timeout: float
) -> Mapping[str, Any]:
    """The model's answer to one of our prompts.

    The question travels as JSON, so that it cannot end where it likes and go on as an instruction.
    """
    asked = {"question": question.text[:LONGEST_QUESTION], "now": time_text(question.now)}
    rendered = load_prompt(prompt).render(asked=json.dumps(asked, ensure_ascii=False))
    answer = model.complete(rendered, schema=schema, max_tokens=MAX_TOKENS, timeout=timeout)
    data: Mapping[str, Any] = answer.data
    return data


def searchable(said: str) -> str | None:
    return clean_text(said, "a rewritten question").strip()[:LONGEST_TEXT] or None
