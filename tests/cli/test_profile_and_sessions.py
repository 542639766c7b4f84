"""`nexus profile` and `nexus sessions`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from nexusmem.cli import profile as profile_command
from nexusmem.cli.output import is_terminal

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
def test_find_sessions_ranks_by_mentions(lines, run) -> None:
    best, other = lines("sessions", "find", "--about", "Where does Tyler work?", *ROOM)

    assert (best["thread"], best["outdated"]) == ("lunch", [])
    assert (other["thread"], other["outdated"]) == ("storage", ["tyler"])
    assert best["labels"] == ["Tyler works at Anthropic"]
    assert 0 < other["score"] < best["score"] <= 1
    assert "changed since" in run("sessions", "find", "--about", "Tyler", *ROOM).stdout
    assert lines("sessions", "find", "--about", "Tyler", *ROOM, "--limit", "1") == [best]
    assert lines("sessions", "find", "--about", "Who likes tea?", *ROOM, code=1) == []


@pytest.mark.usefixtures("talk")
@pytest.mark.requirement("B25")
def test_outdated_facts_of_thread(lines, run) -> None:
    (found,) = lines("sessions", "outdated", *ROOM, "--thread", "storage")

    assert (found["entity"], found["predicate"]) == ("Tyler", "WORKS_AT")
    assert found["old"]["text"] == "Tyler works at Google."
    assert found["current"]["text"] == "Tyler works at Anthropic."
    assert found["since"].startswith(f"{LATELY + timedelta(days=2):%Y-%m-%d}")
    assert lines("sessions", "outdated", *ROOM, "--thread", "lunch", code=1) == []
    assert "Anthropic" in run("sessions", "outdated", *ROOM, "--thread", "storage").stdout


def test_all_mine_ranks_only_own_sessions(lines, run) -> None:
    told(run, "Tyler works at Google.", "--session", "monday")
    told(run, "Tyler and Sarah moved to Rome.", "--session", "tuesday", day=1)
    told(run, "Tyler is a pilot.", "--session", "spying", "--user", "bob", speaker="bob")
    told(run, "Tyler is a singer.", *ROOM)

    mine = lines("sessions", "find", "--about", "Tyler", "--all-mine")
    assert {each["scope"] for each in mine} == {
        "session:alice:assistant:monday",
        "session:alice:assistant:tuesday",
    }
    here = lines("sessions", "find", "--about", "Tyler", "--session", "monday")
    assert {each["scope"] for each in here} == {each["scope"] for each in mine}  # it knows both
    run("sessions", "find", "--about", "Tyler", "--session", "monday", "--agent", "scribe", code=1)


@pytest.mark.usefixtures("talk")
@pytest.mark.requirement("E30")
def test_profile_as_json_has_sources(lines, run) -> None:
    (found,) = lines("profile", "show", "alice", *ROOM)

    (likes,) = found["preferences"]
    assert "pottery" in likes["text"]
    assert likes["confidence"] > 0.5
    assert len(likes["sources"]) == 1
    assert found["style"]["messages"] == 3
    assert "pottery" in run("profile", "show", "alice", *ROOM).stdout
    (nobody,) = lines("profile", "show", "nobody", *ROOM, code=1)
    assert nobody["preferences"] == []


@pytest.mark.usefixtures("talk")
def test_profile_on_terminal_is_a_panel(run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_terminal()
    monkeypatch.setattr(profile_command, "is_terminal", lambda: True)

    shown = run("profile", "show", "alice", *ROOM).stdout
    assert "preferences" in shown
    assert "pottery" in shown


@pytest.mark.usefixtures("talk")
@pytest.mark.parametrize(
    ("words", "place"),
    [
        (("profile", "show", "nobody", *ROOM), "room:design"),
        (("sessions", "find", "--about", "Zaphod", *ROOM), "room:design"),
        (
            ("sessions", "find", "--about", "Zaphod", "--all-mine"),
            "the sessions and DMs of alice",
        ),
        (
            ("memory", "search", "kettle", "--user", "carol", "--session", "empty"),
            "session:carol:assistant:empty",
        ),
        (("memory", "search", "kettle", "--user", "carol", "--scope", "user"), "user:carol"),
    ],
)
def test_empty_result_names_the_place(run, words, place) -> None:
    result = run(*words, code=1)

    assert (result.stdout, result.stderr) == ("", f"nothing found in {place}\n")


@pytest.mark.requirement("B13")
def test_profile_refresh_derives_habits(lines, run) -> None:
    for day in range(15):
        told(run, f"The report of day {day} is done.", day=day)

    assert lines("profile", "refresh") == [{"changed": 2}]
    assert lines("profile", "refresh") == [{"changed": 0}]
    (found,) = lines("profile", "show", "alice", *ROOM)
    texts = {each["text"] for each in found["patterns"]}
    assert "alice usually writes between 09:00 and 10:00 UTC." in texts
    assert "changed" in run("profile", "refresh").stdout
