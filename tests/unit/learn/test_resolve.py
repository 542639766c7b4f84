"""Name resolution: links, ambiguous names and reviews."""

from __future__ import annotations

import pytest
from tests.unit.learn.conversation import Conversation
from tests.unit.making import ACME, NOON, event

from nexusmem.core.derive import derive_memory
from nexusmem.core.records import MemoryKind
from nexusmem.learn.extract.event_context import EventContext
from nexusmem.learn.names.name_directory import NameDirectory
from nexusmem.learn.names.resolve import resolve_name


@pytest.fixture
def conversation() -> Conversation:
    return Conversation()


def test_first_name_resolves_to_its_only_bearer(conversation: Conversation) -> None:
    conversation.say("alice", "Sarah Chen joined the design team.")

    link = conversation.meant("bob", "Sarah loves climbing.", "Sarah")

    assert (link.name, link.method) == ("Sarah Chen", "part")
    assert link.name_sources == (conversation.said[0].id,)
    fact = conversation.of(MemoryKind.FACT)[-1]
    assert fact.body["subject"] == "Sarah Chen"
    assert fact.text == "Sarah loves climbing."


@pytest.mark.requirement("B11")
def test_ambiguous_name_is_reviewed_not_linked(conversation: Conversation) -> None:
    conversation.say("alice", "Sarah Chen joined the design team.")
    conversation.say("alice", "Sarah Miller works at Globex.")

    link = conversation.meant("bob", "Sarah is on holiday.", "Sarah")

    assert (link.name, link.method) == ("Sarah", "new")
    assert conversation.questions == [["Sarah Chen", "Sarah"], ["Sarah Miller", "Sarah"]]
    review = conversation.of(MemoryKind.REVIEW)[0]
    assert 0 < review.confidence < 0.9
    assert review.sources == (conversation.said[2].id, conversation.said[0].id)


def test_message_terms_resolve_ambiguity(conversation: Conversation) -> None:
    conversation.say("alice", "Sarah Chen designed the logo.")
    conversation.say("alice", "Sarah Miller works at Globex.")

    assert conversation.meant("bob", "Sarah left Globex yesterday.", "Sarah").name == "Sarah Miller"
    assert (
        conversation.meant("bob", "I like the logo that Sarah designed.", "Sarah").name
        == "Sarah Chen"
    )
    assert conversation.questions == []


def test_stored_facts_resolve_ambiguity() -> None:
    conversation = Conversation()
    conversation.say("alice", "I met Sarah Chen.")
    conversation.say("alice", "I met Sarah Miller.")
    kept = {"sarah chen": "Sarah Chen climbs mountains.", "sarah miller": "Sarah Miller sails."}
    known = NameDirectory(lambda key: [(NOON, kept[key])] if key in kept else []).add_records(
        conversation.drafts
    )
    around = EventContext(event("Sarah bought rope for the mountains."), ())

    assert resolve_name("Sarah", "person", around, known).name == "Sarah Chen"


def test_vector_similarity_resolves_ambiguity() -> None:
    conversation = Conversation()
    conversation.say("alice", "I met Sarah Chen.")
    conversation.say("alice", "I met Sarah Miller.")
    around = EventContext(event("Sarah bought rope."), ())

    def similar(_text: str, others: list[str]) -> list[float]:
        return [1.0 if "Chen" in other else 0.1 for other in others]

    assert resolve_name("Sarah", "person", around, conversation.known, similar).name == "Sarah Chen"
    assert resolve_name("Sarah", "person", around, conversation.known).method == "new"


def test_introduction_starts_a_new_entity(conversation: Conversation) -> None:
    conversation.say("alice", "Tom Baker runs a bakery.")

    link = conversation.meant("bob", "My cousin Tom lives in Madrid.", "Tom")

    assert link.method == "new"
    assert ["Tom Baker", "Tom"] in conversation.questions


def test_full_names_are_never_linked_to_each_other(conversation: Conversation) -> None:
    conversation.say("alice", "Sarah Chen joined us.")

    assert conversation.meant("bob", "Sarah Miller joined us, too.", "Sarah Miller").method == "new"
    assert conversation.questions == []


def test_similar_spelling_is_proposed_only(conversation: Conversation) -> None:
    conversation.say("alice", "Katarzyna Nowak works at Orbit.")

    link = conversation.meant("bob", "Katarzyna Novak called.", "Katarzyna Novak")

    assert link.method == "new"
    assert conversation.questions == [["Katarzyna Nowak", "Katarzyna Novak"]]


def test_different_digits_are_different_names(conversation: Conversation) -> None:
    conversation.say("alice", "I am working on Falcon 21.")
    conversation.say("alice", "I am working on Falcon 22.")

    assert conversation.questions == []


