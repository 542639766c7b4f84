"""A sweep over every workspace: decay, promotion and cleanup, in SQLite and in Postgres.

A few workspaces are written, all others are copies of them, row by row. Each holds 250 memories
with short texts and no vectors: passages, facts, entities and landmarks of the last sixty days,
some of them used; in one of ten, a fact so often that it becomes user-wide. The first sweep finds
a good part to archive; the second one, a day later, is like any other day's. A sweep is run in a
process of its own, by the runner that `nexus worker` has, while this process asks questions.
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
from filling import COPIED_AT_ONCE, NOW, copy, name_of
from filling_postgres import copy_rows
from nexus import Nexus
from nexus.config import StoreSettings
from nexus.core.access import administrator_grant
from nexus.core.ids import WorkspaceId
from nexus.core.jobs import Turn
from nexus.core.protocols import Store
from nexus.core.records import Draft, Memory, MemoryKind, NewEvent, Stage
from nexus.core.scope import Scope
from nexus.core.strength import Strengthening
from nexus.core.uses import NewUse
from nexus.embedders.hashing import HashingEmbedder
from nexus.maintain.jobs import Runner
from nexus.maintain.schedule import Tools, schedule
from nexus.maintain.settings import Intervals, Maintaining
from nexus.storing import make_store

DIFFERENT = 10
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
    """One workspace: each memory rests on a message of its own."""
    workspace, chance = WorkspaceId(name_of(number)), random.Random(number)
    told = [_event(chance, each) for each in range(memories)]
    store.ledger.append(workspace, told, recorded_at=NOW)
    while tasks := store.queue.claim(administrator_grant(workspace), now=NOW, limit=1_000):
        store.queue.finish(tasks, reached=Stage.DERIVED, now=NOW)
    drafts = [_draft(chance, event) for event in told]
    kept = store.memories.put(workspace, drafts)
    used = chance.sample(kept, memories // 8)
    for day in range(3):
        at = NOW - 0.8 * day * DAY
        ids = tuple(memory.id for memory in used if chance.random() < 0.6)
        store.uses.add(workspace, [NewUse(place=ROOM, conversation=str(day), ids=ids, at=at)])
    if number == 0:
        _prove(store, workspace, kept)


def _prove(store: Store, workspace: WorkspaceId, memories: Sequence[Memory]) -> None:
    """One fact is used so often that it becomes user-wide."""
    sure = (each for each in memories if each.kind is MemoryKind.FACT and each.confidence > 0.9)
    ids = (next(sure).id,)
    for hour in range(Strengthening().promote_uses):
        use = NewUse(place=ROOM, conversation=str(hour), ids=ids, at=NOW - hour * DAY / 24)
        store.uses.add(workspace, [use])


def _event(chance: random.Random, number: int) -> NewEvent:
    at = NOW - timedelta(days=60 * chance.random() ** 2)
    text = " ".join(chance.choices(WORDS, k=6))
    return NewEvent(scope=ROOM, speaker="alice", text=text, at=at, key=str(number))


def _draft(chance: random.Random, event: NewEvent) -> Draft:
    (kind,) = chance.choices([kind for kind, _ in KINDS], [share for _, share in KINDS])
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
        confidence=chance.choice([0.7, 0.85, 0.95]),
        learned=kind is not MemoryKind.PASSAGE,
        body=body if kind is MemoryKind.FACT else {},
    )


def fill(url: str, workspaces: int, memories: int, progress: Progress) -> None:
    """SQLite: `url` is a file."""
    different = _write_the_first(url, workspaces, memories, progress)
    bar = progress.add_task("copying", total=workspaces - different)
    copy(
        Path(url),
        different,
        range(different, workspaces),
        lambda done: progress.advance(bar, done),
    )


def fill_server(url: str, admin: str, workspaces: int, memories: int, progress: Progress) -> None:
    different = _write_the_first(url, workspaces, memories, progress)
    bar = progress.add_task("copying", total=workspaces - different)
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute("SET synchronous_commit = off")
        connection.execute("SET session_replication_role = replica")
        for start in range(different, workspaces, COPIED_AT_ONCE):
            portion = range(start, min(start + COPIED_AT_ONCE, workspaces))
            with connection.transaction():
                copy_rows(connection, different, portion)
            progress.advance(bar, len(portion))
        connection.execute("VACUUM ANALYZE")


def _write_the_first(url: str, workspaces: int, memories: int, progress: Progress) -> int:
    different = min(DIFFERENT, workspaces)
    bar = progress.add_task("writing", total=different)
    store = make_store(StoreSettings(url=url))
    for number in range(different):
        write(store, number, memories)
        progress.advance(bar)
    store.close()
    return different


# The sweep


class Timed:
    """A part of a store whose calls are timed."""

    def __init__(self, part: Any, longest: dict[str, float]) -> None:
        self._part = part
        self._longest = longest

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._part, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            try:
                return method(*args, **kwargs)
            finally:
                took = time.perf_counter() - began
                self._longest[name] = max(self._longest.get(name, 0.0), took)

        return call


def sweep(url: str, days: float, answer: Any, *, jobs: tuple[str, ...] = JOBS) -> None:
    """All that is due `days` after the workspaces were written, and how long each job took."""
    store = make_store(StoreSettings(url=url))
    longest: dict[str, float] = {}
    for part in ("memories", "uses", "window", "jobs"):
        setattr(store, part, Timed(getattr(store, part), longest))
    now = NOW + days * DAY
    settings = Maintaining(intervals=Intervals(**dict.fromkeys(JOBS, 24 * 60.0)))
    tools = Tools(episodes=None, idle=DAY, retention_days=None)
    every = schedule(store, settings, tools)
    planned = {name: every[name] for name in jobs}
    counts: Counter[str] = Counter()
    spent: Counter[str] = Counter()
    for name in jobs:
        planned[name] = _counting(planned[name], counts, spent)
    Runner(store, planned, lambda: NOW + (days - 1) * DAY - timedelta(hours=1)).run_due(names=["-"])
    runner = Runner(store, planned, lambda: now)
    began, cpu = time.monotonic(), time.process_time()
    while runner.run_due(names=jobs):
        pass
    took = {"began": began, "ended": time.monotonic(), "cpu": time.process_time() - cpu}
    store.close()
    answer.put({**took, "steps": spent, "counts": counts, "longest_call": longest})


def together(answers: list[dict[str, Any]]) -> dict[str, Any]:
    """What several workers did at once."""
    calls = {name for each in answers for name in each["longest_call"]}
    began, ended = min(a["began"] for a in answers), max(a["ended"] for a in answers)
    return {
        "workers": len(answers),
        "seconds": ended - began,
        "cpu": sum(a["cpu"] for a in answers),
        "steps": dict(sum((a["steps"] for a in answers), Counter())),
        "counts": dict(sum((a["counts"] for a in answers), Counter())),
        "longest_call": {c: max(a["longest_call"].get(c, 0.0) for a in answers) for c in calls},
    }


def _counting(each: Any, counts: Counter[str], spent: Counter[str]) -> Any:
    together, name = each.together, each.when.name

    def counted(turns: Any, now: Any) -> Any:
        began = time.perf_counter()
        steps = together(turns, now)
        spent[name] += time.perf_counter() - began  # type: ignore[assignment]
        for step in steps:
            counts.update({f"{name}.{what}": number for what, number in step.counts.items()})
        counts[f"{name}.workspaces"] += len(steps)
        counts[f"{name}.steps"] += 1
        return steps

    return replace(
        each, together=counted, run=lambda *given: counted([Turn(*given[::2])], given[1])[0]
    )


# Those who wait meanwhile


def ask(nexus: Nexus, workspaces: int, until: Callable[[], bool]) -> list[float]:
    """Recalls in workspaces drawn at random, ten a second; how long each took."""
    chance, took = random.Random(1), []
    while not until():
        workspace = nexus.workspace(name_of(chance.randrange(workspaces)))
        place = workspace.room("talk", participants=["alice"])
        began = time.perf_counter()
        place.recall(" ".join(chance.sample(WORDS, 2)))
        took.append(time.perf_counter() - began)
        time.sleep(0.05)
    return took


def measured(url: str, workspaces: int, workers: int = 1) -> dict[str, Any]:
    """Two sweeps, and what questions took without them and meanwhile."""
    results: dict[str, Any] = {}
    spawn = multiprocessing.get_context("spawn")
    for name, days in (("first", 1.0), ("next_day", 2.1)):
        answer = spawn.Queue()
        at_work = [spawn.Process(target=sweep, args=(url, days, answer)) for _ in range(workers)]
        with Nexus.open(url, embedder=HashingEmbedder(), background=False) as nexus:
            end = time.monotonic() + 10
            ask(nexus, workspaces, lambda: time.monotonic() >= end - 5)  # noqa: B023
            alone = ask(nexus, workspaces, lambda: time.monotonic() >= end + 5)  # noqa: B023
            for worker in at_work:
                worker.start()
            beside = ask(nexus, workspaces, lambda: answer.qsize() == workers or _ended(at_work))  # noqa: B023
        results[name] = {
            **together([answer.get(timeout=60) for _ in at_work]),
            "recall_p95_ms": {
                "alone": percentile(alone, 95),
                "meanwhile": percentile(beside, 95) if beside else None,
                "asked": [len(alone), len(beside)],
            },
        }
        for worker in at_work:
            worker.join()
    return results


def _ended(workers: Sequence[Any]) -> bool:
    return not any(worker.is_alive() for worker in workers)


@contextmanager
def server(folder: Path | None = None) -> Iterator[Postgres]:
    running = Postgres(folder, safe=True, shared_buffers="512MB", max_wal_size="4GB")
    try:
        yield running
    finally:
        running.close()


def show(results: Any) -> str:
    return json.dumps(results, indent=2, default=float)
