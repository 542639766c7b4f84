"""What the queue carries: jobs and events claimed, done (there is nothing to do) and finished."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from nexus.config import StoreSettings
from nexus.core.ids import WorkspaceId
from nexus.core.jobs import Done, NewJob, Recurring, Step
from nexus.core.protocols import Store
from nexus.core.records import NewEvent, Stage
from nexus.core.scope import Scope
from nexus.maintain.jobs import MOST_AT_ONCE, Runner
from nexus.maintain.schedule import Planned
from nexus.storing import make_store

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SPACES = 100
BATCH = 64


def workspaces(count: int) -> list[WorkspaceId]:
    return [WorkspaceId(f"team-{number}") for number in range(count)]


def timed(work: Callable[[], int]) -> dict[str, float]:
    """How much was done, and how fast: by the clock and by this process's CPU."""
    began, used = time.perf_counter(), time.process_time()
    count = work()
    seconds, cpu = time.perf_counter() - began, time.process_time() - used
    return {
        "count": count,
        "per_second": round(count / seconds),
        "per_cpu_second": round(count / cpu),
    }


def bare(store: Store) -> int:
    """Claim and finish, as a worker with nothing to do in a job."""
    done = 0
    while jobs := store.jobs.claim(now=NOON, limit=100):
        store.jobs.finish([Done(job=job, step=Step()) for job in jobs], now=NOON)
        done += len(jobs)
    return done


def by_worker(store: Store) -> int:
    """The whole way of a worker: leases held, steps timed, ends entered."""
    when = Recurring(name="nothing", every=timedelta(days=1), on_news=False)
    planned = {"nothing": Planned(when=when, run=lambda *_: Step())}
    runner = Runner(store, planned, lambda: NOON)
    done = 0
    while some := runner.run_due():
        done += some
    return done


def learned(store: Store) -> int:
    """Claim and finish, as a learner for whom nothing follows from an event."""
    done = 0
    while tasks := store.queue.claim(None, now=NOON, limit=BATCH):
        store.queue.finish(tasks, reached=Stage.DERIVED, now=NOON)
        done += len(tasks)
    return done


def told(number: int) -> NewEvent:
    scope = Scope.room(f"room-{number % 5}")
    return NewEvent(key=str(number), scope=scope, speaker="alice", text="Tea at four.", at=NOON)


def queue(store: Store, count: int) -> dict[str, Any]:
    spaces = workspaces(SPACES)
    each = count // len(spaces)
    for space in spaces:
        events = [told(number) for number in range(each)]
        store.ledger.append(space, events, recorded_at=NOON)
    found: dict[str, Any] = {"events of the outbox": timed(lambda: learned(store))}
    for name, work in (("jobs, bare", bare), ("jobs, by a worker", by_worker)):
        for space in spaces:
            wanted = [NewJob(name="nothing", key=str(n), due_at=NOON) for n in range(each)]
            store.jobs.schedule(space, wanted)
        found[name] = timed(lambda work=work: work(store))  # type: ignore[misc]
    return {"workspaces": len(spaces), "jobs at once": MOST_AT_ONCE, **found}


def append(store: Store, count: int) -> dict[str, Any]:
    space = WorkspaceId("writers")

    def write() -> int:
        for number in range(count):
            store.ledger.append(space, [told(number)], recorded_at=NOON)
        return count

    used = time.process_time()
    found = timed(write)
    micros = (time.process_time() - used) / count * 1e6
    return {**found, "cpu_microseconds_per_event": round(micros, 1)}


def measured(url: str, jobs: int, events: int) -> dict[str, Any]:
    """Both, in an empty store."""
    store = make_store(StoreSettings(url=url))
    try:
        return {"append": append(store, events), **queue(store, jobs)}
    finally:
        store.close()
