"""Fact and landmark drafts from extracted statements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from datetime import datetime
from typing import Any

from ...core.canonical import EARLIEST, LATEST, canonical_json, format_time
from ...core.ids import digest
from ...core.records import Draft, Event, Fact, MemoryKind
from ...core.records.annotations import find_open_names
from ...text.utc_offset import normalize_range
from ..rules.results import Certainty, ExtractionResult, Landmark, Statement
from .passages import event_tags

RULES = "rules"

# names, sentence → ids of the earlier events from which the names were taken
SourceLookup = Callable[[Iterable[str | None], str], tuple[str, ...]]


def no_sources(_names: Iterable[str | None], _sentence: str) -> tuple[str, ...]:
    """Return no events: a SourceLookup for texts without names from earlier events."""
    return ()


def knowledge_drafts(
    event: Event, extracted: ExtractionResult, find_sources: SourceLookup
) -> Iterator[Draft]:
    """Yield drafts of all facts, then of all landmarks.

    `find_sources` returns the earlier events of names; the drafts are erased with them.
    """
    for statement in extracted.facts:
        yield fact_draft(event, statement, find_sources)
    for landmark in extracted.landmarks:
        yield landmark_draft(event, landmark, find_sources)


def fact_draft(event: Event, statement: Statement, find_sources: SourceLookup) -> Draft:
    fact = Fact(
        subject=statement.subject,
        predicate=statement.predicate,
        object=statement.object,
        value=statement.value,
        stated=statement.certainty is not Certainty.INFERRED,
        aspect=statement.aspect,
        category=statement.category.value,
        tense=statement.temporal.value,
        negated=statement.negated,
    )
    body = asdict(fact)
    names = (statement.subject, statement.object, statement.value)
    notes = " ".join(find_open_names(statement.sentence, event.speaker, body))
    since, until = normalize_range(statement.valid_from, statement.valid_to)
    return Draft(
        kind=MemoryKind.FACT,
        text=statement.sentence,
        indexed_text=f"{statement.sentence} [{notes}]" if notes else None,
        slot=digest("fact", canonical_json(body)),
        confidence=statement.confidence,
        valid_from=since,
        valid_to=until,
        body=body,
        **_origin_fields(event, find_sources(names, statement.sentence), statement.rule),
    )


def landmark_draft(event: Event, landmark: Landmark, find_sources: SourceLookup) -> Draft:
    request = landmark.request
    text = f"{request} {landmark.text}" if request else landmark.text
    return Draft(
        kind=MemoryKind.LANDMARK,
        text=text,
        slot=digest("landmark", landmark.kind.value, text),
        body=landmark_body(landmark),
        **_origin_fields(event, find_sources([landmark.owner, request], landmark.text)),
    )


def landmark_body(landmark: Landmark) -> dict[str, str | None]:
    since, until = normalize_range(landmark.due_from, landmark.due)
    return {
        "kind": landmark.kind.value,
        "owner": landmark.owner,
        "due": _format_time(until),
        "due_from": _format_time(since),
        "wrong": landmark.wrong,
        "right": landmark.right,
    }


def _format_time(at: datetime | None) -> str | None:
    """Format a time; None for an open start or end ("by Friday", "after Friday")."""
    return format_time(at) if at and EARLIEST < at < LATEST else None


def _origin_fields(event: Event, earlier_ids: tuple[str, ...], rule: str = "") -> dict[str, Any]:
    return {
        "scope": event.scope,
        "sources": (event.id, *earlier_ids),
        "speaker": event.speaker,
        "role": event.role,
        "source": RULES,
        "thread": event.thread,
        "tags": event_tags(event),
        "learned": True,
        "metadata": {"made_by": [RULES], **({"rule": rule} if rule else {})},
    }
