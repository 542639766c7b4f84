"""Kinds of memories: facts, episodes, procedures, entities and documents."""

from __future__ import annotations

import pytest
from tests.conftest import MONDAY
from tests.stories.conftest import Team

from nexusmem import Memory, NotFound
from nexusmem.core.records import MemoryKind, Tier
from nexusmem.core.records.memory import drop_copies

DECIDED = "We decided to use PostgreSQL instead of MySQL for the ledger."
STEPS = "# Set up Postgres\n\nInstall the server, then run `make schema`."
YEARS = 5


def all_of(team: Team, kind: MemoryKind) -> list[Memory]:
    found = team.room._parts.store.memories.find(team.room.grant)
    return [memory for memory in found if memory.kind is kind]


def let_years_pass(team: Team) -> None:
    """Run all maintenance jobs over several years."""
    for _ in range(4 * YEARS):
        team.clock.advance(days=91)
        for job in ("consolidate", "near_duplicates", "session_end", "promote", "decay", "cleanup"):
            team.workspace.run_job(job)


@pytest.mark.requirement("B1")
def test_one_event_gives_fact_episode_and_landmark(team: Team) -> None:
    """Seed 001: three views of one event."""
    team.room.observe("alice", "We use MySQL for the ledger.", key="before")
    team.clock.advance(minutes=5)
    team.room.observe("alice", DECIDED, key="decided")
    team.room.notebook.in_scope("project").write("setup.md", STEPS)
    team.clock.advance(hours=2)
    team.workspace.refresh_episodes()

    uses = team.room.fact_timeline("apollo", "USES")  # declarative
    (happened,) = team.room.episodes("session", since=MONDAY)  # episodic
    how = team.room.notebook.in_scope("project").read("setup.md")  # procedural

    assert uses.now.fact.object.startswith("PostgreSQL")
    assert [memory.fact.object for memory in uses.before] == ["MySQL"]
    assert "PostgreSQL instead of MySQL" in happened.text
    assert {event.key for event in team.room.source_events(happened.id)} == {"before", "decided"}
    assert how.text == STEPS
    assert "make schema" in team.room.recall("How do I set up Postgres?")[0].text
    assert "make schema" in team.room.compose("How do I set up Postgres?").text


@pytest.mark.requirement("B15", "B14")
def test_fact_is_traced_to_episode_and_message(team: Team) -> None:
    team.room.observe("alice", "Tyler works at Anthropic.", key="tyler")
    team.room.observe("bob", "Sarah Chen lives in Lisbon.", key="sarah")
    team.clock.advance(hours=2)
    team.room.observe("bob", "The retro is moved to Friday.", key="later")
    team.clock.advance(days=8)
    team.workspace.refresh_episodes()
    (fact,) = team.room.facts("Tyler")

    taught = [each for each in team.room.episodes() if fact.id in each.body["facts"]]

    assert [event.key for event in team.room.source_events(fact.id)] == ["tyler"]
    assert sorted(each.body["span"] for each in taught) == ["day", "session", "week"]
    (session,) = [each for each in taught if each.body["span"] == "session"]
    assert {event.key for event in team.room.source_events(session.id)} == {"tyler", "sarah"}
    assert {"Tyler", "Anthropic", "Sarah Chen", "Lisbon"} <= set(session.body["entities"])


@pytest.mark.requirement("B22", "X1")
def test_entity_is_one_across_scopes(team: Team) -> None:
    """An entity is one by name and by address, over everything the viewer may read."""
    team.room.add_fact("Tyler", "HAS_EMAIL", value="tyler@example.com", scope="project")
    team.room.observe("bob", "Tyler works at Stripe.")
    team.alices.observe("alice", "Tyler lives in Boston.")
    team.alices.remember("Tyler likes tea.", scope="user")

    def known(place) -> set[str]:
        return {fact.text for fact in place.entity("tyler@example.com").facts} - {
            "Tyler has email tyler@example.com"
        }

    assert known(team.alices) == {"Tyler lives in Boston.", "Tyler likes tea."}
    assert known(team.room) == {"Tyler works at Stripe.", "Tyler likes tea."}
    assert known(team.bobs) == set()
    with pytest.raises(NotFound):
        team.workspace.room("other", agent="scribe").entity("tyler@example.com")


@pytest.mark.requirement("A15")
def test_decision_survives_years_of_maintenance(team: Team) -> None:
    team.room.observe("alice", DECIDED)
    for number in range(20):
        team.clock.advance(hours=1)
        team.room.observe("bob", f"We decided to call server {number} after the bird {number}.")
    team.workspace.flush()
    before = {memory.id for memory in all_of(team, MemoryKind.LANDMARK)}

    let_years_pass(team)

    assert len(drop_copies(all_of(team, MemoryKind.LANDMARK))) == 21
    assert len(before) == 42  # each with its copy for the project
    assert {memory.id for memory in all_of(team, MemoryKind.LANDMARK)} == before
    assert team.room.compose("Hello").section_items("landmarks")


@pytest.mark.requirement("D13")
def test_workspace_document_is_found_by_every_user(team: Team) -> None:
    team.room.add_document("# Travel\n\nTrains are booked by Dana.", scope="global", key="travel")

    for place in (team.room, team.alices, team.workspace.dm("carol", agent="other")):
        (hit, *_) = place.recall("Who books trains?")
        assert (hit.text, hit.event_keys) == ("Trains are booked by Dana.", ("travel",))
        assert hit.memory.source == "document"


@pytest.mark.requirement("D1")
def test_tier_filter(team: Team) -> None:
    team.room.observe("alice", "The blue heron is nesting by the mill.", key="said")
    team.room.remember("The blue heron is called Ada.", key="kept")

    def found(tier: Tier) -> list[str]:
        hits = team.room.recall("blue heron", where={"tier": tier.value})
        return [key for hit in hits for key in hit.event_keys]

    assert (found(Tier.SHORT), found(Tier.LONG)) == (["said"], ["kept"])
    assert "said" in [event.key for event in team.room.window().events]
    assert "heron" in team.room.compose("Where is the blue heron?").text
