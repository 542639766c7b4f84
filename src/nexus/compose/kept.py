"""What memory knows of a place that must outlast its messages: landmarks and exact values."""

from __future__ import annotations

from collections.abc import Iterable

from ..core.access import Grant
from ..core.filters import Condition, Op
from ..core.protocols import Store
from ..core.records import Memory, MemoryKind
from ..core.scope import Scope
from .block import ExactValue, Pin
from .compact import Kept
from .exact import exact_values
from .render import MARKS

MOST_LANDMARKS = 200  # the newest


def remembered(store: Store, grant: Grant, home: Scope, told: Iterable[str] = ()) -> Kept:
    """The landmarks of this place, and every exact value that may be read here; oldest first.

    `told` are the ids that the messages have, if they were written down.
    """
    only = Condition("kind", Op.EQ, MemoryKind.LANDMARK)
    with store.moment():
        landmarks = store.memories.find(grant.within([home]), where=only, limit=MOST_LANDMARKS)
        facts = exact_values(store, grant)
        heard = store.ledger.get(grant, sorted(told))
    return Kept(
        landmarks=tuple(map(_pin, reversed(landmarks))),
        facts=tuple(map(_value, reversed(facts))),
        heard=frozenset(event.text for event in heard),
    )


def _value(memory: Memory) -> ExactValue:
    fact = memory.fact
    return ExactValue(fact.subject, fact.predicate, fact.value)


def _pin(memory: Memory) -> Pin:
    kind = str(memory.body.get("kind") or "landmark").replace("_", " ")
    return Pin(f"{memory.at:%Y-%m-%d} | {kind} | {MARKS[memory.trust]}", memory.text)
