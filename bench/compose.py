"""How fast a context is composed in a store of many workspaces, and what it holds.

    python bench/compose.py                              10,000 workspaces of 250 memories: 8 GB
    python bench/compose.py --workspaces 1000            fewer: 0.8 GB
    python bench/compose.py --store many.db              keep the file, or use it again
    python bench/compose.py --story                      the thirty sessions alone

A few workspaces are told and learned through the public API; all others are copies of them, row by
row, each behind its own wall: ten thousand walls with the same furniture. Which workspace is asked
follows Zipf's law: the second is asked half as often as the first. Times are those of the whole
call `place.compose(question)`, with the default settings and the built-in embedder. They are told
twice: of all turns of a process that has just begun, which is the figure that was asked for, and of
the steady state after 3,000 turns.

In turn with it the same question is asked of a plain script on the same file: the ten nearest
messages by numpy, and the last forty. It knows no landmarks, people, budget or rights; it is what
a machine needs for the least that could be called a context.
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

from bars import Bars
from chatter import PEOPLE, Chatter
from embedded import percentile
from filling import (
    DIFFERENT,
    MESSAGES,
    NOW,
    Zipf,
    fill_sqlite,
    name_of,
    opened,
    room,
    shuffled,
    tell,
)
from nexus import Place
from nexus.compose import stages as staging
from nexus.core.context import Context
from nexus.core.protocols import Embedder
from story.story import Clock, Figures, Telling, read_story

ASKED = NOW + timedelta(minutes=1)  # everything that was told is known by then
RESULTS = Path(__file__).parent / "results" / "compose.json"
TARGETS = {"p50_ms": 10, "p95_ms": 30, "cached_p50_ms": 2}
TURNS = 600
WARMING = 30  # turns that are not counted: the process loads what it needs
WARM_UP = 3_000  # turns before the steady state is measured: of the places that are asked in often
POOL = 12  # questions that come up again in a workspace
TOLD = 0.2  # of the turns tell something before they ask: what is cached there is stale
A_SECOND = 20  # turns of the traffic
PAIRS = 120  # questions to the same workspace in the large file and alone


# Asking


@dataclass(frozen=True, slots=True)
class Turn:
    workspace: int
    wall: float
    processor: float
    context: Context
    first: bool = False  # of its workspace in this process


def timed(place: Place, question: str, workspace: int = 0, *, first: bool = False) -> Turn:
    """Nothing is left over from the turn before: a model takes longer to answer than that."""
    place._parts.worker.finish_calls()
    wall, processor = time.perf_counter(), time.process_time()
    context = place.compose(question)
    took = time.perf_counter() - wall, time.process_time() - processor
    return Turn(workspace, *took, context, first)


class PlainScript:
    """The least that could be called a context: the nearest messages, and the last ones."""

    def __init__(self, path: Path, embedder: Embedder) -> None:
        self._connection = sqlite3.connect(path)
        self._embedder = embedder

    def __call__(self, workspace: int, question: str) -> str:
        read = self._connection.execute
        named = {"workspace": read(NUMBER, {"name": name_of(workspace)}).fetchone()[0]}
        numbers, vectors = zip(*read(VECTORS, named), strict=True)
        matrix = np.frombuffer(b"".join(vectors), "<f4").reshape(len(numbers), -1)
        nearest = np.argsort(-(matrix @ self._embedder.embed([question])[0]))[:10]
        found = [read(MEMORY, {**named, "memory": numbers[place]}).fetchone() for place in nearest]
        lines = [json.loads(content) for (content,) in (*found, *read(EVENTS, named))]
        return "\n".join(f"{each['at']} {each['speaker']}: {each['text']}" for each in lines)

    def timed(self, workspace: int, question: str) -> tuple[float, float]:
        """Of this thread alone: a receipt may still be written down in another one."""
        wall, processor = time.perf_counter(), time.thread_time()
        self(workspace, question)
        return time.perf_counter() - wall, time.thread_time() - processor


NUMBER = "SELECT workspace FROM workspaces WHERE name = :name"
VECTORS = "SELECT memory, data FROM vectors WHERE workspace = :workspace"
MEMORY = "SELECT content FROM memories WHERE workspace = :workspace AND memory = :memory"
EVENTS = "SELECT content FROM events WHERE workspace = :workspace ORDER BY seq DESC LIMIT 40"


def measure_assembly(path: Path, workspaces: int, turns: int, progress: Progress) -> dict[str, Any]:
    """No question is asked twice, so nothing comes from the cache.

    All turns of a process that has just begun: more than half are first visits of a workspace.
    """
    chooses, asks = shuffled(workspaces, seed=3), Chatter(1_000_003)
    bar = progress.add_task("asking, each question once", total=WARMING + turns)
    taken: list[Turn] = []
    plain: list[tuple[float, float]] = []
    seen: set[int] = set()
    with opened(path, lambda: ASKED) as nexus:
        script = PlainScript(path, nexus._parts.changeover.embedder)
        for number in range(WARMING + turns):
            workspace = chooses()
            question = f"{asks.question()} ({number})"
            first = workspace not in seen
            if number % 2:  # whoever comes first finds the pages cold
                plain.append(script.timed(workspace, question))
            taken.append(timed(room(nexus, workspace), question, workspace, first=first))
            if not number % 2:
                plain.append(script.timed(workspace, question))
            seen.add(workspace)
            progress.advance(bar)
    counted = taken[WARMING:]
    if any(turn.context.receipt.cached for turn in counted):
        raise RuntimeError("a question that was asked once came from the cache")
    return {
        "turns": len(counted),
        "workspaces_visited": len(seen),
        **spread(counted),
        "plain_script": against(plain[WARMING:], counted),
        "first_visits": spread([turn for turn in counted if turn.first]),
        "later_visits": spread([turn for turn in counted if not turn.first]),
        "tokens_p50": median(turn.context.tokens for turn in counted),
        "tokens_p95": percentile([turn.context.tokens for turn in counted], 95) / 1_000,
        "stages": stages([turn.context for turn in counted]),
    }


def measure_steady_state(
    path: Path, workspaces: int, warm_up: int, turns: int, progress: Progress
) -> dict[str, Any]:
    """The same, of a process that has answered for a while: who asks often was here before."""
    chooses, asks = shuffled(workspaces, seed=13), Chatter(1_000_013)
    bar = progress.add_task("asking, after a while", total=warm_up + turns)
    taken: list[Turn] = []
    seen: set[int] = set()
    with opened(path, lambda: ASKED) as nexus:
        for number in range(warm_up + turns):
            workspace = chooses()
            question, first = f"{asks.question()} ({number})", workspace not in seen
            taken.append(timed(room(nexus, workspace), question, workspace, first=first))
            seen.add(workspace)
            progress.advance(bar)
    counted = taken[warm_up:]
    return {
        "turns_before": warm_up,
        "turns": len(counted),
        "workspaces_visited": len(seen),
        **spread(counted),
        "first_visits": spread([turn for turn in counted if turn.first]),
        "later_visits": spread([turn for turn in counted if not turn.first]),
    }


def measure_traffic(path: Path, workspaces: int, turns: int, progress: Progress) -> dict[str, Any]:
    """Questions come up again, and now and then something is told: what the cache is worth."""
    chooses, question = shuffled(workspaces, seed=5), Zipf(POOL, 5)
    chance, chatter = random.Random(5), Chatter(1_000_005)
    pools: dict[int, list[str]] = defaultdict(lambda: [chatter.question() for _ in range(POOL)])
    bar = progress.add_task("asking, as people do", total=turns)
    clock, taken = Clock(ASKED), []
    with opened(path, clock) as nexus:
        for _ in range(turns):
            workspace = chooses()
            place = room(nexus, workspace)
            if chance.random() < TOLD:
                place.observe(chance.choice(PEOPLE), chatter.message())
            taken.append(timed(place, pools[workspace][question()], workspace))
            clock.now += timedelta(seconds=1 / A_SECOND)
            progress.advance(bar)
    cached = [turn for turn in taken if turn.context.receipt.cached]
    return {
        "turns": turns,
        "told_before_asking": TOLD,
        "hit_rate": len(cached) / turns,
        "cached": spread(cached),
        "made": spread([turn for turn in taken if not turn.context.receipt.cached]),
        "all": spread(taken),
    }


def measure_cached(path: Path, workspaces: int, progress: Progress) -> dict[str, float]:
    """The same question at once again."""
    chooses, chatter = shuffled(workspaces, seed=9), Chatter(1_000_009)
    bar = progress.add_task("asking twice", total=PAIRS)
    again = []
    with opened(path, lambda: ASKED) as nexus:
        for _ in range(PAIRS):
            place, question = room(nexus, chooses()), chatter.question()
            place.compose(question)
            again.append(timed(place, question))
            progress.advance(bar)
    hits = [turn for turn in again if turn.context.receipt.cached]
    return {"from_the_cache": len(hits) / len(again), **spread(again)}


def measure_alone(
    path: Path, folder: Path, workspaces: int, messages: int, progress: Progress
) -> dict[str, float]:
    """One workspace of the large file, and the same alone in a file of its own, in turn."""
    alone_path, chatter = folder / "alone.db", Chatter(1_000_011)
    chosen = min(DIFFERENT, workspaces) - 1
    bar = progress.add_task("asking in both files", total=PAIRS)
    with opened(alone_path, lambda: ASKED) as alone, opened(path, lambda: ASKED) as large:
        tell(alone, chosen, messages)
        places = {"alone": room(alone, chosen), "large": room(large, chosen)}
        taken: dict[str, list[Turn]] = defaultdict(list)
        for number in range(PAIRS):
            question = f"{chatter.question()} ({number})"
            for name in list(places) if number % 2 else list(places)[::-1]:
                taken[name].append(timed(places[name], question))
            progress.advance(bar)
    figures = {name: spread(turns[WARMING:]) for name, turns in taken.items()}
    ratio = figures["large"]["p50_ms"] / figures["alone"]["p50_ms"]
    return {**figures, "ratio": ratio}


def against(plain: Sequence[tuple[float, float]], turns: Sequence[Turn]) -> dict[str, float]:
    """What the plain script took, and how many times as long a context takes."""
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


def spread(turns: Iterable[Turn]) -> dict[str, float]:
    listed = list(turns)
    if not listed:
        return {}
    wall, processor = [turn.wall for turn in listed], [turn.processor for turn in listed]
    return {
        "count": len(listed),
        "p10_ms": percentile(wall, 10),  # nearest to a machine that nobody else works on
        "p50_ms": percentile(wall, 50),
        "p95_ms": percentile(wall, 95),
        "processor_p50_ms": percentile(processor, 50),
        "processor_p95_ms": percentile(processor, 95),
    }


def stages(contexts: Sequence[Context]) -> dict[str, dict[str, float]]:
    """Where the processor's time goes, by what the receipts say: the slowest first."""
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


