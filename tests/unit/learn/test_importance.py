"""Importance of content: small talk is low, health, identity, money and decisions are high."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nexusmem.core.records import Draft, MemoryKind
from nexusmem.core.strength import DEFAULT_SALIENCE
from nexusmem.learn.importance import (
    HIGH,
    SMALL_TALK,
    USEFUL,
    VITAL,
    rate_importance,
    rate_text,
    set_salience,
)
from nexusmem.testing.samples import ROOM

pytestmark = pytest.mark.requirement("D7")


def draft(kind: MemoryKind, text: str = "x", **more: Any) -> Draft:
    return Draft(scope=ROOM, kind=kind, text=text, sources=("1",), **{"role": "user", **more})


def fact(predicate: str, **more: Any) -> Draft:
    body = {"subject": "alice", "predicate": predicate, "value": "x", **more.pop("body", {})}
    return draft(MemoryKind.FACT, body=body, **{"learned": True, "confidence": 0.95, **more})


@pytest.mark.parametrize(
    "text",
    ["ok sounds good", "Thanks a lot!", "lol", "👍", "Haha, that's great.", "no worries, bye"],
)
def test_small_talk_is_low(text: str) -> None:
    assert rate_text(text) == SMALL_TALK


@pytest.mark.parametrize(
    ("text", "salience"),
    [
        ("I am allergic to peanuts.", VITAL),
        ("My mother was diagnosed with diabetes.", VITAL),
        ("My name is Dana.", VITAL),
        ("My birthday is the 3rd of May.", VITAL),
        ("You can write to dana@example.org.", VITAL),
        ("My phone number is +1 555 123 4567.", VITAL),
        ("We decided to use PostgreSQL.", VITAL),
        ("My sister moved house.", HIGH),
        ("I work at Globex.", HIGH),
        ("The invoice is 400 euros.", HIGH),
        ("The flat costs $1200.", HIGH),
        ("The report is due on Friday.", HIGH),
        ("I promise to call the bank.", HIGH),
        ("The booking reference is AB12CD.", HIGH),
        ("I prefer green tea.", USEFUL),
        ("The kettle is red.", DEFAULT_SALIENCE),
        ("Call me later.", DEFAULT_SALIENCE),
        ("Happy birthday!", DEFAULT_SALIENCE),
        ("In order to get 100 users we need a site.", DEFAULT_SALIENCE),
        ("Der Kessel ist rot.", DEFAULT_SALIENCE),
        ("", SMALL_TALK),
    ],
)
def test_salience_depends_on_content(text: str, salience: float) -> None:
    assert rate_text(text) == salience


@pytest.mark.parametrize(
    "text", ["Are you allergic to peanuts?", "What is your name?", "Thanks. Is it due on Friday?"]
)
def test_question_tells_nothing_important(text: str) -> None:
    assert rate_text(text) == DEFAULT_SALIENCE


def test_statement_beside_a_question_counts() -> None:
    assert rate_text("I am allergic to nuts. What can I eat?") == VITAL


def test_agent_knows_money_and_dates_but_not_peoples_health() -> None:
    by_agent = {"role": "assistant"}
    health = "Many people are allergic to peanuts."

    assert rate_importance(draft(MemoryKind.PASSAGE, health, **by_agent)) == DEFAULT_SALIENCE
    booked = "Your booking reference is AB12CD."
    assert rate_importance(draft(MemoryKind.PASSAGE, booked, **by_agent)) == HIGH


def test_passages_of_documents_are_not_rated() -> None:
    page = draft(MemoryKind.PASSAGE, "We decided to use PostgreSQL.", source="document")

    assert rate_importance(page) == DEFAULT_SALIENCE


@pytest.mark.parametrize(
    ("predicate", "salience"),
    [
        ("ALLERGIC_TO", VITAL),
        ("BORN_ON", VITAL),
        ("SPOUSE_OF", VITAL),
        ("HAS_PHONE", VITAL),
        ("WORKS_AT", HIGH),
        ("LIVES_IN", HIGH),
        ("HAS_BUDGET", HIGH),
        ("LIKES", USEFUL),
        ("NOTICED", DEFAULT_SALIENCE),
    ],
)
def test_salience_of_a_fact_depends_on_its_predicate(predicate: str, salience: float) -> None:
    assert rate_importance(fact(predicate)) == salience


def test_unsure_fact_is_not_important() -> None:
    assert rate_importance(fact("ALLERGIC_TO", confidence=0.85)) == DEFAULT_SALIENCE
    explicit = fact("ALLERGIC_TO", confidence=0.5, learned=False)
    assert rate_importance(explicit) == VITAL


def test_former_employer_is_less_important() -> None:
    assert rate_importance(fact("WORKS_AT", body={"tense": "past"})) == USEFUL


@pytest.mark.parametrize(
    ("body", "text", "salience"),
    [
        ({"kind": "decision"}, "We use PostgreSQL.", VITAL),
        ({"kind": "commitment"}, "I'll write it.", HIGH),
        ({"kind": "commitment", "due": "2026-03-06T00:00:00Z"}, "I'll write it.", VITAL),
        ({"kind": "preference_stated"}, "I like tea.", HIGH),
        ({"kind": "preference_stated"}, "No nuts please, I'm allergic.", VITAL),
    ],
)
def test_salience_of_a_landmark(body: dict[str, Any], text: str, salience: float) -> None:
    assert rate_importance(draft(MemoryKind.LANDMARK, text, body=body)) == salience


def test_other_kinds_keep_their_salience() -> None:
    (episode,) = set_salience([draft(MemoryKind.EPISODE, "lol", salience=0.7)])

    assert episode.salience == 0.7


@given(some.text())
def test_every_text_has_a_salience(text: str) -> None:
    assert rate_text(text) in (SMALL_TALK, DEFAULT_SALIENCE, USEFUL, HIGH, VITAL)
    assert rate_text(text) == rate_text(text)


@pytest.mark.parametrize("unit", ["a@", "1 ", "order ", "call me ", "$", "invoice ", ". ", "my "])
def test_long_texts_take_linear_time(unit: str) -> None:
    started = time.perf_counter()
    rate_text(unit * 500_000)
    assert time.perf_counter() - started < 2
