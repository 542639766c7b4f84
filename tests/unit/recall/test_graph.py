"""Graph strategy: facts and passages found from names in the question."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from nexusmem.core.access import Grant
from nexusmem.core.filters import parse_filter
from nexusmem.core.records import Memory, MemoryKind
from nexusmem.recall.query import Query
from nexusmem.recall.question_analysis import analyze_question
from nexusmem.recall.strategies.graph import (
    RESTATED_WEIGHT,
    STEP_DECAY,
    graph_strategy,
    possible_names,
)
from nexusmem.recall.strategy_run import PreparedQuestion
from nexusmem.testing.reference_store.store import ReferenceStore
from nexusmem.testing.samples import (
    ACME,
    ADMIN,
    ALICE,
    ALICE_DM,
    IN_ROOM,
    NOON,
    ROOM,
    add_memory,
    make_draft,
)


@pytest.fixture
def store() -> ReferenceStore:
    return ReferenceStore()


def fact(
    store: ReferenceStore, subject: str, predicate: str, object: str, **more: object
) -> Memory:
    key = f"{subject} {predicate} {object}"
    body = {"subject": subject, "predicate": predicate, "object": object}
    return add_memory(store, key, key, kind=MemoryKind.FACT, body=body, **more)  # type: ignore[arg-type]


def found(
    store: ReferenceStore, question: str, grant: Grant = ADMIN, depth: int = 10, **where: object
) -> dict[str, float]:
    """Return text → score of the results."""
    hits = graph_strategy(store)(grant, _asked(question, depth, **where))
    texts = store.memories.load_texts(grant, [hit.id for hit in hits])
    return {texts[hit.id]: hit.score for hit in hits}


def _asked(question: str, depth: int = 10, **where: object) -> PreparedQuestion:
    query = Query(question=question, where=parse_filter(where), now=NOON)
    return PreparedQuestion(query, analyze_question(question, [], NOON), None, depth)


def test_possible_names_are_runs_of_up_to_four_words() -> None:
    names = set(possible_names("Where does Ada Lovelace's friend of the Analytical Engine live?"))

    assert {"ada", "ada lovelace", "analytical engine", "friend of the analytical"} <= names
    assert not names & {"where", "of", "the analytical", "friend of", "does ada"}
    assert list(possible_names("")) == []


@pytest.mark.requirement("E14")
def test_fact_is_found_by_subject_and_object(store: ReferenceStore) -> None:
    fact(store, "Tyler", "WORKS_AT", "Anthropic")
    fact(store, "Rome", "CAPITAL_OF", "Italy")

    for question in ("Where does Tyler work?", "Who is at anthropic?", "Tyler's job?"):
        assert found(store, question) == {"Tyler WORKS_AT Anthropic": 1.0}
    assert found(store, "Who works where?") == {}


@pytest.mark.requirement("E14")
def test_person_is_found_by_scope_name(store: ReferenceStore) -> None:
    fact(store, "user:alice", "LIKES", "tea")

    assert found(store, "What does Alice like?") == {"user:alice LIKES tea": 1.0}


@pytest.mark.requirement("E14")
def test_alias_leads_to_facts_of_the_entity(
    store: ReferenceStore,
) -> None:
    body = {"name": "Ada Lovelace", "aliases": ["Countess"]}
    add_memory(store, "1", "Ada", kind=MemoryKind.ENTITY, body=body)
    fact(store, "Ada Lovelace", "WROTE", "Notes")

    assert found(store, "What did the Countess write?") == {
        "Ada": 1.0,
        "Ada Lovelace WROTE Notes": STEP_DECAY,
    }


@pytest.mark.requirement("E5")
def test_walk_stops_after_two_steps(store: ReferenceStore) -> None:
    chain = ["Ann", "Ben", "Cid", "Dan", "Eve"]
    for one, two in pairwise(chain):
        fact(store, one, "KNOWS", two)

    assert found(store, "Ann?") == {"Ann KNOWS Ben": 1.0, "Ben KNOWS Cid": STEP_DECAY}


@pytest.mark.requirement("E5")
def test_walk_follows_both_directions(store: ReferenceStore) -> None:
    fact(store, "Ann", "KNOWS", "Ben")
    fact(store, "Cid", "KNOWS", "Ben")

    assert found(store, "Ann?") == {"Ann KNOWS Ben": 1.0, "Cid KNOWS Ben": STEP_DECAY}


@pytest.mark.requirement("E5")
def test_cyclic_facts_terminate(store: ReferenceStore) -> None:
    for one, two in (("Ann", "Ben"), ("Ben", "Ann"), ("Ann", "Ann")):
        fact(store, one, "KNOWS", two)

    assert len(found(store, "Ann?")) == 3


@pytest.mark.requirement("E5")
def test_result_is_limited_by_depth(store: ReferenceStore) -> None:
    for number in range(9):
        fact(store, "Ann", f"HAS_{number}", f"thing{number}")
        fact(store, f"thing{number}", "IS", "blue")

    reached = found(store, "Ann?", depth=5)

    assert len(reached) == 5
    assert set(reached.values()) == {1.0}


@pytest.mark.requirement("E5")
def test_filter_applies_to_facts(store: ReferenceStore) -> None:
    fact(store, "Ann", "KNOWS", "Ben")
    fact(store, "Ben", "OWNS", "boat")

    assert found(store, "Ann?", predicate="OWNS") == {"Ben OWNS boat": STEP_DECAY}
    assert found(store, "Ann?", kind="passage") == {}


@pytest.mark.requirement("A12", "E5")
def test_walk_stays_inside_the_grant(store: ReferenceStore) -> None:
    fact(store, "Ann", "KNOWS", "Ben", scope=ALICE_DM)
    fact(store, "Ben", "OWNS", "boat", scope=ROOM)
    fact(store, "boat", "LIES_IN", "Kiel", scope=ALICE_DM)

    assert (
        found(store, "Ann?", grant=IN_ROOM.grant()) == {}
    )  # only Alice may read the fact in between
    assert found(store, "Ben?", grant=IN_ROOM.grant()) == {"Ben OWNS boat": 1.0}
    assert found(store, "Ben?", grant=ALICE.grant()) == {"Ann KNOWS Ben": 1.0}


@pytest.mark.requirement("E14")
def test_current_fact_scores_higher_than_past(store: ReferenceStore) -> None:
    fact(store, "Tyler", "WORKS_AT", "Google", at=NOON - timedelta(days=9))
    fact(store, "Tyler", "WORKS_AT", "Anthropic")

    reached = found(store, "Tyler?")

    assert [*reached] == ["Tyler WORKS_AT Anthropic", "Tyler WORKS_AT Google"]
    assert reached["Tyler WORKS_AT Google"] < 1.0


def learned(
    store: ReferenceStore, text: str, subject: str, object: str | None, **more: Any
) -> tuple[Memory, Memory]:
    """Store a passage and a fact derived from it."""
    passage = add_memory(store, text, text, **more)
    body = {"subject": subject, "predicate": "SAID", "object": object}
    drafted = make_draft(
        *passage.sources,
        text=f"fact: {text}",
        kind=MemoryKind.FACT,
        body=body,
        learned=True,
        scope=passage.scope,
    )
    return passage, store.memories.put(ACME, [drafted])[0]


@pytest.mark.requirement("E14")
def test_derived_fact_scores_its_passage(store: ReferenceStore) -> None:
    learned(store, "She is a good dog.", "Luna", None)
    fact(store, "Luna", "OWNED_BY", "Ann")

    assert found(store, "Luna?") == {
        "She is a good dog.": RESTATED_WEIGHT,
        "Luna OWNED_BY Ann": 1.0,
    }
    assert found(store, "Luna?", kind="fact") == {
        "fact: She is a good dog.": 1.0,
        "Luna OWNED_BY Ann": 1.0,
    }


def test_common_names_are_ignored_and_rare_ones_used(
    store: ReferenceStore,
) -> None:
    for number in range(30):
        learned(store, f"Melanie painted picture {number}.", "Melanie", f"picture {number}")

    assert found(store, "Melanie?") == {}
    assert found(store, "What of picture 7, Melanie?") == {
        "Melanie painted picture 7.": RESTATED_WEIGHT
    }


def test_explicit_facts_are_found_among_many_derived(store: ReferenceStore) -> None:
    fact(store, "Tyler", "WORKS_AT", "Anthropic", at=NOON - timedelta(days=9))
    for number in range(40):
        learned(store, f"Tyler ran {number} miles.", "Tyler", None)

    assert found(store, "Where does Tyler work?") == {"Tyler WORKS_AT Anthropic": 1.0}


def test_derived_fact_is_found_by_alias_of_its_subject(store: ReferenceStore) -> None:
    learned(store, "She wrote the notes.", "Ada Lovelace", "Notes")
    body = {"name": "Ada Lovelace", "aliases": ["Countess"]}
    add_memory(store, "1", "Ada", kind=MemoryKind.ENTITY, body=body, learned=True)

    assert found(store, "What did the Countess write?") == {"She wrote the notes.": RESTATED_WEIGHT}


def test_best_passage_of_a_long_message_is_found(store: ReferenceStore) -> None:
    pieces = ["Rain all day.", "Our dog Luna barked.", "Then we slept."]
    first = add_memory(store, "long", pieces[0], slot="000000")
    store.memories.put(
        ACME,
        [
            make_draft(*first.sources, text=text, slot=f"{number:06}")
            for number, text in enumerate(pieces)
        ],
    )
    body = {"subject": "Luna", "predicate": "BARK", "object": None}
    barked = make_draft(
        *first.sources, text="Luna barked.", kind=MemoryKind.FACT, body=body, learned=True
    )
    store.memories.put(ACME, [barked])

    assert found(store, "Luna?") == {"Our dog Luna barked.": RESTATED_WEIGHT}


def test_derived_fact_without_passage_finds_nothing(
    store: ReferenceStore,
) -> None:
    passage, _ = learned(store, "Luna!", "Luna", None)
    store.memories.delete(ACME, [passage.id])

    assert graph_strategy(store)(ADMIN, _asked("Luna?")) == []


def test_fact_with_many_sources_is_found_itself(store: ReferenceStore) -> None:
    sources = [add_memory(store, str(n), f"Luna barks at {n}.").sources[0] for n in range(8)]
    body = {"subject": "Luna", "predicate": "TYPICALLY_CONTACTS_AT", "value": "8am"}
    pattern = make_draft(
        *sources, text="Luna mostly barks at 8am.", kind=MemoryKind.FACT, body=body, learned=True
    )
    store.memories.put(ACME, [pattern])

    assert found(store, "When does Luna bark?") == {"Luna mostly barks at 8am.": 1.0}


@pytest.mark.requirement("A12", "E5")
def test_derived_fact_outside_the_grant_finds_nothing(store: ReferenceStore) -> None:
    learned(store, "Luna is mine.", "Luna", None, scope=ALICE_DM)

    assert found(store, "Luna?", grant=IN_ROOM.grant()) == {}
    assert found(store, "Luna?", grant=ALICE.grant()) == {"Luna is mine.": RESTATED_WEIGHT}


def test_filter_applies_to_the_passage(store: ReferenceStore) -> None:
    learned(store, "She is a good dog.", "Luna", None, speaker="ann")

    assert found(store, "Luna?", speaker="ann") == {"She is a good dog.": RESTATED_WEIGHT}
    assert found(store, "Luna?", speaker="bob") == {}
