"""Learning with a language model after the rules, through the real client."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.answers import fact as make_fact
from tests.answers import landmark, worded
from tests.loopback import Loopback, Reply, delayed, dropped, says

from nexusmem import Nexus, Place, Stage
from nexusmem.config.settings import LlmSettings, Settings
from nexusmem.core.errors import EmbedderUnavailable
from nexusmem.core.protocols.embedder import Floats
from nexusmem.core.records import MemoryKind
from nexusmem.core.records.memory import drop_copies
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.learn.model_budget import Budget, Price
from nexusmem.learn.model_pass.merge import draft_from_memory

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


def answer(**items: list[Any]) -> Reply:
    return says(worded(**items))


def fact(subject: str, predicate: str, object: str, **more: Any) -> dict[str, Any]:
    return make_fact(object, subject=subject, predicate=predicate, status="true", **more)


USES = fact("apollo", "USES", "Postgres")


def learned(room: Place, kind: MemoryKind) -> list[Any]:
    found = drop_copies(room._parts.store.memories.find(room.grant))
    return [each for each in found if each.kind is kind]


@pytest.mark.requirement("B21")
def test_facts_of_model_and_rules_are_both_stored(server: Loopback) -> None:
    room = room_of(opened(server))
    server.script(answer(facts=[USES]))

    room.observe("alice", SAID, key="a")
    assert room.flush() == 0

    (made,) = [each for each in learned(room, MemoryKind.FACT) if each.fact.predicate == "USES"]
    assert made.metadata["made_by"][-1].startswith("one_pass@")
    assert (made.metadata["model"], made.metadata["words"]) == ("any-2026", SAID)
    assert (made.learned, made.text) == (True, SAID)
    held = room.fact_timeline("apollo", "USES").now
    assert held is not None
    assert held.fact.object == "Postgres"
    assert [hit.event_keys for hit in room.recall("postgres")] == [("a",)]


@pytest.mark.requirement("B21")
def test_shared_fact_is_stored_once_with_both_makers(server: Loopback) -> None:
    room = room_of(opened(server))
    server.script(answer(facts=[fact("alice", "works at", "Stripe")]))

    room.observe("alice", "I work at Stripe.", key="a")
    room.flush()

    (both,) = [each for each in learned(room, MemoryKind.FACT) if each.fact.object == "Stripe"]
    assert [maker.partition("@")[0] for maker in both.metadata["made_by"]] == ["rules", "one_pass"]


@pytest.mark.requirement("B8")
@pytest.mark.parametrize(
    ("certainty", "confidence", "stated"), [("explicit", 0.85, True), ("inferred", 0.7, False)]
)
def test_conclusion_of_a_model_is_not_stated(
    server: Loopback, certainty: str, confidence: float, stated: bool
) -> None:
    room = room_of(opened(server))
    server.script(answer(facts=[fact("alice", "USES", "Postgres", certainty=certainty)]))
    room.observe("alice", SAID)
    room.flush()

    (made,) = [each for each in room.facts() if each.fact.predicate == "USES"]

    assert (made.confidence, made.fact.stated) == (confidence, stated)


@pytest.mark.requirement("X3", "X4")
@pytest.mark.parametrize(
    "replies",
    [
        [says("I am sorry, Dave.")] * 2,
        [says('{"entities": [')] * 2,
        [says(json.dumps({"facts": [7]}))] * 2,
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
    agreed = landmark("Everybody agrees to the cheaper vendor", turns=[1, 2])
    server.script(answer(landmarks=[agreed]))
    first = room.observe("bob", "How about moving to the cheaper vendor?", key="a")
    room.observe("alice", "Fine with everybody here.", key="b")
    room.flush()

    (made,) = [each for each in learned(room, MemoryKind.LANDMARK) if each.text == agreed["text"]]
    assert (len(made.sources), made.confidence) == (2, 0.85)
    nexus.workspace("acme").forget(event=first)
    assert agreed["text"] not in [each.text for each in learned(room, MemoryKind.LANDMARK)]


@pytest.mark.requirement("B16", "B21")
def test_task_that_only_the_model_finds_is_closed_by_a_later_message(server: Loopback) -> None:
    room = room_of(opened(server))
    task = {"turn": 1, "kind": "action_item", "text": "sends the brochure", "owner": "bob"}
    server.script(answer(landmarks=[task]), answer())
    room.observe("bob", "The brochure goes to the printer, on me.", key="a")
    room.flush()
    room.observe("bob", "The brochure is sent.", key="b")
    room.flush()

    (found,) = room.landmarks("action_item")

    assert (found.owner, found.status.value) == ("bob", "done")


# -- what the model says about facts of the rules

WORKS = "I work at Stripe."


def observed(room: Place) -> Any:
    """Observe a plain sentence, and return the fact of the rules."""
    room.observe("alice", WORKS, key="a")
    room.recall("stripe")
    (made,) = [each for each in learned(room, MemoryKind.FACT) if each.fact.object == "Stripe"]
    return made


@pytest.mark.requirement("B8", "B21")
def test_confirmed_fact_of_the_rules_gains_confidence(server: Loopback) -> None:
    room = room_of(opened(server))
    before = observed(room)
    store = room._parts.store
    store.memories.put(room.viewer.workspace, [replace(draft_from_memory(before), confidence=0.7)])
    server.script(answer(right=[1]))

    room.flush()

    (held,) = [each for each in learned(room, MemoryKind.FACT) if each.id == before.id]
    assert held.confidence == pytest.approx(0.8)
    assert [maker.partition("@")[0] for maker in held.metadata["made_by"]] == ["rules", "one_pass"]
    assert held.metadata["model"] == "any-2026"
    assert '"read":["1: alice WORKS_AT Stripe (turn 1)"]' in sent_text(server)


def sent_text(server: Loopback) -> str:
    return str(server.requests[-1].body["messages"][1]["content"])


@pytest.mark.requirement("B4", "B5", "B21")
def test_rejected_fact_of_the_rules_is_retracted(server: Loopback) -> None:
    nexus = opened(server)
    room = room_of(nexus)
    before = observed(room)
    server.script(answer(wrong=[1]))

    room.flush()

    assert room.fact_timeline("alice", "WORKS_AT").now is None
    assert before.id not in [each.id for each in learned(room, MemoryKind.FACT)]
    assert all(hit.memory.kind is not MemoryKind.FACT for hit in room.recall("stripe"))
    assert not [
        each for each in nexus.workspace("acme").dm("alice").facts() if "Stripe" in str(each)
    ]
    assert room.reviews.list() == [], "nobody has to decide"
    (review,) = room.reviews.list(None, kind="misreading")
    assert (review.status.value, review.new_fact_id) == ("rejected", before.id)
    assert "Stripe" in review.text
    assert review.reason == "any-2026 does not read it in these words"


@pytest.mark.requirement("B5")
def test_retracted_fact_stays_retracted_after_a_rebuild(server: Loopback) -> None:
    nexus = opened(server)
    room = room_of(nexus)
    observed(room)
    server.script(answer(wrong=[1]))
    room.flush()

    nexus.workspace("acme").rebuild()

    assert room.fact_timeline("alice", "WORKS_AT").now is None
    assert len(server.requests) == 1


@pytest.mark.requirement("B11")
def test_person_restores_a_retracted_fact(server: Loopback) -> None:
    room = room_of(opened(server))
    observed(room)
    server.script(answer(wrong=[1]))
    room.flush()
    (review,) = room.reviews.list(None, kind="misreading")

    room.reviews.accept(review.id, by="alice")

    held = room.fact_timeline("alice", "WORKS_AT").now
    assert held is not None
    assert held.fact.object == "Stripe"
    room.reviews.undo(review.id, by="alice")
    assert room.fact_timeline("alice", "WORKS_AT").now is None


@pytest.mark.requirement("X1")
def test_retraction_is_erased_with_its_message(server: Loopback) -> None:
    nexus = opened(server)
    room = room_of(nexus)
    made = observed(room)
    server.script(answer(wrong=[1]))
    room.flush()

    nexus.workspace("acme").forget(event=made.sources[0])

    assert room.reviews.list(None) == []


# -- paid once


def test_flush_does_not_send_what_the_worker_is_reading(server: Loopback) -> None:
    llm = LlmSettings(
        provider="ollama", model="any", base_url=server.url, timeout_seconds=5, pause_seconds=0
    )
    reading, flushed = threading.Event(), threading.Event()
    server.script(delayed(worded(facts=[USES]), reading, flushed))

    with Nexus.open(":memory:", settings=Settings(llm=llm)) as nexus:
        room = room_of(nexus)
        room.observe("alice", SAID, key="a")
        assert reading.wait(30), "the worker calls the model"
        flush = threading.Thread(target=room.flush)
        flush.start()
        flush.join(0.3)
        assert flush.is_alive(), "flush waits for the answer"
        flushed.set()
        flush.join(30)

        assert len(server.requests) == 1
        assert room.fact_timeline("apollo", "USES").now is not None
        assert [each.calls for each in nexus.workspace("acme").usage().spent] == [1]


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 2, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def test_messages_of_a_live_chat_are_read_together(server: Loopback) -> None:
    clock = Clock()
    llm = LlmSettings(
        provider="ollama",
        model="any",
        base_url=server.url,
        messages_per_call=3,
        pause_seconds=20,
    )
    settings = Settings(llm=llm)
    nexus = Nexus.open(":memory:", settings=settings, background=False, clock=clock)
    room, learner = room_of(nexus), nexus._parts.learner
    server.script(*[answer()] * 2)

    def say(number: int) -> None:
        room.observe("alice", f"We painted the boat number {number} today.")
        while learner.run_once():
            pass

    for number in range(2):
        say(number)
        clock.now += timedelta(seconds=15)
        while learner.run_once():
            pass
    assert server.requests == [], "the chat did not pause yet"
    say(2)
    assert len(server.requests) == 1, "three messages are enough"
    assert sent_text(server).count("We painted the boat") == 3

    say(3)
    assert len(server.requests) == 1
    clock.now += timedelta(seconds=21)
    assert learner.run_once() == 1
    assert len(server.requests) == 2, "the chat has paused"


def test_answer_is_not_paid_again_if_the_embedder_fails(server: Loopback) -> None:
    embedder = Flaky()
    llm = LlmSettings(provider="ollama", model="any", base_url=server.url)
    clock = Clock()
    nexus = Nexus.open(
        ":memory:",
        settings=Settings(llm=llm),
        background=False,
        embedder=embedder,
        clock=clock,
    )
    room = room_of(nexus)
    room.observe("alice", SAID, key="a")
    room.recall("anything")  # the rules have read it
    server.script(answer(facts=[USES]))
    embedder.is_away = True

    assert room.flush() == 1
    embedder.is_away = False
    clock.now += timedelta(hours=2)
    assert room.flush() == 0

    assert len(server.requests) == 1
    assert room.fact_timeline("apollo", "USES").now is not None


class Flaky(HashingEmbedder):
    """An embedder that can be switched off."""

    is_away = False

    def embed(self, texts: Sequence[str]) -> Floats:
        if self.is_away:
            raise EmbedderUnavailable("away")
        return super().embed(texts)
