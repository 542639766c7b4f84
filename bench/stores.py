"""Postgres against SQLite: latency, write throughput, row-level security and faults.

    python bench/stores.py                              10,000 workspaces of 250 memories: 20 GB
    python bench/stores.py --workspaces 1000            fewer: 2 GB
    python bench/stores.py --only writing,kills         some parts: recall, compose, walls,
                                                        writing, cancelled, kills

Both stores hold the same data: a few template workspaces written through the public API, and
row-by-row copies of them (`bench/fill_sqlite.py`). A question is asked in both, in alternation,
with default settings and the built-in embedder. The time covers the complete call; the same
holds for a context. This script starts the server on this machine, with its data on the same
disk. The server acknowledges a write when it is on disk. If the disk is too small for both
stores, they are filled and measured one after the other; the results say so.
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

sys.path.insert(0, str(Path(__file__).parent.parent))  # for tests.servers

from tests.faults.cancellation import CancellationLoad
from tests.faults.durability_checks import check_promises
from tests.faults.server_kills import kill_under_load
from tests.servers.postgres import Database, Postgres

from chat_generator import ChatGenerator
from embedded import percentile
from fill_postgres import fill_postgres
from fill_sqlite import MESSAGES, NOW, fill_sqlite, get_room, make_workspace_sampler, open_nexus
from nexusmem import Nexus, Place
from nexusmem.config.settings import Settings
from nexusmem.maintain.settings import MaintainSettings
from progress_bars import ProgressBars

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
Answer = list[tuple[str, float]]  # ids or lines of the answer, each with its score
ASKED = NOW + timedelta(minutes=1)  # after the last message
# Jobs archive weak memories, and they would do so at different times in both stores.
NO_JOBS = Settings(maintain=MaintainSettings(enabled=False))
WARM_UP = 40  # questions that are not counted: the process loads modules and tables
WRITERS, MESSAGES_PER_WRITER = 32, 100
BLOCKS = 8  # alternately with and without row-level security
QUESTIONS_PER_BLOCK = 60
MEGABYTES_PER_WORKSPACE = 2.2  # in both stores together
RESERVED_MEGABYTES = 5_000.0


# Recall and compose


def recall_answer(place: Place, question: str) -> Answer:
    """Return degradations, and the ids of the hits with their scores."""
    hits = place.recall(question)
    return [(reason, 0.0) for reason in hits.degraded] + [
        (hit.memory.id, hit.score) for hit in hits.hits
    ]


def compose_answer(place: Place, question: str) -> Answer:
    """Return the lines of a context, each with score 0."""
    context = place.compose(question)
    lines = [*context.receipt.degraded, *context.text.splitlines()]
    return [(line, 0.0) for line in lines]


@dataclass
class StoreAnswers:
    """Times and answers of one store."""

    answer: Callable[[Place, str], Answer]
    walls: list[float] = field(default_factory=list)
    first: list[bool] = field(
        default_factory=list
    )  # first question to its workspace in this process
    answers: list[Answer] = field(default_factory=list)

    def ask(self, place: Place, question: str, *, first: bool) -> None:
        """Ask and measure one question.

        Background work of the question before is drained first, as a model takes longer than
        that to answer.
        """
        place._parts.worker.drain()
        started = time.perf_counter()
        answer = self.answer(place, question)
        self.walls.append(time.perf_counter() - started)
        self.first.append(first)
        self.answers.append(answer)

    def figures(self) -> dict[str, Any]:
        """Return percentiles of all questions, first visits and later visits."""
        counted = list(zip(self.walls, self.first, strict=True))[WARM_UP:]
        return {
            "all": percentiles(wall for wall, _ in counted),
            "first_visits": percentiles(wall for wall, first in counted if first),
            "later_visits": percentiles(wall for wall, first in counted if not first),
        }


def percentiles(walls: Iterable[float]) -> dict[str, float]:
    """Return percentiles in milliseconds."""
    taken = list(walls)
    if not taken:
        return {}
    figures = {f"p{share}_ms": percentile(taken, share) for share in (10, 50, 95)}
    return {"count": len(taken), **figures}


def make_questions(workspaces: int, count: int) -> Iterator[tuple[int, str, bool]]:
    """Yield workspace, question and first-visit flag; each question is new, so no cache
    answers.
    """
    choose_workspace, chat, seen = (
        make_workspace_sampler(workspaces, seed=3),
        ChatGenerator(1_000_003),
        set[int](),
    )
    for number in range(WARM_UP + count):
        workspace = choose_workspace()
        yield workspace, f"{chat.make_question()} ({number})", workspace not in seen
        seen.add(workspace)


def ask_both(
    stores: dict[str, Any],
    answer: Callable[[Place, str], Answer],
    workspaces: int,
    count: int,
    progress: Progress,
) -> dict[str, StoreAnswers]:
    """Ask the same questions in all `stores`, in alternation."""
    title = f"{answer.__name__} in {' and '.join(stores)}"
    bar = progress.add_task(title, total=WARM_UP + count)
    asked = {name: StoreAnswers(answer) for name in stores}
    memories = {
        name: Nexus.open(target, settings=NO_JOBS, clock=lambda: ASKED)
        for name, target in stores.items()
    }
    for number, (workspace, question, first) in enumerate(make_questions(workspaces, count)):
        for name in list(stores) if number % 2 else list(stores)[::-1]:
            asked[name].ask(get_room(memories[name], workspace), question, first=first)
        progress.advance(bar)
    for memory in memories.values():
        memory.close()
    return asked


def compare_stores(asked: dict[str, StoreAnswers]) -> dict[str, Any]:
    """Return the figures of both stores, their ratio, and the number of different answers."""
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
        "answered_differently": sum(not is_same_answer(*pair) for pair in pairs),
    }


def is_same_answer(one: Answer, other: Answer) -> bool:
    """Return whether two answers have the same entries in order and scores within 1e-6."""
    return [id for id, _ in one] == [id for id, _ in other] and all(
        abs(a - b) <= 1e-6 for (_, a), (_, b) in zip(one, other, strict=True)
    )


ANSWER_FUNCTIONS = {"recall": recall_answer, "compose": compose_answer}


def ask_part(
    stores: dict[str, Any], part: str, options: argparse.Namespace, progress: Progress
) -> dict[str, StoreAnswers]:
    return ask_both(stores, ANSWER_FUNCTIONS[part], options.workspaces, options.questions, progress)


# Row-level security


def measure_row_security(database: Database, workspaces: int, progress: Progress) -> dict[str, Any]:
    """Measure the same questions with and without row-level security, in alternating blocks.

    The cost is CPU time of this process and the server together: other load changes wall times
    more than a policy does.
    """
    bar = progress.add_task(
        "with and without row-level security", total=BLOCKS * QUESTIONS_PER_BLOCK
    )
    taken: dict[str, list[float]] = defaultdict(list)
    cpu_by_setting: dict[str, float] = defaultdict(float)
    choose_workspace, chat = (
        make_workspace_sampler(min(workspaces, 50), seed=7),
        ChatGenerator(1_000_007),
    )
    asked = [(choose_workspace(), chat.make_question()) for _ in range(QUESTIONS_PER_BLOCK)]
    with open_nexus(database.url, lambda: NOW, background=False) as nexus:
        places = [(get_room(nexus, workspace), question) for workspace, question in asked]
        for place, question in places:
            place.recall(question)
        for block in range(BLOCKS):
            name = "off" if block % 2 else "on"
            set_row_security(database, on=name == "on")
            for place, question in places[:10]:  # query plans are rebuilt after the change
                place.recall(question)
            before = cpu_seconds(database)
            for number, (place, question) in enumerate(places):
                started = time.perf_counter()
                place.recall(f"{question} ({block}, {number})")
                taken[name].append(time.perf_counter() - started)
                progress.advance(bar)
            cpu_by_setting[name] += cpu_seconds(database) - before
        set_row_security(database, on=True)
    figures = {
        name: {**percentiles(walls), "processor_ms": cpu_by_setting[name] / len(walls) * 1_000}
        for name, walls in taken.items()
    }
    return {**figures, "costs": cpu_by_setting["on"] / cpu_by_setting["off"] - 1}


def cpu_seconds(database: Database) -> float:
    """Return the CPU seconds of this process and of all open server sessions."""
    server = psutil.Process(database.server.pid)
    times = [process.cpu_times() for process in server.children()]
    return time.process_time() + sum(each.user + each.system for each in times)


def set_row_security(database: Database, *, on: bool) -> None:
    """Enable or disable row-level security on every table that has a policy."""
    tables = database.run("SELECT DISTINCT polrelid::regclass::text FROM pg_policy ORDER BY 1")
    for (table,) in tables:
        database.run(f"ALTER TABLE {table} {'ENABLE' if on else 'DISABLE'} ROW LEVEL SECURITY")


# Writing


def measure_writing(stores: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Return acknowledged observations per second: a workspace per writer, or one for all."""
    bar = progress.add_task("32 writers", total=len(stores) * 2)
    figures: dict[str, Any] = defaultdict(dict)
    for name, target in stores.items():
        with open_nexus(target, lambda: NOW, background=False) as nexus:
            for sort in ("each in its own workspace", "all in one workspace"):
                shared = sort == "all in one workspace"
                places = [
                    nexus.workspace("writers" if shared else f"writer-{number}").dm("ann")
                    for number in range(WRITERS)
                ]
                figures[name][sort] = measure_writers(places)
                progress.advance(bar)
    return dict(figures)


