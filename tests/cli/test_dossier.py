"""`nexus dossier`."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.requirement("B19")

ROOM = ("--room", "design")


def test_dossier_commands(run, lines) -> None:
    run("observe", "alice", "Sarah Chen works at Globex.", "--key", "work", *ROOM)
    assert "no dossier" in run("dossier", "list", *ROOM, code=1).output
    shown = run("dossier", "show", "Sarah Chen", *ROOM).output
    assert "# Sarah Chen" in shown
    assert "[1] alice" in shown
    run("observe", "bob", "Sarah Chen lives in Lisbon.", *ROOM)
    assert [each["stale"] for each in lines("dossier", "list", *ROOM)] == [True]
    assert lines("dossier", "refresh", *ROOM) == [{"rewritten": 1}]
    assert [each["stale"] for each in lines("dossier", "list", *ROOM)] == [False]
    run("dossier", "show", "Nobody", *ROOM, code=2)


def test_standing_question_commands(run) -> None:
    run("observe", "alice", "Hello everybody.", *ROOM)
    assert (
        "no answer yet"
        in run("dossier", "add-question", "When does the Petrel leave?", *ROOM, code=1).output
    )
    run("observe", "bob", "The Petrel will leave at nine.", *ROOM)
    assert "at nine" in run("dossier", "add-question", "When does the Petrel leave?", *ROOM).output
    run("dossier", "remove-question", "When does the Petrel leave?", *ROOM)
    run("dossier", "list", *ROOM, code=1)


def test_dossiers_job_rewrites_outdated_dossier(run, lines) -> None:
    run("observe", "alice", "Sarah Chen works at Globex.", *ROOM)
    run("dossier", "show", "Sarah Chen", *ROOM)
    run("observe", "bob", "Sarah Chen lives in Lisbon.", *ROOM)
    run("memory", "search", "Lisbon", *ROOM)  # learns the message

    (done,) = lines("jobs", "run", "dossiers")

    assert done == {"dossiers": {"looked_at": 1, "made": 1, "dropped": 0}}
    assert [each["stale"] for each in lines("dossier", "list", *ROOM)] == [False]
    assert "dossiers" in run("jobs").output


def test_dossier_of_relative(run) -> None:
    place = ("--dm", "--user", "alice")
    run("observe", "alice", "My mom lives in Oslo. Mom likes herring.", *place)

    shown = run("dossier", "show", "mom", *place).output

    assert "## Current facts" in shown
    assert "herring" in shown


@pytest.mark.parametrize("command", ["add-question", "remove-question"])
def test_question_commands_need_a_question(run, command: str) -> None:
    assert "Missing argument 'QUESTION'" in run("dossier", command, *ROOM, code=2).output
