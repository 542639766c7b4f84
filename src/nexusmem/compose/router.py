"""Context router: decide by rules which sections a question needs.

It calls no model and reads no store, so that a plan takes well under 10 ms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from ..core.records.context import AddedWords
from ..recall.question_analysis import MAX_READ_CHARACTERS, TimeWindow, find_time_window
from ..recall.strategies.graph import possible_names
from .question import capitalized_names, is_greeting, is_small_talk, needs_no_memory
from .section import QuestionText
from .sections import SECTIONS
from .sections.landmarks import LANDMARKS
from .sections.recall import RECALL, RELATED
from .sections.window import WINDOW

if TYPE_CHECKING:
    from .conversation.turns import Turn

# Without anything to look up: how the agent behaves, and the last messages.
TALK_SECTIONS = frozenset({LANDMARKS.name, WINDOW.name})
SEARCH_SECTIONS = frozenset({RECALL.name, RELATED.name})
MAX_NAMES = 60
MAX_NAME_CANDIDATES = 200  # possible names read of a long question
MAX_STEPS = 3

COMPARISON_PATTERN = re.compile(
    r"\b(?:compare|comparison|difference between|versus|vs\.?|differ(?:s|ent)? from"
    r"|both of|as opposed to)\b",
    re.IGNORECASE,
)
SEQUENCE_PATTERN = re.compile(
    r"[,;]?(?<!\s)\s+\b(?:and then|and also|then also|after that,?|as well as)\b", re.IGNORECASE
)
NESTED_PATTERN = re.compile(
    r"\b(?:the (?:one|person|people|team|company|project|place|thing)|whoever|somebody|someone)"
    r" (?:who|that|which|where)\b|\bwhose\b.*\b(?:who|that|which)\b",
    re.IGNORECASE,
)
SIDES_PATTERN = re.compile(r"\b(?:and|versus|vs\.?|with|to|from|or)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPlan:
    """What to fetch for one question, and why."""

    sections: Mapping[str, str]  # name of each section to show → why
    question: str  # to search with: resolved, if earlier messages say what it is about
    steps: tuple[str, ...]  # searches to run: the question, then its parts if it has several
    names: tuple[str, ...] = ()  # possible names in the question, normalized for lookup
    asked_names: tuple[str, ...] = ()  # those that are not only the topic of earlier messages
    window: TimeWindow | None = None  # the period that the question names
    added: tuple[AddedWords, ...] = ()  # what earlier messages add to the question
    is_nested: bool = False  # it asks for something through something else
    is_talk: bool = False  # thanks or another form of a text: no memory is needed

    @property
    def is_multi_step(self) -> bool:
        """Return True if one search is not enough."""
        return len(self.steps) > 1 or self.is_nested


def plan_context(question: str, *, now: datetime, turns: Sequence[Turn] = ()) -> ContextPlan:
    """Return the plan for a question; `turns` are the messages before it, oldest first."""
    # Loaded on first use: the thread of the learner may be importing the rules at the same time.
    from .conversation.resolve import resolve_question

    resolved = resolve_question(question, turns)
    question = resolved.text
    prefix = question[:MAX_READ_CHARACTERS]
    window = find_time_window(prefix, now)
    needs_memory = resolved.needs_memory and not needs_no_memory(prefix)
    is_talk = not needs_memory and not is_greeting(prefix)
    names = asked_names = _first_unique(_find_names(prefix), MAX_NAMES)
    if resolved.topics:
        asked = question.removesuffix(resolved.topics)[:MAX_READ_CHARACTERS]
        asked_names = _first_unique(_find_names(asked), MAX_NAMES)
    return ContextPlan(
        sections={
            name: why
            for name, why in _plan_sections(QuestionText(prefix, window))
            if needs_memory or (name in TALK_SECTIONS if is_talk else name not in SEARCH_SECTIONS)
        },
        question=question,
        steps=_split_question(question, prefix),
        names=names,
        asked_names=asked_names,
        window=window,
        added=resolved.added,
        is_nested=bool(NESTED_PATTERN.search(prefix)),
        is_talk=is_talk,
    )


def _plan_sections(question: QuestionText) -> Iterator[tuple[str, str]]:
    for section in SECTIONS:
        reason = section.when(question)
        if reason:
            yield section.name, reason


def _split_question(question: str, prefix: str) -> tuple[str, ...]:
    """Return the question followed by its parts; a question with one part is returned alone."""
    sentences = [f"{part.strip()}?" for part in prefix.split("?")[:-1] if part.strip()]
    if len(sentences) > 1:
        return _question_and_parts(question, sentences)
    if COMPARISON_PATTERN.search(prefix):
        rest = COMPARISON_PATTERN.sub(" ", prefix).strip(" ?.!")
        sides = [side.strip(" ,?.!") for side in SIDES_PATTERN.split(rest)]
        return _question_and_parts(question, [side for side in sides if side])
    return _question_and_parts(question, SEQUENCE_PATTERN.split(prefix))


def _question_and_parts(question: str, parts: Sequence[str]) -> tuple[str, ...]:
    searchable = [part for part in parts[: 2 * MAX_STEPS] if not is_small_talk(part)]
    return (question, *searchable[:MAX_STEPS]) if len(searchable) > 1 else (question,)


def _first_unique(names: Iterator[str], limit: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(islice(names, MAX_NAME_CANDIDATES)))[:limit]


def _find_names(question: str) -> Iterator[str]:
    """Yield possible names: capitalized words first, then any words of the question."""
    capitals = capitalized_names(question)
    yield from (name for capital in capitals for name in possible_names(capital))
    yield from possible_names(question)
