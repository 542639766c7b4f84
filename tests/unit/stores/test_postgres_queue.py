"""How workers elsewhere hear of new work."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import timedelta

import psycopg
import pytest
from tests.servers.postgres import Database

from nexus.core.access import administrator_grant
from nexus.core.ids import WorkspaceId
from nexus.core.jobs import Recurring
from nexus.core.records import Stage
from nexus.stores.postgres.store import PostgresStore
from nexus.testing.samples import ADMIN, NOON, event, tell


@pytest.fixture
def worker(postgres: Database) -> Iterator[PostgresStore]:
    store = PostgresStore(postgres.url)
    yield store
    store.close()


def heard(worker: PostgresStore, teller: PostgresStore) -> float | None:
    """After how many seconds the worker heard of it; None: not at all."""
    began = time.monotonic()
    soon = threading.Timer(0.1, teller.queue.announce)
    soon.start()
    found = worker.queue.listen(threading.Event(), 20)
    soon.join()
    return time.monotonic() - began if found else None


@pytest.mark.requirement("D25")
def test_an_idle_worker_hears_of_work_also_after_its_connection_was_lost(
    worker: PostgresStore, postgres: Database
) -> None:
    teller = PostgresStore(postgres.url)
    worker.queue.listen(threading.Event(), 0.01)  # from here on it is told

    assert heard(worker, teller)
    ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s"
    postgres.run(ended, "nexus-worker")
    worker.queue.listen(threading.Event(), 1)  # it connects again
    assert heard(worker, teller)

    teller.close()


def test_it_listens_with_no_more_rights_than_it_reads_with(worker: PostgresStore) -> None:
    worker.queue.listen(threading.Event(), 0.01)

    assert worker.queue._listener.execute("SELECT current_user").fetchone() == ("nexus_app",)


@pytest.mark.requirement("D25")
def test_much_work_is_ended_also_if_the_server_took_the_queue_for_empty(
    worker: PostgresStore, postgres: Database
) -> None:
    """It counts rows now and then, and plans with that: it once compared all with all."""
    postgres.run("ANALYZE nexus.outbox")
    told = tell(worker, *(event(str(number)) for number in range(600)))
    tasks = worker.queue.claim(now=NOON, limit=len(told), grant=ADMIN)
    assert len(tasks) == len(told)

    began = time.monotonic()
    worker.queue.finish(tasks, reached=Stage.INDEXED, now=NOON)
    onward = worker.queue.claim(now=NOON, limit=len(told), grant=ADMIN)
    worker.queue.finish(onward, reached=Stage.DERIVED, now=NOON)

    assert worker.queue.waiting(ADMIN, limit=9) == []
    assert len(onward) == len(told)
    assert time.monotonic() - began < 10


def test_one_that_is_to_end_waits_no_longer(worker: PostgresStore) -> None:
    until = threading.Event()
    threading.Timer(0.1, until.set).start()
    began = time.monotonic()

    assert not worker.queue.listen(until, 60)
    assert time.monotonic() - began < 20


def test_what_was_to_be_announced_is_announced_at_the_end(
    worker: PostgresStore, postgres: Database
) -> None:
    worker.queue.listen(threading.Event(), 0.01)
    teller = PostgresStore(postgres.url)
    teller.queue.announce()
    teller.close()

    assert worker.queue.listen(threading.Event(), 20)


@pytest.mark.requirement("D25", "E24")
def test_a_workspace_that_was_committed_late_has_its_jobs_within_the_hour(
    worker: PostgresStore, postgres: Database
) -> None:
    daily = Recurring(name="decay", every=timedelta(days=1), on_news=False)
    head = "decode(repeat('00', 32), 'hex')"
    slow = f"INSERT INTO nexus.workspaces (name, head) VALUES ('slow', {head})"
    with psycopg.connect(postgres.url_of("postgres")) as late:
        late.execute(slow)
        tell(worker, event("1"))  # its number is greater, and it is there before
        assert worker.jobs.plant([daily], now=NOON) == 1
    assert worker.jobs.plant([daily], now=NOON + timedelta(minutes=59)) == 0

    assert worker.jobs.plant([daily], now=NOON + timedelta(minutes=60)) == 1

    (job,) = worker.jobs.listed(administrator_grant(WorkspaceId("slow")))
    assert job.name == "decay"
