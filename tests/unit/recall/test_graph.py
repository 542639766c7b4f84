"""Outwards from the names in a question."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from nexus.core.access import Grant
from nexus.core.filters import parse_filter
from nexus.core.records import Memory, MemoryKind
from nexus.recall.asked import Asked
from nexus.recall.graph import FADING, RESTATED, graph, possible_names
from nexus.recall.query import Query
from nexus.recall.understand import understand
from nexus.stores.inprocess import InProcessStore
from nexus.testing.samples import ACME, ADMIN, ALICE, ALICE_DM, IN_ROOM, NOON, ROOM, draft, keep


@pytest.fixture
def store() -> InProcessStore:
    return InProcessStore()


def fact(
    store: InProcessStore, subject: str, predicate: str, object: str, **more: object
) -> Memory:
    key = f"{subject} {predicate} {object}"
    body = {"subject": subject, "predicate": predicate, "object": object}
    return keep(store, key, key, kind=MemoryKind.FACT, body=body, **more)  # type: ignore[arg-type]


def found(
    store: InProcessStore, question: str, grant: Grant = ADMIN, depth: int = 10, **where: object
) -> dict[str, float]:
    """What is reached from the question's names, and how much each counts."""
    hits = graph(store)(grant, _asked(question, depth, **where))
    texts = store.memories.texts(grant, [hit.id for hit in hits])
    return {texts[hit.id]: hit.score for hit in hits}


def _asked(question: str, depth: int = 10, **where: object) -> Asked:
    query = Query(question=question, where=parse_filter(where), now=NOON)
    return Asked(query, understand(question, [], NOON), None, depth)


def test_every_run_of_up_to_four_words_may_be_a_name() -> None:
    names = set(possible_names("Where does Ada Lovelace's friend of the Analytical Engine live?"))

    assert {"ada", "ada lovelace", "analytical engine", "friend of the analytical"} <= names
    assert not names & {"where", "of", "the analytical", "friend of", "does ada"}
    assert list(possible_names("")) == []


@pytest.mark.requirement("E14")
def test_a_fact_is_reached_from_its_subject_and_from_its_object(store: InProcessStore) -> None:
    fact(store, "Tyler", "WORKS_AT", "Anthropic")
    fact(store, "Rome", "CAPITAL_OF", "Italy")

    for question in ("Where does Tyler work?", "Who is at anthropic?", "Tyler's job?"):
        assert found(store, question) == {"Tyler WORKS_AT Anthropic": 1.0}
    assert found(store, "Who works where?") == {}


@pytest.mark.requirement("E14")
def test_a_person_is_reached_by_the_name_of_their_scope(store: InProcessStore) -> None:
    fact(store, "user:alice", "LIKES", "tea")

    assert found(store, "What does Alice like?") == {"user:alice LIKES tea": 1.0}


@pytest.mark.requirement("E14")
def test_an_entity_leads_from_one_of_its_names_to_facts_under_another(
    store: InProcessStore,
) -> None:
    body = {"name": "Ada Lovelace", "aliases": ["Countess"]}
    keep(store, "1", "Ada", kind=MemoryKind.ENTITY, body=body)
    fact(store, "Ada Lovelace", "WROTE", "Notes")

    assert found(store, "What did the Countess write?") == {
        "Ada": 1.0,
        "Ada Lovelace WROTE Notes": FADING,
    }


@pytest.mark.requirement("E5")
def test_facts_are_followed_two_steps_and_no_further(store: InProcessStore) -> None:
    chain = ["Ann", "Ben", "Cid", "Dan", "Eve"]
    for one, two in pairwise(chain):
        fact(store, one, "KNOWS", two)

    assert found(store, "Ann?") == {"Ann KNOWS Ben": 1.0, "Ben KNOWS Cid": FADING}


@pytest.mark.requirement("E5")
def test_facts_are_followed_in_both_directions(store: InProcessStore) -> None:
    fact(store, "Ann", "KNOWS", "Ben")
    fact(store, "Cid", "KNOWS", "Ben")

    assert found(store, "Ann?") == {"Ann KNOWS Ben": 1.0, "Cid KNOWS Ben": FADING}


@pytest.mark.requirement("E5")
def test_a_circle_ends(store: InProcessStore) -> None:
    for one, two in (("Ann", "Ben"), ("Ben", "Ann"), ("Ann", "Ann")):
        fact(store, one, "KNOWS", two)

    assert len(found(store, "Ann?")) == 3


@pytest.mark.requirement("E5")
def test_no_more_than_the_depth_asked_for_comes_back(store: InProcessStore) -> None:
    for number in range(9):
        fact(store, "Ann", f"HAS_{number}", f"thing{number}")
        fact(store, f"thing{number}", "IS", "blue")

    reached = found(store, "Ann?", depth=5)

    assert len(reached) == 5
    assert set(reached.values()) == {1.0}


@pytest.mark.requirement("E5")
def test_a_filter_narrows_what_is_shown(store: InProcessStore) -> None:
    fact(store, "Ann", "KNOWS", "Ben")
    fact(store, "Ben", "OWNS", "boat")

    assert found(store, "Ann?", predicate="OWNS") == {"Ben OWNS boat": FADING}
    assert found(store, "Ann?", kind="passage") == {}


@pytest.mark.requirement("A12", "E5")
def test_no_step_leads_past_the_grant(store: InProcessStore) -> None:
    fact(store, "Ann", "KNOWS", "Ben", scope=ALICE_DM)
    fact(store, "Ben", "OWNS", "boat", scope=ROOM)
    fact(store, "boat", "LIES_IN", "Kiel", scope=ALICE_DM)

    assert found(store, "Ann?", grant=IN_ROOM.grant()) == {}  # the way there is Alice's
    assert found(store, "Ben?", grant=IN_ROOM.grant()) == {"Ben OWNS boat": 1.0}
    assert found(store, "Ben?", grant=ALICE.grant()) == {"Ann KNOWS Ben": 1.0}


