"""Importance depends on content: what matters is kept after a session, small talk is not."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from tests.stories.conftest import Team

from nexusmem.core.records import Draft, Fact, Memory, MemoryKind, Tier
from nexusmem.learn.importance import set_salience


def tiers(team: Team) -> dict[str, Tier]:
    """Return the tier of each passage of Alice's DM, by its text."""
    return {each.text: each.tier for each in team.alices.memories("passage")}


@pytest.mark.requirement("D5", "D7")
def test_unused_allergy_is_promoted_at_session_end_and_small_talk_is_not(team: Team) -> None:
    dm = team.alices
    dm.observe("alice", "I am allergic to peanuts.")
    dm.observe("alice", "ok sounds good")
    dm.observe("alice", "The kettle is red.")
    dm.observe("alice", "The invoice of the plumber is 400 euros.")
    dm.flush()
    facts = [each for each in dm.facts("alice") if each.fact.predicate == "ALLERGIC_TO"]

    team.clock.advance(hours=2)
    team.workspace.run_job("session_end")

    kept = tiers(team)
    assert kept["I am allergic to peanuts."] is Tier.LONG
    assert kept["The invoice of the plumber is 400 euros."] is Tier.LONG
    assert kept["ok sounds good"] is kept["The kettle is red."] is Tier.SHORT
    assert facts
    assert all(dm.get(each.id).tier is Tier.LONG for each in facts)
    assert all(dm.strength(each.id).uses == 0 for each in facts)


@pytest.mark.requirement("D7", "D8")
def test_small_talk_is_archived_first(team: Team) -> None:
    dm = team.alices
    dm.observe("alice", "ok sounds good")
    dm.observe("alice", "The kettle is red.")
    dm.observe("alice", "I am allergic to peanuts.")
    dm.flush()

    def archived() -> set[str]:
        team.workspace.run_job("decay")
        return {each.text for each in dm.memories("passage") if each.archived}

    team.clock.advance(days=3)
    assert archived() == {"ok sounds good"}
    team.clock.advance(days=10)
    assert archived() == {"ok sounds good", "The kettle is red."}
    team.clock.advance(days=20)
    assert "I am allergic to peanuts." in archived()  # its session end was never processed


@pytest.mark.requirement("D7", "D8", "E30")
def test_stable_facts_stay_in_the_profile_for_years(team: Team) -> None:
    """Also if they were never used and never promoted."""
    stable = {
        "ALLERGIC_TO": "peanuts",
        "BORN_ON": "3 May 1990",
        "WORKS_AT": "Globex",
        "LIVES_IN": "Oslo",
        "SPOUSE_OF": "Dana",
        "HAS_PHONE": "+47 22 33 44 55",
    }
    facts = {name: derive_fact(team, name, value) for name, value in stable.items()}
    passing = derive_fact(team, "STUDIES", "botany")
    for number in range(30):  # many newer facts of the same part
        derive_fact(team, "KNOWS", f"neighbour {number}")
    team.clock.advance(days=400)
    assert team.workspace.run_job("decay")["archived"] > 0
    assert team.alices.get(facts["ALLERGIC_TO"].id).archived

    shown = {item.id for item in team.alices.compose("Hi!").section_items("profile")}
    assert {fact.id for fact in facts.values()} <= shown
    assert passing.id not in shown
    about = {entry.memory.id for entry in team.alices.profile("alice").about}
    assert {fact.id for fact in facts.values()} <= about


def derive_fact(team: Team, predicate: str, value: str) -> Memory:
    """Record a message and a fact that was read from it."""
    text = f"{predicate} is {value}"
    event = team.alices.observe("alice", text)
    team.alices.flush()
    draft = Draft(
        scope=event.scope,
        kind=MemoryKind.FACT,
        text=text,
        sources=(event.event_id,),
        slot=f"test {text}",
        confidence=0.95,
        speaker="alice",
        role="user",
        learned=True,
        body=asdict(Fact(subject="alice", predicate=predicate, value=value)),
    )
    store = team.alices._parts.store
    (memory,) = store.memories.put(team.alices.viewer.workspace, set_salience([draft]))
    return memory
