"""Retry of failed work and its audit entry are one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.conftest import Open
from tests.servers.postgres import Database

from nexusmem import Nexus, NexusError, Workspace
from nexusmem.core.protocols.jobs import NewJob

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
def open_memory(request: pytest.FixtureRequest, open_nexus: Open, tmp_path: Path) -> Opened:
    """Return a memory and a function that makes its audit log reject retries."""
    if request.param == "postgres":
        database: Database = request.getfixturevalue("postgres")
        return open_nexus(database.url), lambda: database.run(REFUSE_IN_POSTGRES)
    file = tmp_path / "memory.db"

    def refuse() -> None:
        with closing(sqlite3.connect(file)) as connection:
            connection.execute(REFUSE)

    return open_nexus(file), refuse


def add_failed_work(nexus: Nexus, workspace: Workspace) -> None:
    """Add an event and a job without further attempts."""
    workspace.room("office").observe("alice", "The Petrel leaves at nine.")
    store, now = nexus._parts.store, nexus._parts.now()
    tasks = store.queue.claim(None, now=now, limit=9)
    store.queue.fail(tasks, error="poison", retry_at=None)
    store.jobs.schedule(workspace.id, [NewJob(name="share", due_at=now)])
    store.jobs.fail(store.jobs.claim(now=now, limit=9), error="poison", retry_at=None)


def count_dead(workspace: Workspace) -> tuple[int, int]:
    """Return the number of dead events and jobs."""
    jobs = [job for job in workspace.jobs() if job.dead]
    return sum(each.is_dead for each in workspace.pending_work()), len(jobs)


@pytest.mark.requirement("E27", "X3")
def test_retry_is_one_audit_entry(open_memory: Opened) -> None:
    nexus, _ = open_memory
    workspace = nexus.workspace("ferries")
    add_failed_work(nexus, workspace)
    assert count_dead(workspace) == (1, 1)

    assert workspace.retry() == 2

    assert count_dead(workspace) == (0, 0)
    (told,) = [each.entry.detail for each in workspace.audit(action="retry") if each.entry]
    assert (told["retried"], told["which"]) == (2, [])


@pytest.mark.requirement("E27", "X3")
def test_retry_is_rolled_back_without_audit_entry(open_memory: Opened) -> None:
    nexus, refuse = open_memory
    workspace = nexus.workspace("ferries")
    add_failed_work(nexus, workspace)
    refuse()

    with pytest.raises(NexusError):
        workspace.retry()

    assert count_dead(workspace) == (1, 1)
    assert workspace.audit(action="retry") == []


def test_retry_without_failures_is_not_recorded(open_memory: Opened) -> None:
    nexus, refuse = open_memory
    workspace = nexus.workspace("ferries")
    workspace.room("office").observe("alice", "The Petrel leaves at nine.")
    workspace.flush()
    refuse()

    assert workspace.retry() == 0
    assert workspace.audit(action="retry") == []
