"""Model-written episodes: summaries by a language model, checked against their sources."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from ...core.canonical import format_time
from ...core.errors import BadOutput, NexusError
from ...core.ids import WorkspaceId, digest
from ...core.protocols.models import LanguageModel
from ...prompts import PromptTemplate
from ...text.invisible_text import reveal_invisible
from ...text.secrets import redact_secrets
from ...text.terms import STOP_WORDS, query_terms
from ..model_budget import LEARN_PURPOSE, ModelBudget
from ..rules.instructions import find_instructions
from .extractive import MAX_EPISODE_CHARS, MAX_LINES

MIN_LANDMARK_SHARE = 0.5  # terms of a landmark that one sentence must contain
NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*(?:%|[a-zA-Z]{1,2}\b)?")
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
NEGATION = re.compile(r"\b(?:not|no|never|without|cannot|against)\b|n['’]t\b", re.IGNORECASE)
NUMBER_WORDS = frozenset(
    """two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred
    thousand million billion dozen half quarter twice""".split()
)


def find_faults(
    sentences: Sequence[str], sources: Iterable[str], landmarks: Iterable[str]
) -> list[str]:
    """Return the faults of a summary; an empty list if it is acceptable.

    Every number and name must be in the sources. Every landmark must be covered by one sentence:
    all its numbers and names, most of its terms, and the same negation.
    """
    source_text = "\n".join(sources)
    required = list(landmarks)
    faults = [
        *_check_form(sentences, max(MAX_LINES, len(required))),
        *_find_inventions(sentences, source_text),
    ]
    faults += [
        f"drops {text!r:.120}" for text in required if not _is_landmark_covered(text, sentences)
    ]
    return faults


def _check_form(sentences: Sequence[str], max_sentences: int) -> list[str]:
    text = "\n".join(sentences)
    if not text.strip():
        return ["says nothing"]
    if len(sentences) > max_sentences or len(text) > MAX_EPISODE_CHARS:
        return ["is too long"]
    return ["gives orders"] if find_instructions(text) else []


def _find_inventions(sentences: Sequence[str], source_text: str) -> list[str]:
    numbers = set(map(_normalize_number, NUMBER.findall(source_text)))
    words = _word_set(source_text)
    faults = []
    for sentence in sentences:
        faults += [
            f"invents the number {number}"
            for number in NUMBER.findall(sentence)
            if _normalize_number(number) not in numbers
        ]
        new_words = _word_set(sentence) - words
        faults += [f"invents the number {word}" for word in sorted(NUMBER_WORDS & new_words)]
        faults += [
            f"invents the name {name}"
            for name in _find_names(sentence)
            if _normalize_word(name) not in words
        ]
    return faults


def _find_names(sentence: str) -> list[str]:
    """Return capitalized words; the first word of a sentence only if it is no common opener."""
    names = []
    for index, match in enumerate(WORD.finditer(sentence)):
        word = match.group()
        ordinary = index == 0 and (
            _normalize_word(word) in STOP_WORDS or _normalize_word(word) in _sentence_openers()
        )
        is_pronoun = word.replace("’", "'").partition("'")[0] in ("I", "A")  # also "I'll"
        if word[0].isupper() and not ordinary and not is_pronoun:
            names.append(word)
    return names


@lru_cache(maxsize=1)
def _sentence_openers() -> frozenset[str]:
    """Return common first words of sentences about a conversation."""
    return frozenset(
        """both each everybody everyone nobody nothing one two three several many few during later
        earlier afterwards finally first second next meanwhile today yesterday since between instead
        however although though despite following according regarding concerning discussion
        participants people members team group work plans questions another further together
        """.split()
    )


def _is_landmark_covered(landmark: str, sentences: Sequence[str]) -> bool:
    wanted = frozenset(query_terms(landmark))
    numbers = set(map(_normalize_number, NUMBER.findall(landmark)))
    names = {_normalize_word(name) for name in _find_names(landmark)}
    for sentence in sentences:
        if (
            len(wanted & frozenset(query_terms(sentence))) >= MIN_LANDMARK_SHARE * len(wanted)
            and numbers <= set(map(_normalize_number, NUMBER.findall(sentence)))
            and names <= _word_set(sentence)
            and bool(NEGATION.search(landmark)) == bool(NEGATION.search(sentence))
        ):
            return True
    return False


def _normalize_number(number: str) -> str:
    return number.replace(",", "").lower()


def _normalize_word(word: str) -> str:
    return word.casefold().replace("’", "'").removesuffix("'s")


def _word_set(text: str) -> set[str]:
    return {_normalize_word(word) for word in WORD.findall(text)}


MAX_TURN_CHARS = 600  # of a message
MAX_REQUEST_CHARS = 40_000  # of all messages together
CORRECTION = "Your last answer could not be kept: it {why}. Answer again."
ANSWER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"sentences": {"type": "array", "items": {"type": "string"}}},
    "required": ["sentences"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class SummaryTurn:
    """One message, or one line of a part episode, for the model."""

    at: datetime
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """The sentences of a model, or the reason for having none."""

    sentences: tuple[str, ...] = ()
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class ModelSummarizer:
    """Writes episodes with a model; the cost is charged to their workspace."""

    model: LanguageModel
    name: str  # configured name of the model
    prompt: PromptTemplate
    model_budget: ModelBudget

    @property
    def maker(self) -> str:
        return f"{self.prompt.name}@{self.prompt.version}:{self.prompt.hash}"

    def summarize(
        self,
        workspace: WorkspaceId,
        span: str,
        source_turns: Sequence[SummaryTurn],
        landmarks: Sequence[str],
    ) -> ModelSummary:
        """Return the model's summary, or a refusal. Call it outside of any transaction.

        A summary that drops a landmark or invents a name or a number is requested once more with
        the faults, then refused. A model that does not answer or has no budget is a refusal, too.
        """
        turns = [_turn_to_dict(each) for each in source_turns]
        request = _build_request(span, turns, landmarks)
        correction = ""
        for _ in range(2):
            try:
                sentences = self._ask_model(workspace, request, correction)
            except BadOutput as error:
                faults = [f"is unusable ({error})"]
            except NexusError as error:
                return ModelSummary(refusal=str(error))
            else:
                faults = find_faults(sentences, [*_source_texts(turns), *landmarks], landmarks)
                if not faults:
                    return ModelSummary(sentences)
            correction = CORRECTION.format(why="; it ".join(faults))
        return ModelSummary(refusal="; ".join(faults)[:500])

    def _ask_model(self, workspace: WorkspaceId, request: str, correction: str) -> tuple[str, ...]:
        model = self.model_budget.make_model_factory(self.model, self.name, LEARN_PURPOSE)(
            workspace
        )
        prompt = self.prompt.render(asked=request, correction=correction)
        answer = model.complete(prompt, schema=ANSWER_SCHEMA).data["sentences"]
        clean = (" ".join(redact_secrets(each).split()) for each in answer)
        return tuple(each for each in clean if each)


def _turn_to_dict(turn: SummaryTurn) -> dict[str, str]:
    return {
        "speaker": turn.speaker[:100],
        "at": format_time(turn.at),
        "text": reveal_invisible(redact_secrets(turn.text))[:MAX_TURN_CHARS],
    }


def _build_request(span: str, turns: Sequence[dict[str, str]], landmarks: Sequence[str]) -> str:
    """Return the messages as JSON between markers.

    The markers have a digest of the content, so no text inside can contain them.
    """
    chars_left = MAX_REQUEST_CHARS
    shown = []
    for turn in turns:
        chars_left -= len(turn["text"])
        if chars_left < 0:
            break
        shown.append(turn)
    content = json.dumps(
        {"span": span, "turns": shown, "keep": list(landmarks)}, ensure_ascii=False
    )
    mark = digest("episode", content)[:16]
    return f"<<<conversation {mark}\n{content}\nconversation {mark}>>>"


def _source_texts(turns: Sequence[dict[str, str]]) -> list[str]:
    """Return the texts for checking names and numbers: speakers, texts and days, no hours."""
    days = dict.fromkeys(turn["at"][:10] for turn in turns)
    return [*(f"{turn['speaker']}: {turn['text']}" for turn in turns), *days]