@pytest.mark.requirement("E14")
def test_what_holds_counts_more_than_what_held(store: InProcessStore) -> None:
    fact(store, "Tyler", "WORKS_AT", "Google", at=NOON - timedelta(days=9))
    fact(store, "Tyler", "WORKS_AT", "Anthropic")

    reached = found(store, "Tyler?")

    assert [*reached] == ["Tyler WORKS_AT Anthropic", "Tyler WORKS_AT Google"]
    assert reached["Tyler WORKS_AT Google"] < 1.0


def learned(
    store: InProcessStore, text: str, subject: str, object: str | None, **more: Any
) -> tuple[Memory, Memory]:
    """A passage, and the fact that was learned from it."""
    passage = keep(store, text, text, **more)
    body = {"subject": subject, "predicate": "SAID", "object": object}
    drafted = draft(
        *passage.sources,
        text=f"fact: {text}",
        kind=MemoryKind.FACT,
        body=body,
        learned=True,
        scope=passage.scope,
    )
    return passage, store.memories.put(ACME, [drafted])[0]


@pytest.mark.requirement("E14")
def test_a_learned_fact_leads_to_the_passage_it_restates(store: InProcessStore) -> None:
    learned(store, "She is a good dog.", "Luna", None)
    fact(store, "Luna", "OWNED_BY", "Ann")

    assert found(store, "Luna?") == {"She is a good dog.": RESTATED, "Luna OWNED_BY Ann": 1.0}
    assert found(store, "Luna?", kind="fact") == {
        "fact: She is a good dog.": 1.0,
        "Luna OWNED_BY Ann": 1.0,
    }


def test_what_many_facts_name_leads_nowhere_and_what_few_name_everywhere(
    store: InProcessStore,
) -> None:
    for number in range(30):
        learned(store, f"Melanie painted picture {number}.", "Melanie", f"picture {number}")

    assert found(store, "Melanie?") == {}
    assert found(store, "What of picture 7, Melanie?") == {"Melanie painted picture 7.": RESTATED}


def test_told_facts_are_found_however_many_were_learned_since(store: InProcessStore) -> None:
    fact(store, "Tyler", "WORKS_AT", "Anthropic", at=NOON - timedelta(days=9))
    for number in range(40):
        learned(store, f"Tyler ran {number} miles.", "Tyler", None)

    assert found(store, "Where does Tyler work?") == {"Tyler WORKS_AT Anthropic": 1.0}


def test_a_learned_fact_is_reached_by_its_subjects_other_name(store: InProcessStore) -> None:
    learned(store, "She wrote the notes.", "Ada Lovelace", "Notes")
    body = {"name": "Ada Lovelace", "aliases": ["Countess"]}
    keep(store, "1", "Ada", kind=MemoryKind.ENTITY, body=body, learned=True)

    assert found(store, "What did the Countess write?") == {"She wrote the notes.": RESTATED}


def test_of_a_long_message_the_piece_is_found_that_says_it(store: InProcessStore) -> None:
    pieces = ["Rain all day.", "Our dog Luna barked.", "Then we slept."]
    first = keep(store, "long", pieces[0], slot="000000")
    store.memories.put(
        ACME,
        [
            draft(*first.sources, text=text, slot=f"{number:06}")
            for number, text in enumerate(pieces)
        ],
    )
    body = {"subject": "Luna", "predicate": "BARK", "object": None}
    barked = draft(
        *first.sources, text="Luna barked.", kind=MemoryKind.FACT, body=body, learned=True
    )
    store.memories.put(ACME, [barked])

    assert found(store, "Luna?") == {"Our dog Luna barked.": RESTATED}


def test_a_fact_whose_message_was_not_kept_as_a_passage_leads_nowhere(
    store: InProcessStore,
) -> None:
    passage, _ = learned(store, "Luna!", "Luna", None)
    store.memories.delete(ACME, [passage.id])

    assert graph(store)(ADMIN, _asked("Luna?")) == []


def test_what_rests_on_much_restates_nothing_and_is_found_itself(store: InProcessStore) -> None:
    sources = [keep(store, str(n), f"Luna barks at {n}.").sources[0] for n in range(8)]
    body = {"subject": "Luna", "predicate": "TYPICALLY_CONTACTS_AT", "value": "8am"}
    pattern = draft(
        *sources, text="Luna mostly barks at 8am.", kind=MemoryKind.FACT, body=body, learned=True
    )
    store.memories.put(ACME, [pattern])

    assert found(store, "When does Luna bark?") == {"Luna mostly barks at 8am.": 1.0}


@pytest.mark.requirement("A12", "E5")
def test_a_learned_fact_of_another_place_leads_nowhere(store: InProcessStore) -> None:
    learned(store, "Luna is mine.", "Luna", None, scope=ALICE_DM)

    assert found(store, "Luna?", grant=IN_ROOM.grant()) == {}
    assert found(store, "Luna?", grant=ALICE.grant()) == {"Luna is mine.": RESTATED}


def test_a_filter_is_put_to_the_passage_a_fact_leads_to(store: InProcessStore) -> None:
    learned(store, "She is a good dog.", "Luna", None, speaker="ann")

    assert found(store, "Luna?", speaker="ann") == {"She is a good dog.": RESTATED}
    assert found(store, "Luna?", speaker="bob") == {}
