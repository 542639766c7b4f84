"""Multi-step search."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexusmem import Nexus
from nexusmem.config.settings import Settings
from nexusmem.core.ids import WorkspaceId
from nexusmem.core.records import Hit, Hits, Memory, MemoryKind, Trust
from nexusmem.core.scope import Scope
from nexusmem.recall.rewriters import find_lead_names, merge_rounds, search_in_steps

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ROOM = Scope.room("design")


def found(*ids: str, degraded: tuple[str, ...] = (), score: float = 0.5) -> Hits:
    hits = tuple(Hit(memory=memory(id), score=score) for id in ids)
    return Hits(hits=hits, total=len(ids), seconds=1.0, degraded=degraded)


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


def ids(found: Hits) -> list[str]:
    return [hit.memory.id for hit in found]


def test_first_hits_keep_ranks_and_rounds_alternate() -> None:
    first = found("a", "b", "c", "d")

    both = merge_rounds(first, [found("b", "x", "y")], kept_hits=2)

    assert ids(both) == ["a", "b", "x", "c", "y", "d"]


@pytest.mark.requirement("D32")
@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    st.lists(st.lists(st.sampled_from("abcdefghxyz"), unique=True), max_size=3),
    st.integers(0, 8),
)
def test_merge_keeps_first_hits_and_has_no_duplicates(
    one: list[str], more: list[list[str]], kept: int
) -> None:
    both = ids(merge_rounds(found(*one), [found(*each) for each in more], kept_hits=kept))

    assert both[: min(kept, len(one))] == one[:kept]
    assert len(set(both)) == len(both)
    assert set(both) == set(one).union(*more)


def test_hit_keeps_the_score_of_the_first_search() -> None:
    first = found("a", "b", score=0.4)

    (_, again) = merge_rounds(first, [found("b", score=0.9)], kept_hits=1)

    assert again.score == 0.4


def test_degraded_of_all_rounds_is_listed_once() -> None:
    both = merge_rounds(found("a", degraded=("x",)), [found("b", degraded=("x", "y"))])

    assert both.degraded == ("x", "y")
    assert both.seconds == 2.0


def test_steps_and_leads_are_searched_once() -> None:
    asked: list[str] = []

    def look(question: str) -> Hits:
        asked.append(question)
        return found(question)

    search_in_steps(look, "Q?", steps=("Q?", "Q1?", "Q2?"), find_leads=lambda _: ["Miro"])

    assert asked == ["Q?", "Q1?", "Q2?", "Q? Miro"]


@pytest.mark.requirement("D32")
def test_name_of_the_first_hit_finds_the_next() -> None:
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
    leads = find_lead_names(store, room.grant, question, first, people)
    both = search_in_steps(
        lambda asked: room.recall(asked, limit=3),
        question,
        find_leads=lambda found: find_lead_names(store, room.grant, question, found, people),
    )

    assert leads == ["Heron"]
    assert "rust" not in [hit.event_keys[0] for hit in first]
    assert "rust" in [hit.event_keys[0] for hit in both]
    assert both[:3] == first[:3]


def test_participants_and_question_names_are_no_leads() -> None:
    nexus = Nexus.open(":memory:", settings=Settings(), background=False)
    room = nexus.workspace("acme").room("design", participants=["alice", "bob"])
    room.observe("alice", "Bob and Carol Baker went to Lisbon.", key="trip")
    room.flush()

    first = room.recall("Who went to Lisbon with Carol Baker?", limit=1)
    leads = find_lead_names(
        room._parts.store, room.grant, "Who went to Lisbon with Carol Baker?", first, ("bob",)
    )

    assert leads == []
