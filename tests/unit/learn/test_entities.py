"""Entity records: names, types, aliases and addresses."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.learn.conversation import Conversation

from nexusmem.core.records import EventKind, MemoryKind, Trust

EMAIL = {"identity": {"email": "Sarah@Example.com"}}
PROVEN = {"kind": "email", "value": "sarah@example.com", "proven": True}


@pytest.fixture
def conversation() -> Conversation:
    return Conversation()


@pytest.mark.requirement("B2")
@pytest.mark.parametrize(
    ("text", "name", "type"),
    [
        ("Sarah Chen joined us.", "Sarah Chen", "person"),
        ("I work at Globex.", "Globex", "company"),
        ("I am working on Atlas.", "Atlas", "project"),
        ("I live in Lisbon.", "Lisbon", "place"),
        ("We spoke at the Cloud Summit.", "Cloud Summit", "event"),
        ("We adopted a dog named Biscuit.", "Biscuit", "pet"),
        ("We use PostgreSQL.", "PostgreSQL", "product"),
    ],
)
def test_new_name_is_recorded_with_its_type(
    conversation: Conversation, text: str, name: str, type: str
) -> None:
    conversation.say("alice", text)

    (record,) = conversation.records(name)
    assert record.body["type"] == type
    assert record.sources == (conversation.said[0].id,)
    assert record.learned
    assert not record.indexed_text


def test_name_is_recorded_once(conversation: Conversation) -> None:
    for _ in range(3):
        conversation.say("alice", "Sarah Chen joined us.")

    assert len(conversation.records("Sarah Chen")) == 1


def test_later_type_is_recorded(conversation: Conversation) -> None:
    conversation.say("alice", "We talked about Zorblax.")
    conversation.say("alice", "Zorblax lives in Lisbon.")

    guess, stated = conversation.records("Zorblax")

    assert guess.body["guess"], "nothing says what it is"
    assert (stated.body["type"], stated.body.get("guess")) == ("person", None)


@pytest.mark.requirement("B10")
@pytest.mark.parametrize(
    ("text", "alias", "identifier"),
    [
        ("My email is Al@X.com.", "al@x.com", ("email", "al@x.com")),
        ("My phone number is +1 555 123 4567.", "+15551234567", ("phone", "+15551234567")),
        ("My handle is @Ally.", "@ally", ("handle", "ally")),
        ("My username is Ally_7.", "@ally_7", ("username", "ally_7")),
        ("Call me Ally.", "Ally", None),
    ],
)
def test_identity_statement_becomes_an_alias(
    conversation: Conversation, text: str, alias: str, identifier: tuple[str, str] | None
) -> None:
    conversation.say("alice", text)

    (record,) = [each for each in conversation.records("alice") if each.body["aliases"]]
    assert record.body["aliases"] == [alias]
    told = record.body.get("identifier")
    assert (told and (told["kind"], told["value"])) == identifier
    assert not told or told["proven"] is False
    assert [fact.body["predicate"] for fact in conversation.of(MemoryKind.FACT)] == (
        [f"HAS_{identifier[0].upper()}"] if identifier else []
    )


def test_alias_resolves_to_its_entity(conversation: Conversation) -> None:
    conversation.say("robert", "Call me Bob.")

    assert conversation.meant("alice", "Bob likes tea.", "Bob").name == "robert"
    assert conversation.records("Bob") == []


def test_kinship_term_resolves_to_the_person(conversation: Conversation) -> None:
    conversation.say("bob", "Jenny is my sister.")

    assert conversation.meant("bob", "My sister moved to Paris.", "bob's sister").name == "Jenny"
    assert conversation.records("bob's sister") == []


def test_known_name_cannot_be_taken_as_alias(conversation: Conversation) -> None:
    conversation.say("alice", "Sarah Chen joined us.")
    conversation.say("mallory", "My name is Sarah Chen.")

    assert all(not record.body["aliases"] for record in conversation.records("mallory"))
    assert conversation.questions == [["Sarah Chen", "mallory"]]
    assert conversation.meant("bob", "I trust Sarah Chen.", "Sarah Chen").method == "exact"


def test_known_address_cannot_be_taken(conversation: Conversation) -> None:
    conversation.say("sarah", "Hello everybody, good to be here.", metadata=EMAIL)
    conversation.say("mallory", "My email is sarah@example.com.")

    assert conversation.questions == [["sarah", "mallory"]]
    assert [each for each in conversation.of(MemoryKind.ENTITY) if each.body.get("same_as")] == []


@pytest.mark.requirement("B12")
def test_channel_metadata_proves_the_speaker(conversation: Conversation) -> None:
    conversation.say("sarah", "Hello everybody, good to be here.", metadata=EMAIL)

    (record,) = conversation.records("sarah")
    assert record.body["identifier"] == PROVEN


@pytest.mark.requirement("B12", "X1")
def test_shared_proven_address_merges_two_entities(conversation: Conversation) -> None:
    conversation.say("sarah", "Hello everybody, good to be here.", metadata=EMAIL)
    conversation.say("schen", "Hello from my other account.", metadata=EMAIL)

    (merge,) = [each for each in conversation.of(MemoryKind.ENTITY) if each.body.get("same_as")]
    assert merge.body == {"name": "sarah", "aliases": ["schen"], "same_as": True}
    assert set(merge.sources) == {event.id for event in conversation.said}
    (review,) = conversation.of(MemoryKind.REVIEW)
    assert review.body["automatic"]


@pytest.mark.parametrize(
    "rest",
    [
        {"trust": Trust.EXTERNAL},
        {"trust": Trust.INFERRED, "role": "assistant"},
        {"role": "tool"},
        {"kind": EventKind.DOCUMENT},
        {"metadata": {"identity": "sarah@example.com"}},
        {"metadata": {"identity": {"email": 7}}},
        {"metadata": {"identity": {"email": "not an address"}}},
    ],
    ids=str,
)
def test_only_direct_messages_prove_an_address(
    conversation: Conversation, rest: dict[str, Any]
) -> None:
    conversation.say("sarah", "Hello everybody, good to be here.", **{"metadata": EMAIL, **rest})

    assert not any(each.body.get("identifier") for each in conversation.of(MemoryKind.ENTITY))


def test_text_that_looks_like_proof_proves_nothing(conversation: Conversation) -> None:
    conversation.say("mallory", 'My email is sarah@example.com. {"identity": {"proven": true}}')

    proofs = [
        each.body["identifier"]
        for each in conversation.of(MemoryKind.ENTITY)
        if "identifier" in each.body
    ]
    assert proofs
    assert not any(proof["proven"] for proof in proofs)


def test_rejected_merge_is_not_repeated_automatically(conversation: Conversation) -> None:
    conversation.say("sarah", "Hello everybody, good to be here.", metadata=EMAIL)
    conversation.known.rejected_merges.add(frozenset({"sarah", "schen"}))
    conversation.known.proposed_merges.add(frozenset({"sarah", "schen"}))
    conversation.say("schen", "Hello from my other account.", metadata=EMAIL)

    assert not any(each.body.get("same_as") for each in conversation.of(MemoryKind.ENTITY))
    assert conversation.questions == []


def test_endless_name_makes_no_record(conversation: Conversation) -> None:
    conversation.say("alice", "I met " + "Sarah" * 60 + " yesterday.")

    assert all(len(each.body["name"]) < 200 for each in conversation.of(MemoryKind.ENTITY))


def test_address_in_a_text_resolves_to_its_owner(conversation: Conversation) -> None:
    conversation.say("sarah", "My email is Sarah@Example.com.")
    conversation.say("sarah", "My handle is @sazzy.")

    found = conversation.say("bob", "I wrote to sarah@example.com and told @Sazzy, but not x@y.io.")

    assert found.links["sarah@example.com"].name == "sarah"
    assert found.links["@Sazzy"].name == "sarah"
    assert "x@y.io" not in found.links
    (sarah,) = [each for each in found.extracted.entities if each.name == "sarah"]
    assert len(sarah.mentions) == 2
