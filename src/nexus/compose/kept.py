"""What memory knows of a place that must outlast its messages: landmarks and exact values."""

from __future__ import annotations

from collections.abc import Iterable

from ..core.access import Grant
from ..core.derive import known_as
from ..core.filters import Condition, Op
from ..core.protocols import Store
from ..core.records import Memory, MemoryKind
from ..core.scope import Scope
from .block import ExactValue, Pin
from .compact import Kept
from .render import MARKS

MOST_LANDMARKS = 200  # the newest
MOST_FACTS = 200


def remembered(store: Store, grant: Grant, home: Scope, told: Iterable[str] = ()) -> Kept:
    """The landmarks of this place, and every exact value that may be read here; oldest first.

    `told` are the ids that the messages have, if they were written down.
    """
    only = Condition("kind", Op.EQ, MemoryKind.LANDMARK)
    names = sorted({known_as(str(scope)) for scope in grant.scopes})
    with store.moment():
        landmarks = store.memories.find(grant.within([home]), where=only, limit=MOST_LANDMARKS)
        facts = store.memories.named(
            grant, names, limit=MOST_FACTS, kinds=[MemoryKind.FACT], learned=False
        )
        heard = store.ledger.get(grant, sorted(told))
    newest: dict[tuple[str, str], ExactValue] = {}
    for memory in facts:
        if memory.body.get("exact"):
            fact = memory.fact
            value = ExactValue(fact.subject, fact.predicate, fact.value)
            newest.setdefault((fact.subject, fact.predicate), value)
    return Kept(
        landmarks=tuple(map(_pin, reversed(landmarks))),
        facts=tuple(reversed(newest.values())),
        heard=frozenset(event.text for event in heard),
    )


def _pin(memory: Memory) -> Pin:
    kind = str(memory.body.get("kind") or "landmark").replace("_", " ")
    return Pin(f"{memory.at:%Y-%m-%d} | {kind} | {MARKS[memory.trust]}", memory.text)