def measure_writers(places: Sequence[Place]) -> dict[str, float]:
    """Return throughput and latency of concurrent writers, one thread per place.

    Raise RuntimeError if a writer failed.
    """
    start, taken = threading.Barrier(len(places) + 1), []

    def write(place: Place, seed: int) -> None:
        chat = ChatGenerator(2_000_000 + seed)
        texts = [chat.make_message() for _ in range(MESSAGES_PER_WRITER)]
        place.observe("ann", chat.make_message())  # creates the workspace before the clock starts
        start.wait()
        for text in texts:
            started = time.perf_counter()
            place.observe("ann", text)
            taken.append(time.perf_counter() - started)

    threads = [
        threading.Thread(target=write, args=(place, seed)) for seed, place in enumerate(places)
    ]
    for thread in threads:
        thread.start()
    start.wait()
    started = time.perf_counter()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - started
    if len(taken) != len(places) * MESSAGES_PER_WRITER:
        raise RuntimeError(
            f"{len(taken)} of {len(places) * MESSAGES_PER_WRITER} writes were acknowledged"
        )
    return {"a_second": len(taken) / seconds, **percentiles(taken)}


# Faults


def measure_cancelled(database: Database, requests: int, progress: Progress) -> dict[str, Any]:
    """Cancel requests under load and return the report."""
    bar = progress.add_task("cancelled requests", total=requests)
    load_generator = CancellationLoad(database, say=lambda: progress.advance(bar))
    return asyncio.run(load_generator.run(requests)).told()


