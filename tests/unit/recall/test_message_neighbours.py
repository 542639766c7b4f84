"""Neighbours of hits: the message before and after, and the reply to a question."""

from __future__ import annotations

from datetime import timedelta

import pytest

from nexusmem.core.filters import parse_filter
from nexusmem.core.records import Memory, MemoryKind
from nexusmem.recall.views.message_neighbours import load_neighbours
from nexusmem.testing.reference_store.store import ReferenceStore
from nexusmem.testing.samples import (
    ACME,
    ADMIN,
    ALICE_DM,
    IN_ROOM,
    NOON,
    add_memory,
    append_events,
    make_draft,
    make_event,
)


@pytest.fixture
def store() -> ReferenceStore:
    return ReferenceStore()


def say(store: ReferenceStore, minute: int, speaker: str, text: str, **more: object) -> Memory:
    at = NOON + timedelta(minutes=minute)
    settings = {"speaker": speaker, "at": at, "thread": "t", "role": "user", **more}
    return add_memory(store, str(minute), text, **settings)  # type: ignore[arg-type]


def test_question_has_its_reply_and_reply_its_question(store: ReferenceStore) -> None:
    asked = say(store, 1, "bob", "Which varnish goes on the tiller?")
    told = say(store, 2, "alice", "Epifanes, six coats.")
    thanks = say(store, 3, "bob", "Great.")

    around = load_neighbours(store, ADMIN, [asked, told, thanks])

    assert around[asked.id].reply == told
    assert around[asked.id].before is None
    assert around[told.id].question == asked
    assert around[told.id].after == thanks
    assert around[told.id].reply is None  # "Great." replies to no question
    assert around[thanks.id].question is None


def test_assistant_replies_to_statement(store: ReferenceStore) -> None:
    said = say(store, 1, "bob", "I would like something for the evening.")
    reply = say(store, 2, "bot", "Try the harbour walk.", role="assistant")

    assert load_neighbours(store, ADMIN, [said])[said.id].reply == reply


def test_speaker_does_not_answer_own_question(store: ReferenceStore) -> None:
    asked = say(store, 1, "bob", "Where are the keys?")
    say(store, 2, "bob", "And the map?")

    assert load_neighbours(store, ADMIN, [asked])[asked.id].reply is None


def test_neighbour_of_long_message_is_the_next_message(store: ReferenceStore) -> None:
    asked = say(store, 1, "bob", "How do I launch a boat?")
    (source,) = append_events(store, make_event("long", "a long answer"))
    at = NOON + timedelta(minutes=2)
    pieces = store.memories.put(
        ACME,
        [
            make_draft(
                source, text=f"Step {n}.", slot=f"{n:06}", at=at, thread="t", speaker="alice"
            )
            for n in range(3)
        ],
    )
    done = say(store, 3, "bob", "Done.")

    around = load_neighbours(store, ADMIN, [asked, *pieces, done])

    assert around[asked.id].reply == pieces[0]
    assert [around[piece.id].question for piece in pieces] == [asked] * 3
    assert [around[piece.id].after for piece in pieces] == [done] * 3


def test_fact_has_the_neighbours_of_its_message(store: ReferenceStore) -> None:
    asked = say(store, 1, "bob", "Where does Danuta live?")
    told = say(store, 2, "alice", "In Penryn.")
    body = {"subject": "Danuta", "predicate": "LIVES_IN", "object": "Penryn"}
    (fact,) = store.memories.put(
        ACME, [make_draft(*told.sources, text="x", kind=MemoryKind.FACT, body=body, learned=True)]
    )

    around = load_neighbours(store, ADMIN, [fact])

    assert around[fact.id].message == told
    assert around[fact.id].question == asked


def test_unreadable_and_archived_messages_are_no_neighbours(store: ReferenceStore) -> None:
    asked = say(store, 1, "bob", "Which varnish?")
    told = say(store, 2, "alice", "Epifanes.")
    say(store, 3, "bob", "Thanks.")
    hidden = say(store, 4, "bob", "Psst, what is the code?", scope=ALICE_DM)
    store.memories.set_state(ACME, [told.id], archived=True)

    around = load_neighbours(store, IN_ROOM.grant(), [asked, hidden])

    assert around.keys() == {asked.id}
    assert around[asked.id].after is None


def test_filter_holds_for_neighbours(store: ReferenceStore) -> None:
    asked = say(store, 1, "bob", "Which varnish?")
    told = say(store, 2, "alice", "Epifanes.")

    def after(speaker: str) -> Memory | None:
        where = parse_filter({"speaker": speaker})
        return load_neighbours(store, ADMIN, [asked], where=where)[asked.id].after

    assert after("alice") == told
    assert after("bob") is None


def test_no_memories_need_no_lookup(store: ReferenceStore) -> None:
    assert load_neighbours(store, ADMIN, []) == {}
