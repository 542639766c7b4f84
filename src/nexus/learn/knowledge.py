"""From what the rules read in a message to drafts: facts and landmarks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from datetime import datetime
from typing import Any

from ..core.canonical import EARLIEST, LATEST, canonical_json, time_text
from ..core.ids import digest
from ..core.records import Draft, Event, Fact, MemoryKind
from ..core.zones import kept_times
from .explicit import PINNED
from .passages import tags_of
from .rules.extracted import Certainty, Extracted, Landmark, Statement

RULES = "rules"

Grounds = Callable[[Iterable[str | None], str], tuple[str, ...]]  # names, sentence → earlier events


def on_nothing_else(_names: Iterable[str | None], _sentence: str) -> tuple[str, ...]:
    """The grounds of who takes no name from an earlier event."""
    return ()


def knowledge(event: Event, extracted: Extracted, grounds: Grounds) -> Iterator[Draft]:
    """What was said to be so, and what was decided.

    `grounds` tells which earlier events names were taken from: what rests on them is erased with
    them.
    """
    for statement in extracted.facts:
        yield fact_draft(event, statement, grounds)
    for landmark in extracted.landmarks:
        yield landmark_draft(event, landmark, grounds)


def fact_draft(event: Event, said: Statement, grounds: Grounds) -> Draft:
    fact = Fact(
        subject=said.subject,
        predicate=said.predicate,
        object=said.object,
        value=said.value,
        stated=said.certainty is not Certainty.INFERRED,
        aspect=said.aspect,
        category=said.category.value,
        tense=said.temporal.value,
        negated=said.negated,
    )
    body = asdict(fact)
    names = (said.subject, said.object, said.value)
    since, until = kept_times(said.valid_from, said.valid_to)
    return Draft(
        kind=MemoryKind.FACT,
        text=said.sentence,
        slot=digest("fact", canonical_json(body)),
        confidence=said.confidence,
        valid_from=since,
        valid_to=until,
        body=body,
        **_learned_from(event, grounds(names, said.sentence)),
    )


def landmark_draft(event: Event, landmark: Landmark, grounds: Grounds) -> Draft:
    return Draft(
        kind=MemoryKind.LANDMARK,
        text=landmark.text,
        slot=digest("landmark", landmark.kind.value, landmark.text),
        salience=PINNED,
        body=landmark_body(landmark),
        **_learned_from(event, grounds([landmark.owner], landmark.text)),
    )


def landmark_body(landmark: Landmark) -> dict[str, str | None]:
    since, until = kept_times(landmark.due_from, landmark.due)
    return {
        "kind": landmark.kind.value,
        "owner": landmark.owner,
        "due": _time(until),
        "due_from": _time(since),
        "wrong": landmark.wrong,
        "right": landmark.right,
    }


def _time(at: datetime | None) -> str | None:
    """As it is written; "by Friday" begins and "after Friday" ends at no time."""
    return time_text(at) if at and EARLIEST < at < LATEST else None


def _learned_from(event: Event, earlier: tuple[str, ...]) -> dict[str, Any]:
    return {
        "scope": event.scope,
        "sources": (event.id, *earlier),
        "speaker": event.speaker,
        "role": event.role,
        "source": RULES,
        "thread": event.thread,
        "tags": tags_of(event),
        "learned": True,
        "metadata": {"made_by": [RULES]},
    }
