"""Promotion of a fact to the profile of its user: it is then known to all agents of that user."""

from __future__ import annotations

import pytest
from tests.conftest import Open
from tests.stories.conftest import Team, make_team

from nexusmem import Memory, NotFound, Place
from nexusmem.config.settings import Settings, SharingSettings
from nexusmem.core.records import Tier
from nexusmem.core.records.memory import is_copy

FACT = ("alice", "LIVES_IN", "Oslo")


def use_often(team: Team, place: Place, fact: Memory) -> Memory:
    """Recall a fact on five days."""
    for _ in range(5):
        team.clock.advance(days=1)
        found = place.recall(f"{fact.fact.object}", kind=["fact"])
        assert [hit.memory.id for hit in found] == [fact.id]
    return fact


def add_fact(place: Place, *told: str) -> Memory:
    place.add_fact(*told)
    (fact,) = place.facts()
    return fact


def proven_in_private(team: Team) -> Memory:
    """Store a fact in Alice's DM, use it often and promote it."""
    fact = use_often(team, team.alices, add_fact(team.alices, *FACT))
    assert team.workspace.run_job("promote")["user_wide"] == 1
    return fact


def proven_in_room(team: Team) -> Memory:
    """Store a fact that Alice says about herself in a room, use it often and promote it."""
    team.room.observe("alice", "I work at Bosch.")
    (fact,) = team.room.facts("alice")
    use_often(team, team.room, fact)
    assert team.workspace.run_job("promote")["user_wide"] == 1
    return fact


def other_agent(team: Team) -> Place:
    return team.workspace.dm("alice", agent="critic")


def copies_of(team: Team, fact: Memory) -> list[Memory]:
    every = team.room._parts.store.memories.find(team.workspace.admin_grant)
    return [each for each in every if is_copy(each) and fact.id in each.sources]


def objects(place: Place) -> list[str | None]:
    return [fact.fact.object for fact in place.facts()]


@pytest.mark.requirement("E3", "X1")
def test_promoted_private_fact_is_known_to_other_agents_of_the_user(team: Team) -> None:
    assert objects(other_agent(team)) == []

    fact = proven_in_private(team)

    assert objects(other_agent(team)) == ["Oslo"]
    assert [hit.text for hit in other_agent(team).recall("Oslo")] == [fact.text]
    strength = team.alices.strength(fact.id)
    assert (strength.promoted_to, strength.tier) == ("private:alice", Tier.LONG)
    (found,) = other_agent(team).facts()
    assert other_agent(team).why_visible(found.id).rule == "agents"
    for place in (team.room, team.bobs):
        assert objects(place) == []
        assert list(place.recall("Oslo")) == []
        with pytest.raises(NotFound):
            place.strength(fact.id)


@pytest.mark.requirement("E3", "X1", "X3")
def test_promoted_fact_of_a_room_is_known_where_its_speaker_takes_part(team: Team) -> None:
    fact = proven_in_room(team)
    elsewhere = team.workspace.room("kitchen", participants=["alice", "bob"])
    strangers = team.workspace.room("garden", participants=["bob"])

    for layer in ("knowledge", "graph", "keywords", "vectors"):
        team.workspace.rebuild(layer)

    assert team.room.strength(fact.id).promoted_to == "user:alice"
    for place in (team.room, elsewhere, team.alices, other_agent(team)):
        assert objects(place) == ["Bosch"]
        assert len(place.recall("Does Alice work at Bosch?")) > 0
    for place in (strangers, team.bobs):
        assert objects(place) == []
        assert list(place.recall("Does Alice work at Bosch?")) == []


@pytest.mark.requirement("E3")
def test_promoted_fact_is_shown_once(team: Team) -> None:
    """In the place where it was said, the copy is not a second source."""
    fact = proven_in_room(team)

    assert [each.id for each in team.room.facts("alice")] == [fact.id]
    (about,) = team.room.profile("alice").about
    assert (about.memory.id, about.mention_count) == (fact.id, 1)
    found = [hit.memory for hit in team.room.recall("Bosch", kind=["fact"])]
    assert [each.id for each in found] == [fact.id]
    assert len(copies_of(team, fact)) == 1  # the flow `profile` has copied the sentence


@pytest.mark.requirement("E3", "X2")
@pytest.mark.parametrize(
    "told",
    [
        ("alice", "HAS_CONDITION", "diabetes"),
        ("alice", "EARNS", "a salary of 90,000"),
    ],
    ids=["health", "money"],
)
def test_sensitive_fact_is_not_promoted(team: Team, told: tuple[str, str, str]) -> None:
    fact = use_often(team, team.alices, add_fact(team.alices, *told))

    assert team.workspace.run_job("promote")["user_wide"] == 0
    assert team.alices.strength(fact.id).promoted_to is None
    assert objects(other_agent(team)) == []


