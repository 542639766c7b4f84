"""What the same memory costs on Postgres, as ratios to SQLite in the same run.

    python bench/stores.py                              10,000 workspaces of 250 memories: 20 GB
    python bench/stores.py --workspaces 1000            fewer: 2 GB
    python bench/stores.py --only writing,kills         some of it: recall, compose, walls,
                                                        writing, cancelled, kills

Both stores are told the same: a few workspaces through the public API, all others are copies of
them, row by row, each behind its own wall (`bench/filling.py`). A question is asked in both, in
turn, with the default settings and the built-in embedder; its time is that of the whole call. So is
that of a context. The
server is started by this script on this machine, with its data on the same disk, and says that
something is written when it is on the disk. Where the disk is too small for both stores, they are
filled and asked one after the other; the results say so.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent.parent))  # the servers of the tests are ours as well

from tests.faults.cancelling import Cancelling
from tests.faults.promises import check_promises
from tests.faults.server_kills import kill_under_load
from tests.servers.postgres import Database, Postgres

from bars import Bars
from chatter import Chatter
from embedded import percentile
from filling import MESSAGES, NOW, fill_sqlite, opened, room, shuffled
from filling_postgres import fill_postgres
from nexus import Nexus, Place
from nexus.config import Settings
from nexus.maintain.settings import Maintaining

RESULTS = Path(__file__).parent / "results" / "stores.json"
TARGETS = {
    "recall_p50_ratio": 3,
    "compose_p50_ms": 30,
    "compose_p95_ms": 100,
    "observed_a_second_32_writers": 1_000,
    "row_security_costs": 0.15,
    "wrong_rows": 0,
    "dirty_sessions": 0,
    "lost": 0,
    "duplicated": 0,
}
PARTS = ("recall", "compose", "walls", "writing", "cancelled", "kills")
QUESTIONS = 600
Answer = list[tuple[str, float]]  # what was found, and the score of each
ASKED = NOW + timedelta(minutes=1)  # everything that was told is known by then
# Jobs archive what has become weak, and they get to it at different times in both stores.
NO_JOBS = Settings(maintain=Maintaining(enabled=False))
WARMING = 40  # questions that are not counted: the process loads what it needs
WRITERS, EACH = 32, 100
BLOCKS = 8  # with row-level security and without, in turn
A_BLOCK = 60  # questions
MEGABYTES_A_WORKSPACE = 2.2  # in both stores
ROOM_LEFT = 5_000.0  # megabytes of the disk that are left to others


# Recall and compose


def recalled(place: Place, question: str) -> Answer:
    found = place.recall(question)
    return [(reason, 0.0) for reason in found.degraded] + [
        (hit.memory.id, hit.score) for hit in found.hits
    ]


def composed(place: Place, question: str) -> Answer:
    """Its lines, each with the same score; the one with its id is its own."""
    context = place.compose(question)
    lines = [*context.receipt.degraded, *context.text.splitlines()]
    return [(line, 0.0) for line in lines if not line.startswith("(context ")]


@dataclass
class Asked:
    """How long each question took in one store, and what it answered."""

    answer: Callable[[Place, str], Answer]
    walls: list[float] = field(default_factory=list)
    first: list[bool] = field(default_factory=list)  # of its workspace in this process
    answers: list[Answer] = field(default_factory=list)

    def ask(self, place: Place, question: str, *, first: bool) -> None:
        """Nothing is left over from the question before: a model takes longer to answer it."""
        place._parts.worker.finish_calls()
        started = time.perf_counter()
        answer = self.answer(place, question)
        self.walls.append(time.perf_counter() - started)
        self.first.append(first)
        self.answers.append(answer)

    def figures(self) -> dict[str, Any]:
        counted = list(zip(self.walls, self.first, strict=True))[WARMING:]
        return {
            "all": spread(wall for wall, _ in counted),
            "first_visits": spread(wall for wall, first in counted if first),
            "later_visits": spread(wall for wall, first in counted if not first),
        }


def spread(walls: Iterable[float]) -> dict[str, float]:
    taken = list(walls)
    if not taken:
        return {}
    figures = {f"p{share}_ms": percentile(taken, share) for share in (10, 50, 95)}
    return {"count": len(taken), **figures}


def questions(workspaces: int, count: int) -> Iterator[tuple[int, str, bool]]:
    """Each asked once, so that nothing comes from a cache; the same for every store."""
    chooses, asks, seen = shuffled(workspaces, seed=3), Chatter(1_000_003), set[int]()
    for number in range(WARMING + count):
        workspace = chooses()
        yield workspace, f"{asks.question()} ({number})", workspace not in seen
        seen.add(workspace)


def ask_both(
    stores: dict[str, Any],
    answer: Callable[[Place, str], Answer],
    workspaces: int,
    count: int,
    progress: Progress,
) -> dict[str, Asked]:
    """In turn, where there are both. Whatever is written down of a question is written later."""
    doing = f"{answer.__name__} in {' and '.join(stores)}"
    bar = progress.add_task(doing, total=WARMING + count)
    asked = {name: Asked(answer) for name in stores}
    memories = {
        name: Nexus.open(where, settings=NO_JOBS, clock=lambda: ASKED)
        for name, where in stores.items()
    }
    for number, (workspace, question, first) in enumerate(questions(workspaces, count)):
        for name in list(stores) if number % 2 else list(stores)[::-1]:
            asked[name].ask(room(memories[name], workspace), question, first=first)
        progress.advance(bar)
    for memory in memories.values():
        memory.close()
    return asked


def compared(asked: dict[str, Asked]) -> dict[str, Any]:
    """Figures of both, their ratio, and how many questions they answered differently."""
    figures: dict[str, Any] = {name: each.figures() for name, each in asked.items()}
    ratios = {
        sort: {
            share: figures["postgres"][sort][share] / figures["sqlite"][sort][share]
            for share in ("p50_ms", "p95_ms")
        }
        for sort in ("all", "first_visits", "later_visits")
        if figures["sqlite"][sort]
    }
    pairs = zip(asked["sqlite"].answers, asked["postgres"].answers, strict=True)
    return {
        **figures,
        "ratio": ratios,
        "answered_differently": sum(not same(*pair) for pair in pairs),
    }


def same(one: Answer, other: Answer) -> bool:
    """The same memories or lines in the same order, with scores within a millionth."""
    return [id for id, _ in one] == [id for id, _ in other] and all(
        abs(a - b) <= 1e-6 for (_, a), (_, b) in zip(one, other, strict=True)
    )


ASKING = {"recall": recalled, "compose": composed}


def ask(
    stores: dict[str, Any], part: str, options: argparse.Namespace, progress: Progress
) -> dict[str, Asked]:
    return ask_both(stores, ASKING[part], options.workspaces, options.questions, progress)


# Row-level security


def measure_walls(database: Database, workspaces: int, progress: Progress) -> dict[str, Any]:
    """The same questions with row-level security and without, in blocks that take turns.

    What it costs is told in processor time, of this process and of the server together: others
    who use the machine change wall times more than a policy does.
    """
    bar = progress.add_task("with and without row-level security", total=BLOCKS * A_BLOCK)
    taken: dict[str, list[float]] = defaultdict(list)
    worked: dict[str, float] = defaultdict(float)
    chooses, asks = shuffled(min(workspaces, 50), seed=7), Chatter(1_000_007)
    asked = [(chooses(), asks.question()) for _ in range(A_BLOCK)]
    with opened(database.url, lambda: NOW, background=False) as nexus:
        places = [(room(nexus, workspace), question) for workspace, question in asked]
        for place, question in places:
            place.recall(question)
        for block in range(BLOCKS):
            name = "off" if block % 2 else "on"
            switch(database, on=name == "on")
            for place, question in places[:10]:  # plans are made anew after a change
                place.recall(question)
            before = processor_seconds(database)
            for number, (place, question) in enumerate(places):
                started = time.perf_counter()
                place.recall(f"{question} ({block}, {number})")
                taken[name].append(time.perf_counter() - started)
                progress.advance(bar)
            worked[name] += processor_seconds(database) - before
        switch(database, on=True)
    figures = {
        name: {**spread(walls), "processor_ms": worked[name] / len(walls) * 1_000}
        for name, walls in taken.items()
    }
    return {**figures, "costs": worked["on"] / worked["off"] - 1}


def processor_seconds(database: Database) -> float:
    """Of this process and of all sessions of the server that have not ended."""
    server = psutil.Process(database.server.pid)
    times = [process.cpu_times() for process in server.children()]
    return time.process_time() + sum(each.user + each.system for each in times)


def switch(database: Database, *, on: bool) -> None:
    """Every table of ours, with its row-level security or without it."""
    tables = database.run("SELECT DISTINCT polrelid::regclass::text FROM pg_policy ORDER BY 1")
    for (table,) in tables:
        database.run(f"ALTER TABLE {table} {'ENABLE' if on else 'DISABLE'} ROW LEVEL SECURITY")


# Writing


def measure_writing(stores: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Acknowledged observations a second: each writer in its own workspace, or all in one."""
    bar = progress.add_task("32 writers", total=len(stores) * 2)
    figures: dict[str, Any] = defaultdict(dict)
    for name, where in stores.items():
        with opened(where, lambda: NOW, background=False) as nexus:
            for sort in ("each in its own workspace", "all in one workspace"):
                shared = sort == "all in one workspace"
                places = [
                    nexus.workspace("writers" if shared else f"writer-{number}").dm("ann")
                    for number in range(WRITERS)
                ]
                figures[name][sort] = written(places)
                progress.advance(bar)
    return dict(figures)


