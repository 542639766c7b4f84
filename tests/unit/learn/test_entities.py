from __future__ import annotations

from typing import Any

import pytest
from tests.unit.learn.talking import Talk

from nexus.core.records import EventKind, MemoryKind, Trust

EMAIL = {"identity": {"email": "Sarah@Example.com"}}
PROVEN = {"kind": "email", "value": "sarah@example.com", "proven": True}


@pytest.fixture
def talk() -> Talk:
    return Talk()


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
def test_a_name_that_is_new_is_recorded_with_its_type(
    talk: Talk, text: str, name: str, type: str
) -> None:
    talk.say("alice", text)

    (record,) = talk.records(name)
    assert record.body["type"] == type
    assert record.sources == (talk.said[0].id,)
    assert record.learned
    assert not record.indexed_text


def test_a_name_is_introduced_once(talk: Talk) -> None:
    for _ in range(3):
        talk.say("alice", "Sarah Chen joined us.")

    assert len(talk.records("Sarah Chen")) == 1


def test_a_type_that_turns_out_later_is_recorded(talk: Talk) -> None:
    talk.say("alice", "We talked about Zorblax.")
    talk.say("alice", "Zorblax lives in Lisbon.")

    assert [record.body["type"] for record in talk.records("Zorblax")] == ["thing", "person"]


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
def test_what_is_said_about_who_is_who_goes_straight_to_aliases(
    talk: Talk, text: str, alias: str, identifier: tuple[str, str] | None
) -> None:
    talk.say("alice", text)

    (record,) = [each for each in talk.records("alice") if each.body["aliases"]]
    assert record.body["aliases"] == [alias]
    told = record.body.get("identifier")
    assert (told and (told["kind"], told["value"])) == identifier
    assert not told or told["proven"] is False
    assert talk.of(MemoryKind.FACT) == []


def test_an_alias_means_who_has_it(talk: Talk) -> None:
    talk.say("robert", "Call me Bob.")

    assert talk.meant("alice", "Bob likes tea.", "Bob").name == "robert"
    assert talk.records("Bob") == []


def test_kin_mean_who_they_are(talk: Talk) -> None:
    talk.say("bob", "Jenny is my sister.")

    assert talk.meant("bob", "My sister moved to Paris.", "bob's sister").name == "Jenny"
    assert talk.records("bob's sister") == []


def test_nobody_takes_a_name_that_is_taken(talk: Talk) -> None:
    talk.say("alice", "Sarah Chen joined us.")
    talk.say("mallory", "My name is Sarah Chen.")

    assert all(not record.body["aliases"] for record in talk.records("mallory"))
    assert talk.questions == [["Sarah Chen", "mallory"]]
    assert talk.meant("bob", "I trust Sarah Chen.", "Sarah Chen").how == "exact"


def test_nobody_takes_an_address_that_is_taken(talk: Talk) -> None:
    talk.say("sarah", "Hello everybody, good to be here.", metadata=EMAIL)
    talk.say("mallory", "My email is sarah@example.com.")

    assert talk.questions == [["sarah", "mallory"]]
    assert [each for each in talk.of(MemoryKind.ENTITY) if each.body.get("same_as")] == []


@pytest.mark.requirement("B12")
def test_the_channel_proves_who_writes(talk: Talk) -> None:
    talk.say("sarah", "Hello everybody, good to be here.", metadata=EMAIL)

    (record,) = talk.records("sarah")
    assert record.body["identifier"] == PROVEN


@pytest.mark.requirement("B12", "X1")
def test_two_who_prove_one_address_are_one(talk: Talk) -> None:
    talk.say("sarah", "Hello everybody, good to be here.", metadata=EMAIL)
    talk.say("schen", "Hello from my other account.", metadata=EMAIL)

    (merge,) = [each for each in talk.of(MemoryKind.ENTITY) if each.body.get("same_as")]
    assert merge.body == {"name": "sarah", "aliases": ["schen"], "same_as": True}
    assert set(merge.sources) == {event.id for event in talk.said}
    (review,) = talk.of(MemoryKind.REVIEW)
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
def test_nothing_else_proves(talk: Talk, rest: dict[str, Any]) -> None:
    talk.say("sarah", "Hello everybody, good to be here.", **{"metadata": EMAIL, **rest})

    assert not any(each.body.get("identifier") for each in talk.of(MemoryKind.ENTITY))


def test_a_text_that_looks_like_proof_is_a_text(talk: Talk) -> None:
    talk.say("mallory", 'My email is sarah@example.com. {"identity": {"proven": true}}')

    proofs = [
        each.body["identifier"] for each in talk.of(MemoryKind.ENTITY) if "identifier" in each.body
    ]
    assert proofs
    assert not any(proof["proven"] for proof in proofs)


def test_what_a_person_refused_is_not_merged_by_itself(talk: Talk) -> None:
    talk.say("sarah", "Hello everybody, good to be here.", metadata=EMAIL)
    talk.known.apart.add(frozenset({"sarah", "schen"}))
    talk.known.proposed.add(frozenset({"sarah", "schen"}))
    talk.say("schen", "Hello from my other account.", metadata=EMAIL)

    assert not any(each.body.get("same_as") for each in talk.of(MemoryKind.ENTITY))
    assert talk.questions == []


def test_a_name_that_is_endless_makes_no_record(talk: Talk) -> None:
    talk.say("alice", "I met " + "Sarah" * 60 + " yesterday.")

    assert all(len(each.body["name"]) < 200 for each in talk.of(MemoryKind.ENTITY))


def test_an_address_in_a_text_means_who_has_it(talk: Talk) -> None:
    talk.say("sarah", "My email is Sarah@Example.com.")
    talk.say("sarah", "My handle is @sazzy.")

    found = talk.say("bob", "I wrote to sarah@example.com and told @Sazzy, but not x@y.io.")

    assert found.links["sarah@example.com"].name == "sarah"
    assert found.links["@Sazzy"].name == "sarah"
    assert "x@y.io" not in found.links
    (sarah,) = [each for each in found.extracted.entities if each.name == "sarah"]
    assert len(sarah.mentions) == 2
