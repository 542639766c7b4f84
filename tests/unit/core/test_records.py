"""Records are frozen, and know what follows from what they hold."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest
from tests.unit.making import DM, ROOM, event, memory

from nexus.core.records import Fact, Found, Hit, MemoryKind, Trust, event_id
from nexus.core.scope import Scope


def test_an_event_is_known_by_where_it_happened_and_its_key() -> None:
    assert event("one").id == event("another").id == event_id(ROOM, "k")
    assert event(scope=DM).id != event().id != event(key="k2").id
    assert event(scope=Scope.room("a:b"), key="c").id != event(scope=Scope.room("a"), key="b:c").id


@pytest.mark.parametrize("record", [event(), memory(), Hit(memory=memory(), score=1.0)])
def test_a_record_does_not_change(record) -> None:
    for field in fields(record):
        with pytest.raises(FrozenInstanceError):
            setattr(record, field.name, None)


def test_trust_is_ordered() -> None:
    assert Trust.UNKNOWN < Trust.EXTERNAL < Trust.INFERRED < Trust.INTERNAL < Trust.DIRECT


@pytest.mark.requirement("C8")
def test_what_was_found_is_the_list_of_its_hits() -> None:
    hits = tuple(Hit(memory=memory(text), score=1.0) for text in ("one", "two", "three"))
    found = Found(hits=hits, total=7, seconds=0.1)

    assert list(found) == list(hits)
    assert (found[0], found[-1], found[1:]) == (hits[0], hits[2], hits[1:])
    assert len(found) == 3
    assert bool(Found(hits=(), total=0, seconds=0.0)) is False
    assert hits[0].text == "one"


def test_a_memory_of_kind_fact_says_what_it_states() -> None:
    body = {"subject": "Tyler", "predicate": "WORKS_AT", "object": "Anthropic"}

    fact = memory(kind=MemoryKind.FACT, body=body).fact

    assert fact == Fact(subject="Tyler", predicate="WORKS_AT", object="Anthropic")
    assert fact.stated
    assert not fact.exact
