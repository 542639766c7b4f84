"""What somebody told us to keep exactly: notes, facts, and what is done about goals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from ..core.canonical import canonical_json, text_time
from ..core.errors import InvalidInput
from ..core.goals import GOAL
from ..core.questions import QUESTION
from ..core.records import Draft, Event, EventKind, Fact, MemoryKind, Tier
from ..core.sharing import LANDMARK, check_landmark, is_copy
from .passages import tags_of

PINNED = 0.9  # the salience of a landmark
TENSES = ("current", "past", "future")
PREDICATE = re.compile(r"[A-Z][A-Z0-9_]*")


def explicit(event: Event) -> Iterator[Draft]:
    if event.kind is EventKind.NOTE:
        yield _note(event)
        if is_copy(event) and LANDMARK in event.metadata:
            yield _landmark(event)
    elif event.kind is EventKind.FACT:
        yield _fact(event)
    elif event.kind is EventKind.GOAL:
        yield _deed(event)
    elif event.kind is EventKind.QUESTION:
        yield _question(event)


def _note(event: Event) -> Draft:
    return Draft(
        scope=event.scope,
        kind=MemoryKind.PASSAGE,
        text=event.text,
        indexed_text=_without_secrets(event.text),
        sources=(event.id,),
        speaker=event.speaker,
        role=event.role,
        source="note",
        thread=event.thread,
        tier=Tier.LONG,
        tags=tags_of(event),
        metadata=event.metadata,
    )


def _landmark(event: Event) -> Draft:
    """One that was shared: it is pinned here, too."""
    return Draft(
        scope=event.scope,
        kind=MemoryKind.LANDMARK,
        text=event.text,
        sources=(event.id,),
        slot=LANDMARK,
        salience=PINNED,
        speaker=event.speaker,
        role=event.role,
        source="note",
        thread=event.thread,
        learned=True,
        body=dict(check_landmark(event.metadata[LANDMARK])),
    )


def _fact(event: Event) -> Draft:
    told = event.metadata["fact"]
    fact = Fact(**told)
    rest = {name: value for name, value in event.metadata.items() if name not in RESERVED}
    return Draft(
        scope=event.scope,
        kind=MemoryKind.FACT,
        text=event.text,
        indexed_text=_without_secrets(event.text),
        sources=(event.id,),
        confidence=event.metadata.get("confidence", 1.0),
        tier=Tier.LONG,
        valid_from=_time(event, "valid_from"),
        valid_to=_time(event, "valid_to"),
        speaker=event.speaker,
        role=event.role,
        source="fact",
        thread=event.thread,
        tags=tags_of(event),
        metadata=rest,
        body=asdict(fact),
    )


def _deed(event: Event) -> Draft:
    return Draft(
        scope=event.scope,
        kind=MemoryKind.GOAL,
        text=event.text,
        indexed_text=_without_secrets(event.text),
        sources=(event.id,),
        tier=Tier.LONG,
        speaker=event.speaker,
        role=event.role,
        source="goal",
        thread=event.thread,
        tags=tags_of(event),
        metadata={name: value for name, value in event.metadata.items() if name != GOAL},
        body=event.metadata[GOAL],
    )


def _question(event: Event) -> Draft:
    """Looked up where dossiers are, never by its words: it answers nothing."""
    return Draft(
        scope=event.scope,
        kind=MemoryKind.DOSSIER,
        text=event.text,
        indexed_text="",
        sources=(event.id,),
        tier=Tier.LONG,
        speaker=event.speaker,
        role=event.role,
        source="question",
        learned=True,  # on the shelf that questions are not asked of
        body={QUESTION: event.text, **event.metadata.get(QUESTION, {})},
    )


def _without_secrets(text: str) -> str | None:
    """What it is found by, where that is not all of it: it is kept exactly in any case."""
    from ..core.secrets import redacted  # noqa: PLC0415  # its patterns load with the first text

    seen = redacted(text)
    return None if seen == text else seen


RESERVED = frozenset({"fact", "confidence", "valid_from", "valid_to"})


def _time(event: Event, name: str) -> Any:
    text = event.metadata.get(name)
    return text_time(text) if text else None


def check_fact(fact: Fact, confidence: float) -> Fact:
    """The fact, if it can be kept."""
    if not fact.exact and not PREDICATE.fullmatch(fact.predicate):
        better = re.sub("[^A-Z0-9]+", "_", fact.predicate.upper()).strip("_")
        hint = f"; did you mean {better!r}?" if PREDICATE.fullmatch(better) else ""
        raise InvalidInput(f"a relation is written like WORKS_AT{hint}")
    if fact.object is not None and fact.value is not None:
        raise InvalidInput("a fact points to an object or holds a value, not both")
    if not all(isinstance(each, bool) for each in (fact.stated, fact.exact, fact.negated)):
        raise InvalidInput("a fact is stated or not, exact or not, negated or not: true or false")
    if not all(isinstance(each, str | None) for each in (fact.aspect, fact.category)):
        raise InvalidInput("a fact's aspect and category are texts")
    if fact.tense not in TENSES:
        raise InvalidInput(f"a fact's tense is one of {', '.join(TENSES)}, not {fact.tense!r:.80}")
    number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
    if not number or not 0 <= confidence <= 1:
        raise InvalidInput(f"confidence lies between 0 and 1, not {confidence!r:.80}")
    return fact


def fact_sentence(fact: Fact) -> str:
    """The fact in words, to be found by."""
    said = fact.object if fact.object is not None else _plain(fact.value)
    return f"{fact.subject} {fact.predicate.replace('_', ' ').lower()} {said}"


def _plain(value: object) -> str:
    return value if isinstance(value, str) else canonical_json(value)
