"""nexus dossier."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.requirement("B19")

ROOM = ("--room", "design")


def test_a_dossier_on_the_command_line(run, lines) -> None:
    run("observe", "alice", "Sarah Chen works at Globex.", "--key", "work", *ROOM)
    assert "no dossier" in run("dossier", *ROOM, code=1).output
    shown = run("dossier", "Sarah Chen", *ROOM).output
    assert "# Sarah Chen" in shown
    assert "[1] alice" in shown
    run("observe", "bob", "Sarah Chen lives in Lisbon.", *ROOM)
    assert [each["stale"] for each in lines("dossier", *ROOM)] == [True]
    assert [each["stale"] for each in lines("dossier", "--refresh", *ROOM)] == [False]
    run("dossier", "Nobody", *ROOM, code=2)


def test_a_standing_question_on_the_command_line(run) -> None:
    run("observe", "alice", "Hello everybody.", *ROOM)
    assert (
        "nothing answers"
        in run("dossier", "When does the Petrel leave?", "--ask", *ROOM, code=1).output
    )
    run("observe", "bob", "The Petrel will leave at nine.", *ROOM)
    assert "at nine" in run("dossier", "When does the Petrel leave?", "--ask", *ROOM).output
    run("dossier", "When does the Petrel leave?", "--drop", *ROOM)
    run("dossier", *ROOM, code=1)


def test_the_job_that_keeps_them_fresh(run, lines) -> None:
    run("observe", "alice", "Sarah Chen works at Globex.", *ROOM)
    run("dossier", "Sarah Chen", *ROOM)
    run("observe", "bob", "Sarah Chen lives in Lisbon.", *ROOM)
    run("memory", "search", "Lisbon", *ROOM)  # it is learned by then

    (done,) = lines("jobs", "run", "dossiers")

    assert done == {"dossiers": {"looked_at": 1, "made": 1, "dropped": 0}}
    assert [each["stale"] for each in lines("dossier", *ROOM)] == [False]
    assert "dossiers" in run("jobs").output


def test_mom_as_the_help_has_it(run) -> None:
    place = ("--dm", "--user", "alice")
    run("observe", "alice", "My mom lives in Oslo. Mom likes herring.", *place)

    shown = run("dossier", "mom", *place).output

    assert "## What is known" in shown
    assert "herring" in shown


@pytest.mark.parametrize("option", ["--ask", "--drop"])
def test_a_question_is_needed_to_ask_or_to_drop(run, option: str) -> None:
    assert "which question?" in run("dossier", option, *ROOM, code=2).output
