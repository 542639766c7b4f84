"""A second look with what the first one brought up."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus import Nexus
from nexus.config import Settings
from nexus.core.ids import WorkspaceId
from nexus.core.records import Found, Hit, Memory, MemoryKind, Trust
from nexus.core.scope import Scope
from nexus.recall.iterate import iterate, leads_in, merged

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ROOM = Scope.room("design")


def found(*ids: str, degraded: tuple[str, ...] = (), score: float = 0.5) -> Found:
    hits = tuple(Hit(memory=memory(id), score=score) for id in ids)
    return Found(hits=hits, total=len(ids), seconds=1.0, degraded=degraded)


def memory(id: str) -> Memory:
    return Memory(
        id=id,
        workspace=WorkspaceId("acme"),
        scope=ROOM,
        label=frozenset({ROOM}),
        kind=MemoryKind.PASSAGE,
        text=id,
        sources=(id,),
        at=NOON,
        recorded_at=NOON,
        trust=Trust.DIRECT,
    )


def ids(found: Found) -> list[str]:
    return [hit.memory.id for hit in found]


def test_the_first_keep_their_places_and_the_rest_takes_turns() -> None:
    first = found("a", "b", "c", "d")

    both = merged(first, [found("b", "x", "y")], kept=2)

    assert ids(both) == ["a", "b", "x", "c", "y", "d"]


@pytest.mark.requirement("D32")
@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    st.lists(st.lists(st.sampled_from("abcdefghxyz"), unique=True), max_size=3),
    st.integers(0, 8),
)
def test_the_first_look_is_never_hurt_and_nothing_is_lost_or_twice(
    one: list[str], more: list[list[str]], kept: int
) -> None:
    both = ids(merged(found(*one), [found(*each) for each in more], kept=kept))

    assert both[: min(kept, len(one))] == one[:kept]
    assert len(set(both)) == len(both)
    assert set(both) == set(one).union(*more)


def test_a_hit_keeps_the_score_of_the_question_itself() -> None:
    first = found("a", "b", score=0.4)

    (_, again) = merged(first, [found("b", score=0.9)], kept=1)

    assert again.score == 0.4


def test_what_was_missing_in_any_look_is_said_once() -> None:
    both = merged(found("a", degraded=("x",)), [found("b", degraded=("x", "y"))])

    assert both.degraded == ("x", "y")
    assert both.seconds == 2.0


def test_steps_and_leads_are_looked_for_and_the_question_only_once() -> None:
    asked: list[str] = []

    def look(question: str) -> Found:
        asked.append(question)
        return found(question)

    iterate(look, "Q?", steps=("Q?", "Q1?", "Q2?"), leads=lambda _: ["Miro"])

    assert asked == ["Q?", "Q1?", "Q2?", "Q? Miro"]


@pytest.mark.requirement("D32")
def test_a_name_in_the_first_hit_leads_to_what_the_question_does_not_name() -> None:
    nexus = Nexus.open(":memory:", settings=Settings(), background=False)
    room = nexus.workspace("acme").room("design", participants=["alice", "bob"])
    room.observe("alice", "The project of Carol Baker is called Heron.", key="project")
    room.observe("alice", "Carol Baker has a project plan for this project.", key="plan")
    room.observe("bob", "The language in the plan of Carol Baker is polite.", key="polite")
    room.observe("bob", "Heron: Rust, all of it.", key="rust")
    room.flush()
    question = "Which language is the project of Carol Baker written in?"

    first = room.recall(question, limit=3)
    store, people = room._parts.store, ("alice", "bob")
    leads = leads_in(store, room.grant, question, first, people)
    both = iterate(
        lambda asked: room.recall(asked, limit=3),
        question,
        leads=lambda found: leads_in(store, room.grant, question, found, people),
    )

    assert leads == ["Heron"]
    assert "rust" not in [hit.event_keys[0] for hit in first]
    assert "rust" in [hit.event_keys[0] for hit in both]
    assert both[:3] == first[:3]


def test_people_who_are_here_and_names_in_the_question_lead_nowhere() -> None:
    nexus = Nexus.open(":memory:", settings=Settings(), background=False)
    room = nexus.workspace("acme").room("design", participants=["alice", "bob"])
    room.observe("alice", "Bob and Carol Baker went to Lisbon.", key="trip")
    room.flush()

    first = room.recall("Who went to Lisbon with Carol Baker?", limit=1)
    leads = leads_in(
        room._parts.store, room.grant, "Who went to Lisbon with Carol Baker?", first, ("bob",)
    )

    assert leads == []