@pytest.mark.parametrize(
    ("first", "then", "name"),
    [
        ("I live in Jordan.", "I met Jordan Lee yesterday.", "Jordan Lee"),
        ("I live in New York.", "I grew up in York.", "York"),
        ("I work at Sarah Labs.", "I met Sarah yesterday.", "Sarah"),
        ("Henry Ford visited us.", "We sold the car to Ford.", "Ford"),
        ("I work at Acme Labs.", "I work at Acme.", "Acme"),
    ],
)
def test_shared_word_is_no_shared_name(
    conversation: Conversation, first: str, then: str, name: str
) -> None:
    conversation.say("alice", first)

    assert conversation.meant("bob", then, name).method == "new"


@pytest.mark.parametrize(
    ("first", "then", "said", "name"),
    [
        ("I work at Acme.", "I left Acme Inc yesterday.", "Acme Inc", "Acme"),
        ("I am working on Project Atlas.", "When is Atlas due?", "Atlas", "Project Atlas"),
        ("David Okafor founded Lumen.", "I met Mr Okafor.", "Mr Okafor", "David Okafor"),
    ],
)
def test_other_forms_of_a_name_are_linked(
    conversation: Conversation, first: str, then: str, said: str, name: str
) -> None:
    conversation.say("alice", first)

    assert conversation.meant("bob", then, said).name == name


def test_speaker_name_is_the_speaker(conversation: Conversation) -> None:
    conversation.say("alice", "Sarah Chen joined us.")

    assert conversation.meant("sarah", "I am sarah and I like tea.", "sarah").method == "speaker"
    assert conversation.meant("bob", "I agree with Sarah.", "Sarah").method == "exact"


def test_name_in_the_same_message_is_linked(conversation: Conversation) -> None:
    found = conversation.say("alice", "Emma Stone and Julia Weber presented. Emma spoke first.")

    assert found.links["Emma"].name == "Emma Stone"


@pytest.mark.requirement("B12")
def test_review_is_created_once(conversation: Conversation) -> None:
    conversation.say("alice", "Sarah Chen joined the design team.")
    conversation.say("alice", "Sarah Miller works at Globex.")
    for _ in range(3):
        conversation.say("bob", "Sarah is on holiday.")

    assert len(conversation.questions) == 2


def test_recent_full_name_wins_among_many(conversation: Conversation) -> None:
    for name in "Abbot Berger Calder Dorn Engel Fischer Goldberg Hansen Ibsen Jonas".split():
        conversation.say("alice", f"Sarah {name} joined us.")
    for _ in range(6):
        conversation.say("alice", "It rains again.")

    assert conversation.meant("bob", "I like Sarah.", "Sarah").method == "new"
    conversation.say("bob", "Sarah Ibsen plays chess.")
    assert conversation.meant("bob", "I lost to Sarah.", "Sarah").name == "Sarah Ibsen"
    assert conversation.questions == []


def test_later_memories_are_not_known_yet(conversation: Conversation) -> None:
    conversation.say("alice", "Sarah Chen joined us.")
    conversation.say("bob", "Sarah likes tea.")
    conversation.say("alice", "Sarah Miller joined us.")
    sources = {event.id: event for event in conversation.said}
    known = NameDirectory.from_memories(
        derive_memory(ACME, draft, sources) for draft in conversation.drafts
    )

    again = conversation.meant_by(conversation.said[1], "Sarah", known)
    later = conversation.meant_by(
        event("Sarah likes rum.", at=conversation.said[2].at), "Sarah", known
    )

    assert again.name == "Sarah Chen"
    assert later.method == "new"


@pytest.mark.parametrize(
    ("first", "then", "said", "name"),
    [
        ("Simon Vogt joined us.", "I visited Simon yesterday.", "Simon", "Simon Vogt"),
        ("I work at Bosch.", "We ordered drills from Bosch.", "Bosch", "Bosch"),
        ("I hired Austin Pierce.", "I flew to Austin.", "Austin", "Austin"),
    ],
)
def test_visited_person_is_no_place(
    conversation: Conversation, first: str, then: str, said: str, name: str
) -> None:
    conversation.say("alice", first)

    assert conversation.meant("bob", then, said).name == name


def test_family_name_alone_may_be_a_company(conversation: Conversation) -> None:
    conversation.say("alice", "I work at Bosch.")
    conversation.say("alice", "I met Carl Bosch in the canteen.")

    assert (
        conversation.meant("bob", "We bought food for the canteen from Bosch.", "Bosch").method
        == "exact"
    )


def test_visited_name_does_not_become_a_place(conversation: Conversation) -> None:
    conversation.say("alice", "Simon Vogt joined us.")
    conversation.say("bob", "I visited Simon Vogt.")

    assert [record.body["type"] for record in conversation.records("Simon Vogt")] == ["person"]
