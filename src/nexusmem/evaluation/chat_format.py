"""Output format of the chat corpus: facts, landmarks, entities and aliases of one message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, time, timedelta
from typing import Any

from ..core.canonical import canonical_json, parse_time
from ..core.records import Memory, MemoryKind
from ..core.records.landmarks import last_due_day

SURE_CONFIDENCE = 0.9  # facts below it are stored, but not treated as sure
INSTANT = timedelta(microseconds=1)

Record = dict[str, Any]
TypesByName = Mapping[str, Sequence[str]]


def describe_memories(
    memories: Sequence[Memory], types: TypesByName, min_confidence: float
) -> Record:
    """Return the memories of one message; `types` has every entity of its place."""
    facts = [each for each in memories if each.kind is MemoryKind.FACT]
    landmarks = [each for each in memories if each.kind is MemoryKind.LANDMARK]
    names = _mentioned_entities(memories, types)
    return {
        "facts": [_describe_fact(each) for each in facts if each.confidence >= min_confidence],
        "landmarks": [_describe_landmark(each) for each in landmarks],
        "entities": [
            {"name": name, "type": next(iter(types.get(name, ())), None)} for name in names
        ],
        "aliases": list(_describe_aliases(memories)),
    }


def fact_value(memory: Memory) -> str:
    """Return the object or the value of a fact as text."""
    fact = memory.fact
    value = fact.object if fact.object is not None else fact.value
    return value if isinstance(value, str) else canonical_json(value)


def due_day(memory: Memory) -> str | None:
    """Return the last day on which a landmark is due; `due` is exclusive."""
    due = memory.body.get("due")
    return str(last_due_day(parse_time(due))) if isinstance(due, str) else None


def format_period(since: datetime | None, until: datetime | None) -> str | None:
    """Return a period as a year, a month or its first day; without a start, its last day.

    `until` is exclusive: midnight belongs to the day before.
    """
    last = None if until is None else until - INSTANT
    if since is None:
        return _format_day(last)
    starts_month = since.day == 1 and since.time() == time.min
    if last is None or until is None or not starts_month or until.time() != time.min:
        return _format_day(since)
    if (since.month, last.month, last.day) == (1, 12, 31) and since.year == last.year:
        return f"{since:%Y}"
    is_month = until.day == 1 and (since.year, since.month) == (last.year, last.month)
    return f"{since:%Y-%m}" if is_month else _format_day(since)


def _format_day(at: datetime | None) -> str | None:
    return None if at is None else at.date().isoformat()


def _describe_fact(memory: Memory) -> Record:
    """Return a fact. An end has no field of its own: such a fact is past or negated."""
    fact = memory.fact
    return {
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": fact_value(memory),
        "tense": fact.tense,
        "negated": fact.negated,
        "when": _stated_date(memory),
    }


def _stated_date(memory: Memory) -> str | None:
    """Return the date that the message gives for a fact.

    "No longer" ends a fact at the time of the message; that is not a stated date.
    """
    if memory.at in (memory.valid_from, memory.valid_to):
        return None
    return format_period(memory.valid_from, memory.valid_to)


def _describe_landmark(memory: Memory) -> Record:
    return {
        "kind": memory.body["kind"],
        "gist": memory.text,
        "owner": memory.body.get("owner"),
        "due": due_day(memory),
    }


def _mentioned_entities(memories: Iterable[Memory], types: TypesByName) -> list[str]:
    """Return the names that the message introduces, and the known names in its label.

    Only the first mention of a name writes an entity record. The label of a message lists all
    names in it.
    """
    names: dict[str, None] = {}
    for memory in memories:
        if memory.kind is MemoryKind.ENTITY:
            names[memory.body["name"]] = None
        elif memory.kind is MemoryKind.EPISODE:
            names.update((name, None) for name in memory.body.get("entities", ()) if name in types)
    return list(names)


def _describe_aliases(memories: Iterable[Memory]) -> Iterator[Record]:
    for memory in memories:
        if memory.kind is MemoryKind.ENTITY and not memory.body.get("same_as"):
            for alias in memory.body.get("aliases", ()):
                yield {"of": memory.body["name"], "alias": alias}
