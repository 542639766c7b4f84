"""Labels, sessions, habits and profiles, from what people said."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from tests.conftest import MONDAY
from tests.stories.conftest import Team

from nexus import AsyncNexus, NotFound, Scope
from nexus.config import Settings
from nexus.core.errors import InvalidInput
from nexus.core.records import MemoryKind
from nexus.embedders.hashing import HashingEmbedder
from nexus.recall.sessions import Session

DAY = timedelta(days=1)


def tell_of_tyler(team: Team) -> None:
    team.room.observe("alice", "Tyler works at Google.", thread="hiring", key="google")
    team.clock.advance(days=1)
    team.room.observe("bob", "Tyler works at Anthropic.", thread="lunch", key="anthropic")
    team.clock.advance(days=1)


@pytest.mark.requirement("B24")
def test_every_message_about_something_has_a_label(team: Team) -> None:
    team.room.observe("alice", "Tyler works at Google.", key="fact", thread="hiring")
    team.room.observe("bob", "Thanks!", key="thanks")
    team.room.flush()

    memories = team.room._parts.store.memories.find(team.room.grant)
    (label,) = [memory for memory in memories if memory.kind is MemoryKind.EPISODE]
    assert label.body["label"] == "Tyler works at Google"
    assert {"Tyler", "Google"} <= set(label.body["entities"])
    assert [event.key for event in team.room.sources(label.id)] == ["fact"]


@pytest.mark.requirement("B25")
def test_the_session_whose_knowledge_is_current_is_found(team: Team) -> None:
    tell_of_tyler(team)

    best, other = team.room.sessions_knowing("Where does Tyler work?")
    assert best.session == Session(scope=Scope.room("design"), thread="lunch")
    assert (other.session.thread, other.stale) == ("hiring", ("tyler",))
    assert team.room.sessions_knowing(["Tyler"], limit=1) == [best]
    assert team.alices.sessions_knowing("Tyler") == []


@pytest.mark.requirement("B25")
def test_a_thread_is_stale_once_something_it_knew_has_changed(team: Team) -> None:
    tell_of_tyler(team)

    (found,) = team.room.stale(thread="hiring")
    assert found.now
    assert (found.knew.fact.object, found.now.fact.object) == ("Google", "Anthropic")
    assert found.since == MONDAY + DAY
    assert [event.key for event in team.room.sources(found.by.id)] == ["anthropic"]
    assert team.room.stale(Session(scope=Scope.room("design"), thread="lunch")) == []


@pytest.mark.requirement("B25")
def test_forgetting_the_change_makes_a_thread_current_again(team: Team) -> None:
    tell_of_tyler(team)
    (found,) = team.room.stale(thread="hiring")
    team.workspace.forget(event=found.by.sources[0])

    assert team.room.stale(thread="hiring") == []
    assert [str(each.session) for each in team.room.sessions_knowing("Tyler")] == [
        "room:design, thread hiring"
    ]


@pytest.mark.requirement("B25")
def test_a_session_of_another_is_not_found(team: Team) -> None:
    for session in ("session:bob:monday", Session(scope=Scope.dm("bob", "scribe"))):
        with pytest.raises(NotFound):
            team.alices.stale(session)


@pytest.mark.requirement("B25")
def test_the_users_own_sessions_are_compared(team: Team) -> None:
    monday = team.workspace.session("monday", user="alice")
    monday.observe("alice", "Tyler works at Google.")
    team.workspace.session("tuesday", user="alice").observe("alice", "Tyler likes tea.")
    team.alices.observe("alice", "Tyler has a dog.")
    team.bobs.observe("bob", "Tyler is a pilot.")
    team.room.observe("bob", "Tyler is a singer.")

    found = team.workspace.sessions_knowing("Tyler", user="alice")
    assert {each.session.scope.owner for each in found} == {"alice"}
    assert len(found) == 3
    assert team.workspace.sessions_knowing("Tyler", user="carol") == []


@pytest.mark.requirement("B13", "X1")
def test_habits_are_known_where_they_were_seen(team: Team) -> None:
    for day in range(10):
        at = MONDAY + day * DAY
        team.room.observe("alice", f"The build of day {day} is green.", at=at)
        team.alices.observe("alice", f"My diary of day {day}.", at=at + timedelta(hours=12))
    team.clock.advance(days=30)

    assert team.workspace.learn_patterns() == 2
    assert team.workspace.learn_patterns() == 0
    hours = {
        place: place.interpret("alice", "TYPICALLY_CONTACTS_AT").now
        for place in (team.room, team.alices, team.bobs)
    }
    values = [memory and memory.fact.value for memory in hours.values()]
    assert values == ["09:00-10:00 UTC", "21:00-22:00 UTC", None]


@pytest.mark.requirement("B13")
def test_what_somebody_says_holds_before_what_was_inferred(team: Team) -> None:
    team.room.add_fact("alice", "PREFERS_CHANNEL", value="email")
    for day in range(20):
        at = MONDAY + day * DAY
        team.room.observe("alice", f"Day {day}.", at=at, metadata={"channel": "telegram"})
    team.clock.advance(days=30)
    team.workspace.learn_patterns()

    now = team.room.interpret("alice", "PREFERS_CHANNEL").now
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
def test_an_address_that_is_told_is_an_alias_however_it_is_written(
    team: Team, relation: str, said: str, asked: str, kept: str
) -> None:
    team.room.add_fact("Sarah Chen", "WORKS_AT", "Globex")
    team.room.add_fact("Sarah Chen", relation, value=said)

    sarah = team.room.entity(asked)

    assert sarah.name == "Sarah Chen"
    assert [*sarah.aliases, *(each.value for each in sarah.identifiers)] == [kept]
    assert not any(each.proven for each in sarah.identifiers)
    assert team.room.interpret(asked, "WORKS_AT").now.fact.object == "Globex"
    assert team.room.facts("Sarah Chen", relation)[0].fact.value == said  # as it was told
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
def test_what_is_no_address_of_hers_is_no_alias(team: Team, told: dict[str, Any]) -> None:
    team.room.add_fact("Sarah", "HAS_EMAIL", **told)

    assert team.room.entity("Sarah").identifiers == ()
    assert len(team.room.facts("Sarah", "HAS_EMAIL")) == 1


@pytest.mark.requirement("B10", "B11")
def test_an_address_of_two_makes_nobody_another_one(team: Team) -> None:
    team.room.add_fact("Sarah", "HAS_EMAIL", value="sarah@example.com")
    team.room.add_fact("Mallory", "HAS_EMAIL", value="sarah@example.com")

    (review,) = team.room.reviews().list(what="merge")
    assert set(review.names) == {"Sarah", "Mallory"}
    assert team.room.entity("Mallory").same_as == ()
    assert team.room.entity("sarah@example.com").could_be == ("Mallory", "Sarah")


@pytest.mark.requirement("B10", "X6")
def test_a_forgotten_address_is_nobodys(team: Team) -> None:
    team.room.add_fact("Sarah", "WORKS_AT", "Globex")
    told = team.room.add_fact("Sarah", "HAS_EMAIL", value="sarah@example.com")
    assert team.room.entity("sarah@example.com").name == "Sarah"

    team.workspace.forget(event=told)

    assert team.room.entity("Sarah").identifiers == ()
    with pytest.raises(NotFound):
        team.room.entity("sarah@example.com")


@pytest.mark.requirement("E30")
def test_a_profile_is_a_view_of_what_was_said_and_told(team: Team) -> None:
    team.room.observe("alice", "I love pottery. I prefer short answers.", key="said")
    team.room.observe("alice", "I live in Oslo.")
    team.clock.advance(days=1)
    team.room.observe("alice", "I moved to Rome.")
    team.alices.set_fact("user", "favourite_editor", "vim")
    team.alices.observe("alice", "I love jazz, but that is a secret.")

    found = team.room.profile("Alice")
    texts = {entry.text for entry in found.preferences}
    assert {"Alice loves pottery.", "Alice prefers short answers."} <= texts
    assert any("vim" in text for text in texts)
    assert not any("jazz" in text for text in texts)
    assert any("Rome" in entry.text for entry in found.about)
    assert not any("Oslo" in entry.text for entry in found.about)
    assert any("jazz" in entry.text for entry in team.alices.profile("alice").preferences)
    assert team.bobs.profile("alice").empty


@pytest.mark.requirement("E30")
def test_a_forgotten_message_leaves_the_profile(team: Team) -> None:
    receipt = team.room.observe("alice", "I love pottery.")
    assert team.room.profile("alice").preferences
    team.workspace.forget(event=receipt)

    assert team.room.profile("alice").empty


@pytest.mark.parametrize("wrong", ["", "a\nb", "x" * 10_000])
def test_a_person_has_a_name(team: Team, wrong: str) -> None:
    with pytest.raises(InvalidInput):
        team.room.profile(wrong)


def test_the_awaited_face_knows_people_too() -> None:
    async def ask() -> tuple[int, int, int]:
        options = {"settings": Settings(), "embedder": HashingEmbedder(), "background": False}
        async with await AsyncNexus.open(":memory:", **options) as nexus:
            acme = nexus.workspace("acme")
            room = acme.room("design", participants=["alice"])
            await room.observe("alice", "Tyler works at Google. I love pottery.", thread="t")
            found = await room.sessions_knowing("Tyler")
            profile = await room.profile("alice")
            return len(found), len(await room.stale(thread="t")), len(profile.preferences)

    assert asyncio.run(ask()) == (1, 0, 1)