def written(places: Sequence[Place]) -> dict[str, float]:
    start, taken = threading.Barrier(len(places) + 1), []

    def write(place: Place, seed: int) -> None:
        chatter = Chatter(2_000_000 + seed)
        texts = [chatter.message() for _ in range(EACH)]
        place.observe("ann", chatter.message())  # a new workspace is made once
        start.wait()
        for text in texts:
            began = time.perf_counter()
            place.observe("ann", text)
            taken.append(time.perf_counter() - began)

    threads = [
        threading.Thread(target=write, args=(place, seed)) for seed, place in enumerate(places)
    ]
    for thread in threads:
        thread.start()
    start.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - began
    if len(taken) != len(places) * EACH:
        raise RuntimeError("a writer failed")
    return {"a_second": len(taken) / seconds, **spread(taken)}


# Faults


def measure_cancelled(database: Database, requests: int, progress: Progress) -> dict[str, Any]:
    bar = progress.add_task("cancelled requests", total=requests)
    cancelling = Cancelling(database, say=lambda: progress.advance(bar))
    return asyncio.run(cancelling.run(requests)).told()


def measure_kills(folder: Path, kills: int, progress: Progress) -> dict[str, Any]:
    """A server of its own. Whatever is lost or there twice raises an error."""
    from nexus.stores.postgres.store import PostgresStore

    bar = progress.add_task("kills", total=kills)
    with Postgres(folder, safe=True) as server:
        database = server.database()
        outcome = kill_under_load(database, folder, kills, say=lambda: progress.advance(bar))
        store = PostgresStore(database.url)
        check_promises(store, outcome.promised)
        store.close()
    return {
        "kills": kills,
        "acknowledged": len(outcome.promised.told),
        "forgotten": len(outcome.promised.forgot),
        "lost": 0,
        "duplicated": 0,
        "writes_again_after": spread(outcome.back_after),
    }


