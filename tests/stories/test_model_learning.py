"""Learning with a language model after the rules, through the real client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.loopback import Loopback, Reply, dropped, says

from nexusmem import Nexus, Place, Stage
from nexusmem.config.settings import LlmSettings, Settings
from nexusmem.core.records import MemoryKind
from nexusmem.core.records.memory import drop_copies
from nexusmem.learn.model_budget import Budget, Price

SAID = "The thing with the database is settled, Postgres it is, MySQL is out."


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as loopback:
        yield loopback


def opened(server: Loopback, **more: Any) -> Nexus:
    llm = LlmSettings(
        provider="ollama", model="any", base_url=server.url, timeout_seconds=2, **more
    )
    return Nexus.open(":memory:", settings=Settings(llm=llm), background=False)


def room_of(nexus: Nexus) -> Place:
    return nexus.workspace("acme").room("design", participants=["alice", "bob"], project="apollo")


def answer(**items: list[dict[str, Any]]) -> Reply:
    empty: dict[str, Any] = {"entities": [], "facts": [], "landmarks": [], "labels": []}
    return says(json.dumps({**empty, **items}))


def fact(turn: int, subject: str, predicate: str, object: str, sentence: str) -> dict[str, Any]:
    return {
        "turns": [turn],
        "subject": subject,
        "predicate": predicate,
        "object": object,
        "value": None,
        "aspect": None,
        "category": "projects",
        "certainty": "explicit",
        "tense": "current",
        "negated": False,
        "sentence": sentence,
        "when": None,
    }


USES = fact(1, "apollo", "USES", "Postgres", "Apollo uses Postgres.")


def learned(room: Place, kind: MemoryKind) -> list[Any]:
    found = drop_copies(room._parts.store.memories.find(room.grant))
    return [each for each in found if each.kind is kind]


@pytest.mark.requirement("B21")
def test_facts_of_model_and_rules_are_both_stored(server: Loopback) -> None:
    room = room_of(opened(server))
    server.script(answer(facts=[USES]))

    room.observe("alice", SAID, key="a")
    assert room.flush() == 0

    made = {each.text: each for each in learned(room, MemoryKind.FACT)}
    assert made["Apollo uses Postgres."].metadata["made_by"][-1].startswith("one_pass@")
    assert made["Apollo uses Postgres."].learned
    held = room.fact_timeline("apollo", "USES").now
    assert held is not None
    assert held.fact.object == "Postgres"
    assert [hit.event_keys for hit in room.recall("postgres")] == [("a",)]


@pytest.mark.requirement("B21")
def test_shared_fact_is_stored_once_with_both_makers(server: Loopback) -> None:
    room = room_of(opened(server))
    server.script(
        answer(facts=[fact(1, "alice", "WORKS_AT", "Stripe", "Alice is employed by Stripe.")])
    )

    room.observe("alice", "I work at Stripe.", key="a")
    room.flush()

    (both,) = [each for each in learned(room, MemoryKind.FACT) if each.fact.object == "Stripe"]
    assert [maker.partition("@")[0] for maker in both.metadata["made_by"]] == ["rules", "one_pass"]


@pytest.mark.requirement("B8")
@pytest.mark.parametrize(
    ("certainty", "confidence", "stated"), [("explicit", 0.95, True), ("inferred", 0.7, False)]
)
def test_conclusion_of_a_model_is_not_stated(
    server: Loopback, certainty: str, confidence: float, stated: bool
) -> None:
    room = room_of(opened(server))
    uses = fact(1, "alice", "USES", "Postgres", "Alice uses Postgres.")
    server.script(answer(facts=[{**uses, "certainty": certainty}]))
    room.observe("alice", SAID)
    room.flush()

    (made,) = [each for each in room.facts() if each.text == "Alice uses Postgres."]

    assert (made.confidence, made.fact.stated) == (confidence, stated)


@pytest.mark.requirement("X3", "X4")
@pytest.mark.parametrize(
    "replies",
    [
        [says("I am sorry, Dave.")] * 2,
        [says('{"entities": [')] * 2,
        [says(json.dumps({"facts": "none"}))] * 2,
        [dropped()] * 8,
    ],
    ids=["prose", "half JSON", "another shape", "away"],
)
def test_failing_model_loses_nothing(server: Loopback, replies: list[Reply]) -> None:
    nexus = opened(server)
    room = room_of(nexus)
    server.script(*replies)

    receipt = room.observe("alice", "I work at Stripe.", key="a")
    assert room.flush() == 1

    progress = nexus.progress(receipt)
    assert progress.stage is Stage.INDEXED
    assert progress.error
    assert [hit.event_keys for hit in room.recall("stripe")] == [("a",)]
    held = room.fact_timeline("alice", "WORKS_AT").now
    assert held is not None
    assert held.fact.object == "Stripe"
    (job,) = room._parts.store.queue.list_pending(room.grant, limit=10)
    assert job.error == progress.error


@pytest.mark.requirement("B21")
def test_cost_is_recorded_and_a_spent_budget_leaves_the_rules(server: Loopback) -> None:
    nexus = opened(
        server, prices={"any": Price(input=1_000_000, output=0)}, budget=Budget(cost_per_day=5)
    )
    room = room_of(nexus)
    server.script(*[answer(facts=[USES])] * 3)

    room.observe("alice", SAID, key="a")
    room.flush()
    room.observe("bob", "I live in Boston.", key="b")
    assert room.flush() == 1

    usage = nexus.workspace("acme").usage()
    assert [(each.purpose, each.calls) for each in usage.spent] == [("learn", 1)]
    assert usage.is_exhausted
    assert len(server.requests) == 1
    held = room.fact_timeline("bob", "LIVES_IN").now
    assert held is not None
    assert held.fact.object == "Boston"


def test_query_never_waits_for_the_model(server: Loopback) -> None:
    room = room_of(opened(server))

    room.observe("alice", "I work at Stripe.", key="a")

    assert [hit.event_keys for hit in room.recall("stripe")] == [("a",)]
    assert server.requests == []


@pytest.mark.requirement("X1")
def test_memory_with_two_sources_is_erased_with_either(server: Loopback) -> None:
    nexus = opened(server)
    room = room_of(nexus)
    agreed = {
        "turns": [1, 2],
        "kind": "decision",
        "text": "The team moves to the cheaper vendor.",
        "owner": None,
        "due": None,
        "wrong": None,
        "right": None,
        "certainty": "implied",
    }
    server.script(answer(landmarks=[agreed]))
    first = room.observe("bob", "How about moving to the cheaper vendor?", key="a")
    room.observe("alice", "Fine with everybody here.", key="b")
    room.flush()

    (made,) = [each for each in learned(room, MemoryKind.LANDMARK) if each.text == agreed["text"]]
    assert (len(made.sources), made.confidence) == (2, 0.85)
    nexus.workspace("acme").forget(event=first)
    assert agreed["text"] not in [each.text for each in learned(room, MemoryKind.LANDMARK)]
