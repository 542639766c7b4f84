"""What failed is tried again and that is recorded, or neither."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.conftest import Open
from tests.servers.postgres import Database

from nexus import Nexus, NexusError, Workspace
from nexus.core.jobs import NewJob

REFUSE = """
CREATE TRIGGER refuse BEFORE INSERT ON audit WHEN new.action = 'retry'
BEGIN SELECT RAISE(ABORT, 'no more room'); END"""
REFUSE_IN_POSTGRES = """
CREATE FUNCTION nexus.refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE 'no more room'; END $$;
CREATE TRIGGER refuse BEFORE INSERT ON nexus.audit FOR EACH ROW WHEN (new.action = 'retry')
EXECUTE FUNCTION nexus.refuse()"""

Opened = tuple[Nexus, Callable[[], object]]


@pytest.fixture(params=["sqlite", "postgres"])
def opened(request: pytest.FixtureRequest, open_nexus: Open, tmp_path: Path) -> Opened:
    """A memory, and something that keeps retries out of its trail."""
    if request.param == "postgres":
        database: Database = request.getfixturevalue("postgres")
        return open_nexus(database.url), lambda: database.run(REFUSE_IN_POSTGRES)
    file = tmp_path / "memory.db"

    def refuse() -> None:
        with closing(sqlite3.connect(file)) as connection:
            connection.execute(REFUSE)

    return open_nexus(file), refuse


def fail(nexus: Nexus, workspace: Workspace) -> None:
    """An event and a job, both for good."""
    workspace.room("office").observe("alice", "The Petrel leaves at nine.")
    store, now = nexus._parts.store, nexus._parts.now()
    tasks = store.queue.claim(None, now=now, limit=9)
    store.queue.fail(tasks, error="poison", retry_at=None)
    store.jobs.schedule(workspace.id, [NewJob(name="share", due_at=now)])
    store.jobs.fail(store.jobs.claim(now=now, limit=9), error="poison", retry_at=None)


def dead(workspace: Workspace) -> tuple[int, int]:
    """How many events and jobs are given up."""
    jobs = [job for job in workspace.jobs() if job.dead]
    return sum(each.dead for each in workspace.waiting()), len(jobs)


@pytest.mark.requirement("E27", "X3")
def test_one_trail_entry_tells_of_events_and_jobs(opened: Opened) -> None:
    nexus, _ = opened
    workspace = nexus.workspace("ferries")
    fail(nexus, workspace)
    assert dead(workspace) == (1, 1)

    assert workspace.retry() == 2

    assert dead(workspace) == (0, 0)
    (told,) = [each.entry.detail for each in workspace.audit(action="retry") if each.entry]
    assert (told["retried"], told["which"]) == (2, [])


@pytest.mark.requirement("E27", "X3")
def test_what_cannot_be_recorded_is_not_done(opened: Opened) -> None:
    nexus, refuse = opened
    workspace = nexus.workspace("ferries")
    fail(nexus, workspace)
    refuse()

    with pytest.raises(NexusError):
        workspace.retry()

    assert dead(workspace) == (1, 1)
    assert workspace.audit(action="retry") == []


def test_where_nothing_failed_nothing_is_recorded(opened: Opened) -> None:
    nexus, refuse = opened
    workspace = nexus.workspace("ferries")
    workspace.room("office").observe("alice", "The Petrel leaves at nine.")
    workspace.flush()
    refuse()

    assert workspace.retry() == 0
    assert workspace.audit(action="retry") == []
