"""Runs a worker as a process: worker_process.py STORE LEASE_SECONDS [PAUSE]

The worker learns events, and runs a job; each step of the job appends one countable event. With
PAUSE it prints "paused" between reading and writing, and waits for a line.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from nexusmem import Nexus
from nexusmem.config.settings import Settings
from nexusmem.core.ids import WorkspaceId
from nexusmem.core.protocols.embedder import Embedder
from nexusmem.core.protocols.jobs import JobStep
from nexusmem.core.protocols.store import Store
from nexusmem.core.records import Draft, Memory, NewEvent
from nexusmem.core.scope import Scope
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.learn import pipeline
from nexusmem.maintain.job_runner import JobRunner
from nexusmem.maintain.schedule import RecurringJob, ScheduledJob
from nexusmem.maintain.standalone_worker import StandaloneWorker
from nexusmem.runtime import leases
from nexusmem.runtime import leases as heartbeat

STEPS = 3


def shorten_leases(seconds: float) -> None:
    """Shorten leases, so that a test can wait for their expiry."""
    lease = timedelta(seconds=seconds)
    from nexusmem.stores.sql import jobs, queue
    from nexusmem.testing.reference_store import queue as reference_queue

    for module in (leases, jobs, queue, reference_queue):
        assert module.LEASE_DURATION
        module.LEASE_DURATION = lease  # type: ignore[misc]
    jobs.SqlJobs.claim.__kwdefaults__["lease"] = lease
    jobs.SqlJobs.renew.__kwdefaults__["lease"] = lease
    heartbeat.HEARTBEAT._seconds = seconds / 3


def make_marking_job(nexus: Nexus) -> ScheduledJob:
    """Return a job with STEPS steps; each step appends an event with its number."""
    store = nexus._parts.store

    def run(workspace: WorkspaceId, now: datetime, cursor: Any) -> JobStep:
        number = cursor or 0
        told = NewEvent(
            key=f"mark-{number}",
            scope=Scope.room("marks"),
            speaker="worker",
            text=f"step {number}",
            at=datetime(2026, 1, 1, tzinfo=UTC),
        )
        store.ledger.append(workspace, [told], recorded_at=now)
        return JobStep(counts={"steps": 1}, cursor=number + 1 if number + 1 < STEPS else None)

    when = RecurringJob(name="mark", every=timedelta(days=999), on_news=False)
    return ScheduledJob(recurrence=when, run=run)


def make_pausing_writer(own: Store) -> Callable[[Store, Embedder, Sequence[Memory]], None]:
    """Instead of vectors, write a memory that no other worker writes; only in this store."""
    write_vectors = pipeline.write_vectors

    def paused(store: Store, embedder: Embedder, memories: Sequence[Memory]) -> None:
        if store is not own:
            write_vectors(store, embedder, memories)
            return
        print("paused", flush=True)
        sys.stdin.readline()
        one = memories[0]
        late = Draft(scope=one.scope, kind=one.kind, text="Late.", sources=one.sources, slot="late")
        store.memories.put(one.workspace, [late])

    return paused


def warm_up() -> None:
    """Import the modules for learning, so that an early kill hits real work."""
    with Nexus.open(":memory:", settings=Settings(), embedder=HashingEmbedder()) as other:
        other.workspace("warm").room("up").observe("alice", "We chose tea over coffee.")
        other.workspace("warm").flush()


def main() -> None:
    url, seconds, *pause = sys.argv[1:]
    shorten_leases(float(seconds))
    embedder = HashingEmbedder()
    nexus = Nexus.open(url, settings=Settings(), embedder=embedder, background=False)
    parts = nexus._parts
    if pause:
        heartbeat.HEARTBEAT._seconds = 3600  # otherwise the process may stop inside a transaction
        pipeline.write_vectors = make_pausing_writer(parts.store)
    jobs = JobRunner(parts.store, {"mark": make_marking_job(nexus)}, parts.now)
    shift = StandaloneWorker(parts.store, parts.learner, jobs)
    warm_up()
    print("ready", flush=True)
    shift.run(once=bool(pause))
    print("ended", flush=True)
    nexus.close()


if __name__ == "__main__":
    main()
