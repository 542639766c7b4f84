"""`nexus goal`."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.requirement("E10")

ROOM = ("--room", "design")


def test_goal_commands(run, lines) -> None:
    (ship,) = lines("goal", "add", "Ship it", "--priority", "1", "--deadline", "2026-12-01", *ROOM)
    (tests,) = lines("goal", "add", "Make the tests green", "--parent", ship["id"], *ROOM)
    assert [each["id"] for each in lines("goal", "list", *ROOM)] == [ship["id"], tests["id"]]

    (blocked,) = lines("goal", "block", ship["id"], "--goal", tests["id"], *ROOM)
    assert blocked["status"] == "blocked"
    (done,) = lines("goal", "complete", tests["id"], "--result", "green", *ROOM)
    assert (done["status"], done["result"]) == ("completed", "green")
    assert lines("goal", "show", ship["id"], *ROOM)[0]["status"] == "active"
    assert lines("goal", "block", ship["id"], "rain", *ROOM)[0]["blockers"] == ["rain"]
    assert "blockers" not in lines("goal", "unblock", ship["id"], *ROOM)[0]
    assert lines("goal", "cancel", ship["id"], "--reason", "no", *ROOM)[0]["result"] == "no"
    assert lines("goal", "reopen", ship["id"], *ROOM)[0]["status"] == "active"
    (changed,) = lines("goal", "update", ship["id"], "--priority", "2", "--no-deadline", *ROOM)
    assert (changed["priority"], changed.get("deadline")) == (2, None)
    assert (
        lines("goal", "update", tests["id"], "--text", "x", *ROOM, code=2) == []
    )  # the goal is closed
    assert "Ship it" in run("goal", "list", "--status", "any", *ROOM).output


def test_empty_goal_list_exits_1(run) -> None:
    run("observe", "alice", "Hello everybody.", *ROOM)
    assert "0 goals" in run("goal", "list", *ROOM, code=1).output
