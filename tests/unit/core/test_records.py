"""Records: immutability and derived properties."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest
from tests.unit.making import DM, ROOM, event, memory

from nexusmem.core.records import Fact, Hit, Hits, MemoryKind, Trust, event_id
from nexusmem.core.scope import Scope


def test_event_id_depends_on_scope_and_key() -> None:
    assert event("one").id == event("another").id == event_id(ROOM, "k")
    assert event(scope=DM).id != event().id != event(key="k2").id
    assert event(scope=Scope.room("a:b"), key="c").id != event(scope=Scope.room("a"), key="b:c").id


@pytest.mark.parametrize("record", [event(), memory(), Hit(memory=memory(), score=1.0)])
def test_records_are_frozen(record) -> None:
    for field in fields(record):
        with pytest.raises(FrozenInstanceError):
            setattr(record, field.name, None)


def test_trust_is_ordered() -> None:
    assert Trust.UNKNOWN < Trust.EXTERNAL < Trust.INFERRED < Trust.INTERNAL < Trust.DIRECT


@pytest.mark.requirement("C8")
def test_hits_is_a_sequence_of_its_hits() -> None:
    hits = tuple(Hit(memory=memory(text), score=1.0) for text in ("one", "two", "three"))
    found = Hits(hits=hits, total=7, seconds=0.1)

    assert list(found) == list(hits)
    assert (found[0], found[-1], found[1:]) == (hits[0], hits[2], hits[1:])
    assert len(found) == 3
    assert bool(Hits(hits=(), total=0, seconds=0.0)) is False
    assert hits[0].text == "one"


def test_fact_memory_returns_its_fact() -> None:
    body = {"subject": "Tyler", "predicate": "WORKS_AT", "object": "Anthropic"}

    fact = memory(kind=MemoryKind.FACT, body=body).fact

    assert fact == Fact(subject="Tyler", predicate="WORKS_AT", object="Anthropic")
    assert fact.stated
    assert not fact.exact
