"""Consolidation of all workspaces in SQLite and Postgres, by one worker process or several.

Workspaces are filled as for `compose.py`: 71 messages and the memories learned from them, 250
memories in total. First every workspace is consolidated for the first time. Then every tenth
workspace receives five messages, and only these have work. The second run represents a typical
interval of fifteen minutes.
"""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from chat_generator import ChatGenerator
from fill_sqlite import MESSAGES, NOW, get_room, open_nexus, workspace_name
from nexusmem.config.settings import StoreSettings
from nexusmem.core.ids import WorkspaceId
from nexusmem.core.protocols.jobs import NewJob
from nexusmem.maintain.job_runner import JobRunner
from nexusmem.maintain.schedule import JobTools, ScheduledJob, build_schedule
from nexusmem.maintain.settings import MaintainSettings
from nexusmem.wiring.stores import make_store

CONSOLIDATE = "consolidate"
NEWS_EVERY, NEW_MESSAGES = 10, 5  # every n-th workspace gets this many new messages
INTERVAL = timedelta(minutes=15)


def measure(url: str, workspaces: int, workers: int) -> dict[str, Any]:
    """Measure a first run over all workspaces and a later run over those with news."""
    numbers = range(workspaces)
    _schedule_jobs(url, numbers, NOW)
    first = _run_workers(url, NOW, workers)
    with_news = numbers[::NEWS_EVERY]
    later = NOW + INTERVAL
    _add_messages(url, with_news, later)
    _schedule_jobs(url, with_news, later)
    return {"workers": workers, "first": first, "after_news": _run_workers(url, later, workers)}


def _add_messages(url: str, workspaces: Sequence[int], now: datetime) -> None:
    with open_nexus(url, lambda: now, background=False) as nexus:
        for number in workspaces:
            place = get_room(nexus, number)
            place.observe_many(
                [*ChatGenerator(number).make_messages(MESSAGES + NEW_MESSAGES, now)][-NEW_MESSAGES:]
            )
            place.flush()


def _schedule_jobs(url: str, workspaces: Sequence[int], now: datetime) -> None:
    store = make_store(StoreSettings(url=url))
    for number in workspaces:
        store.jobs.schedule(
            WorkspaceId(workspace_name(number)), [NewJob(name=CONSOLIDATE, due_at=now)]
        )
    store.close()


def _run_workers(url: str, now: datetime, workers: int) -> dict[str, Any]:
    spawn = multiprocessing.get_context("spawn")
    queue = spawn.Queue()
    processes = [spawn.Process(target=work, args=(url, now, queue)) for _ in range(workers)]
    for worker in processes:
        worker.start()
    reports = [queue.get() for _ in processes]
    for worker in processes:
        worker.join()
    counts: Counter[str] = sum((report["counts"] for report in reports), Counter())
    began, ended = min(each["began"] for each in reports), max(each["ended"] for each in reports)
    return {
        "seconds": ended - began,
        "cpu": sum(report["cpu"] for report in reports),
        "longest_step": max(report["longest"] for report in reports),
        **counts,
    }


def work(url: str, now: datetime, queue: Any) -> None:
    """Run all due consolidation jobs; the target of a worker process."""
    store = make_store(StoreSettings(url=url))
    schedule = build_schedule(
        store, MaintainSettings(), JobTools(episodes=None, idle=timedelta(days=1), retention_days=0)
    )
    counts: Counter[str] = Counter()
    longest = [0.0]
    runner = JobRunner(
        store, {CONSOLIDATE: _count_steps(schedule[CONSOLIDATE], counts, longest)}, lambda: now
    )
    began, cpu = time.monotonic(), time.process_time()
    while runner.run_due(names=[CONSOLIDATE]):
        pass
    report = {"began": began, "ended": time.monotonic(), "cpu": time.process_time() - cpu}
    store.close()
    queue.put({**report, "counts": counts, "longest": longest[0]})


def _count_steps(job: ScheduledJob, counts: Counter[str], longest: list[float]) -> ScheduledJob:
    def run(workspace: WorkspaceId, now: datetime, cursor: Any) -> Any:
        began = time.perf_counter()
        step = job.run(workspace, now, cursor)
        longest[0] = max(longest[0], time.perf_counter() - began)
        counts.update({"workspaces": 1, **step.counts})
        return step

    return replace(job, run=run)
