"""Killed and paused workers."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.faults.conftest import opened

from nexusmem import Nexus
from nexusmem.core.access import administrator_grant
from nexusmem.core.ids import WorkspaceId
from nexusmem.core.protocols.bulk_copy import RecordType
from nexusmem.core.protocols.jobs import NewJob
from nexusmem.core.records import MemoryKind
from nexusmem.core.scope import Scope
from nexusmem.stores.sql.store import SqlStore

WORKER = Path(__file__).with_name("worker_process.py")
LEASE_SECONDS = 0.6
SPACES = ("acme", "globex", "initech")
STEPS = 3


@contextmanager
def working(url: str, *more: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, str(WORKER), url, str(LEASE_SECONDS), *more]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as worker:
        try:
            assert worker.stdout
            assert worker.stdout.readline() == "ready\n", worker.stderr and worker.stderr.read()
            yield worker
        finally:
            worker.kill()


def observe_all(nexus: Nexus, round_: int) -> int:
    """Record events in each workspace; return their number."""
    for name in SPACES:
        for room in ("design", "kitchen"):
            place = nexus.workspace(name).room(room, participants=["alice"])
            for n in range(3):
                place.observe("alice", f"Message {round_}-{n} is about tea.", key=f"{round_}-{n}")
    return len(SPACES) * 2 * 3


def passages(store: SqlStore, name: str) -> list[str]:
    grant = administrator_grant(WorkspaceId(name))
    found = store.memories.find(grant)
    return [m.sources[0] for m in found if m.kind is MemoryKind.PASSAGE and "tea" in m.text]


@pytest.mark.slow
@pytest.mark.timeout(3600)  # --kills 200
@pytest.mark.requirement("X3", "D25", "E32")
def test_killed_workers_do_each_task_once(url: str, kills: int) -> None:
    chance = random.Random(kills)
    told = 0
    with opened(url) as nexus:
        store = nexus._parts.store
        for number in range(kills):
            told += observe_all(nexus, number)
            if number == 0:
                for name in SPACES:
                    job = NewJob(name="mark", due_at=nexus._parts.now())
                    store.jobs.schedule(WorkspaceId(name), [job])
            with working(url):
                time.sleep(chance.uniform(0, 0.5))
        time.sleep(LEASE_SECONDS)
        with working(url):
            deadline = time.monotonic() + 120
            while not done(store) and time.monotonic() < deadline:
                time.sleep(0.1)

        assert done(store), stuck(store)
        for name in SPACES:
            grant = administrator_grant(WorkspaceId(name))
            there = passages(store, name)
            assert len(there) == len(set(there)) == told // len(SPACES), name
            marks = store.ledger.find(grant.narrow_to([Scope.room("marks")]))
            assert sorted(mark.text for mark in marks) == [f"step {n}" for n in range(STEPS)]
            assert store.ledger.verify(WorkspaceId(name)).is_intact
            assert store.queue.list_pending(grant, limit=9) == []


def stuck(store: SqlStore) -> object:
    grants = [administrator_grant(WorkspaceId(name)) for name in SPACES]
    waiting = [each for grant in grants for each in store.queue.list_pending(grant, limit=999)]
    jobs = [state.last_counts for grant in grants for state in store.jobs.list_jobs(grant)]
    return len(waiting), [(w.attempts, w.error, w.step.value) for w in waiting[:3]], jobs


def done(store: SqlStore) -> bool:
    grants = [administrator_grant(WorkspaceId(name)) for name in SPACES]
    states = [state for grant in grants for state in store.jobs.list_jobs(grant)]
    ended = all(state.last_counts == {"steps": STEPS} for state in states if state.name == "mark")
    return ended and not any(store.queue.count_pending(grant) for grant in grants)


def dump_records(store: SqlStore, name: str) -> dict[RecordType, list[str]]:
    """Return all stored data, without the times of jobs."""
    grant = administrator_grant(WorkspaceId(name))
    return {
        shelf: [each.line for each in store.bulk_copy.read_rows(grant, shelf, limit=10_000)]
        for shelf in RecordType
        if shelf is not RecordType.JOBS
    }


@pytest.mark.slow
@pytest.mark.requirement("X3", "E32")
def test_worker_paused_beyond_lease_writes_nothing(url: str) -> None:
    with opened(url) as nexus:
        room = nexus.workspace("acme").room("design", participants=["alice"])
        room.observe("alice", "We chose PostgreSQL for the ledger.", key="1")
        store = nexus._parts.store
        grant = administrator_grant(WorkspaceId("acme"))
        with working(url, "pause") as paused:
            assert paused.stdout
            assert paused.stdin
            assert paused.stdout.readline() == "paused\n"
            os.kill(paused.pid, signal.SIGSTOP)
            time.sleep(LEASE_SECONDS + 0.3)
            with working(url):
                deadline = time.monotonic() + 60
                while store.queue.count_pending(grant) and time.monotonic() < deadline:
                    time.sleep(0.05)
            assert store.queue.count_pending(grant) == 0, "another one did it"
            before = dump_records(store, "acme"), store.epoch(grant)

            os.kill(paused.pid, signal.SIGCONT)
            paused.stdin.write("\n")
            paused.stdin.flush()

            assert paused.stdout.readline() == "ended\n"
            assert (dump_records(store, "acme"), store.epoch(grant)) == before


@pytest.mark.slow
@pytest.mark.requirement("E24")
@pytest.mark.parametrize("processes", ["1", "2"])
def test_terminated_worker_finishes_current_task(tmp_path: Path, processes: str) -> None:
    url = str(tmp_path / "memory.db")
    with opened(url) as nexus:
        observe_all(nexus, 0)
    command = [sys.executable, "-m", "nexusmem", "worker", "--json", "--store", url]
    with subprocess.Popen(
        [*command, "--processes", processes], stdout=subprocess.PIPE, text=True
    ) as worker:
        assert worker.stdout
        while json.loads(worker.stdout.readline())["learned"] < len(SPACES) * 2 * 3:
            pass
        worker.send_signal(signal.SIGTERM)
        *_, last = worker.stdout

        assert worker.wait(timeout=60) == 0
    assert json.loads(last)["learned"] == len(SPACES) * 2 * 3
    with opened(url) as nexus:
        grants = [administrator_grant(WorkspaceId(name)) for name in SPACES]
        assert [nexus._parts.store.queue.count_pending(grant) for grant in grants] == [0, 0, 0]
