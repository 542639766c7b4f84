"""`nexus episodes`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

ROOM = ("--room", "design", "--participant", "alice")
LONG_AGO = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
def talk(run) -> None:
    said = ["We decided to use PostgreSQL.", "The launch is on 12 May 2026."]
    for number, text in enumerate(said):
        at = (LONG_AGO + timedelta(minutes=number)).isoformat()
        run("observe", "alice", text, "--at", at, *ROOM)
    run("observe", "alice", "My raise is 9000 a year.", "--at", LONG_AGO.isoformat(), "--dm")


@pytest.mark.usefixtures("talk")
@pytest.mark.requirement("A3", "B14")
def test_episodes_are_refreshed_listed_and_shown(lines, run) -> None:
    assert lines("episodes", "list", *ROOM, code=1) == []
    assert lines("episodes", "refresh") == [{"new": 6}]
    assert lines("episodes", "refresh") == [{"new": 0}]
    assert lines("episodes", "refresh", "--rewrite") == [{"new": 6}]

    found = lines("episodes", "list", *ROOM)
    assert sorted(each["span"] for each in found) == ["day", "session", "week"]
    assert all("PostgreSQL" in each["text"] for each in found)
    assert not any("9000" in each["text"] for each in found)
    (session,) = lines("episodes", "list", *ROOM, "--span", "session")
    (shown,) = lines("episodes", "show", session["id"], *ROOM)
    assert [each["text"] for each in shown["events"]] == [
        "We decided to use PostgreSQL.",
        "The launch is on 12 May 2026.",
    ]
    (day,) = lines("episodes", "list", *ROOM, "--span", "day")
    (shown,) = lines("episodes", "show", day["id"], *ROOM)
    assert [each["id"] for each in shown["episodes"]] == [session["id"]]
    assert "PostgreSQL" in run("episodes", "show", day["id"], *ROOM).stdout
    assert "We decided" in run("episodes", "show", session["id"], *ROOM).stdout
    assert "session" in run("episodes", "list", *ROOM).stdout


@pytest.mark.usefixtures("talk")
def test_episodes_are_filtered_by_time(lines) -> None:
    lines("episodes", "refresh")

    assert len(lines("episodes", "list", *ROOM, "--since", "2026-03-02")) == 3
    assert lines("episodes", "list", *ROOM, "--since", "2026-03-03", code=1) == []
    assert lines("episodes", "list", *ROOM, "--until", "2026-03-02T09:00:00Z", code=1) == []
    assert len(lines("episodes", "list", *ROOM, "--limit", "1")) == 1


@pytest.mark.usefixtures("talk")
@pytest.mark.requirement("X1")
def test_hidden_or_other_memory_is_not_an_episode(lines, run) -> None:
    lines("episodes", "refresh")
    (private,) = lines("episodes", "list", "--dm", "--span", "day")

    assert "9000" in private["text"]
    hidden = run("episodes", "show", private["id"], *ROOM, code=2)
    missing = run("episodes", "show", "0" * len(private["id"]), *ROOM, code=2)
    assert hidden.stderr.replace(private["id"], "ID") == missing.stderr.replace(
        "0" * len(private["id"]), "ID"
    )
    passage = lines("memory", "search", "PostgreSQL", *ROOM)[0]
    assert "no episode" in run("episodes", "show", passage["id"], *ROOM, code=2).stderr
