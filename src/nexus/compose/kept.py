"""What memory knows of a place that must outlast its messages: landmarks and exact values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..core.access import Grant
from ..core.protocols import Store
from ..core.records import Memory
from ..core.scope import Scope
from ..learn.summary import landmarks_in
from .block import ExactValue, Pin
from .compact import Kept
from .exact import exact_values
from .render import MARKS

PORTION = 50  # events whose landmarks are looked for at once


def remembered(store: Store, grant: Grant, home: Scope, told: Iterable[str] = ()) -> Kept:
    """The landmarks of these messages, and every exact value that may be read here; oldest first.

    `told` are the ids that the messages have, if they were written down.
    """
    with store.moment():
        facts = exact_values(store, grant)
        heard = _heard(store, grant.within([home]), sorted(told))
    return Kept(facts=tuple(map(_value, reversed(facts))), heard=heard)


def _value(memory: Memory) -> ExactValue:
    fact = memory.fact
    return ExactValue(fact.subject, fact.predicate, fact.value)


def _heard(store: Store, here: Grant, ids: Sequence[str]) -> dict[str, tuple[Pin, ...]]:
    """The texts that were written down, each with the landmarks that were learned from it."""
    events = sorted(store.ledger.get(here, ids), key=lambda event: event.at)
    pins: dict[str, tuple[Pin, ...]] = {}
    for start in range(0, len(events), PORTION):
        portion = events[start : start + PORTION]
        known = landmarks_in(store, here, portion)
        pins |= {event.text: tuple(map(_pin, known.get(event.id, ()))) for event in portion}
    return pins


def _pin(memory: Memory) -> Pin:
    kind = str(memory.body.get("kind") or "landmark").replace("_", " ")
    return Pin(f"{memory.at:%Y-%m-%d} | {kind} | {MARKS[memory.trust]}", memory.text)