@pytest.mark.requirement("E3", "X2")
def test_confidential_fact_is_not_promoted(team: Team) -> None:
    team.alices.observe("alice", "I work at Stripe.", confidential=True)
    (fact,) = team.alices.facts("alice")
    use_often(team, team.alices, fact)

    assert team.workspace.run_job("promote")["user_wide"] == 0
    assert objects(other_agent(team)) == []


@pytest.mark.requirement("E3", "X2")
def test_fact_of_a_message_marked_later_is_not_promoted(team: Team) -> None:
    receipt = team.alices.observe("alice", "I work at Stripe.")
    (fact,) = team.alices.facts("alice")
    use_often(team, team.alices, fact)

    team.alices.mark_confidential(receipt)

    assert team.workspace.run_job("promote")["user_wide"] == 0
    assert objects(other_agent(team)) == []


@pytest.mark.requirement("E3", "X2")
def test_fact_is_not_promoted_if_the_next_message_asks_for_discretion(team: Team) -> None:
    team.alices.observe("alice", "I work at Stripe.")
    team.clock.advance(minutes=1)
    team.alices.observe("alice", "Please keep that between us.")
    (fact,) = team.alices.facts("alice")
    use_often(team, team.alices, fact)

    assert team.workspace.run_job("promote")["user_wide"] == 0
    assert objects(other_agent(team)) == []


@pytest.mark.requirement("E3", "X2")
def test_marking_a_message_takes_back_its_promotion(team: Team) -> None:
    receipt = team.alices.observe("alice", "I work at Stripe.")
    (fact,) = team.alices.facts("alice")
    use_often(team, team.alices, fact)
    assert team.workspace.run_job("promote")["user_wide"] == 1

    team.alices.mark_confidential(receipt)

    assert copies_of(team, fact) == []
    assert objects(other_agent(team)) == []
    assert team.workspace.run_job("promote")["user_wide"] == 0


@pytest.mark.requirement("E3", "X2")
def test_nothing_is_promoted_if_agents_share_nothing(open_nexus: Open, clock) -> None:
    settings = Settings(sharing=SharingSettings(agents="none"))
    team = make_team(open_nexus(settings=settings), clock)
    fact = use_often(team, team.alices, add_fact(team.alices, *FACT))

    assert team.workspace.run_job("promote")["user_wide"] == 0
    assert copies_of(team, fact) == []
    assert objects(other_agent(team)) == []


@pytest.mark.requirement("E3", "X6")
def test_forgetting_the_fact_erases_its_promotion(team: Team) -> None:
    fact = proven_in_private(team)

    team.alices.forget(fact.id)

    assert copies_of(team, fact) == []
    assert objects(other_agent(team)) == []
    assert list(other_agent(team).recall("Oslo")) == []
    assert team.workspace.run_job("promote")["user_wide"] == 0


@pytest.mark.requirement("E3", "X6")
@pytest.mark.parametrize("where", ["private", "room"])
def test_erasing_the_user_erases_the_promotion(team: Team, where: str) -> None:
    fact = proven_in_private(team) if where == "private" else proven_in_room(team)
    ids = [fact.id, *(each.id for each in copies_of(team, fact))]

    report = team.workspace.forget(user="alice")

    assert len(ids) == (3 if where == "private" else 2)  # in private also the sentence for search
    assert report.residue == 0
    assert not team.room._parts.store.memories.get(team.workspace.admin_grant, ids)
    assert objects(other_agent(team)) == []


@pytest.mark.requirement("E3")
def test_use_of_the_message_counts_for_its_facts(team: Team) -> None:
    team.alices.observe("alice", "Since June I run the bakery Kornhus.")
    for _ in range(5):
        team.clock.advance(days=1)
        assert team.alices.recall("Who runs which bakery?")

    assert team.workspace.run_job("promote")["user_wide"] == 1
    assert "Kornhus" in other_agent(team).facts("alice")[0].text


@pytest.mark.requirement("E3", "X2")
def test_only_facts_about_the_user_are_promoted(team: Team) -> None:
    use_often(team, team.alices, add_fact(team.alices, "spare key", "LOCATED_IN", "Oslo"))

    assert team.workspace.run_job("promote")["user_wide"] == 0
    assert objects(other_agent(team)) == []


@pytest.mark.requirement("E3")
def test_agents_that_share_everything_share_every_proven_fact(open_nexus: Open, clock) -> None:
    settings = Settings(sharing=SharingSettings(agents="everything"))
    team = make_team(open_nexus(settings=settings), clock)
    use_often(team, team.alices, add_fact(team.alices, "spare key", "LOCATED_IN", "Oslo"))

    assert team.workspace.run_job("promote")["user_wide"] == 1
    assert objects(other_agent(team)) == ["Oslo"]