# All of it


def measure_stores(options: argparse.Namespace, folder: Path, progress: Progress) -> dict[str, Any]:
    """What needs the large stores: recall, walls and writing."""
    free = shutil.disk_usage(folder).free / 1e6 - ROOM_LEFT
    together = options.workspaces * MEGABYTES_A_WORKSPACE < free
    results: dict[str, Any] = {
        "store": {
            "workspaces": options.workspaces,
            "different": options.different,
            "together": together,
        }
    }
    with Postgres(folder, safe=True, **TUNED) as server:
        database = server.database()
        path = folder / "many.db"
        if not together:
            results |= one_after_the_other(options, path, database, progress)
            return results
        results["store"]["sqlite"] = filled(
            lambda: fill_sqlite(path, *told(options, progress)),
            lambda: path.stat().st_size,
        )
        results["store"]["postgres"] = fill_server(options, database, progress)
        stores = {"sqlite": path, "postgres": database.url}
        for part in [each for each in ASKING if each in options.only]:
            results[part] = compared(ask(stores, part, options, progress))
        results |= measure_more(options, stores, database, progress)
    return results


TUNED = {"shared_buffers": "1GB", "max_wal_size": "4GB", "checkpoint_timeout": "15min"}


def told(options: argparse.Namespace, progress: Progress) -> tuple[int, int, Progress, int]:
    return options.workspaces, options.messages, progress, options.different


def fill_server(options: argparse.Namespace, database: Database, progress: Progress) -> Any:
    return filled(
        lambda: fill_postgres(database, *told(options, progress)),
        lambda: database.run("SELECT pg_database_size(current_database())")[0][0],
    )


def filled(fill: Callable[[], None], size: Callable[[], int]) -> dict[str, float]:
    started = time.perf_counter()
    fill()
    return {"fill_seconds": time.perf_counter() - started, "megabytes": size() / 1e6}


def measure_more(
    options: argparse.Namespace, stores: dict[str, Any], database: Database, progress: Progress
) -> dict[str, Any]:
    results: dict[str, Any] = {}
    if "walls" in options.only:
        results["row_security"] = measure_walls(database, options.workspaces, progress)
    if "writing" in options.only:
        results["writing"] = measure_writing(stores, progress)
    return results


