"""Answer accuracy: a model answers from each context, and another model judges the answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from ..config.settings import LlmSettings
from ..core.errors import BadOutput, InvalidInput, ModelUnavailable
from ..core.protocols.models import LanguageModel
from ..core.records.context import Context
from ..prompts import load_prompt
from ..wiring.providers import make_llm
from .benchmarks import BenchmarkQuestion

MAX_FAILURES = 3  # in a row; then the provider is given up
MAX_ANSWER_TOKENS = 1_000
JUDGE_SCHEMA = {
    "type": "object",
    "properties": {"correct": {"type": "boolean"}},
    "required": ["correct"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAnswer:
    """The verdict on one answer; `correct` is None if a model failed."""

    question: str  # its id
    category: str
    abstention: bool
    correct: bool | None
    tokens: int  # of both models, input and output


@dataclass(slots=True, kw_only=True)
class AnswerJudge:
    """Asks a model for an answer from a context, and another whether it is right."""

    answering: LanguageModel
    judging: LanguageModel
    answers: list[JudgedAnswer] = field(default_factory=list)
    _failures: int = 0  # in a row

    def judge_context(self, question: BenchmarkQuestion, context: Context) -> None:
        """Add the verdict on the answer; skip a question without an expected answer.

        Raise ModelUnavailable if a model fails several times in a row.
        """
        if question.answer is None and not question.abstention:
            return
        correct, tokens = None, 0
        try:
            given = self.answering.complete(
                _make_prompt("answer", memory=context.text, question=question.text),
                max_tokens=MAX_ANSWER_TOKENS,
            )
            expected = None if question.abstention else question.answer
            verdict = self.judging.complete(
                _make_prompt("judge", question=question.text, expected=expected, given=given.text),
                schema=JUDGE_SCHEMA,
            )
            correct = bool(verdict.data["correct"])
            used = (given, verdict)
            tokens = sum(each.input_tokens + each.output_tokens for each in used)
            self._failures = 0
        except (ModelUnavailable, BadOutput):
            self._failures += 1
            if self._failures >= MAX_FAILURES:
                raise
        self.answers.append(
            JudgedAnswer(
                question=question.id,
                category=question.category,
                abstention=question.abstention,
                correct=correct,
                tokens=tokens,
            )
        )


def _make_prompt(name: str, **asked: Any) -> Any:
    return load_prompt(name).render(asked=json.dumps(asked, ensure_ascii=False))


@contextmanager
def open_judge(settings: LlmSettings, answer: str, judge: str | None) -> Iterator[AnswerJudge]:
    """Open the two models; each is `PROVIDER/MODEL`, or a model of the configured provider.

    Without `judge`, the answering model judges, too.
    """
    answering = make_named_model(settings, answer, "--answer")
    with closing(answering):
        judging = make_named_model(settings, judge, "--judge") if judge else answering
        with closing(judging):
            yield AnswerJudge(answering=answering, judging=judging)


def make_named_model(settings: LlmSettings, name: str, option: str) -> LanguageModel:
    """Return the model of this name, with the key and address of the configured provider.

    A provider other than the configured one takes its key from its environment variable.
    """
    provider, slash, model = name.partition("/")
    if provider == settings.provider and slash:
        chosen = replace(settings, model=model)
    elif settings.provider != "none" and provider not in PROVIDERS:
        chosen = replace(settings, model=name)  # a model name may contain slashes
    elif slash and model:
        chosen = LlmSettings(provider=provider, model=model)
    else:
        raise InvalidInput(
            f"{option} {name!r:.80} names no provider; give PROVIDER/MODEL such as openai/NAME,"
            " or set memory.llm.provider"
        )
    made = make_llm(chosen)
    if made is None:
        raise InvalidInput(f"{option} {name!r:.80} is not a model")
    return made


PROVIDERS = ("openai", "anthropic", "gemini", "ollama")


def summarize_answers(answers: Sequence[JudgedAnswer]) -> dict[str, Any]:
    """Return the accuracy of answerable and of abstention questions, and of each category."""
    judged = [each for each in answers if each.correct is not None]
    categories = sorted({each.category for each in judged})
    return {
        "answerable": _accuracy([each for each in judged if not each.abstention]),
        "abstention": _accuracy([each for each in judged if each.abstention]),
        "categories": {
            name: _accuracy([each for each in judged if each.category == name])
            for name in categories
        },
        "failed": len(answers) - len(judged),
        "tokens": sum(each.tokens for each in answers),
    }


def _accuracy(answers: Sequence[JudgedAnswer]) -> dict[str, Any]:
    right = sum(bool(each.correct) for each in answers)
    share = round(right / len(answers), 4) if answers else None
    return {"questions": len(answers), "accuracy": share}
