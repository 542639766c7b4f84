"""`nexus landmarks`."""

from __future__ import annotations

import pytest

LONG_AGO = ("--at", "2026-03-02T09:00:00+00:00")


@pytest.mark.requirement("B16")
def test_landmarks_are_listed_with_status_owner_and_due_date(run, lines) -> None:
    run("observe", "alice", "I will send the report by Friday.", *LONG_AGO)
    run("observe", "alice", "We decided to use PostgreSQL.")

    (task,) = lines("landmarks", "--due-before", "2100-01-01", "--owner", "alice")
    (decision,) = lines("landmarks", "--kind", "decision", "--open")

    assert "report" in task["text"]
    assert (task["status"], task["overdue"], task["due_day"]) == ("open", True, "2026-03-06")
    assert (decision["kind"], decision["overdue"]) == ("decision", False)
    assert "action item of alice, due 2026-03-06" in run("memory", "show", task["id"]).stdout
    table = run("landmarks")
    assert [line.split("\t")[1:3] for line in table.stdout.splitlines()] == [
        ["open", "decision"],
        ["overdue", "action item"],
    ]
    assert "2 landmarks, 1 overdue" in table.stderr
    run("landmarks", "--owner", "carol", code=1)
    assert "KIND" in run("landmarks", "--help").stdout
    run("landmarks", "--kind", "chore", code=2)
