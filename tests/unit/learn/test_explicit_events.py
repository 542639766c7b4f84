"""Explicit notes and facts are stored exactly as stated."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from tests.unit.making import event, json_values

from nexusmem.core.errors import InvalidInput
from nexusmem.core.records import Draft, EventKind, Fact, MemoryKind, Tier
from nexusmem.core.records.facts import check_fact, fact_sentence
from nexusmem.learn.extract.explicit_events import explicit_drafts


def told(kind: EventKind, text: str = "Heron is the staging server.", **rest: Any) -> Draft:
    (draft,) = explicit_drafts(event(text, kind=kind, **rest))
    return draft


def stated(fact: dict[str, Any], **rest: Any) -> Draft:
    return told(EventKind.FACT, metadata={"fact": fact, **rest})


def test_note_is_long_term_and_verbatim() -> None:
    note = told(EventKind.NOTE, thread="t1", metadata={"tags": ["ops"], "stars": 5})

    assert (note.kind, note.tier, note.source) == (MemoryKind.PASSAGE, Tier.LONG, "note")
    assert note.text == "Heron is the staging server."
    assert (note.tags, note.metadata["stars"], note.thread) == (("ops",), 5, "t1")


@pytest.mark.parametrize("kind", [EventKind.NOTE, EventKind.FACT])
@pytest.mark.parametrize("tags", [5, "db", None, {"a": 1}, [1, None]], ids=repr)
def test_invalid_tags_are_ignored(kind: EventKind, tags: Any) -> None:
    fact = {"subject": "a", "predicate": "B", "object": "c"}

    draft = told(kind, metadata={"tags": tags, "fact": fact})

    assert all(isinstance(tag, str) for tag in draft.tags)


@pytest.mark.requirement("B3")
@pytest.mark.parametrize(
    "fact",
    [
        {"subject": "Tyler", "predicate": "WORKS_AT", "object": "Anthropic"},
        {"subject": "Tyler", "predicate": "HAS_AGE", "value": 31},
        {"subject": "Tyler", "predicate": "LIKES", "value": ["tea", {"hot": True}]},
    ],
    ids=["entity", "number", "list"],
)
def test_fact_has_an_object_or_a_value(fact: dict[str, Any]) -> None:
    draft = stated(fact)

    assert draft.kind is MemoryKind.FACT
    assert Fact(**draft.body) == Fact(**fact)


@pytest.mark.requirement("B8")
def test_fact_has_confidence_interval_and_stated() -> None:
    fact = {"subject": "Tyler", "predicate": "WORKS_AT", "object": "X", "stated": False}

    draft = stated(
        fact,
        confidence=0.7,
        valid_from="2025-01-01T00:00:00Z",
        valid_to="2026-01-01T00:00:00Z",
        why="heard it",
        tags=["work"],
    )

    assert draft.confidence == 0.7
    assert not Fact(**draft.body).stated
    assert draft.valid_from == datetime(2025, 1, 1, tzinfo=UTC)
    assert draft.valid_to == datetime(2026, 1, 1, tzinfo=UTC)
    assert draft.metadata["why"] == "heard it"
    assert draft.tags == ("work",)


def test_message_gives_no_explicit_draft() -> None:
    assert list(explicit_drafts(event())) == []


@pytest.mark.requirement("B7")
@pytest.mark.parametrize("name", ["WORKS_AT", "A", "IS_2ND_COUSIN_OF", "X9"])
def test_predicate_is_any_upper_case_name(name: str) -> None:
    fact = Fact(subject="a", predicate=name, object="b")

    assert check_fact(fact, 1.0) is fact


@pytest.mark.requirement("B7")
@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("works at", "WORKS_AT"),
        ("worksAt", "WORKSAT"),
        ("works-at", "WORKS_AT"),
        ("_X", "X"),
        ("WORKS_AT\n", "WORKS_AT"),
    ],
)
def test_invalid_predicate_gets_a_suggestion(name: str, better: str) -> None:
    with pytest.raises(InvalidInput, match=f"did you mean '{better}'"):
        check_fact(Fact(subject="a", predicate=name, object="b"), 1.0)

    check_fact(Fact(subject="a", predicate=better, object="b"), 1.0)


@pytest.mark.parametrize("name", ["!!!", "9_LIVES", "ÄÖ", ""])
def test_suggestion_is_always_valid(name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_fact(Fact(subject="a", predicate=name, object="b"), 1.0)

    assert "did you mean" not in str(refused.value)


def test_exact_fact_may_have_any_key() -> None:
    check_fact(Fact(subject="user:alice", predicate="preferred_jwt_expiry", exact=True), 1.0)


@pytest.mark.requirement("B8")
@pytest.mark.parametrize("confidence", [0, 0.5, 1, 1.0])
def test_confidence_from_zero_to_one_is_accepted(confidence: float) -> None:
    check_fact(Fact(subject="a", predicate="B", object="c"), confidence)


@pytest.mark.requirement("B8")
@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan"), float("inf"), "high", None, True])
def test_other_confidence_is_rejected(confidence: Any) -> None:
    with pytest.raises(InvalidInput):
        check_fact(Fact(subject="a", predicate="B", object="c"), confidence)


@pytest.mark.requirement("B3")
def test_object_and_value_together_are_rejected() -> None:
    with pytest.raises(InvalidInput):
        check_fact(Fact(subject="a", predicate="B", object="c", value=1), 1.0)


@pytest.mark.parametrize(
    ("fact", "sentence"),
    [
        (Fact(subject="Tyler", predicate="WORKS_AT", object="X"), "Tyler works at X"),
        (Fact(subject="Tyler", predicate="HAS_AGE", value=31), "Tyler has age 31"),
        (Fact(subject="Tyler", predicate="SAYS", value="hi"), "Tyler says hi"),
        (Fact(subject="Tyler", predicate="LIKES", value=None), "Tyler likes null"),
        (
            Fact(subject="T", predicate="HAS", value={"b": 1, "a": [True]}),
            'T has {"a":[true],"b":1}',
        ),
    ],
)
def test_fact_is_found_by_its_words(fact: Fact, sentence: str) -> None:
    assert fact_sentence(fact) == sentence


@pytest.mark.requirement("A7")
@given(json_values)
def test_any_value_round_trips(value: Any) -> None:
    fact = {"subject": "user:alice", "predicate": "key", "value": value, "exact": True}

    kept = Fact(**stated(fact).body).value

    assert kept == value
    assert type(kept) is type(value)
