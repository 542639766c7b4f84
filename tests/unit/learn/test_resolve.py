from __future__ import annotations

import pytest
from tests.unit.learn.talking import Talk
from tests.unit.making import ACME, NOON, event

from nexus.core.derive import derive
from nexus.core.records import MemoryKind
from nexus.learn.around import Around
from nexus.learn.directory import Directory
from nexus.learn.resolve import resolve


@pytest.fixture
def talk() -> Talk:
    return Talk()


def test_a_first_name_means_the_only_one_who_has_it(talk: Talk) -> None:
    talk.say("alice", "Sarah Chen joined the design team.")

    link = talk.meant("bob", "Sarah loves climbing.", "Sarah")

    assert (link.name, link.how) == ("Sarah Chen", "part")
    assert link.rests_on == (talk.said[0].id,)
    fact = talk.of(MemoryKind.FACT)[-1]
    assert fact.body["subject"] == "Sarah Chen"
    assert fact.text.startswith("Sarah Chen loves climbing")


@pytest.mark.requirement("B11")
def test_of_two_of_that_name_nobody_is_meant_and_a_person_is_asked(talk: Talk) -> None:
    talk.say("alice", "Sarah Chen joined the design team.")
    talk.say("alice", "Sarah Miller works at Globex.")

    link = talk.meant("bob", "Sarah is on holiday.", "Sarah")

    assert (link.name, link.how) == ("Sarah", "new")
    assert talk.questions == [["Sarah Chen", "Sarah"], ["Sarah Miller", "Sarah"]]
    review = talk.of(MemoryKind.REVIEW)[0]
    assert 0 < review.confidence < 0.9
    assert review.sources == (talk.said[2].id, talk.said[0].id)


def test_what_the_message_speaks_of_decides(talk: Talk) -> None:
    talk.say("alice", "Sarah Chen designed the logo.")
    talk.say("alice", "Sarah Miller works at Globex.")

    assert talk.meant("bob", "Sarah left Globex yesterday.", "Sarah").name == "Sarah Miller"
    assert talk.meant("bob", "I like the logo that Sarah designed.", "Sarah").name == "Sarah Chen"
    assert talk.questions == []


def test_what_was_kept_elsewhere_decides_too() -> None:
    talk = Talk()
    talk.say("alice", "I met Sarah Chen.")
    talk.say("alice", "I met Sarah Miller.")
    kept = {"sarah chen": "Sarah Chen climbs mountains.", "sarah miller": "Sarah Miller sails."}
    known = Directory(lambda key: [(NOON, kept[key])] if key in kept else []).with_(talk.drafts)
    around = Around(event("Sarah bought rope for the mountains."), ())

    assert resolve("Sarah", "person", around, known).name == "Sarah Chen"


def test_closeness_of_meaning_decides_where_words_do_not() -> None:
    talk = Talk()
    talk.say("alice", "I met Sarah Chen.")
    talk.say("alice", "I met Sarah Miller.")
    around = Around(event("Sarah bought rope."), ())

    def similar(_text: str, others: list[str]) -> list[float]:
        return [1.0 if "Chen" in other else 0.1 for other in others]

    assert resolve("Sarah", "person", around, talk.known, similar).name == "Sarah Chen"
    assert resolve("Sarah", "person", around, talk.known).how == "new"


def test_somebody_else_can_be_brought_up_by_the_same_name(talk: Talk) -> None:
    talk.say("alice", "Tom Baker runs a bakery.")

    link = talk.meant("bob", "My cousin Tom lives in Madrid.", "Tom")

    assert link.how == "new"
    assert ["Tom Baker", "Tom"] in talk.questions


def test_a_full_name_is_never_another_full_name(talk: Talk) -> None:
    talk.say("alice", "Sarah Chen joined us.")

    assert talk.meant("bob", "Sarah Miller joined us, too.", "Sarah Miller").how == "new"
    assert talk.questions == []


def test_a_name_that_is_spelt_alike_is_proposed_and_not_taken(talk: Talk) -> None:
    talk.say("alice", "Katarzyna Nowak works at Orbit.")

    link = talk.meant("bob", "Katarzyna Novak called.", "Katarzyna Novak")

    assert link.how == "new"
    assert talk.questions == [["Katarzyna Nowak", "Katarzyna Novak"]]


