"""Exact values, and what is true now of those the question names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from ...core.canonical import canonical_json
from ...core.context import Item
from ...core.derive import known_as
from ...core.links import once_each
from ...core.records import Memory, MemoryKind
from ...recall.interpret import about, standing
from ..asking import EXACT, Asking, falling, said
from ..block import safe_json
from ..exact import exact_values

MOST_EXACT = 100  # keys: the newest
MOST_NAMED = 60
MOST_RELATIONS = 20
FACT = (MemoryKind.FACT,)
OF_THE_SPEAKER = re.compile(r"\b(?:i|i'm|my|me|mine)\b", re.IGNORECASE)


def facts(asking: Asking) -> list[Item]:
    """What was set exactly, newest first; then what holds of whom the question speaks."""
    exact = _exact(asking)
    shown = {memory.id for memory in exact}
    items = [_exactly(asking, memory, place) for place, memory in enumerate(exact)]
    return items + [each for each in _holding(asking) if each.id not in shown]


def _exactly(asking: Asking, memory: Memory, place: int) -> Item:
    """The value as it was set; what a fence would change is escaped, so that it is read back."""
    made = asking.item(memory, 0.8 * falling(place, 0.95), strategy=EXACT, kind=EXACT)
    subject, key, value = (memory.body.get(name) for name in ("subject", "predicate", "value"))
    return replace(made, text=f"{subject} {key} = {safe_json(canonical_json(value))}")


def _exact(asking: Asking) -> list[Memory]:
    """The newest value of each key of every scope that may be read."""
    then = asking.now if asking.replayed else None
    return exact_values(asking.store, asking.grant, limit=MOST_EXACT, as_of=then)


def _holding(asking: Asking) -> Iterator[Item]:
    names = _names(asking)
    if not names:
        return
    named = asking.known(
        asking.store.memories.named(asking.grant, names, limit=MOST_NAMED, kinds=FACT)
    )
    told = [each for each in named if not each.body.get("exact")]
    since: dict[str, datetime | None] = {}
    holding: list[Memory] = []
    for subject, predicate in _relations(told, frozenset(names)):
        found = standing(about(told, subject, predicate), asking.now, predicate)
        for place, held in enumerate(found):
            memory = held.newest.memory
            since[memory.id] = held.since if place == 0 else memory.valid_from
            holding.append(memory)
    links = asking.standing_in(holding)
    for place, memory in enumerate(once_each(holding, links)):
        worth, times = falling(place, 0.95), said(links.get(memory.id))
        yield _item(asking, memory, since[memory.id], worth, times)


def _names(asking: Asking) -> list[str]:
    names = list(asking.plan.names)
    people = asking.viewer.people
    if len(people) == 1 and OF_THE_SPEAKER.search(asking.plan.question):
        names.append(known_as(people[0].value))
    return names


def _relations(told: Sequence[Memory], names: frozenset[str]) -> list[tuple[str, str]]:
    """Who or what is told of, and in which relation; those that are named come first."""
    pairs = dict.fromkeys(
        (known_as(each.body["subject"]), each.body["predicate"].upper()) for each in told
    )
    return sorted(pairs, key=lambda pair: pair[0] not in names)[:MOST_RELATIONS]


def _item(
    asking: Asking,
    memory: Memory,
    since: datetime | None,
    worth: float,
    times: Mapping[str, float],
) -> Item:
    sure, kind = memory.confidence, "holds now"
    made = asking.item(
        memory, worth * sure, strategy="interpret", kind=kind, confidence=sure, **times
    )
    if since and since.date() != memory.at.date():
        return replace(made, text=f"{memory.text} (since {since:%Y-%m-%d})")
    return made
