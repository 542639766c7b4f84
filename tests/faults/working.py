"""A worker in a process of its own. Run by path: working.py STORE LEASE_SECONDS [PAUSE]

It learns, and does a job whose every step leaves exactly one mark that can be counted. With PAUSE
it says so when it has read and has not yet written, and waits for a line.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from nexus import Nexus
from nexus.config import Settings
from nexus.core import heartbeat, leases
from nexus.core.ids import WorkspaceId
from nexus.core.jobs import Step
from nexus.core.protocols import Store
from nexus.core.records import Draft, Memory, NewEvent
from nexus.core.scope import Scope
from nexus.embedders.hashing import HashingEmbedder
from nexus.maintain.jobs import Runner
from nexus.maintain.schedule import Planned, Recurring
from nexus.maintain.shift import Shift

STEPS = 3


def short(seconds: float) -> None:
    """Leases that a test can wait for."""
    lease = timedelta(seconds=seconds)
    from nexus.stores import inprocess
    from nexus.stores.sql import jobs, queue

    for module in (leases, jobs, queue, inprocess):
        module.LEASE = lease  # type: ignore[attr-defined]
    jobs.SqlJobs.claim.__kwdefaults__["lease"] = lease
    jobs.SqlJobs.keep.__kwdefaults__["lease"] = lease
    heartbeat.HEARTBEAT._seconds = seconds / 3


def marking(nexus: Nexus) -> Planned:
    """A job of several steps; a step appends an event that says which one it was."""
    store = nexus._parts.store

    def run(workspace: WorkspaceId, now: datetime, cursor: Any) -> Step:
        number = cursor or 0
        told = NewEvent(
            key=f"mark-{number}",
            scope=Scope.room("marks"),
            speaker="worker",
            text=f"step {number}",
            at=datetime(2026, 1, 1, tzinfo=UTC),
        )
        store.ledger.append(workspace, [told], recorded_at=now)
        return Step(counts={"steps": 1}, cursor=number + 1 if number + 1 < STEPS else None)

    when = Recurring(name="mark", every=timedelta(days=999), on_news=False)
    return Planned(when=when, run=run)


def pausing(store: Store) -> Callable[[Sequence[Memory]], None]:
    """Instead of vectors, something that nobody else would write."""

    def paused(memories: Sequence[Memory]) -> None:
        print("paused", flush=True)
        sys.stdin.readline()
        one = memories[0]
        late = Draft(scope=one.scope, kind=one.kind, text="Late.", sources=one.sources, slot="late")
        store.memories.put(one.workspace, [late])

    return paused


def warm_up() -> None:
    """Load what learning needs, so that whoever is killed soon has done something."""
    with Nexus.open(":memory:", settings=Settings(), embedder=HashingEmbedder()) as other:
        other.workspace("warm").room("up").observe("alice", "We chose tea over coffee.")
        other.workspace("warm").flush()


def main() -> None:
    url, seconds, *pause = sys.argv[1:]
    short(float(seconds))
    embedder = HashingEmbedder()
    nexus = Nexus.open(url, settings=Settings(), embedder=embedder, background=False)
    parts = nexus._parts
    if pause:
        heartbeat.HEARTBEAT._seconds = 3600  # else it may be stopped with a transaction open
        parts.learner._embed = pausing(parts.store)  # type: ignore[method-assign]
    jobs = Runner(parts.store, {"mark": marking(nexus)}, parts.now)
    shift = Shift(parts.store, parts.learner, jobs)
    warm_up()
    print("ready", flush=True)
    shift.run(once=bool(pause))
    print("ended", flush=True)
    nexus.close()


if __name__ == "__main__":
    main()