# The story


def measure_story(folder: Path, progress: Progress) -> dict[str, Any]:
    story = read_story()
    clock = Clock(story.sessions[0].at)
    bar = progress.add_task("thirty sessions", total=len(story.questions))
    answers = []
    with opened(folder / "story.db", clock, background=False) as nexus:
        for answer in Telling(nexus, story, clock).run():
            answers.append(answer)
            progress.advance(bar)
    made = Figures(tuple(answers))
    return {
        "sessions": len(story.sessions),
        "messages": sum(len(session.said) for session in story.sessions),
        "planted": len(story.planted),
        "questions_where_it_may_be_known": len(made.asked),
        "continuity": made.continuity,
        "questions_beyond_the_window": len(made.older),
        "continuity_beyond_the_window": made.continuity_beyond_the_window,
        "missed": [str(each) for each in made.missed],
        "questions_where_it_may_not": len(made.forbidden),
        "leaks": made.leaks,
        "tokens_p50": median(each.context.tokens for each in answers),
        "tokens_mean": mean(each.context.tokens for each in answers),
    }


# Showing it


def shown(results: dict[str, Any]) -> Iterator[Table]:
    if store := results.get("store"):
        assembly, traffic = results["assembly"], results["traffic"]
        steady = results["steady_state"]
        title = f"{store['workspaces']:,} workspaces, {store['told_each']} told in each"
        table = Table("", "p10", "p50", "p95", "processor p50", "times", title=title)
        rows = {
            "all turns, each question once (10 / 30 ms)": assembly,
            "… first visit of a workspace": assembly["first_visits"],
            "… later visits": assembly["later_visits"],
            "the plain script": assembly["plain_script"],
            f"steady state, after {steady['turns_before']:,} turns": steady,
            "… first visit of a workspace (steady)": steady["first_visits"],
            "… later visits (steady)": steady["later_visits"],
            "the same question again (2 ms)": results["cached"],
            "traffic: cached": traffic["cached"],
            "traffic: made": traffic["made"],
            "one workspace in this file": results["alone"]["large"],
            "the same alone": results["alone"]["alone"],
        }
        for name, row in rows.items():
            if row:
                told = [f"{row[f'{f}_ms']:.1f} ms" for f in ("p10", "p50", "p95", "processor_p50")]
                table.add_row(name, *told, str(row["count"]))
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
    table = Table("stage", "mean", "p50", "p95", "in", title="Where the processor's time goes")
    for name, row in figures.items():
        times = (f"{row[figure]:.2f} ms" for figure in ("mean_ms", "p50_ms", "p95_ms"))
        table.add_row(name, *times, f"{row['share_of_contexts']:.0%}")
    return table


