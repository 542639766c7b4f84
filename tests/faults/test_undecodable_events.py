"""Events that this version cannot decode: written by a newer version, or damaged."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.conftest import Open
from tests.servers.postgres import Database

from nexusmem import Nexus
from nexusmem.learn.learner import Learner
from nexusmem.maintain import standalone_worker as module

SPOIL = """
UPDATE {events} SET content = replace(replace(content, '"kind":"poll"', '"kind":"message"'),
                                      '"kind":"message"', '"kind":"{kind}"')"""

Opened = tuple[Nexus, Callable[[str], None]]


@pytest.fixture(params=["sqlite", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    """Open a memory, and return a function that changes the kind of its events.

    The database fixture comes first, so that it outlives the memory.
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
def test_undecodable_event_is_dead_and_blocks_nothing(opened: Opened) -> None:
    nexus, spoil = opened
    bad, good = nexus.workspace("bad"), nexus.workspace("good")
    for number in range(200):  # more than one claim takes
        bad.room("pier").observe("alice", f"Ferry {number} is late.")
    spoil("poll")
    good.room("pier").observe("bob", "The Petrel leaves at nine.")

    worked = nexus.worker().run(once=True)

    assert good.pending_work() == []
    assert worked.learned == 1
    given_up = bad.pending_work(limit=500)
    assert {(each.is_dead, each.error) for each in given_up} == {
        (True, "cannot be read: KeyError('poll')")
    }
    assert len(given_up) == 200


@pytest.mark.requirement("E32")
def test_retry_processes_event_once_decodable(opened: Opened) -> None:
    nexus, spoil = opened
    workspace = nexus.workspace("ferries")
    workspace.room("pier").observe("alice", "The Petrel leaves at nine.")
    spoil("poll")
    nexus.worker().run(once=True)
    spoil("message")

    assert workspace.retry() == 1
    nexus.worker().run(once=True)

    assert workspace.pending_work() == []


@pytest.mark.requirement("E32")
def test_recall_in_other_scopes_works(opened: Opened) -> None:
    nexus, spoil = opened
    workspace = nexus.workspace("ferries")
    workspace.room("office").observe("alice", "Something of a newer version.")
    spoil("poll")
    room = workspace.room("pier")
    room.observe("alice", "The Petrel leaves at nine.")

    assert "Petrel" in room.recall("When does the Petrel leave?").hits[0].memory.text


@pytest.mark.requirement("E32")
def test_worker_continues_after_unexpected_error(
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
    shift = nexus.worker()
    worker = threading.Thread(target=shift.run)
    worker.start()
    try:
        for _ in range(600):
            if not workspace.pending_work():
                break
            worker.join(0.05)
        assert worker.is_alive()
        assert workspace.pending_work() == []
    finally:
        shift.stop()
        worker.join(30)
