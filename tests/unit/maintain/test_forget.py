"""The pieces of forgetting: what is meant, and what is looked for afterwards."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.unit.making import ACME, DM, NOON, ROOM, event

from nexus.core.errors import InvalidInput, NotFound
from nexus.core.records import Draft, MemoryKind
from nexus.core.scope import Scope
from nexus.maintain.forget import (
    PIECE,
    _cut,
    choose_target,
    event_target,
    memory_target,
    scope_target,
    user_target,
)
from nexus.stores.inprocess import InProcessStore

KINDS = ("user", "room", "event", "memory")


@pytest.fixture
def store() -> InProcessStore:
    store = InProcessStore()
    said = [
        event("in the room", key="1"),
        event("bob in the room", key="2", speaker="bob"),
        event("alone with alice", key="3", scope=DM, speaker="scribe"),
        event("about alice", key="4", scope=Scope.user("alice"), speaker="bob"),
    ]
    store.ledger.append(ACME, said, recorded_at=NOON)
    return store


def texts(target) -> set[str]:
    return {event.text for event in target.events}


@pytest.mark.requirement("X6")
def test_a_person_is_what_they_said_and_what_lies_in_their_drawers(store: InProcessStore) -> None:
    assert texts(user_target(store, ACME, "alice")) == {
        "in the room",
        "alone with alice",
        "about alice",
    }
    assert texts(user_target(store, ACME, "bob")) == {"bob in the room", "about alice"}
    assert texts(user_target(store, ACME, "alic")) == set()


@pytest.mark.requirement("X6")
def test_a_room_is_everything_said_in_it(store: InProcessStore) -> None:
    assert texts(scope_target(store, ACME, ROOM)) == {"in the room", "bob in the room"}


@pytest.mark.requirement("X6")
def test_an_event_or_a_memory_is_itself(store: InProcessStore) -> None:
    said = event(key="1")
    draft = Draft(scope=ROOM, kind=MemoryKind.PASSAGE, text="x", sources=(said.id,))
    (memory,) = store.memories.put(ACME, [draft])

    assert texts(event_target(store, ACME, said.id)) == {"in the room"}
    assert memory_target(store, ACME, memory.id).memories == (memory,)


@pytest.mark.parametrize("find", [event_target, memory_target])
def test_what_is_not_there_is_not_found(find, store: InProcessStore) -> None:
    with pytest.raises(NotFound):
        find(store, ACME, "nothing")


@pytest.mark.parametrize("given", [(), ("user", "event"), KINDS])
def test_exactly_one_thing_is_forgotten_at_a_time(given, store: InProcessStore) -> None:
    wanted = {kind: "x" if kind in given else None for kind in KINDS}

    with pytest.raises(InvalidInput, match=f"{len(given)} were given"):
        choose_target(store, ACME, wanted)


@pytest.mark.requirement("X6")
@pytest.mark.parametrize("user", ["", " alice", "a\0b", 5])
def test_a_person_has_a_name(user, store: InProcessStore) -> None:
    with pytest.raises(InvalidInput):
        choose_target(store, ACME, {"user": user, "room": None})


def test_tombstones_hold_digests_and_no_names(store: InProcessStore) -> None:
    for target in (user_target(store, ACME, "alice"), scope_target(store, ACME, ROOM)):
        assert all("alice" not in what and "design" not in what for _, what in target.stones)


@given(some.text(some.characters(exclude_categories=("Cs",)), max_size=200))
def test_pieces_are_what_stands_on_disk_and_cover_the_text(text: str) -> None:
    on_disk = json.dumps(text, ensure_ascii=False).encode()

    pieces = _cut(text)

    assert all(piece in on_disk for piece in pieces)
    assert all(len(piece) >= PIECE // 2 for piece in pieces)
    assert len(b"".join(pieces)) >= len(on_disk) - 2 - PIECE


def test_a_text_too_short_to_be_anybodys_is_not_looked_for() -> None:
    assert list(_cut("ok")) == []
