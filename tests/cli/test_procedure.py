"""`nexus procedure`."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.requirement("E6", "E7", "E8")


def test_procedure_commands(run, lines) -> None:
    for tool in ("run_tests", "publish"):
        run("procedure", "record", tool, "--success", "--seconds", "2", "--task", "release 1.2")
    run("procedure", "finish", "release 1.2", "--success", "--task-type", "release")

    (found,) = lines("procedure", "find", "release 1.3")
    assert (found["steps"], found["successes"], found["total"]) == (["run_tests", "publish"], 1, 1)
    assert [each["tool"] for each in lines("procedure", "stats")] == ["publish", "run_tests"]
    assert "run_tests → publish" in run("procedure", "find").output
    assert "publish" in run("procedure", "stats", "--by-type").output


def test_empty_results_exit_1(run) -> None:
    run("observe", "alice", "Hello everybody.")
    assert "no similar task" in run("procedure", "find", "x", code=1).output
    assert "no tool" in run("procedure", "stats", code=1).output
