"""`nexus profile`, `nexus patterns` and `nexus sessions`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from nexus.cli import profile as profile_command
from nexus.cli.output import for_person

ROOM = ("--room", "design", "--participant", "alice")
LATELY = datetime.now(UTC).replace(hour=9, minute=0) - timedelta(days=30)


def told(run, text: str, *where: str, speaker: str = "alice", day: int = 0, key: str = "") -> None:
    at = (LATELY + timedelta(days=day)).isoformat()
    named = ("--key", key) if key else ()
    run("observe", speaker, text, "--at", at, *named, *(where or ROOM))


@pytest.fixture
def talk(run) -> None:
    told(run, "Tyler works at Google.", *ROOM, "--thread", "storage", key="google")
    told(run, "I love pottery.", *ROOM, "--thread", "storage", day=1)
    told(run, "Tyler works at Anthropic.", *ROOM, "--thread", "lunch", day=2)


@pytest.mark.usefixtures("talk")
@pytest.mark.requirement("B25")
def test_sessions_are_routed_to_by_who_they_know(lines, run) -> None:
    best, other = lines("sessions", "route", "Where does Tyler work?", *ROOM)

    assert (best["thread"], best["stale"]) == ("lunch", [])
    assert (other["thread"], other["stale"]) == ("storage", ["tyler"])
    assert best["labels"] == ["Tyler works at Anthropic"]
    assert 0 < other["score"] < best["score"] <= 1
    assert "changed since" in run("sessions", "route", "Tyler", *ROOM).stdout
    assert lines("sessions", "route", "Tyler", *ROOM, "--limit", "1") == [best]
    assert lines("sessions", "route", "Who likes tea?", *ROOM, code=1) == []


@pytest.mark.usefixtures("talk")
@pytest.mark.requirement("B25")
def test_a_stale_thread_says_what_changed(lines, run) -> None:
    (found,) = lines("sessions", "stale", *ROOM, "--thread", "storage")

    assert (found["entity"], found["predicate"]) == ("Tyler", "WORKS_AT")
    assert found["knew"]["text"] == "Tyler works at Google."
    assert found["now"]["text"] == "Tyler works at Anthropic."
    assert found["since"].startswith(f"{LATELY + timedelta(days=2):%Y-%m-%d}")
    assert lines("sessions", "stale", *ROOM, "--thread", "lunch", code=1) == []
    assert "Anthropic" in run("sessions", "stale", *ROOM, "--thread", "storage").stdout


def test_own_sessions_are_compared_and_nobody_elses(lines, run) -> None:
    told(run, "Tyler works at Google.", "--session", "monday")
    told(run, "Tyler and Sarah moved to Rome.", "--session", "tuesday", day=1)
    told(run, "Tyler is a pilot.", "--session", "spying", "--user", "bob", speaker="bob")
    told(run, "Tyler is a singer.", *ROOM)

    mine = lines("sessions", "route", "Tyler", "--mine")
    assert {each["scope"] for each in mine} == {"session:alice:monday", "session:alice:tuesday"}
    (here,) = lines("sessions", "route", "Tyler", "--session", "monday")
    assert here["scope"] == "session:alice:monday"


@pytest.mark.usefixtures("talk")
@pytest.mark.requirement("E30")
def test_a_profile_is_shown_with_its_sources(lines, run) -> None:
    (found,) = lines("profile", "alice", *ROOM)

    (likes,) = found["preferences"]
    assert "pottery" in likes["text"]
    assert likes["confidence"] > 0.5
    assert len(likes["sources"]) == 1
    assert found["style"]["messages"] == 3
    assert "pottery" in run("profile", "alice", *ROOM).stdout
    (nobody,) = lines("profile", "nobody", *ROOM, code=1)
    assert nobody["preferences"] == []


@pytest.mark.usefixtures("talk")
def test_a_person_sees_a_panel(run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not for_person()
    monkeypatch.setattr(profile_command, "for_person", lambda: True)

    shown = run("profile", "alice", *ROOM).stdout
    assert "preferences" in shown
    assert "pottery" in shown
    assert "nothing is known here" in run("profile", "nobody", *ROOM, code=1).stdout


@pytest.mark.requirement("B13")
def test_habits_are_worked_out_when_asked_for(lines, run) -> None:
    for day in range(15):
        told(run, f"The report of day {day} is done.", day=day)

    assert lines("patterns") == [{"new_or_different": 2}]
    assert lines("patterns") == [{"new_or_different": 0}]
    (found,) = lines("profile", "alice", *ROOM)
    texts = {each["text"] for each in found["patterns"]}
    assert "alice usually writes between 09:00 and 10:00 UTC." in texts
    assert "new or different" in run("patterns").stdout
