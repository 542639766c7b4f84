"""Maintenance sweep over all workspaces (decay, promotion, cleanup) in SQLite and Postgres.

A few template workspaces are written; all others are row-by-row copies. Each holds 250 memories
with short texts and no vectors: passages, facts, entities and landmarks of the last sixty days.
Some memories were used. In every tenth workspace one fact was used often enough to become user-
wide. The first sweep archives many memories; the second, a day later, is typical. A sweep runs
in its own process with the runner of `nexus worker`, while this process asks questions.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
from rich.progress import Progress
from tests.servers.postgres import Postgres

from embedded import percentile
from fill_postgres import copy_rows
from fill_sqlite import COPY_BATCH, NOW, copy_workspaces, workspace_name
from nexusmem import Nexus
from nexusmem.config.settings import StoreSettings
from nexusmem.core.access import administrator_grant
from nexusmem.core.ids import WorkspaceId
from nexusmem.core.protocols.jobs import WorkspaceTurn
from nexusmem.core.protocols.store import Store
from nexusmem.core.protocols.usage_counts import NewUsage
from nexusmem.core.records import Draft, Memory, MemoryKind, NewEvent, Stage
from nexusmem.core.scope import Scope
from nexusmem.core.strength import StrengthSettings
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.maintain.job_runner import JobRunner
from nexusmem.maintain.schedule import JobTools, build_schedule
from nexusmem.maintain.settings import JobIntervals, MaintainSettings
from nexusmem.wiring.stores import make_store

TEMPLATE_WORKSPACES = 10  # template workspaces
JOBS = ("decay", "promote", "cleanup")
KINDS = (
    (MemoryKind.PASSAGE, 0.6),
    (MemoryKind.FACT, 0.25),
    (MemoryKind.ENTITY, 0.1),
    (MemoryKind.LANDMARK, 0.05),
)
WORDS = (
    "tea milk river stone paper lamp coat door garden letter winter train cup bread salt".split()
)
ROOM = Scope.room("talk")
DAY = timedelta(days=1)


def write(store: Store, number: int, memories: int) -> None:
    """Write one workspace; each memory has its own source message."""
    workspace, generator = WorkspaceId(workspace_name(number)), random.Random(number)
    events = [_event(generator, job) for job in range(memories)]
    store.ledger.append(workspace, events, recorded_at=NOW)
    while tasks := store.queue.claim(administrator_grant(workspace), now=NOW, limit=1_000):
        store.queue.finish(tasks, reached=Stage.DERIVED, now=NOW)
    drafts = [_draft(generator, event) for event in events]
    memories_written = store.memories.put(workspace, drafts)
    used_memories = generator.sample(memories_written, memories // 8)
    for day in range(3):
        at = NOW - 0.8 * day * DAY
        ids = tuple(memory.id for memory in used_memories if generator.random() < 0.6)
        store.usage_counts.add(
            workspace, [NewUsage(scope=ROOM, conversation=str(day), ids=ids, at=at)]
        )
    if number == 0:
        _add_proven_fact(store, workspace, memories_written)


def _add_proven_fact(store: Store, workspace: WorkspaceId, memories: Sequence[Memory]) -> None:
    """Record enough uses of one fact that it becomes user-wide."""
    certain_facts = (
        job for job in memories if job.kind is MemoryKind.FACT and job.confidence > 0.9
    )
    ids = (next(certain_facts).id,)
    for hour in range(StrengthSettings().promote_min_uses):
        usage = NewUsage(scope=ROOM, conversation=str(hour), ids=ids, at=NOW - hour * DAY / 24)
        store.usage_counts.add(workspace, [usage])


def _event(generator: random.Random, number: int) -> NewEvent:
    at = NOW - timedelta(days=60 * generator.random() ** 2)
    text = " ".join(generator.choices(WORDS, k=6))
    return NewEvent(scope=ROOM, speaker="alice", text=text, at=at, key=str(number))


def _draft(generator: random.Random, event: NewEvent) -> Draft:
    (kind,) = generator.choices([kind for kind, _ in KINDS], [share for _, share in KINDS])
    body = {"subject": "tea", "predicate": "IS", "value": event.key}
    return Draft(
        scope=ROOM,
        kind=kind,
        text=event.text,
        sources=(event.id,),
        thread=f"{event.at:%V}",
        speaker=event.speaker,
        role="user",
        salience=0.9 if kind is MemoryKind.LANDMARK else 0.5,
        confidence=generator.choice([0.7, 0.85, 0.95]),
        learned=kind is not MemoryKind.PASSAGE,
        body=body if kind is MemoryKind.FACT else {},
    )


def fill_file(url: str, workspaces: int, memories: int, progress: Progress) -> None:
    """Fill a SQLite file at `url`."""
    templates = _write_templates(url, workspaces, memories, progress)
    bar = progress.add_task("copying workspaces", total=workspaces - templates)
    copy_workspaces(
        Path(url),
        templates,
        range(templates, workspaces),
        lambda done: progress.advance(bar, done),
    )


def fill_server(url: str, admin: str, workspaces: int, memories: int, progress: Progress) -> None:
    """Fill a Postgres database."""
    templates = _write_templates(url, workspaces, memories, progress)
    bar = progress.add_task("copying workspaces", total=workspaces - templates)
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute("SET synchronous_commit = off")
        connection.execute("SET session_replication_role = replica")
        for start in range(templates, workspaces, COPY_BATCH):
            batch = range(start, min(start + COPY_BATCH, workspaces))
            with connection.transaction():
                copy_rows(connection, templates, batch)
            progress.advance(bar, len(batch))
        connection.execute("VACUUM ANALYZE")


def _write_templates(url: str, workspaces: int, memories: int, progress: Progress) -> int:
    """Write the template workspaces; return their number."""
    templates = min(TEMPLATE_WORKSPACES, workspaces)
    bar = progress.add_task("writing templates", total=templates)
    store = make_store(StoreSettings(url=url))
    for number in range(templates):
        write(store, number, memories)
        progress.advance(bar)
    store.close()
    return templates


# Sweep


class TimedComponent:
    """Proxy of a store component that records the longest call of each method."""

    def __init__(self, component: Any, longest: dict[str, float]) -> None:
        self._part = component
        self._longest = longest

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._part, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            started = time.perf_counter()
            try:
                return method(*args, **kwargs)
            finally:
                elapsed = time.perf_counter() - started
                self._longest[name] = max(self._longest.get(name, 0.0), elapsed)

        return call


def sweep(url: str, days: float, queue: Any, *, jobs: tuple[str, ...] = JOBS) -> None:
    """Run all jobs due `days` after the workspaces were written; put timings in the queue."""
    store = make_store(StoreSettings(url=url))
    longest: dict[str, float] = {}
    for component in ("memories", "usage_counts", "window", "jobs"):
        setattr(store, component, TimedComponent(getattr(store, component), longest))
    now = NOW + days * DAY
    settings = MaintainSettings(interval_minutes=JobIntervals(**dict.fromkeys(JOBS, 24 * 60.0)))
    tools = JobTools(episodes=None, idle=DAY, retention_days=0)
    schedule = build_schedule(store, settings, tools)
    jobs_by_name = {name: schedule[name] for name in jobs}
    counts: Counter[str] = Counter()
    seconds_by_job: Counter[str] = Counter()
    for name in jobs:
        jobs_by_name[name] = _count_steps(jobs_by_name[name], counts, seconds_by_job)
    JobRunner(store, jobs_by_name, lambda: NOW + (days - 1) * DAY - timedelta(hours=1)).run_due(
        names=["-"]
    )
    runner = JobRunner(store, jobs_by_name, lambda: now)
    started, cpu = time.monotonic(), time.process_time()
    while runner.run_due(names=jobs):
        pass
    elapsed = {"began": started, "ended": time.monotonic(), "cpu": time.process_time() - cpu}
    store.close()
    queue.put({**elapsed, "steps": seconds_by_job, "counts": counts, "longest_call": longest})


def merge_reports(reports: list[dict[str, Any]]) -> dict[str, Any]:
    """Merge the reports of several workers."""
    calls = {name for job in reports for name in job["longest_call"]}
    started, ended = min(a["began"] for a in reports), max(a["ended"] for a in reports)
    return {
        "workers": len(reports),
        "seconds": ended - started,
        "cpu": sum(a["cpu"] for a in reports),
        "steps": dict(sum((a["steps"] for a in reports), Counter())),
        "counts": dict(sum((a["counts"] for a in reports), Counter())),
        "longest_call": {c: max(a["longest_call"].get(c, 0.0) for a in reports) for c in calls},
    }


def _count_steps(job: Any, counts: Counter[str], seconds_by_job: Counter[str]) -> Any:
    """Wrap a job so that its counts and seconds are recorded."""
    run_many, name = job.run_many, job.recurrence.name

    def run_counted(turns: Any, now: Any) -> Any:
        started = time.perf_counter()
        steps = run_many(turns, now)
        seconds_by_job[name] += time.perf_counter() - started  # type: ignore[assignment]
        for step in steps:
            counts.update(
                {f"{name}.{count_name}": number for count_name, number in step.counts.items()}
            )
        counts[f"{name}.workspaces"] += len(steps)
        counts[f"{name}.steps"] += 1
        return steps

    return replace(
        job,
        run_many=run_counted,
        run=lambda *arguments: run_counted([WorkspaceTurn(*arguments[::2])], arguments[1])[0],
    )


# Questions during a sweep


def ask(nexus: Nexus, workspaces: int, until: Callable[[], bool]) -> list[float]:
    """Recall in random workspaces, with a pause of 50 ms, and return the seconds of each
    call.
    """
    generator, elapsed = random.Random(1), []
    while not until():
        workspace = nexus.workspace(workspace_name(generator.randrange(workspaces)))
        place = workspace.room("talk", participants=["alice"])
        started = time.perf_counter()
        place.recall(" ".join(generator.sample(WORDS, 2)))
        elapsed.append(time.perf_counter() - started)
        time.sleep(0.05)
    return elapsed


def measure(url: str, workspaces: int, workers: int = 1) -> dict[str, Any]:
    """Measure two sweeps, and recall latency before and during each."""
    results: dict[str, Any] = {}
    spawn = multiprocessing.get_context("spawn")
    for name, days in (("first", 1.0), ("next_day", 2.1)):
        queue = spawn.Queue()
        processes = [spawn.Process(target=sweep, args=(url, days, queue)) for _ in range(workers)]
        with Nexus.open(url, embedder=HashingEmbedder(), background=False) as nexus:
            end = time.monotonic() + 10
            ask(nexus, workspaces, lambda: time.monotonic() >= end - 5)  # noqa: B023
            before_times = ask(nexus, workspaces, lambda: time.monotonic() >= end + 5)  # noqa: B023
            for worker in processes:
                worker.start()
            during_times = ask(
                nexus,
                workspaces,
                lambda queue=queue, processes=processes: (  # type: ignore[misc]
                    queue.qsize() == len(processes) or _have_ended(processes)
                ),
            )
        results[name] = {
            **merge_reports([queue.get(timeout=60) for _ in processes]),
            "recall_p95_ms": {
                "before": percentile(before_times, 95),
                "during": percentile(during_times, 95) if during_times else None,
                "questions": [len(before_times), len(during_times)],
            },
        }
        for worker in processes:
            worker.join()
    return results


def _have_ended(workers: Sequence[Any]) -> bool:
    return not any(worker.is_alive() for worker in workers)


@contextmanager
def start_server(folder: Path | None = None) -> Iterator[Postgres]:
    """Start a Postgres server; stop it at the end of the context."""
    postgres = Postgres(folder, safe=True, shared_buffers="512MB", max_wal_size="4GB")
    try:
        yield postgres
    finally:
        postgres.close()


def to_json(results: Any) -> str:
    return json.dumps(results, indent=2, default=float)