def one_after_the_other(
    options: argparse.Namespace, path: Path, database: Database, progress: Progress
) -> dict[str, Any]:
    """The file is asked and removed before the server is filled: the disk holds one of them."""
    parts = [each for each in ASKING if each in options.only]
    asked: dict[str, dict[str, Asked]] = {part: {} for part in parts}
    sizes = {
        "sqlite": filled(
            lambda: fill_sqlite(path, *told(options, progress)),
            lambda: path.stat().st_size,
        )
    }
    for part in parts:
        asked[part] |= ask({"sqlite": path}, part, options, progress)
    for file in path.parent.glob("many.db*"):
        file.unlink()
    sizes["postgres"] = fill_server(options, database, progress)
    stores = {"sqlite": path, "postgres": database.url}
    for part in parts:
        asked[part] |= ask({"postgres": database.url}, part, options, progress)
    return {
        "store": {
            "workspaces": options.workspaces,
            "different": options.different,
            "together": False,
            **sizes,
        },
        **{part: compared(each) for part, each in asked.items()},
        **measure_more(options, stores, database, progress),
    }


# Showing it


def shown(results: dict[str, Any]) -> Iterator[Table]:
    for part in ASKING:
        if part in results:
            yield asking_table(results, part)
    tables = {"row_security": walls_table, "writing": writing_table}
    for part, table in tables.items():
        if part in results:
            yield table(results)
    for part in ("cancelled", "kills"):
        if figures := results.get(part):
            listed = Table(part, "")
            for name, value in figures.items():
                listed.add_row(name.replace("_", " "), str(value))
            yield listed


def asking_table(results: dict[str, Any], part: str) -> Table:
    asked = results[part]
    title = f"{part} among {results['store']['workspaces']:,} workspaces, p50 / p95 ms"
    table = Table("", "sqlite", "postgres", "ratio p50", "ratio p95", title=title)
    for sort, ratio in asked["ratio"].items():
        cells = [asked[name][sort] for name in ("sqlite", "postgres")]
        told = [f"{cell['p50_ms']:.1f} / {cell['p95_ms']:.1f}" for cell in cells]
        table.add_row(sort, *told, f"{ratio['p50_ms']:.2f}", f"{ratio['p95_ms']:.2f}")
    table.caption = f"{asked['answered_differently']} questions were answered differently"
    return table


def walls_table(results: dict[str, Any]) -> Table:
    walls = results["row_security"]
    table = Table("row-level security", "processor ms", "p50 ms", "p95 ms")
    for name in ("on", "off"):
        told = (f"{walls[name][share]:.2f}" for share in ("processor_ms", "p50_ms", "p95_ms"))
        table.add_row(name, *told)
    table.add_row("costs", f"{walls['costs']:.1%}", "", "")
    return table


def writing_table(results: dict[str, Any]) -> Table:
    table = Table("32 writers", "sort", "a second", "p50 ms", "p95 ms")
    for name, sorts in results["writing"].items():
        for sort, row in sorts.items():
            told = (f"{row[share]:.1f}" for share in ("p50_ms", "p95_ms"))
            table.add_row(name, sort, f"{row['a_second']:,.0f}", *told)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workspaces", type=int, default=10_000)
    parser.add_argument("--messages", type=int, default=MESSAGES, help="told in each")
    parser.add_argument("--different", type=int, default=100, help="told; the others are copies")
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--requests", type=int, default=50_000, help="of which 40 %% are cancelled")
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--only", default=",".join(PARTS), type=lambda text: text.split(","))
    parser.add_argument("--folder", type=Path, help="where temporary files are written")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument("--no-save", action="store_true", help="leave the kept results alone")
    options = parser.parse_args()
    console = Console(stderr=True)
    with tempfile.TemporaryDirectory(dir=options.folder) as name, Bars(console) as progress:
        results = measure(options, Path(name), progress)
    for table in shown(results):
        console.print(table)
    if options.json:
        print(json.dumps(results, indent=2))
    if not options.no_save:
        kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        RESULTS.write_text(json.dumps({**kept, **results}, indent=2) + "\n", encoding="utf-8")


def measure(options: argparse.Namespace, folder: Path, progress: Progress) -> dict[str, Any]:
    folder.chmod(0o755)  # the server runs as somebody else when this runs as root
    load = os.getloadavg()[0]
    results: dict[str, Any] = {"targets": TARGETS}
    if {*ASKING, "walls", "writing"} & set(options.only):
        results |= measure_stores(options, folder, progress)
    if "cancelled" in options.only:
        with Postgres() as server:
            results["cancelled"] = measure_cancelled(server.database(), options.requests, progress)
    if "kills" in options.only:
        results["kills"] = measure_kills(folder, options.kills, progress)
    return results | {
        "machine": {
            "cores": os.cpu_count(),
            "python": sys.version.split()[0],
            "load_before": load,
            "load_after": os.getloadavg()[0],
        }
    }


if __name__ == "__main__":
    main()
