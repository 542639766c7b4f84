"""`nexus window`."""

from __future__ import annotations

import pytest

ROOM = ("--room", "design", "--participant", "alice")


@pytest.mark.requirement("E9")
def test_notes_thoughts_and_goal(lines, run) -> None:
    (kept,) = lines("window", "note", "deadline", "Friday noon", "--ttl", "3600", *ROOM)
    assert (kept["key"], kept["value"], kept["by"]) == ("deadline", "Friday noon", "assistant")
    assert kept["expires_at"] > kept["at"]
    lines("window", "note", "limits", '{"rows": 5}', "--json-value", *ROOM)
    lines("window", "thought", "They may mean the other server.", *ROOM)
    run("window", "thought", "-", *ROOM, said="Or not.")
    run("window", "goal", "Ship the release.", *ROOM)

    assert [each["value"] for each in lines("window", "note", *ROOM)] == [
        {"rows": 5},
        "Friday noon",
    ]
    told = [each["text"] for each in lines("window", "thought", *ROOM)]
    assert told == ["They may mean the other server.", "Or not."]
    (goal,) = lines("window", "goal", *ROOM)
    assert (goal["text"], goal["status"]) == ("Ship the release.", "active")
    run("window", "note", "deadline", "--delete", *ROOM)
    run("window", "note", "deadline", "--delete", *ROOM, code=1)
    assert len(lines("window", "note", *ROOM)) == 1


@pytest.mark.requirement("A1", "D3")
def test_the_window_is_shown(lines, run) -> None:
    for number in range(6):
        run("observe", "alice", f"The ferry number {number} leaves Lisbon at nine.", *ROOM)
    run("window", "goal", "Ship the release.", *ROOM)

    (found,) = lines("window", "show", "--limit", "3", *ROOM)

    assert [each["speaker"] for each in found["events"]] == ["alice"] * 3
    assert found["events"][-1]["text"] == "The ferry number 5 leaves Lisbon at nine."
    assert "number 1" in found["summary"]["text"]
    assert found["fresh"]
    shown = run("window", "show", *ROOM).stdout
    assert "goal\tactive\tShip the release." in shown
    assert "The ferry number 0 leaves" in shown


def test_other_place_has_empty_window(lines, run) -> None:
    run("window", "note", "a", "b", *ROOM)

    for what in ("note", "thought", "goal", "show"):
        run("window", what, "--room", "other", code=1)
        run("window", what, "--dm", code=1)
    assert lines("window", "note", *ROOM)


@pytest.mark.parametrize(
    "words",
    [
        ("note", "key"),
        ("note", "key", "{", "--json-value"),
        ("note", "key", "v", "--ttl", "-1"),
        ("thought", ""),
        ("goal", " "),
        ("goal", "x", "--status", "maybe"),
        ("show", "--limit", "0"),
    ],
)
def test_wrong_input_is_refused(run, words) -> None:
    run("window", "note", "a", "b", *ROOM)

    run("window", *words, *ROOM, code=2)
