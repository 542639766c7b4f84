"""Notifications between processes through LISTEN and NOTIFY."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import timedelta

import psycopg
import pytest
from tests.servers.postgres import Database

from nexusmem.core.access import administrator_grant
from nexusmem.core.ids import WorkspaceId
from nexusmem.core.protocols.jobs import RecurringJob
from nexusmem.core.records import Stage
from nexusmem.stores.postgres.store import PostgresStore
from nexusmem.testing.samples import ADMIN, NOON, append_events, make_event


@pytest.fixture
def worker(postgres: Database) -> Iterator[PostgresStore]:
    store = PostgresStore(postgres.url)
    yield store
    store.close()


def seconds_until_notified(worker: PostgresStore, writer: PostgresStore) -> float | None:
    """Return the seconds until the worker was notified, or None."""
    began = time.monotonic()
    soon = threading.Timer(0.1, writer.queue.notify)
    soon.start()
    found = worker.queue.wait_for_work(threading.Event(), 20)
    soon.join()
    return time.monotonic() - began if found else None


@pytest.mark.requirement("D25")
def test_worker_is_notified_after_reconnect(worker: PostgresStore, postgres: Database) -> None:
    writer = PostgresStore(postgres.url)
    worker.queue.wait_for_work(threading.Event(), 0.01)  # LISTEN is active now

    assert seconds_until_notified(worker, writer)
    ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s"
    postgres.run(ended, "nexus-worker")
    worker.queue.wait_for_work(threading.Event(), 1)  # reconnects
    assert seconds_until_notified(worker, writer)

    writer.close()


def test_listener_uses_application_role(worker: PostgresStore) -> None:
    worker.queue.wait_for_work(threading.Event(), 0.01)

    assert worker.queue._listener.execute("SELECT current_user").fetchone() == ("nexus_app",)


@pytest.mark.requirement("D25")
def test_large_queue_finishes_with_stale_statistics(
    worker: PostgresStore, postgres: Database
) -> None:
    """Regression: a plan with stale statistics compared all rows with all rows."""
    postgres.run("ANALYZE nexus.outbox")
    told = append_events(worker, *(make_event(str(number)) for number in range(600)))
    tasks = worker.queue.claim(now=NOON, limit=len(told), grant=ADMIN)
    assert len(tasks) == len(told)

    began = time.monotonic()
    worker.queue.finish(tasks, reached=Stage.INDEXED, now=NOON)
    onward = worker.queue.claim(now=NOON, limit=len(told), grant=ADMIN)
    worker.queue.finish(onward, reached=Stage.DERIVED, now=NOON)

    assert worker.queue.list_pending(ADMIN, limit=9) == []
    assert len(onward) == len(told)
    assert time.monotonic() - began < 10


def test_stop_event_ends_wait(worker: PostgresStore) -> None:
    until = threading.Event()
    threading.Timer(0.1, until.set).start()
    began = time.monotonic()

    assert not worker.queue.wait_for_work(until, 60)
    assert time.monotonic() - began < 20


def test_close_sends_pending_notification(worker: PostgresStore, postgres: Database) -> None:
    worker.queue.wait_for_work(threading.Event(), 0.01)
    writer = PostgresStore(postgres.url)
    writer.queue.notify()
    writer.close()

    assert worker.queue.wait_for_work(threading.Event(), 20)


@pytest.mark.requirement("D25", "E24")
def test_late_committed_workspace_gets_jobs(worker: PostgresStore, postgres: Database) -> None:
    daily = RecurringJob(name="decay", every=timedelta(days=1), on_news=False)
    head = "decode(repeat('00', 32), 'hex')"
    slow = f"INSERT INTO nexus.workspaces (name, chain_head) VALUES ('slow', {head})"
    with psycopg.connect(postgres.url_of("postgres")) as late:
        late.execute(slow)
        append_events(worker, make_event("1"))  # has a greater number, but was committed first
        assert worker.jobs.ensure_recurring([daily], now=NOON) == 1
    assert worker.jobs.ensure_recurring([daily], now=NOON + timedelta(minutes=59)) == 0

    assert worker.jobs.ensure_recurring([daily], now=NOON + timedelta(minutes=60)) == 1

    (job,) = worker.jobs.list_jobs(administrator_grant(WorkspaceId("slow")))
    assert job.name == "decay"
