"""Working memory of a place: summary, notes, thoughts, goal and idle time."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import Clock, Open
from tests.stories.conftest import Team

from nexusmem import AsyncNexus, InvalidInput, Nexus, Place
from nexusmem.compose.settings import ComposeSettings
from nexusmem.config.settings import Settings
from nexusmem.embedders.feature_hash import HashingEmbedder

MORNING = (
    ("alice", "Good morning, everyone!"),
    ("bob", "The Petrel leaves Lisbon at nine on Friday."),
    ("alice", "We decided to paint the Petrel blue."),
    ("scribe", "Shall I order the paint?"),
    ("bob", "Tickets cost 12 euros, and 8 for children."),
    ("carol", "I will call the painter by Tuesday."),
)


@pytest.fixture
def room(nexus: Nexus) -> Place:
    return nexus.workspace("ferries").room(
        "office", agent="scribe", participants=["alice", "bob", "carol"]
    )


def talk(room: Place, clock: Clock) -> None:
    for speaker, text in MORNING:
        role = "assistant" if speaker == "scribe" else "user"
        room.observe(speaker, text, role=role)
        clock.advance(minutes=1)


@pytest.mark.requirement("D1", "A13")
def test_summary_contains_twenty_decisions(team: Team) -> None:
    tools = "Kafka Redis Postgres Rust Go Python Java Scala Elixir Erlang Haskell Ruby Perl".split()
    tools += "Lua Julia Swift Kotlin Dart Nim Zig".split()
    for number, name in enumerate(tools):
        team.room.observe("alice", f"We decided to use {name} for service {number}.")
        team.clock.advance(minutes=1)

    decisions = team.room.window().summary.decisions
    team.clock.advance(hours=3)
    team.workspace.refresh_episodes()
    (session,) = team.room.episodes("session")

    assert all(f" {name} " in line.text for name, line in zip(tools, decisions, strict=True))
    assert all(f" {name} " in session.text for name in tools)
    assert len(session.text) <= 1_200


@pytest.mark.requirement("A1", "D3")
def test_window_shows_messages_and_decisions(room: Place, clock: Clock) -> None:
    talk(room, clock)

    view = room.window()

    assert [(event.speaker, event.text) for event in view.events] == list(MORNING)
    assert [line.text for line in view.summary.decisions] == [
        "We decided to paint the Petrel blue."
    ]
    (item,) = view.summary.action_items
    assert "painter" in item.text
    assert item.due is not None
    assert "bob: Tickets cost 12 euros, and 8 for children." in view.summary.text
    assert "Good morning" not in view.summary.text


@pytest.mark.requirement("D2", "D4")
def test_session_resumes_from_the_summary_after_two_days(room: Place, clock: Clock) -> None:
    talk(room, clock)
    room.set_active_goal("Get the Petrel ready.")
    room.set_note("colour", "RAL 5015")
    clock.advance(hours=47)

    view = room.window()

    assert (view.events, view.notes, view.goal, view.fresh) == ((), (), None, False)
    assert "Lisbon" in view.summary.text
    assert view.summary.decisions

    room.observe("bob", "Back again. Is the paint dry?")
    again = room.window()
    assert [event.text for event in again.events] == ["Back again. Is the paint dry?"]
    assert again.summary.decisions == view.summary.decisions


@pytest.mark.requirement("E9")
def test_notes_thoughts_and_goal_belong_to_the_place(nexus: Nexus, room: Place) -> None:
    room.set_note("colour", {"ral": 5015}, ttl=60)
    room.add_thought("They may mean the other ferry.")
    room.set_active_goal("Get the Petrel ready.")
    dm = nexus.workspace("ferries").dm("alice", agent="scribe")

    goal = room.active_goal()
    assert goal is not None
    assert (goal.text, goal.status, goal.by) == ("Get the Petrel ready.", "active", "scribe")
    assert [(note.key, note.value) for note in room.notes()] == [("colour", {"ral": 5015})]
    assert [thought.by for thought in room.thoughts()] == ["scribe"]
    assert (dm.notes(), dm.thoughts(), dm.active_goal()) == ([], [], None)
    assert room.delete_note("colour")
    assert room.notes() == []


@pytest.mark.requirement("E9")
def test_note_expires_after_its_ttl(room: Place, clock: Clock) -> None:
    room.set_note("short", 1, ttl=60)
    clock.advance(seconds=61)

    assert room.notes() == []


@pytest.mark.parametrize("ttl", ["soon", True, float("nan"), float("inf"), -1, 1e12])
def test_ttl_must_be_positive_seconds(room: Place, ttl: object) -> None:
    with pytest.raises(InvalidInput):
        room.set_note("key", "value", ttl=ttl)  # type: ignore[arg-type]


@pytest.mark.requirement("X6")
def test_forgotten_person_leaves_no_window_items(
    tmp_path: Path, open_nexus: Open, clock: Clock
) -> None:
    nexus = open_nexus(tmp_path / "memory.db")
    acme = nexus.workspace("ferries")
    room = acme.room("office", agent="scribe", participants=["alice", "bob", "carol"])
    dm = acme.dm("alice", agent="scribe")
    talk(room, clock)
    for number in range(5):
        room.observe("alice", f"My zqxmark number {number} costs 12 euros in Lisbon.")
        dm.observe("alice", f"My zqxmark secret {number} is about the painter Joao.")
    room.add_thought("Alice wants her zqxmark painted, it seems.")
    dm.set_note("zqxmark key", {"deep": ["a zqxmark value that is long enough"]})
    dm.set_active_goal("Find the zqxmark of this and that.")
    room.set_note("colour", "the blue that everybody likes best")
    assert "zqxmark" in room.window().summary.text
    assert "zqxmark" in dm.window().summary.text

    report = acme.forget(user="alice")

    assert report.residue == 0
    assert report.erased.window >= 5
    for file in tmp_path.glob("memory.db*"):
        assert b"zqxmark" not in file.read_bytes().lower()
    room.observe("bob", "The harbour office opens at eight.")
    view = room.window()
    assert {event.speaker for event in view.events} == {"bob", "scribe", "carol"}
    assert "zqxmark" not in view.summary.text
    assert "Tickets cost 12 euros" in view.summary.text
    assert [note.key for note in room.notes()] == ["colour"]


@pytest.mark.requirement("X6")
def test_forgotten_room_leaves_no_window_items(
    tmp_path: Path, open_nexus: Open, clock: Clock
) -> None:
    nexus = open_nexus(tmp_path / "memory.db")
    acme = nexus.workspace("ferries")
    room = acme.room("office", agent="scribe", participants=["alice"])
    room.set_note("key", "the zqxmark of the office")

    report = acme.forget(room="office")

    assert (report.residue, report.erased.window) == (0, 1)
    assert room.notes() == []
    for file in tmp_path.glob("memory.db*"):
        assert b"zqxmark" not in file.read_bytes()


def test_cleanup_removes_expired_items(nexus: Nexus, room: Place, clock: Clock) -> None:
    room.set_note("key", "value")
    clock.advance(hours=25)

    nexus.optimize()

    clock.advance(hours=-25)
    assert room.notes() == []


@pytest.mark.requirement("A2", "D2")
def test_window_survives_reopening(tmp_path: Path, open_nexus: Open, clock: Clock) -> None:
    first = open_nexus(tmp_path / "memory.db")
    room = first.workspace("ferries").room("office", agent="scribe", participants=["alice"])
    talk(room, clock)
    room.set_note("key", "value")
    before = room.window()
    first.close()

    again = open_nexus(tmp_path / "memory.db").workspace("ferries").place(room.viewer)

    assert again.window() == before


@pytest.mark.requirement("E9")
async def test_window_works_in_the_async_api() -> None:
    options = {"settings": Settings(), "embedder": HashingEmbedder(), "background": False}
    async with await AsyncNexus.open(":memory:", **options) as nexus:
        room = nexus.workspace("ferries").room("office", agent="scribe", participants=["alice"])
        await room.set_note("key", "value")
        await room.add_thought("Hm.")
        await room.set_active_goal("Paint.")
        goal, view = await room.active_goal(), await room.window()

    assert goal == view.goal
    assert [note.value for note in view.notes] == ["value"]


@pytest.mark.requirement("D2")
@pytest.mark.parametrize("back", ["said", "thought", "composed"])
def test_idle_window_stays_empty(open_nexus: Open, clock: Clock, back: str) -> None:
    settings = Settings(compose=ComposeSettings(idle_hours=2))
    room = open_nexus(settings=settings).workspace("ferries").room("office", agent="scribe")
    talk(room, clock)
    room.set_note("key", "value")
    room.set_active_goal("Paint.")
    clock.advance(hours=3)

    if back == "said":
        room.observe("bob", "Is the paint dry?")
    elif back == "thought":
        room.add_thought("They are back.")
    else:
        room.compose("Is the paint dry?")
        room.observe("bob", "Is the paint dry?")

    assert (room.notes(), room.active_goal()) == ([], None)
    clock.advance(minutes=1)
    room.add_thought("They are.")
    assert (room.notes(), room.active_goal(), room.thoughts()[-1].text) == ([], None, "They are.")


@pytest.mark.requirement("D2")
def test_idle_hours_is_configurable(open_nexus: Open, clock: Clock) -> None:
    settings = Settings(compose=ComposeSettings(idle_hours=1))
    room = open_nexus(settings=settings).workspace("ferries").room("office", agent="scribe")
    talk(room, clock)
    room.set_note("key", "value")
    room.add_thought("Hm.")
    room.set_active_goal("Paint.")
    clock.advance(minutes=59)
    assert len(room.notes()) == len(room.thoughts()) == 1
    clock.advance(minutes=2)

    view = room.window()

    assert (view.events, view.notes, view.thoughts, view.goal) == ((), (), (), None)
    assert (room.notes(), room.thoughts(), room.active_goal()) == ([], [], None)