def measure_kills(folder: Path, kills: int, progress: Progress) -> dict[str, Any]:
    """Kill a separate server under load. Lost or duplicated events raise AssertionError."""
    from nexusmem.stores.postgres.store import PostgresStore

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
        "writes_again_after": percentiles(outcome.back_after),
    }


# All parts


def measure_stores(options: argparse.Namespace, folder: Path, progress: Progress) -> dict[str, Any]:
    """Measure the parts that need the large stores: recall, compose, walls and writing."""
    free = shutil.disk_usage(folder).free / 1e6 - RESERVED_MEGABYTES
    fit_together = options.workspaces * MEGABYTES_PER_WORKSPACE < free
    results: dict[str, Any] = {
        "store": {
            "workspaces": options.workspaces,
            "different": options.different,
            "together": fit_together,
        }
    }
    with Postgres(folder, safe=True, **SERVER_OPTIONS) as server:
        database = server.database()
        path = folder / "many.db"
        if not fit_together:
            results |= measure_in_sequence(options, path, database, progress)
            return results
        results["store"]["sqlite"] = time_fill(
            lambda: fill_sqlite(path, *fill_arguments(options, progress)),
            lambda: path.stat().st_size,
        )
        results["store"]["postgres"] = fill_server(options, database, progress)
        stores = {"sqlite": path, "postgres": database.url}
        for part in [each for each in ANSWER_FUNCTIONS if each in options.only]:
            results[part] = compare_stores(ask_part(stores, part, options, progress))
        results |= measure_writes_and_security(options, stores, database, progress)
    return results


SERVER_OPTIONS = {"shared_buffers": "1GB", "max_wal_size": "4GB", "checkpoint_timeout": "15min"}


def fill_arguments(
    options: argparse.Namespace, progress: Progress
) -> tuple[int, int, Progress, int]:
    return options.workspaces, options.messages, progress, options.different


def fill_server(options: argparse.Namespace, database: Database, progress: Progress) -> Any:
    return time_fill(
        lambda: fill_postgres(database, *fill_arguments(options, progress)),
        lambda: database.run("SELECT pg_database_size(current_database())")[0][0],
    )


def time_fill(fill: Callable[[], None], size: Callable[[], int]) -> dict[str, float]:
    started = time.perf_counter()
    fill()
    return {"fill_seconds": time.perf_counter() - started, "megabytes": size() / 1e6}


def measure_writes_and_security(
    options: argparse.Namespace, stores: dict[str, Any], database: Database, progress: Progress
) -> dict[str, Any]:
    results: dict[str, Any] = {}
    if "walls" in options.only:
        results["row_security"] = measure_row_security(database, options.workspaces, progress)
    if "writing" in options.only:
        results["writing"] = measure_writing(stores, progress)
    return results