def test_numbers_are_no_slips(talk: Talk) -> None:
    talk.say("alice", "I am working on Falcon 21.")
    talk.say("alice", "I am working on Falcon 22.")

    assert talk.questions == []


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
def test_a_shared_word_is_not_a_shared_name(talk: Talk, first: str, then: str, name: str) -> None:
    talk.say("alice", first)

    assert talk.meant("bob", then, name).how == "new"


@pytest.mark.parametrize(
    ("first", "then", "said", "name"),
    [
        ("I work at Acme.", "I left Acme Inc yesterday.", "Acme Inc", "Acme"),
        ("I am working on Project Atlas.", "When is Atlas due?", "Atlas", "Project Atlas"),
        ("David Okafor founded Lumen.", "I met Mr Okafor.", "Mr Okafor", "David Okafor"),
    ],
)
def test_other_forms_of_a_name_mean_the_same(
    talk: Talk, first: str, then: str, said: str, name: str
) -> None:
    talk.say("alice", first)

    assert talk.meant("bob", then, said).name == name


def test_who_speaks_is_who_they_are(talk: Talk) -> None:
    talk.say("alice", "Sarah Chen joined us.")

    assert talk.meant("sarah", "I am sarah and I like tea.", "sarah").how == "speaker"
    assert talk.meant("bob", "I agree with Sarah.", "Sarah").how == "exact"


def test_a_name_in_the_same_message_is_meant(talk: Talk) -> None:
    found = talk.say("alice", "Emma Stone and Julia Weber presented. Emma spoke first.")

    assert found.links["Emma"].name == "Emma Stone"


@pytest.mark.requirement("B12")
def test_the_same_question_is_asked_once(talk: Talk) -> None:
    talk.say("alice", "Sarah Chen joined the design team.")
    talk.say("alice", "Sarah Miller works at Globex.")
    for _ in range(3):
        talk.say("bob", "Sarah is on holiday.")

    assert len(talk.questions) == 2


def test_of_many_of_one_name_the_one_named_lately_is_meant(talk: Talk) -> None:
    for name in "Abbot Berger Calder Dorn Engel Fischer Goldberg Hansen Ibsen Jonas".split():
        talk.say("alice", f"Sarah {name} joined us.")
    for _ in range(6):
        talk.say("alice", "It rains again.")

    assert talk.meant("bob", "I like Sarah.", "Sarah").how == "new"
    talk.say("bob", "Sarah Ibsen plays chess.")
    assert talk.meant("bob", "I lost to Sarah.", "Sarah").name == "Sarah Ibsen"
    assert talk.questions == []


def test_what_was_said_later_is_not_known_yet(talk: Talk) -> None:
    talk.say("alice", "Sarah Chen joined us.")
    talk.say("bob", "Sarah likes tea.")
    talk.say("alice", "Sarah Miller joined us.")
    sources = {event.id: event for event in talk.said}
    known = Directory.of(derive(ACME, draft, sources) for draft in talk.drafts)

    again = talk.meant_by(talk.said[1], "Sarah", known)
    later = talk.meant_by(event("Sarah likes rum.", at=talk.said[2].at), "Sarah", known)

    assert again.name == "Sarah Chen"
    assert later.how == "new"


@pytest.mark.parametrize(
    ("first", "then", "said", "name"),
    [
        ("Simon Vogt joined us.", "I visited Simon yesterday.", "Simon", "Simon Vogt"),
        ("I work at Bosch.", "We ordered drills from Bosch.", "Bosch", "Bosch"),
        ("I hired Austin Pierce.", "I flew to Austin.", "Austin", "Austin"),
    ],
)
def test_people_are_visited_and_places_are_not_people(
    talk: Talk, first: str, then: str, said: str, name: str
) -> None:
    talk.say("alice", first)

    assert talk.meant("bob", then, said).name == name


def test_a_family_name_alone_may_be_a_company(talk: Talk) -> None:
    talk.say("alice", "I work at Bosch.")
    talk.say("alice", "I met Carl Bosch in the canteen.")

    assert talk.meant("bob", "We bought food for the canteen from Bosch.", "Bosch").how == "exact"


def test_somebody_who_is_visited_does_not_become_a_place(talk: Talk) -> None:
    talk.say("alice", "Simon Vogt joined us.")
    talk.say("bob", "I visited Simon Vogt.")

    assert [record.body["type"] for record in talk.records("Simon Vogt")] == ["person"]
