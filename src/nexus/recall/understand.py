"""Reading a question by rules: whom it is about, when, and whose words it asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache

from ..core.text import WORD, query_terms, terms

# "What did you recommend?", "the list you gave me": words of the assistant, not the user's own.
OF_THE_ASSISTANT = re.compile(
    r"\b(?:did|have|had|were) you\b.*\b(?:say|said|tell|told|recommend|suggest|mention|provide|give"
    r"|given|gave|list|explain|advise|describe|write|wrote|share|propose|come up)"
    r"|\byou(?:'ve| have| had)? (?:said|told|recommended|suggested|mentioned|provided|gave|given"
    r"|listed|explained|advised|described|wrote|shared|proposed|came up)"
    r"|\byour (?:last|previous|earlier|suggestion|recommendation|answer|advice|response|list)"
    r"|\bremind me\b|\bour (?:previous|last|earlier) (?:chat|conversation|discussion)",
    re.IGNORECASE,
)

# Words that say how to answer, or that something was talked about; not what is asked for.
# All but the first begin with a word: where none begins, that is found out once for all of them.
FRAME = re.compile(
    r"""^\s*(?:(?:can|could|would|will)\s+you\s+)?(?:please\s+)?
        (?:help\s+me\s+(?:understand|remember)|list|tell\s+me|walk\s+me\s+through|give\s+me
          |provide(?:\s+me\s+with)?|summari[sz]e|remind\s+me|show\s+me|describe|explain)\b
      | \b(?:
          (?:mention|list|include|name)\s+only(?:\s+and\s+only)?\s+\w+\s+(?:items?|things?)\b
        | in\s+(?:the\s+)?(?:chronological\s+|correct\s+|right\s+)?order\b
        | the\s+(?:order|sequence)\s+(?:in\s+which|of)\b
        | (?:throughout|across|during|over|in|from)\s+(?:all\s+(?:of\s+)?)?
          (?:our|my|these|those|the)\s+(?:\w+\s+)?
          (?:conversations?|chats?|discussions?|sessions?|messages)\b
        | (?:i|we|you)\s+(?:have\s+|had\s+)?
          (?:brought\s+up|mentioned|talked\s+about|discussed|asked\s+about|told\s+you(?:\s+about)?
            |said)\b
        | (?:different|various)\s+(?:aspects?|parts?|topics?|things?|features?)\b(?:\s+of)?
        | aspects?\s+of\b
        | a\s+(?:comprehensive|complete|detailed|brief|short|full|clear|thorough)?\s*
          (?:summary|overview)\s+of\b
        )""",
    re.IGNORECASE | re.VERBOSE,
)
LEAST_LEFT = 2  # terms; of a shorter rest the frame was part


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time a question names; its end is not part of it."""

    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Understood:
    """What the rules made of a question."""

    terms: tuple[str, ...]
    people: frozenset[str]  # speakers it names
    meaning: str  # the question without their names: names drown a short text's meaning
    asks_the_assistant: bool
    window: Window | None = None
    said: frozenset[str] = frozenset()  # all terms of the question
    matter: str = ""  # what it asks for, names included

    @property
    def person(self) -> str | None:
        """The one speaker it is about; of several none is meant more than the others."""
        return next(iter(self.people)) if len(self.people) == 1 else None

    def naming(self, speakers: Iterable[str | None]) -> Understood:
        """The same question among other people who were heard speaking."""
        people = _named(speakers, self.said)
        if people == self.people:
            return self
        return replace(self, people=people, meaning=_without(self.matter, people))


def understand(question: str, speakers: Iterable[str | None], now: datetime) -> Understood:
    """Read a question asked at a moment, among people who were heard speaking."""
    matter, said = unframed(question), frozenset(terms(question))
    people = _named(speakers, said)
    return Understood(
        terms=tuple(query_terms(matter)),
        people=people,
        meaning=_without(matter, people),
        asks_the_assistant=bool(OF_THE_ASSISTANT.search(question)),
        window=window_of(question, now),
        said=said,
        matter=matter,
    )


def unframed(question: str) -> str:
    """What is asked for, without the words around it."""
    matter = FRAME.sub(" ", question)
    if matter == question or len(set(query_terms(matter))) >= LEAST_LEFT:
        return matter
    return question


def _named(speakers: Iterable[str | None], said: frozenset[str]) -> frozenset[str]:
    """Those of them whose whole name is said."""
    return frozenset(name for name in speakers if name and said.issuperset(_of(name)))


@lru_cache(maxsize=1_000)
def _of(name: str) -> tuple[str, ...]:
    return tuple(terms(name))


def window_of(question: str, now: datetime) -> Window | None:
    """The one stretch of time the question names; with several, all between them."""
    return _read_once(question, now) if now.tzinfo is UTC else _window(question, now)


def _window(question: str, now: datetime) -> Window | None:
    from ..core.dates import dates_in  # noqa: PLC0415  # slow to load, and few need it at once

    spans = dates_in(question, now)
    if not spans:
        return None
    return Window(min(span.since for span in spans), max(span.until for span in spans))


# Who plans, who searches and who tells episodes ask it of the same question. Only in one zone:
# moments that are equal in two may be of different days there.
_read_once = lru_cache(maxsize=16)(_window)

forget_questions = _read_once.cache_clear  # a question may tell what was erased


def _without(question: str, people: frozenset[str]) -> str:
    names = {term for name in people for term in _of(name)}
    if not names:
        return question
    kept = WORD.sub(
        lambda word: " " if names.issuperset(terms(word.group())) else word.group(), question
    )
    return kept if terms(kept) else question