def measure_store(options: argparse.Namespace, folder: Path, progress: Progress) -> dict[str, Any]:
    workspaces, messages, turns = options.workspaces, options.messages, options.turns
    path = options.store or folder / "many.db"
    started, filled = time.perf_counter(), None
    if not path.exists():
        fill_sqlite(path, workspaces, messages, progress)
        filled = time.perf_counter() - started
    with opened(path, lambda: NOW) as nexus:
        kept = nexus.workspace(name_of(0)).stats()
        workspaces = min(workspaces, len(nexus.workspaces()))
    return {
        "store": {
            "workspaces": workspaces,
            "different_workspaces": min(DIFFERENT, workspaces),
            "told_each": kept["events"],
            "kept_in_the_first": kept,
            "file_megabytes": path.stat().st_size / 1e6,
            "fill_seconds": filled,
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
    parser.add_argument("--workspaces", type=int, default=10_000)
    parser.add_argument("--messages", type=int, default=MESSAGES, help="told in each")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--warm-up", type=int, default=WARM_UP, help="turns before a steady state")
    parser.add_argument("--folder", type=Path, help="where temporary files are written")
    parser.add_argument("--store", type=Path, help="a file to keep, or to use again")
    parser.add_argument("--story", action="store_true", help="the thirty sessions alone")
    parser.add_argument("--no-save", action="store_true", help="leave the kept results alone")
    options = parser.parse_args()
    # Stages are told in processor time: what else a machine does is nobody's figure.
    vars(staging)["time"] = SimpleNamespace(perf_counter=time.thread_time)
    console = Console(stderr=True)
    with tempfile.TemporaryDirectory(dir=options.folder) as name, Bars(console) as progress:
        load = os.getloadavg()[0]
        results: dict[str, Any] = {
            "machine": {"cores": os.cpu_count(), "python": sys.version.split()[0]}
        }
        if not options.story:
            results |= measure_store(options, Path(name), progress)
        results["story"] = measure_story(Path(name), progress)
        results["machine"] |= {"load_before": load, "load_after": os.getloadavg()[0]}
    for table in shown(results):
        console.print(table)
    text = json.dumps(results, indent=2)
    print(text)
    if not (options.no_save or options.story):
        RESULTS.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
