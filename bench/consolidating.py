"""Consolidation of every workspace, in SQLite and in Postgres, by one worker or several at once.

Workspaces are told as for `compose.py`: 71 messages and what is learned from them, 250 memories.
Every workspace is looked at for the first time. Then a few messages are told in one of ten of
them, and only there is something to do: that is what a quarter of an hour looks like.
"""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from chatter import Chatter
from filling import MESSAGES, NOW, name_of, opened, room
from nexus.config import StoreSettings
from nexus.core.ids import WorkspaceId
from nexus.core.jobs import NewJob
from nexus.maintain.jobs import Runner
from nexus.maintain.schedule import Planned, Tools, schedule
from nexus.maintain.settings import Maintaining
from nexus.storing import make_store

CONSOLIDATE = "consolidate"
ONE_IN, FRESH = 10, 5  # workspaces with news, and messages in each
QUARTER = timedelta(minutes=15)


def measured(url: str, workspaces: int, workers: int) -> dict[str, Any]:
    """The first time for all, and a usual time for those where something was said."""
    everyone = range(workspaces)
    _due(url, everyone, NOW)
    first = _by_workers(url, NOW, workers)
    some = everyone[::ONE_IN]
    later = NOW + QUARTER
    _tell_more(url, some, later)
    _due(url, some, later)
    return {"workers": workers, "first": first, "after_news": _by_workers(url, later, workers)}


def _tell_more(url: str, workspaces: Sequence[int], now: datetime) -> None:
    with opened(url, lambda: now, background=False) as nexus:
        for number in workspaces:
            place = room(nexus, number)
            place.observe_many([*Chatter(number).messages(MESSAGES + FRESH, now)][-FRESH:])
            place.flush()


def _due(url: str, workspaces: Sequence[int], now: datetime) -> None:
    store = make_store(StoreSettings(url=url))
    for number in workspaces:
        store.jobs.schedule(WorkspaceId(name_of(number)), [NewJob(name=CONSOLIDATE, due_at=now)])
    store.close()


def _by_workers(url: str, now: datetime, workers: int) -> dict[str, Any]:
    spawn = multiprocessing.get_context("spawn")
    answers = spawn.Queue()
    at_work = [spawn.Process(target=work, args=(url, now, answers)) for _ in range(workers)]
    for worker in at_work:
        worker.start()
    told = [answers.get() for _ in at_work]
    for worker in at_work:
        worker.join()
    counts: Counter[str] = sum((each["counts"] for each in told), Counter())
    began, ended = min(each["began"] for each in told), max(each["ended"] for each in told)
    return {
        "seconds": ended - began,
        "cpu": sum(each["cpu"] for each in told),
        "longest_step": max(each["longest"] for each in told),
        **counts,
    }


def work(url: str, now: datetime, answers: Any) -> None:
    """Everything that is due, in a process of its own."""
    store = make_store(StoreSettings(url=url))
    every = schedule(
        store, Maintaining(), Tools(episodes=None, idle=timedelta(days=1), retention_days=0)
    )
    counts: Counter[str] = Counter()
    longest = [0.0]
    runner = Runner(
        store, {CONSOLIDATE: _counted(every[CONSOLIDATE], counts, longest)}, lambda: now
    )
    began, cpu = time.monotonic(), time.process_time()
    while runner.run_due(names=[CONSOLIDATE]):
        pass
    told = {"began": began, "ended": time.monotonic(), "cpu": time.process_time() - cpu}
    store.close()
    answers.put({**told, "counts": counts, "longest": longest[0]})


def _counted(each: Planned, counts: Counter[str], longest: list[float]) -> Planned:
    def run(workspace: WorkspaceId, now: datetime, cursor: Any) -> Any:
        began = time.perf_counter()
        step = each.run(workspace, now, cursor)
        longest[0] = max(longest[0], time.perf_counter() - began)
        counts.update({"workspaces": 1, **step.counts})
        return step

    return replace(each, run=run)
