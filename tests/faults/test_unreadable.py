"""An event that this version cannot read: a newer one wrote it, or it is damaged."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.conftest import Open
from tests.servers.postgres import Database

from nexus import Nexus
from nexus.learn.learner import Learner
from nexus.maintain import shift as module

SPOIL = """
UPDATE {events} SET content = replace(replace(content, '"kind":"poll"', '"kind":"message"'),
                                      '"kind":"message"', '"kind":"{kind}"')"""

Opened = tuple[Nexus, Callable[[str], None]]


@pytest.fixture(params=["sqlite", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    """A memory, and something that makes all its events be of a kind.

    The database comes first, and so it is there until the memory is closed.
    """
    database: Database | None = None
    if request.param == "postgres":
        database = request.getfixturevalue("postgres")
    open_nexus: Open = request.getfixturevalue("open_nexus")
    if database:
        return open_nexus(database.url, background=False), lambda kind: database.run(
            SPOIL.format(events="nexus.events", kind=kind)
        )
    file = tmp_path / "memory.db"

    def spoil(kind: str) -> None:
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute(SPOIL.format(events="events", kind=kind))

    return open_nexus(file, background=False), spoil


@pytest.mark.requirement("E32")
def test_it_is_a_dead_letter_and_holds_nobody_up(opened: Opened) -> None:
    nexus, spoil = opened
    bad, good = nexus.workspace("bad"), nexus.workspace("good")
    for number in range(200):  # more than are taken at once
        bad.room("pier").observe("alice", f"Ferry {number} is late.")
    spoil("poll")
    good.room("pier").observe("bob", "The Petrel leaves at nine.")

    worked = nexus.shift().run(once=True)

    assert good.waiting() == []
    assert worked.learned == 1
    given_up = bad.waiting(limit=500)
    assert {(each.dead, each.error) for each in given_up} == {
        (True, "cannot be read: KeyError('poll')")
    }
    assert len(given_up) == 200


@pytest.mark.requirement("E32")
def test_a_version_that_can_read_it_learns_it_when_somebody_says_so(opened: Opened) -> None:
    nexus, spoil = opened
    workspace = nexus.workspace("ferries")
    workspace.room("pier").observe("alice", "The Petrel leaves at nine.")
    spoil("poll")
    nexus.shift().run(once=True)
    spoil("message")

    assert workspace.retry() == 1
    nexus.shift().run(once=True)

    assert workspace.waiting() == []


@pytest.mark.requirement("E32")
def test_a_question_elsewhere_is_answered_all_the_same(opened: Opened) -> None:
    nexus, spoil = opened
    workspace = nexus.workspace("ferries")
    workspace.room("office").observe("alice", "Something of a newer version.")
    spoil("poll")
    room = workspace.room("pier")
    room.observe("alice", "The Petrel leaves at nine.")

    assert "Petrel" in room.recall("When does the Petrel leave?").hits[0].memory.text


@pytest.mark.requirement("E32")
def test_a_worker_goes_on_after_a_fault_that_nobody_thought_of(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "AWAY_SECONDS", 0.01)
    nexus, _ = opened
    workspace = nexus.workspace("ferries")
    workspace.room("pier").observe("alice", "The Petrel leaves at nine.")
    learn, faults = Learner.run_once, [KeyError("one"), RuntimeError("two")]

    def run_once(self: Learner) -> int:
        if faults:
            raise faults.pop()
        return learn(self)

    monkeypatch.setattr(Learner, "run_once", run_once)
    shift = nexus.shift()
    worker = threading.Thread(target=shift.run)
    worker.start()
    try:
        for _ in range(600):
            if not workspace.waiting():
                break
            worker.join(0.05)
        assert worker.is_alive()
        assert workspace.waiting() == []
    finally:
        shift.end()
        worker.join(30)