def measure_in_sequence(
    options: argparse.Namespace, path: Path, database: Database, progress: Progress
) -> dict[str, Any]:
    """Measure and delete the SQLite file before Postgres is filled; the disk holds only one."""
    parts = [each for each in ANSWER_FUNCTIONS if each in options.only]
    asked: dict[str, dict[str, StoreAnswers]] = {part: {} for part in parts}
    sizes = {
        "sqlite": time_fill(
            lambda: fill_sqlite(path, *fill_arguments(options, progress)),
            lambda: path.stat().st_size,
        )
    }
    for part in parts:
        asked[part] |= ask_part({"sqlite": path}, part, options, progress)
    for file in path.parent.glob("many.db*"):
        file.unlink()
    sizes["postgres"] = fill_server(options, database, progress)
    stores = {"sqlite": path, "postgres": database.url}
    for part in parts:
        asked[part] |= ask_part({"postgres": database.url}, part, options, progress)
    return {
        "store": {
            "workspaces": options.workspaces,
            "different": options.different,
            "together": False,
            **sizes,
        },
        **{part: compare_stores(each) for part, each in asked.items()},
        **measure_writes_and_security(options, stores, database, progress),
    }


# Report


def make_tables(results: dict[str, Any]) -> Iterator[Table]:
    for part in ANSWER_FUNCTIONS:
        if part in results:
            yield question_table(results, part)
    tables = {"row_security": row_security_table, "writing": writing_table}
    for part, table in tables.items():
        if part in results:
            yield table(results)
    for part in ("cancelled", "kills"):
        if figures := results.get(part):
            figures_table = Table(part, "")
            for name, value in figures.items():
                figures_table.add_row(name.replace("_", " "), str(value))
            yield figures_table


def question_table(results: dict[str, Any], part: str) -> Table:
    asked = results[part]
    title = f"{part} among {results['store']['workspaces']:,} workspaces, p50 / p95 ms"
    table = Table("", "sqlite", "postgres", "ratio p50", "ratio p95", title=title)
    for sort, ratio in asked["ratio"].items():
        cells = [asked[name][sort] for name in ("sqlite", "postgres")]
        times = [f"{cell['p50_ms']:.1f} / {cell['p95_ms']:.1f}" for cell in cells]
        table.add_row(sort, *times, f"{ratio['p50_ms']:.2f}", f"{ratio['p95_ms']:.2f}")
    table.caption = f"{asked['answered_differently']} questions with different answers"
    return table


def row_security_table(results: dict[str, Any]) -> Table:
    walls = results["row_security"]
    table = Table("row-level security", "CPU ms", "p50 ms", "p95 ms")
    for name in ("on", "off"):
        times = (f"{walls[name][share]:.2f}" for share in ("processor_ms", "p50_ms", "p95_ms"))
        table.add_row(name, *times)
    table.add_row("cost", f"{walls['costs']:.1%}", "", "")
    return table


def writing_table(results: dict[str, Any]) -> Table:
    table = Table("32 writers", "workspaces", "per second", "p50 ms", "p95 ms")
    for name, sorts in results["writing"].items():
        for sort, row in sorts.items():
            times = (f"{row[share]:.1f}" for share in ("p50_ms", "p95_ms"))
            table.add_row(name, sort, f"{row['a_second']:,.0f}", *times)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workspaces", type=int, default=10_000, help="number of workspaces")
    parser.add_argument("--messages", type=int, default=MESSAGES, help="messages in each")
    parser.add_argument(
        "--different", type=int, default=100, help="template workspaces; the others are copies"
    )
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="questions per part")
    parser.add_argument(
        "--requests", type=int, default=50_000, help="requests, of which 40 %% are cancelled"
    )
    parser.add_argument("--kills", type=int, default=30, help="number of server kills")
    parser.add_argument("--only", default=",".join(PARTS), type=lambda text: text.split(","))
    parser.add_argument("--folder", type=Path, help="folder for temporary files")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument("--no-save", action="store_true", help="do not overwrite the saved results")
    options = parser.parse_args()
    console = Console(stderr=True)
    with tempfile.TemporaryDirectory(dir=options.folder) as name, ProgressBars(console) as progress:
        results = measure(options, Path(name), progress)
    for table in make_tables(results):
        console.print(table)
    if options.json:
        print(json.dumps(results, indent=2))
    if not options.no_save:
        saved = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        RESULTS.write_text(json.dumps({**saved, **results}, indent=2) + "\n", encoding="utf-8")


def measure(options: argparse.Namespace, folder: Path, progress: Progress) -> dict[str, Any]:
    folder.chmod(0o755)  # the server runs as another user when this script runs as root
    load = os.getloadavg()[0]
    results: dict[str, Any] = {"targets": TARGETS}
    if {*ANSWER_FUNCTIONS, "walls", "writing"} & set(options.only):
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
