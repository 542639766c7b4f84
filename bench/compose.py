"""Context composition in a store of many workspaces: latency, cache hits and continuity.

    python bench/compose.py                              10,000 workspaces of 250 memories: 8 GB
    python bench/compose.py --workspaces 1000            fewer: 0.8 GB
    python bench/compose.py --store many.db              keep the file, or use it again
    python bench/compose.py --story                      only the thirty sessions

A few template workspaces are written and learned through the public API. All others are row-by-
row copies under their own workspace number. Workspaces are sampled by Zipf's law: the second is
sampled half as often as the first. Times cover the complete call `place.compose(question)`, with
default settings and the built-in embedder. Two times are reported: all turns of a new process,
which is the target figure, and the steady state after 3,000 turns.

A plain script answers the same questions in alternation on the same file. It returns the ten
nearest messages by numpy and the last forty. It has no landmarks, people, budget or access
control, so it is a lower bound for a context on this machine.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from statistics import mean, median
from types import SimpleNamespace
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from chat_generator import PEOPLE, ChatGenerator
from embedded import percentile
from fill_sqlite import (
    MESSAGES,
    NOW,
    TEMPLATE_WORKSPACES,
    ZipfSampler,
    fill_sqlite,
    fill_workspace,
    get_room,
    make_workspace_sampler,
    open_nexus,
    workspace_name,
)
from nexusmem import Place
from nexusmem.compose import composer
from nexusmem.core.protocols.embedder import Embedder
from nexusmem.core.records.context import Context
from progress_bars import ProgressBars
from story.story import Clock, StoryMetrics, StoryRunner, read_story

ASKED = NOW + timedelta(minutes=1)  # after the last message
RESULTS = Path(__file__).parent / "results" / "compose.json"
TARGETS = {"p50_ms": 10, "p95_ms": 30, "cached_p50_ms": 2}
TURNS = 600
UNCOUNTED = 30  # turns that are not counted: the process loads modules and tables
WARM_UP = 3_000  # turns before the steady state is measured; they warm the frequent rooms
POOL = 12  # recurring questions per workspace
NEW_MESSAGE_SHARE = (
    0.2  # share of turns with a new message first, which makes cached contexts stale
)
TURNS_PER_SECOND = 20  # turns per second of simulated traffic
PAIRS = 120  # questions to the same workspace in the large file and in its own file


# Questions


@dataclass(frozen=True, slots=True)
class Turn:
    """One measured context."""

    workspace: int
    wall: float
    processor: float
    context: Context
    first: bool = False  # first turn of its workspace in this process


def time_turn(place: Place, question: str, workspace: int = 0, *, first: bool = False) -> Turn:
    """Compose a context and measure it.

    Background work of the turn before is drained first, as a model takes longer than that to
    answer.
    """
    place._parts.worker.drain()
    wall, processor = time.perf_counter(), time.process_time()
    context = place.compose(question)
    took = time.perf_counter() - wall, time.process_time() - processor
    return Turn(workspace, *took, context, first)


class PlainScript:
    """Lower bound for a context: the nearest messages and the last messages."""

    def __init__(self, path: Path, embedder: Embedder) -> None:
        self._connection = sqlite3.connect(path)
        self._embedder = embedder

    def __call__(self, workspace: int, question: str) -> str:
        read = self._connection.execute
        parameters = {"workspace": read(NUMBER, {"name": workspace_name(workspace)}).fetchone()[0]}
        numbers, vectors = zip(*read(VECTORS, parameters), strict=True)
        matrix = np.frombuffer(b"".join(vectors), "<f4").reshape(len(numbers), -1)
        nearest = np.argsort(-(matrix @ self._embedder.embed([question])[0]))[:10]
        memories = [
            read(MEMORY, {**parameters, "memory": numbers[place]}).fetchone() for place in nearest
        ]
        lines = [json.loads(content) for (content,) in (*memories, *read(EVENTS, parameters))]
        return "\n".join(f"{each['at']} {each['speaker']}: {each['text']}" for each in lines)

    def measure(self, workspace: int, question: str) -> tuple[float, float]:
        """Return the wall seconds and the CPU seconds of this thread.

        Another thread may still be writing a receipt.
        """
        wall, processor = time.perf_counter(), time.thread_time()
        self(workspace, question)
        return time.perf_counter() - wall, time.thread_time() - processor


NUMBER = "SELECT workspace FROM workspaces WHERE name = :name"
VECTORS = "SELECT memory, data FROM vectors WHERE workspace = :workspace"
MEMORY = "SELECT content FROM memories WHERE workspace = :workspace AND memory = :memory"
EVENTS = "SELECT content FROM events WHERE workspace = :workspace ORDER BY seq DESC LIMIT 40"


def measure_assembly(path: Path, workspaces: int, turns: int, progress: Progress) -> dict[str, Any]:
    """Measure all turns of a new process. No question is asked twice, so no cached context is
    used.

    More than half of the turns are the first visit of a workspace.
    """
    choose_workspace, chat = make_workspace_sampler(workspaces, seed=3), ChatGenerator(1_000_003)
    bar = progress.add_task("new questions", total=UNCOUNTED + turns)
    taken: list[Turn] = []
    plain: list[tuple[float, float]] = []
    visited: set[int] = set()
    with open_nexus(path, lambda: ASKED) as nexus:
        script = PlainScript(path, nexus._parts.embedder_switch.embedder)
        for number in range(UNCOUNTED + turns):
            workspace = choose_workspace()
            question = f"{chat.make_question()} ({number})"
            first = workspace not in visited
            if number % 2:  # alternate: the first reader finds cold pages
                plain.append(script.measure(workspace, question))
            taken.append(time_turn(get_room(nexus, workspace), question, workspace, first=first))
            if not number % 2:
                plain.append(script.measure(workspace, question))
            visited.add(workspace)
            progress.advance(bar)
    counted = taken[UNCOUNTED:]
    if any(turn.context.receipt.cached for turn in counted):
        raise RuntimeError("a question that was asked only once came from the cache")
    return {
        "turns": len(counted),
        "workspaces_visited": len(visited),
        **percentiles(counted),
        "plain_script": compare_with_plain(plain[UNCOUNTED:], counted),
        "first_visits": percentiles([turn for turn in counted if turn.first]),
        "later_visits": percentiles([turn for turn in counted if not turn.first]),
        "tokens_p50": median(turn.context.tokens for turn in counted),
        "tokens_p95": percentile([turn.context.tokens for turn in counted], 95) / 1_000,
        "stages": measure_stages([turn.context for turn in counted]),
    }


def measure_steady_state(
    path: Path, workspaces: int, warm_up: int, turns: int, progress: Progress
) -> dict[str, Any]:
    """Measure a process after a warm-up; frequent workspaces were visited before."""
    choose_workspace, chat = make_workspace_sampler(workspaces, seed=13), ChatGenerator(1_000_013)
    bar = progress.add_task("steady state", total=warm_up + turns)
    taken: list[Turn] = []
    visited: set[int] = set()
    with open_nexus(path, lambda: ASKED) as nexus:
        for number in range(warm_up + turns):
            workspace = choose_workspace()
            question, first = f"{chat.make_question()} ({number})", workspace not in visited
            taken.append(time_turn(get_room(nexus, workspace), question, workspace, first=first))
            visited.add(workspace)
            progress.advance(bar)
    counted = taken[warm_up:]
    return {
        "turns_before": warm_up,
        "turns": len(counted),
        "workspaces_visited": len(visited),
        **percentiles(counted),
        "first_visits": percentiles([turn for turn in counted if turn.first]),
        "later_visits": percentiles([turn for turn in counted if not turn.first]),
    }


def measure_traffic(path: Path, workspaces: int, turns: int, progress: Progress) -> dict[str, Any]:
    """Measure the cache hit rate with recurring questions and occasional new messages."""
    choose_workspace, question = make_workspace_sampler(workspaces, seed=5), ZipfSampler(POOL, 5)
    generator, chat = random.Random(5), ChatGenerator(1_000_005)
    pools: dict[int, list[str]] = defaultdict(lambda: [chat.make_question() for _ in range(POOL)])
    bar = progress.add_task("recurring questions", total=turns)
    clock, taken = Clock(ASKED), []
    with open_nexus(path, clock) as nexus:
        for _ in range(turns):
            workspace = choose_workspace()
            place = get_room(nexus, workspace)
            if generator.random() < NEW_MESSAGE_SHARE:
                place.observe(generator.choice(PEOPLE), chat.make_message())
            taken.append(time_turn(place, pools[workspace][question()], workspace))
            clock.now += timedelta(seconds=1 / TURNS_PER_SECOND)
            progress.advance(bar)
    cached = [turn for turn in taken if turn.context.receipt.cached]
    return {
        "turns": turns,
        "told_before_asking": NEW_MESSAGE_SHARE,
        "hit_rate": len(cached) / turns,
        "cached": percentiles(cached),
        "made": percentiles([turn for turn in taken if not turn.context.receipt.cached]),
        "all": percentiles(taken),
    }


def measure_cached(path: Path, workspaces: int, progress: Progress) -> dict[str, float]:
    """Measure the same question asked twice in a row."""
    choose_workspace, chat = make_workspace_sampler(workspaces, seed=9), ChatGenerator(1_000_009)
    bar = progress.add_task("repeated questions", total=PAIRS)
    again = []
    with open_nexus(path, lambda: ASKED) as nexus:
        for _ in range(PAIRS):
            place, question = get_room(nexus, choose_workspace()), chat.make_question()
            place.compose(question)
            again.append(time_turn(place, question))
            progress.advance(bar)
    hits = [turn for turn in again if turn.context.receipt.cached]
    return {"from_the_cache": len(hits) / len(again), **percentiles(again)}


def measure_alone(
    path: Path, folder: Path, workspaces: int, messages: int, progress: Progress
) -> dict[str, float]:
    """Measure one workspace in the large file and in its own file, in alternation."""
    alone_path, chat = folder / "alone.db", ChatGenerator(1_000_011)
    chosen = min(TEMPLATE_WORKSPACES, workspaces) - 1
    bar = progress.add_task("questions in both files", total=PAIRS)
    with open_nexus(alone_path, lambda: ASKED) as alone, open_nexus(path, lambda: ASKED) as large:
        fill_workspace(alone, chosen, messages)
        places = {"alone": get_room(alone, chosen), "large": get_room(large, chosen)}
        taken: dict[str, list[Turn]] = defaultdict(list)
        for number in range(PAIRS):
            question = f"{chat.make_question()} ({number})"
            for name in list(places) if number % 2 else list(places)[::-1]:
                taken[name].append(time_turn(places[name], question))
            progress.advance(bar)
    figures = {name: percentiles(turns[UNCOUNTED:]) for name, turns in taken.items()}
    ratio = figures["large"]["p50_ms"] / figures["alone"]["p50_ms"]
    return {**figures, "ratio": ratio}


def compare_with_plain(
    plain: Sequence[tuple[float, float]], turns: Sequence[Turn]
) -> dict[str, float]:
    """Return the times of the plain script, and the CPU ratio of a context to it."""
    wall, processor = zip(*plain, strict=True)
    ratio = median(turn.processor for turn in turns) / median(processor)
    return {
        "count": len(plain),
        "p10_ms": percentile(wall, 10),
        "p50_ms": percentile(wall, 50),
        "p95_ms": percentile(wall, 95),
        "processor_p50_ms": percentile(processor, 50),
        "a_context_takes_times_its_processor_time": ratio,
    }


def percentiles(turns: Iterable[Turn]) -> dict[str, float]:
    """Return percentiles of the turns in milliseconds."""
    turn_list = list(turns)
    if not turn_list:
        return {}
    wall, processor = [turn.wall for turn in turn_list], [turn.processor for turn in turn_list]
    return {
        "count": len(turn_list),
        "p10_ms": percentile(wall, 10),  # closest to an idle machine
        "p50_ms": percentile(wall, 50),
        "p95_ms": percentile(wall, 95),
        "processor_p50_ms": percentile(processor, 50),
        "processor_p95_ms": percentile(processor, 95),
    }


def measure_stages(contexts: Sequence[Context]) -> dict[str, dict[str, float]]:
    """Return the CPU time by stage from the receipts, slowest first."""
    by_stage: dict[str, list[float]] = defaultdict(list)
    for context in contexts:
        for name, took in context.receipt.seconds.items():
            by_stage[name].append(took)
    figures = {
        name: {
            "share_of_contexts": len(taken) / len(contexts),
            "p50_ms": percentile(taken, 50),
            "p95_ms": percentile(taken, 95),
            "mean_ms": sum(taken) / len(contexts) * 1_000,
        }
        for name, taken in by_stage.items()
    }
    return dict(sorted(figures.items(), key=lambda each: -each[1]["mean_ms"]))


# Story


def measure_story(folder: Path, progress: Progress) -> dict[str, Any]:
    """Measure continuity and leaks over the thirty sessions."""
    story = read_story()
    clock = Clock(story.sessions[0].at)
    bar = progress.add_task("thirty sessions", total=len(story.questions))
    answers = []
    with open_nexus(folder / "story.db", clock, background=False) as nexus:
        for answer in StoryRunner(nexus, story, clock).run():
            answers.append(answer)
            progress.advance(bar)
    metrics = StoryMetrics(tuple(answers))
    return {
        "sessions": len(story.sessions),
        "messages": sum(len(session.messages) for session in story.sessions),
        "planted": len(story.planted),
        "questions_where_it_may_be_known": len(metrics.allowed),
        "continuity": metrics.continuity,
        "questions_beyond_the_window": len(metrics.older),
        "continuity_beyond_the_window": metrics.continuity_beyond_the_window,
        "missed": [str(each) for each in metrics.missed],
        "questions_where_it_may_not": len(metrics.forbidden),
        "leaks": metrics.leaks,
        "tokens_p50": median(each.context.tokens for each in answers),
        "tokens_mean": mean(each.context.tokens for each in answers),
    }


# Report


def make_tables(results: dict[str, Any]) -> Iterator[Table]:
    if store := results.get("store"):
        assembly, traffic = results["assembly"], results["traffic"]
        steady = results["steady_state"]
        title = f"{store['workspaces']:,} workspaces, {store['told_each']} messages in each"
        table = Table("", "p10", "p50", "p95", "CPU p50", "turns", title=title)
        rows = {
            "all turns, each question once (10 / 30 ms)": assembly,
            "… first visits of a workspace": assembly["first_visits"],
            "… later visits": assembly["later_visits"],
            "plain script": assembly["plain_script"],
            f"steady state, after {steady['turns_before']:,} turns": steady,
            "… first visits of a workspace (steady)": steady["first_visits"],
            "… later visits (steady)": steady["later_visits"],
            "the same question again (2 ms)": results["cached"],
            "traffic: cached": traffic["cached"],
            "traffic: composed": traffic["made"],
            "one workspace in this file": results["alone"]["large"],
            "the same workspace in its own file": results["alone"]["alone"],
        }
        for name, row in rows.items():
            if row:
                times = [f"{row[f'{f}_ms']:.1f} ms" for f in ("p10", "p50", "p95", "processor_p50")]
                table.add_row(name, *times, str(row["count"]))
        yield table
        yield stage_table(assembly["stages"])
    if story := results.get("story"):
        table = Table("thirty sessions", "", title="Continuity")
        for name in ("continuity", "continuity_beyond_the_window"):
            table.add_row(name.replace("_", " "), f"{story[name]:.1%}")
        for missed in story["missed"]:
            table.add_row("missed", missed)
        table.add_row("leaks", str(len(story["leaks"])))
        yield table


def stage_table(figures: dict[str, dict[str, float]]) -> Table:
    table = Table("stage", "mean", "p50", "p95", "contexts", title="CPU time by stage")
    for name, row in figures.items():
        times = (f"{row[figure]:.2f} ms" for figure in ("mean_ms", "p50_ms", "p95_ms"))
        table.add_row(name, *times, f"{row['share_of_contexts']:.0%}")
    return table


def measure_store(options: argparse.Namespace, folder: Path, progress: Progress) -> dict[str, Any]:
    workspaces, messages, turns = options.workspaces, options.messages, options.turns
    path = options.store or folder / "many.db"
    fill_started, fill_seconds = time.perf_counter(), None
    if not path.exists():
        fill_sqlite(path, workspaces, messages, progress)
        fill_seconds = time.perf_counter() - fill_started
    with open_nexus(path, lambda: NOW) as nexus:
        stats = nexus.workspace(workspace_name(0)).stats()
        workspaces = min(workspaces, len(nexus.workspaces()))
    return {
        "store": {
            "workspaces": workspaces,
            "different_workspaces": min(TEMPLATE_WORKSPACES, workspaces),
            "told_each": stats["events"],
            "kept_in_the_first": stats,
            "file_megabytes": path.stat().st_size / 1e6,
            "fill_seconds": fill_seconds,
        },
        "assembly": measure_assembly(path, workspaces, turns, progress),
        "steady_state": measure_steady_state(path, workspaces, options.warm_up, turns, progress),
        "cached": measure_cached(path, workspaces, progress),
        "traffic": measure_traffic(path, workspaces, turns * 2, progress),
        "alone": measure_alone(path, folder, workspaces, messages, progress),
        "targets": TARGETS,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workspaces", type=int, default=10_000, help="number of workspaces")
    parser.add_argument("--messages", type=int, default=MESSAGES, help="messages in each")
    parser.add_argument("--turns", type=int, default=TURNS, help="questions per measurement")
    parser.add_argument(
        "--warm-up", type=int, default=WARM_UP, help="turns before the steady state"
    )
    parser.add_argument("--folder", type=Path, help="folder for temporary files")
    parser.add_argument("--store", type=Path, help="file to keep or to use again")
    parser.add_argument("--story", action="store_true", help="measure only the thirty sessions")
    parser.add_argument("--no-save", action="store_true", help="do not overwrite the saved results")
    options = parser.parse_args()
    # Measure stages in CPU time, which other load on the machine does not change.
    vars(composer)["time"] = SimpleNamespace(perf_counter=time.thread_time)
    console = Console(stderr=True)
    with tempfile.TemporaryDirectory(dir=options.folder) as name, ProgressBars(console) as progress:
        load = os.getloadavg()[0]
        results: dict[str, Any] = {
            "machine": {"cores": os.cpu_count(), "python": sys.version.split()[0]}
        }
        if not options.story:
            results |= measure_store(options, Path(name), progress)
        results["story"] = measure_story(Path(name), progress)
        results["machine"] |= {"load_before": load, "load_after": os.getloadavg()[0]}
    for table in make_tables(results):
        console.print(table)
    text = json.dumps(results, indent=2)
    print(text)
    if not (options.no_save or options.story):
        RESULTS.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
