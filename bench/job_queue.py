"""Job queue throughput: jobs and events claimed and finished, with no work in between."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from nexusmem.config.settings import StoreSettings
from nexusmem.core.ids import WorkspaceId
from nexusmem.core.protocols.jobs import FinishedStep, JobStep, NewJob, RecurringJob
from nexusmem.core.protocols.store import Store
from nexusmem.core.records import NewEvent, Stage
from nexusmem.core.scope import Scope
from nexusmem.maintain.job_runner import MAX_BATCH, JobRunner
from nexusmem.maintain.schedule import ScheduledJob
from nexusmem.wiring.stores import make_store

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
WORKSPACES = 100
BATCH = 64  # events per claim


def workspace_ids(count: int) -> list[WorkspaceId]:
    return [WorkspaceId(f"team-{number}") for number in range(count)]


def measure_rate(work: Callable[[], int]) -> dict[str, float]:
    """Return the number of items done, and items per wall second and per CPU second."""
    started, cpu_started = time.perf_counter(), time.process_time()
    count = work()
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu_started
    return {
        "count": count,
        "per_second": round(count / seconds),
        "per_cpu_second": round(count / cpu),
    }


def finish_jobs(store: Store) -> int:
    """Claim and finish all due jobs with empty steps; return the number of jobs."""
    done = 0
    while jobs := store.jobs.claim(now=NOW, limit=100):
        store.jobs.finish([FinishedStep(job=job, step=JobStep()) for job in jobs], now=NOW)
        done += len(jobs)
    return done


def run_jobs(store: Store) -> int:
    """Run all due jobs through JobRunner, with leases and timing; return the number of jobs."""
    recurrence = RecurringJob(name="nothing", every=timedelta(days=1), on_news=False)
    schedule = {"nothing": ScheduledJob(recurrence=recurrence, run=lambda *_: JobStep())}
    runner = JobRunner(store, schedule, lambda: NOW)
    done = 0
    while count := runner.run_due():
        done += count
    return done


def finish_events(store: Store) -> int:
    """Claim and finish all events of the outbox without learning; return their number."""
    done = 0
    while tasks := store.queue.claim(None, now=NOW, limit=BATCH):
        store.queue.finish(tasks, reached=Stage.DERIVED, now=NOW)
        done += len(tasks)
    return done


def make_event(number: int) -> NewEvent:
    scope = Scope.room(f"room-{number % 5}")
    return NewEvent(key=str(number), scope=scope, speaker="alice", text="Tea at four.", at=NOW)


def measure_queue(store: Store, count: int) -> dict[str, Any]:
    """Measure the outbox, bare jobs, and jobs run by a worker."""
    ids = workspace_ids(WORKSPACES)
    per_workspace = count // len(ids)
    for workspace in ids:
        events = [make_event(number) for number in range(per_workspace)]
        store.ledger.append(workspace, events, recorded_at=NOW)
    rates: dict[str, Any] = {"events of the outbox": measure_rate(lambda: finish_events(store))}
    for name, work in (("jobs, bare", finish_jobs), ("jobs, by a worker", run_jobs)):
        for workspace in ids:
            jobs = [NewJob(name="nothing", key=str(n), due_at=NOW) for n in range(per_workspace)]
            store.jobs.schedule(workspace, jobs)
        rates[name] = measure_rate(lambda work=work: work(store))  # type: ignore[misc]
    return {"workspaces": len(ids), "jobs per batch": MAX_BATCH, **rates}


def measure_append(store: Store, count: int) -> dict[str, Any]:
    """Measure single-event appends."""
    workspace = WorkspaceId("writers")

    def write() -> int:
        for number in range(count):
            store.ledger.append(workspace, [make_event(number)], recorded_at=NOW)
        return count

    cpu_started = time.process_time()
    rates = measure_rate(write)
    micros = (time.process_time() - cpu_started) / count * 1e6
    return {**rates, "cpu_microseconds_per_event": round(micros, 1)}


def measure(url: str, jobs: int, events: int) -> dict[str, Any]:
    """Measure appends and the queue in an empty store."""
    store = make_store(StoreSettings(url=url))
    try:
        return {"append": measure_append(store, events), **measure_queue(store, jobs)}
    finally:
        store.close()
