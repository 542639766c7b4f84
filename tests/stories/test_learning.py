"""Learning by rules through the public API."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from nexusmem import Nexus, Place
from nexusmem.config.settings import AgentSettings, Settings, ToggleSettings, WriteSettings
from nexusmem.core.records import Memory, MemoryKind
from nexusmem.core.records.memory import drop_copies
from nexusmem.learn.settings import LearnSettings

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


def opened(**settings: Any) -> Nexus:
    return Nexus.open(":memory:", settings=Settings(**settings), background=False)


def room_of(nexus: Nexus) -> Place:
    return nexus.workspace("acme").room("design", participants=["alice", "bob"], project="apollo")


def learned(place: Place, kind: MemoryKind) -> list[Memory]:
    everything = drop_copies(place._parts.store.memories.find(place.grant))
    return [memory for memory in everything if memory.kind is kind and memory.learned]


@pytest.mark.requirement("A5", "A6", "B16", "X4")
@pytest.mark.parametrize(
    ("said", "kind", "owner", "due"),
    [
        ("We decided to use PostgreSQL instead of MySQL.", "decision", "apollo", None),
        ("Bob, please send the report by Friday.", "action_item", "bob", "2026-03-0"),
        ("I promise to fix the importer tomorrow.", "commitment", "alice", "2026-03-0"),
        ("I prefer short answers.", "preference_stated", "alice", None),
    ],
)
def test_landmarks_have_owner_and_due_date(
    said: str, kind: str, owner: str, due: str | None
) -> None:
    room = room_of(opened())
    room.observe("alice", said, key="k", at=MONDAY)
    room.flush()

    (landmark,) = [each for each in learned(room, MemoryKind.LANDMARK) if each.body["kind"] == kind]
    assert landmark.body["owner"].casefold() == owner
    assert (landmark.body["due"] or "").startswith(due or "")
    assert bool(landmark.body["due"]) == bool(due)
    assert [event.key for event in room.source_events(landmark.id)] == ["k"]


@pytest.mark.parametrize(
    ("said", "since", "until"),
    [
        ("Bob, please send the report by Friday.", None, "2026-03-07"),
        ("Bob, please send the report on Friday.", "2026-03-06", "2026-03-07"),
        ("Bob, please send the report after Friday.", "2026-03-07", None),
    ],
)
def test_due_date_may_have_no_end(said: str, since: str | None, until: str | None) -> None:
    room = room_of(opened())
    room.observe("alice", said, at=MONDAY)
    room.flush()

    (task,) = learned(room, MemoryKind.LANDMARK)
    days = [at and at[:10] for at in (task.body["due_from"], task.body["due"])]
    assert days == [since, until]


@pytest.mark.requirement("A5", "B8", "E19")
@pytest.mark.parametrize(
    ("said", "object", "confidence"),
    [
        ("I work at Stripe.", "Stripe", 0.95),
        ("Carol told me that Bob works at Stripe.", "Stripe", 0.85),
    ],
)
def test_confidence_depends_on_directness(said: str, object: str, confidence: float) -> None:
    room = room_of(opened())
    room.observe("alice", said)
    room.flush()

    (fact,) = [each for each in learned(room, MemoryKind.FACT) if each.fact.object == object]
    assert fact.confidence == confidence
    assert fact.fact.predicate == "WORKS_AT"


@pytest.mark.requirement("D12")
def test_facts_have_a_searchable_category() -> None:
    room = room_of(opened())
    room.observe("alice", "I work at Stripe.")
    room.observe("alice", "I prefer tea.")
    room.flush()

    categories = {each.fact.object or each.fact.value: each.fact.category for each in room.facts()}
    assert categories == {"Stripe": "professional", "tea": "preferences"}


@pytest.mark.requirement("B1", "D11")
def test_newest_fact_is_current_and_history_is_preserved() -> None:
    room = room_of(opened())
    room.observe("alice", "I live in Boston.", at=MONDAY)
    room.observe("alice", "I live in Denver now.", at=MONDAY.replace(month=5))
    room.flush()

    reading = room.fact_timeline("alice", "LIVES_IN")
    assert reading.now is not None
    assert reading.now.fact.object == "Denver"
    assert [each.fact.object for each in reading.before] == ["Boston"]


@pytest.mark.requirement("B20")
def test_query_learns_pending_events() -> None:
    room = room_of(opened())
    room.observe("alice", "I work at Stripe.")

    room.recall("anything")

    assert [each.fact.object for each in room.facts()] == ["Stripe"]


@pytest.mark.requirement("B20")
@pytest.mark.parametrize(
    ("settings", "facts", "labels"),
    [
        ({}, True, True),
        ({"learning": LearnSettings(extract_facts=False)}, False, True),
        ({"learning": LearnSettings(label_messages=False)}, True, False),
        ({"agents": AgentSettings(write=WriteSettings(enabled=False))}, False, True),
        ({"agents": AgentSettings(labeling=ToggleSettings(enabled=False))}, True, False),
    ],
)
def test_learning_can_be_switched_off(settings: dict[str, Any], facts: bool, labels: bool) -> None:
    room = room_of(opened(**settings))
    room.observe("alice", "I work at Stripe.", key="k")
    room.flush()

    assert bool(learned(room, MemoryKind.FACT)) is facts
    assert bool(learned(room, MemoryKind.EPISODE)) is labels
    assert [hit.event_keys for hit in room.recall("stripe")] == [("k",)]


@pytest.mark.requirement("B2")
def test_entity_types_can_be_added() -> None:
    room = room_of(opened(learning=LearnSettings(entity_types={"vessel": ("ferry", "ship")})))
    room.observe("alice", "The ferry Aurora leaves at nine.")

    assert [each.name for each in room.entities(type="vessel")] == ["Aurora"]


@pytest.mark.requirement("B22", "X1")
def test_entity_in_two_rooms_is_one_and_facts_keep_their_readers() -> None:
    acme = opened().workspace("acme")
    first = acme.room("first", participants=["alice"])
    second = acme.room("second", participants=["bob"])
    first.observe("alice", "Tyler works at Stripe.")
    second.observe("bob", "Tyler lives in Boston.")
    acme.flush()

    assert [fact.fact.object for fact in first.facts()] == ["Stripe"]
    assert [fact.fact.object for fact in second.facts()] == ["Boston"]
    both = acme._parts.store.memories.find_by_name(acme.admin_grant, ["Tyler"], limit=10)
    kinds = {memory.fact.object for memory in both if memory.kind is MemoryKind.FACT}
    assert kinds == {"Stripe", "Boston"}


@pytest.mark.requirement("X6", "X1")
def test_name_from_an_earlier_message_is_erased_with_it() -> None:
    acme = opened().workspace("acme")
    room = acme.room("design", participants=["bob"])
    room.observe("bob", "My sister Anna called.", key="a", at=MONDAY)
    room.observe("bob", "She lives in Boston.", key="b", at=MONDAY.replace(hour=10))
    room.flush()
    (before,) = [each for each in room.facts() if each.fact.object == "Boston"]
    assert before.fact.subject == "Anna"

    first = next(event for event in room.recent() if event.key == "a")
    acme.forget(event=first.id)

    everything = acme._parts.store.memories.find(room.grant)
    assert not [memory for memory in everything if "anna" in str(memory).casefold()]
