"""Promotion of a fact to a user: one fact, the same readers."""

from __future__ import annotations

import pytest
from tests.stories.conftest import Team

from nexusmem import Memory, NotFound
from nexusmem.core.records import MemoryKind, Tier
from nexusmem.core.scope import Scope

QUESTION = "Where does Alice live?"


def used(team: Team) -> Memory:
    """Store a fact and recall it on five days."""
    team.room.observe("alice", "I live in Oslo.")
    (fact,) = team.room.facts("alice")
    for _ in range(5):
        team.clock.advance(days=1)
        assert [hit.memory.id for hit in team.room.recall("Oslo", kind=["fact"])] == [fact.id]
    return fact


def proven(team: Team) -> Memory:
    fact = used(team)
    assert team.workspace.run_job("promote")["user_wide"] == 1
    return fact


def answers(team: Team) -> list[list[tuple[str, float]]]:
    places = (team.room, team.alices, team.bobs)
    return [
        [(hit.memory.id, round(hit.score, 6)) for hit in place.recall(QUESTION)] for place in places
    ]


@pytest.mark.requirement("E3", "X1", "X3")
def test_promoted_fact_gets_no_new_readers(
    team: Team,
) -> None:
    fact = proven(team)
    promoted, before = team.room.strength(fact.id), answers(team)
    for layer in ("knowledge", "graph", "keywords", "vectors"):
        team.workspace.rebuild(layer)

    assert (promoted.promoted_to, promoted.tier) == ("user:alice", Tier.LONG)
    assert team.room.strength(fact.id).promoted_to == "user:alice"
    assert answers(team) == before
    in_room, alices, bobs = before
    assert len(in_room) == len({id for id, _ in in_room}) > 0
    assert alices == bobs == []
    assert [entry.memory.id for entry in team.room.profile("alice").about] == [fact.id]
    for dm in (team.alices, team.bobs):
        with pytest.raises(NotFound):
            dm.strength(fact.id)


@pytest.mark.requirement("E3")
def test_promotion_changes_no_answer(team: Team) -> None:
    """The promoted fact is one search result, not a second source."""
    fact, before = used(team), answers(team)

    assert team.workspace.run_job("promote")["user_wide"] == 1
    assert answers(team) == before
    assert [each.id for each in team.room.facts("alice")] == [fact.id]
    assert team.room.profile("alice").about[0].mention_count == 1


@pytest.mark.requirement("E3", "X6")
def test_erasing_the_user_deletes_the_promotion(team: Team) -> None:
    fact = proven(team)
    store, everything = team.room._parts.store, team.workspace.admin_grant
    (link,) = store.memories.find_by_name(everything, [fact.id], kinds=[MemoryKind.LINK], limit=9)

    report = team.workspace.forget(user="alice")

    assert link.scope == Scope.user("alice")
    assert report.residue == 0
    assert not store.memories.get(everything, [fact.id, link.id])
