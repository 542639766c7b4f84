"""People: labels, sessions, habits, addresses and profiles."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from tests.conftest import MONDAY
from tests.stories.conftest import Team

from nexusmem import AsyncNexus, NotFound, Scope
from nexusmem.config.settings import Settings
from nexusmem.core.errors import InvalidInput
from nexusmem.core.records import MemoryKind
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.recall.views.sessions import Session

DAY = timedelta(days=1)


def tell_of_tyler(team: Team) -> None:
    team.room.observe("alice", "Tyler works at Google.", thread="hiring", key="google")
    team.clock.advance(days=1)
    team.room.observe("bob", "Tyler works at Anthropic.", thread="lunch", key="anthropic")
    team.clock.advance(days=1)


@pytest.mark.requirement("B24")
def test_messages_with_names_have_labels(team: Team) -> None:
    team.room.observe("alice", "Tyler works at Google.", key="fact", thread="hiring")
    team.room.observe("bob", "Thanks!", key="thanks")
    team.room.flush()

    memories = team.room._parts.store.memories.find(team.room.grant)
    (label,) = [memory for memory in memories if memory.kind is MemoryKind.EPISODE]
    assert label.body["label"] == "Tyler works at Google"
    assert {"Tyler", "Google"} <= set(label.body["entities"])
    assert [event.key for event in team.room.source_events(label.id)] == ["fact"]


@pytest.mark.requirement("B25")
def test_session_with_current_facts_is_found(team: Team) -> None:
    tell_of_tyler(team)

    best, other = team.room.find_sessions("Where does Tyler work?")
    assert best.session == Session(scope=Scope.room("design"), thread="lunch")
    assert (other.session.thread, other.outdated_names) == ("hiring", ("tyler",))
    assert team.room.find_sessions(["Tyler"], limit=1) == [best]
    assert team.alices.find_sessions("Tyler") == []


@pytest.mark.requirement("B25")
def test_thread_is_outdated_after_a_change(team: Team) -> None:
    tell_of_tyler(team)

    (found,) = team.room.outdated_facts(thread="hiring")
    assert found.current_fact
    assert (found.old_fact.fact.object, found.current_fact.fact.object) == ("Google", "Anthropic")
    assert found.since == MONDAY + DAY
    assert [event.key for event in team.room.source_events(found.changed_by.id)] == ["anthropic"]
    assert team.room.outdated_facts(Session(scope=Scope.room("design"), thread="lunch")) == []


@pytest.mark.requirement("B25")
def test_forgetting_the_change_makes_the_thread_current(team: Team) -> None:
    tell_of_tyler(team)
    (found,) = team.room.outdated_facts(thread="hiring")
    team.workspace.forget(event=found.changed_by.sources[0])

    assert team.room.outdated_facts(thread="hiring") == []
    assert [str(each.session) for each in team.room.find_sessions("Tyler")] == [
        "room:design, thread hiring"
    ]


@pytest.mark.requirement("B25")
def test_sessions_of_other_users_are_not_found(team: Team) -> None:
    for session in ("session:bob:monday", Session(scope=Scope.dm("bob", "scribe"))):
        with pytest.raises(NotFound):
            team.alices.outdated_facts(session)


@pytest.mark.requirement("B25")
def test_own_sessions_are_compared(team: Team) -> None:
    monday = team.workspace.session("monday", user="alice")
    monday.observe("alice", "Tyler works at Google.")
    team.workspace.session("tuesday", user="alice").observe("alice", "Tyler likes tea.")
    team.alices.observe("alice", "Tyler has a dog.")
    team.bobs.observe("bob", "Tyler is a pilot.")
    team.room.observe("bob", "Tyler is a singer.")

    found = team.workspace.find_sessions("Tyler", user="alice")
    assert {each.session.scope.owner for each in found} == {"alice"}
    assert len(found) == 3
    assert team.workspace.find_sessions("Tyler", user="carol") == []


@pytest.mark.requirement("B13", "X1")
def test_habits_stay_in_their_scope(team: Team) -> None:
    for day in range(10):
        at = MONDAY + day * DAY
        team.room.observe("alice", f"The build of day {day} is green.", at=at)
        team.alices.observe("alice", f"My diary of day {day}.", at=at + timedelta(hours=12))
    team.clock.advance(days=30)

    assert team.workspace.refresh_habits() == 2
    assert team.workspace.refresh_habits() == 0
    hours = {
        place: place.fact_timeline("alice", "TYPICALLY_CONTACTS_AT").now
        for place in (team.room, team.alices, team.bobs)
    }
    values = [memory and memory.fact.value for memory in hours.values()]
    assert values == ["09:00-10:00 UTC", "21:00-22:00 UTC", None]


@pytest.mark.requirement("B13")
def test_explicit_statement_precedes_inferred_habit(team: Team) -> None:
    team.room.add_fact("alice", "PREFERS_CHANNEL", value="email")
    for day in range(20):
        at = MONDAY + day * DAY
        team.room.observe("alice", f"Day {day}.", at=at, metadata={"channel": "telegram"})
    team.clock.advance(days=30)
    team.workspace.refresh_habits()

    now = team.room.fact_timeline("alice", "PREFERS_CHANNEL").now
    assert now
    assert now.fact.value == "email"


@pytest.mark.requirement("B9", "B10")
@pytest.mark.parametrize(
    ("relation", "said", "asked", "kept"),
    [
        ("HAS_EMAIL", "Sarah.Chen@Example.COM", "sarah.chen@example.com", "sarah.chen@example.com"),
        ("HAS_PHONE", "+1 (555) 123-4567", "+1 555 123 4567", "+15551234567"),
        ("HAS_HANDLE", "@SarahC", "@sarahc", "sarahc"),
        ("HAS_USERNAME", "Sarah_C", "@sarah_c", "sarah_c"),
        ("ALSO_KNOWN_AS", "Sally", "sally", "Sally"),
    ],
)
def test_stated_address_is_an_alias_in_any_spelling(
    team: Team, relation: str, said: str, asked: str, kept: str
) -> None:
    team.room.add_fact("Sarah Chen", "WORKS_AT", "Globex")
    team.room.add_fact("Sarah Chen", relation, value=said)

    sarah = team.room.entity(asked)

    assert sarah.name == "Sarah Chen"
    assert [*sarah.aliases, *(each.value for each in sarah.identifiers)] == [kept]
    assert not any(each.proven for each in sarah.identifiers)
    assert team.room.fact_timeline(asked, "WORKS_AT").now.fact.object == "Globex"
    assert team.room.facts("Sarah Chen", relation)[0].fact.value == said  # as stated
    with pytest.raises(NotFound):
        team.alices.entity(asked)


@pytest.mark.requirement("B10")
@pytest.mark.parametrize(
    "told",
    [
        {"value": "sarah at example"},
        {"value": "sarah@example.com", "negated": True},
        {"value": "sarah@example.com", "tense": "past"},
        {"value": ["sarah@example.com"]},
    ],
    ids=["no address", "not hers", "no longer hers", "a list"],
)
def test_address_of_another_person_is_no_alias(team: Team, told: dict[str, Any]) -> None:
    team.room.add_fact("Sarah", "HAS_EMAIL", **told)

    assert team.room.entity("Sarah").identifiers == ()
    assert len(team.room.facts("Sarah", "HAS_EMAIL")) == 1


@pytest.mark.requirement("B10", "B11")
def test_shared_address_joins_nobody(team: Team) -> None:
    team.room.add_fact("Sarah", "HAS_EMAIL", value="sarah@example.com")
    team.room.add_fact("Mallory", "HAS_EMAIL", value="sarah@example.com")

    (review,) = team.room.reviews.list(kind="merge")
    assert set(review.names) == {"Sarah", "Mallory"}
    assert team.room.entity("Mallory").same_as == ()
    assert team.room.entity("sarah@example.com").could_be == ("Mallory", "Sarah")


@pytest.mark.requirement("B10", "X6")
def test_forgotten_address_has_no_owner(team: Team) -> None:
    team.room.add_fact("Sarah", "WORKS_AT", "Globex")
    told = team.room.add_fact("Sarah", "HAS_EMAIL", value="sarah@example.com")
    assert team.room.entity("sarah@example.com").name == "Sarah"

    team.workspace.forget(event=told)

    assert team.room.entity("Sarah").identifiers == ()
    with pytest.raises(NotFound):
        team.room.entity("sarah@example.com")


@pytest.mark.requirement("E30")
def test_profile_has_derived_and_explicit_facts(team: Team) -> None:
    team.room.observe("alice", "I love pottery. I prefer short answers.", key="said")
    team.room.observe("alice", "I live in Oslo.")
    team.clock.advance(days=1)
    team.room.observe("alice", "I moved to Rome.")
    team.alices.set_value("user", "favourite_editor", "vim")
    team.alices.observe("alice", "I love jazz, but that is a secret.")

    found = team.room.profile("Alice")
    texts = {entry.text for entry in found.preferences}
    assert {"I love pottery.", "I prefer short answers."} <= texts
    assert any("vim" in text for text in texts)
    assert not any("jazz" in text for text in texts)
    assert any("Rome" in entry.text for entry in found.about)
    assert not any("Oslo" in entry.text for entry in found.about)
    assert any("jazz" in entry.text for entry in team.alices.profile("alice").preferences)
    assert team.bobs.profile("alice").is_empty


@pytest.mark.requirement("E30")
def test_forgetting_removes_profile_entries(team: Team) -> None:
    receipt = team.room.observe("alice", "I love pottery.")
    assert team.room.profile("alice").preferences
    team.workspace.forget(event=receipt)

    assert team.room.profile("alice").is_empty


@pytest.mark.parametrize("wrong", ["", "a\nb", "x" * 10_000])
def test_person_needs_a_name(team: Team, wrong: str) -> None:
    with pytest.raises(InvalidInput):
        team.room.profile(wrong)


def test_async_api_has_people() -> None:
    async def ask() -> tuple[int, int, int]:
        options = {"settings": Settings(), "embedder": HashingEmbedder(), "background": False}
        async with await AsyncNexus.open(":memory:", **options) as nexus:
            acme = nexus.workspace("acme")
            room = acme.room("design", participants=["alice"])
            await room.observe("alice", "Tyler works at Google. I love pottery.", thread="t")
            found = await room.find_sessions("Tyler")
            profile = await room.profile("alice")
            return len(found), len(await room.outdated_facts(thread="t")), len(profile.preferences)

    assert asyncio.run(ask()) == (1, 0, 1)
