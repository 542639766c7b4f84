"""Erasure targets and the samples for the residue search."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.unit.making import ACME, DM, NOON, ROOM, event

from nexusmem.core.errors import InvalidInput, NotFound
from nexusmem.core.records import Draft, MemoryKind
from nexusmem.core.scope import Scope
from nexusmem.maintain.forget import (
    PIECE_BYTES,
    _cut_pieces,
    choose_target,
    event_target,
    memory_target,
    scope_target,
    user_target,
)
from nexusmem.testing.reference_store.store import ReferenceStore

KINDS = ("user", "room", "event", "memory")


@pytest.fixture
def store() -> ReferenceStore:
    store = ReferenceStore()
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
def test_user_target_has_own_events_and_owned_scopes(store: ReferenceStore) -> None:
    assert texts(user_target(store, ACME, "alice")) == {
        "in the room",
        "alone with alice",
        "about alice",
    }
    assert texts(user_target(store, ACME, "bob")) == {"bob in the room", "about alice"}
    assert texts(user_target(store, ACME, "alic")) == set()


@pytest.mark.requirement("X6")
def test_scope_target_has_all_events_of_the_scope(store: ReferenceStore) -> None:
    assert texts(scope_target(store, ACME, ROOM)) == {"in the room", "bob in the room"}


@pytest.mark.requirement("X6")
def test_event_and_memory_targets_are_single(store: ReferenceStore) -> None:
    said = event(key="1")
    draft = Draft(scope=ROOM, kind=MemoryKind.PASSAGE, text="x", sources=(said.id,))
    (memory,) = store.memories.put(ACME, [draft])

    assert texts(event_target(store, ACME, said.id)) == {"in the room"}
    assert memory_target(store, ACME, memory.id).memories == (memory,)


@pytest.mark.parametrize("find", [event_target, memory_target])
def test_missing_target_raises_not_found(find, store: ReferenceStore) -> None:
    with pytest.raises(NotFound):
        find(store, ACME, "nothing")


@pytest.mark.parametrize("given", [(), ("user", "event"), KINDS])
def test_exactly_one_selector_is_required(given, store: ReferenceStore) -> None:
    wanted = {kind: "x" if kind in given else None for kind in KINDS}

    with pytest.raises(InvalidInput, match=f"got {len(given)}"):
        choose_target(store, ACME, wanted)


@pytest.mark.requirement("X6")
@pytest.mark.parametrize("user", ["", " alice", "a\0b", 5])
def test_user_needs_a_valid_name(user, store: ReferenceStore) -> None:
    with pytest.raises(InvalidInput):
        choose_target(store, ACME, {"user": user, "room": None})


def test_tombstones_hold_digests_and_no_names(store: ReferenceStore) -> None:
    for target in (user_target(store, ACME, "alice"), scope_target(store, ACME, ROOM)):
        assert all("alice" not in what and "design" not in what for _, what in target.tombstones)


@given(some.text(some.characters(exclude_categories=("Cs",)), max_size=200))
def test_samples_are_encoded_as_on_disk_and_cover_the_text(text: str) -> None:
    on_disk = json.dumps(text, ensure_ascii=False).encode()

    pieces = _cut_pieces(text)

    assert all(piece in on_disk for piece in pieces)
    assert all(len(piece) >= PIECE_BYTES // 2 for piece in pieces)
    assert len(b"".join(pieces)) >= len(on_disk) - 2 - PIECE_BYTES


def test_short_text_is_not_searched() -> None:
    assert list(_cut_pieces("ok")) == []
