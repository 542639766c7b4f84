"""Recall latency: milliseconds, and ratios to a floor measured in the same run.

    python bench/recall.py                   all figures (about eight minutes)
    python bench/recall.py --quick           1,000 and 10,000 memories, and a small file
    python bench/recall.py --scale 1000000   this many memories in the file of many workspaces
    python bench/recall.py --keep FOLDER     keep the files in FOLDER, or use existing ones

A question asks for ten hits with all default strategies. No question is asked twice, so its
embedding is always part of the time. The floor is the least work that any memory must do: embed
the question and multiply one in-memory matrix by it. Other load on the machine slows both. Each
size is therefore also reported as a ratio, with the CPU time of the process.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from embedded import TextSampler, floor_search, measure_seconds, percentile
from fill_sqlite import TEMPLATE_WORKSPACES, copy_workspaces, workspace_name
from nexusmem import Nexus
from nexusmem.config.settings import Settings
from nexusmem.core.records import Hits
from nexusmem.embedders.builtin import BuiltinEmbedder
from nexusmem.place.place import Place
from nexusmem.recall.query import SearchSettings
from progress_bars import ProgressBars

RESULTS = Path(__file__).parent / "results" / "recall.json"
SIZES = (10_000, 100_000)
SCALE = 100_000
TARGETS = {10_000: (12, 30), 100_000: (25, 60)}  # p50 and p95, ms
INDEXING_TARGET = 300  # messages per second and core

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
THREAD = 20  # messages per thread
BATCH = 2_000  # messages per batch
FACT_EVERY = 50  # every n-th memory is a fact
WORKSPACE = 100  # memories per workspace in the file of many workspaces
SAMPLED_WORKSPACES = 50
QUESTIONS = 200
WARM_UP = 20  # questions that are not counted
QUESTIONS_PER_WORKSPACE = 5  # in the file of many workspaces

SPEAKERS = ("alice", "bob")
FIRST_NAMES = "Mara Tyler Ines Jonas Priya Omar Lena Hugo Yuki Nadia".split()
LAST_NAMES = "Ostrow Okafor Lindqvist Haddad Moreau Petrov Tanaka Silva Weber Quinn".split()
COMPANIES = "Northwind Helio Quarry Bluefin Ironbridge Larkspur".split()
CITIES = "Lisbon Oslo Kyoto Toronto Nairobi Leipzig".split()
DAYS = ("yesterday", "last Tuesday", "last week", "on 20 February 2026", "in February")
SPOKEN_DATES = ("tomorrow at 10", "next Friday", "on 14 March 2026", "two weeks ago", "by Monday")

ReportProgress = Callable[[int], None]
Contents = list[tuple[list[dict[str, Any]], list[tuple[str, str, str]]]]  # messages and facts


# Messages and questions


@dataclass
class ConversationGenerator:
    """Conversations of two people and questions about them; the same in every run."""

    text: TextSampler
    random: random.Random

    @classmethod
    def seeded(cls, seed: int) -> ConversationGenerator:
        return cls(TextSampler(seed), random.Random(seed))

    def make_messages(self, count: int) -> Iterator[dict[str, Any]]:
        """Yield messages a minute apart, in threads an hour apart; the last thread ends at
        NOW.
        """
        threads = -(-count // THREAD)
        for number in range(count):
            thread, position = divmod(number, THREAD)
            at = NOW - timedelta(hours=threads - thread) + timedelta(minutes=position)
            yield {
                "speaker": SPEAKERS[number % 2],
                "text": self.make_text(number),
                "at": at,
                "key": str(number),
                "thread": f"thread-{thread}",
            }

    def make_text(self, number: int) -> str:
        text = self.text()
        if number % 7 == 0:
            return f"{text}, {self.random.choice(SPOKEN_DATES)}."
        if number % 11 == 0:
            return f"I met {self.person()} about {text}."
        return f"{text}?" if number % 5 == 0 else f"{text}."

    def make_facts(self, count: int) -> Iterator[tuple[str, str, str]]:
        """Yield who works where, and where companies are: two steps for the graph."""
        for number in range(count):
            if number % 3:
                yield self.person(), "WORKS_AT", self.company()
            else:
                yield self.company(), "LOCATED_IN", self.random.choice(CITIES)

    def make_questions(self, count: int) -> list[str]:
        """Return questions of four kinds in turn: plain, by speaker, by time, about a person."""
        patterns = (
            lambda: f"{self.text(8)}?",
            lambda: f"What did {self.random.choice(SPEAKERS)} say about {self.text(6)}?",
            lambda: f"What was decided {self.random.choice(DAYS)} about {self.text(6)}?",
            lambda: (
                f"What does {self.person()} of {self.company()} have to do with {self.text(4)}?"
            ),
        )
        return [patterns[number % len(patterns)]() for number in range(count)]

    def company(self) -> str:
        return self.random.choice(COMPANIES)

    def person(self) -> str:
        return f"{self.random.choice(FIRST_NAMES)} {self.random.choice(LAST_NAMES)}"


def open_nexus(path: Path, ranking: str = "contextual") -> Nexus:
    settings = Settings(search=SearchSettings(ranking=ranking))
    return Nexus.open(path, settings=settings, clock=lambda: NOW, background=False)


def get_room(nexus: Nexus, workspace: str = "bench") -> Place:
    return nexus.workspace(workspace).room("talk", participants=SPEAKERS)


def write_messages(
    place: Place,
    messages: list[dict[str, Any]],
    facts: Iterable[tuple[str, str, str]],
    report_progress: ReportProgress,
) -> tuple[float, float]:
    """Write and index the messages; return wall and CPU seconds. Facts are added untimed.

    Raise RuntimeError if some messages could not be indexed.
    """
    wall, processor = time.perf_counter(), time.process_time()
    for start in range(0, len(messages), BATCH):
        batch = messages[start : start + BATCH]
        place.observe_many(batch)
        if failed := place.flush():
            raise RuntimeError(f"could not index {failed} messages")
        report_progress(len(batch))
    took = time.perf_counter() - wall, time.process_time() - processor
    for subject, predicate, object in facts:
        place.add_fact(subject, predicate, object)
        report_progress(1)
    place.flush()
    return took


# One room


def measure_size(folder: Path, count: int, questions: int, progress: Progress) -> dict[str, Any]:
    """Measure indexing, the first question and later questions of one room."""
    path = folder / f"recall-{count}.db"
    generator = ConversationGenerator.seeded(7)
    facts = count // FACT_EVERY
    messages = list(generator.make_messages(count - facts))
    facts_to_add = list(generator.make_facts(facts))
    indexed = {} if path.exists() else measure_writing(path, messages, facts_to_add, progress)
    return {
        "memories": count,
        **indexed,
        **measure_first(path, generator.make_questions(3)),
        **measure_questions(path, count, questions, generator, progress),
    }


def measure_writing(
    path: Path,
    messages: list[dict[str, Any]],
    facts: list[tuple[str, str, str]],
    progress: Progress,
) -> dict[str, float]:
    """Return messages indexed per wall second and per CPU second."""
    count = len(messages) + len(facts)
    bar = progress.add_task(f"{count:,} memories: writing", total=count)
    with open_nexus(path) as nexus:
        wall, processor = write_messages(
            get_room(nexus), messages, facts, partial(progress.advance, bar)
        )
    return {
        "indexed_per_second": len(messages) / wall,
        "indexed_per_processor_second": len(messages) / processor,
    }


def measure_first(path: Path, questions: list[str]) -> dict[str, float]:
    """Measure opening and the first question, each time in a new process."""
    code = (
        "import sys, time; from nexusmem import Nexus; a = time.perf_counter();"
        "n = Nexus.open(sys.argv[1], background=False);"
        "r = n.workspace('bench').room('talk', participants=['alice', 'bob']);"
        "b = time.perf_counter(); r.recall(sys.argv[2]); print(b - a, time.perf_counter() - b)"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code, path, each], capture_output=True, check=True)
        for each in questions
    ]
    times = np.array([run.stdout.split() for run in runs], dtype=float)
    opening, first = np.median(times, axis=0) * 1_000
    return {"open_ms": float(opening), "first_question_ms": float(first)}


def measure_questions(
    path: Path, count: int, questions: int, generator: ConversationGenerator, progress: Progress
) -> dict[str, Any]:
    """Measure both rankings and the floor in alternation, each with its own questions."""
    matrix = np.random.default_rng(0).normal(size=(count, 256)).astype(np.float32)
    search, embedder = floor_search(matrix), BuiltinEmbedder()
    searches: dict[str, Callable[[str], Any]] = {"floor": lambda q: search(embedder.embed([q])[0])}
    times_by_way: dict[str, list[tuple[float, float, Any]]] = {}
    with ExitStack() as stack:
        for ranking in ("contextual", "fused"):
            searches[ranking] = get_room(stack.enter_context(open_nexus(path, ranking))).recall
        questions_by_way = {
            ranking_name: generator.make_questions(WARM_UP + questions) for ranking_name in searches
        }
        bar = progress.add_task(f"{count:,} memories: questions", total=WARM_UP + questions)
        for number in range(WARM_UP + questions):
            for ranking_name, ask in searches.items():
                times_by_way.setdefault(ranking_name, []).append(
                    time_question(ask, questions_by_way[ranking_name][number])
                )
            progress.advance(bar)
    counted_times = {ranking_name: times[WARM_UP:] for ranking_name, times in times_by_way.items()}
    figures = {ranking_name: percentiles(times) for ranking_name, times in counted_times.items()}
    floor = figures["floor"]["p50_ms"]
    for ranking in ("contextual", "fused"):
        figures[ranking] |= {
            "ratio": figures[ranking]["p50_ms"] / floor,
            "strategies": strategy_times([hits for *_, hits in counted_times[ranking]]),
        }
    return figures


def time_question(ask: Callable[[str], Any], question: str) -> tuple[float, float, Any]:
    """Return the wall seconds, the CPU seconds and the answer."""
    wall, processor = time.perf_counter(), time.process_time()
    hits = ask(question)
    return time.perf_counter() - wall, time.process_time() - processor, hits


def percentiles(times: list[tuple[float, float, Any]]) -> dict[str, Any]:
    """Return percentiles in milliseconds."""
    wall, processor = [each[0] for each in times], [each[1] for each in times]
    return {
        "p50_ms": percentile(wall, 50),
        "p95_ms": percentile(wall, 95),
        "processor_p50_ms": percentile(processor, 50),
    }


def strategy_times(answers: list[Hits]) -> dict[str, dict[str, float]]:
    """Return the time of each strategy, over the questions for which it found hits."""
    figures = {}
    for name in [report.name for report in answers[0].strategies]:
        reports = [each for hits in answers for each in hits.strategies if each.name == name]
        hit_seconds = [each.seconds for each in reports if each.found] or [0.0]
        figures[name] = {
            "p50_ms": percentile(hit_seconds, 50),
            "p95_ms": percentile(hit_seconds, 95),
            "found_something": sum(each.found > 0 for each in reports) / len(reports),
            "hits_shown": sum(each.shown for each in reports) / len(reports),
        }
    rest = [hits.seconds - sum(each.seconds for each in hits.strategies) for hits in answers]
    figures["other"] = {"p50_ms": percentile(rest, 50), "p95_ms": percentile(rest, 95)}
    return figures


# Many workspaces in one file


def measure_scale(folder: Path, count: int, progress: Progress) -> dict[str, Any]:
    """Compare sampled workspaces of a large file with the same workspace in its own file."""
    generator = ConversationGenerator.seeded(11)
    workspaces = count // WORKSPACE
    templates = min(TEMPLATE_WORKSPACES, workspaces)
    facts = WORKSPACE // FACT_EVERY
    contents = [
        (list(generator.make_messages(WORKSPACE - facts)), list(generator.make_facts(facts)))
        for _ in range(templates)
    ]
    path = folder / f"many-{count}.db"
    if not path.exists():
        fill_file(path, contents, workspaces, progress)
    chosen = sorted(generator.random.sample(range(workspaces), min(SAMPLED_WORKSPACES, workspaces)))
    with ExitStack() as stack:
        large = stack.enter_context(open_nexus(path))
        alone: dict[int, Place] = {}
        for number in chosen:
            file = folder / f"alone-{count}-{number}.db"
            file_exists = file.exists()
            alone[number] = get_room(stack.enter_context(open_nexus(file)), workspace_name(number))
            if not file_exists:
                write_messages(alone[number], *contents[number % templates], lambda _: None)
        pairs = [(get_room(large, workspace_name(number)), alone[number]) for number in chosen]
        first, later = ask_pairs(pairs, generator, progress)
    return {
        "memories": count,
        "workspaces": workspaces,
        "asked_workspaces": len(chosen),
        "questions_each": QUESTIONS_PER_WORKSPACE,
        "file_megabytes": path.stat().st_size / 1e6,
        "later_questions": later,
        "first_question_of_a_workspace": first,
    }


def fill_file(path: Path, contents: Contents, workspaces: int, progress: Progress) -> None:
    """Write the template workspaces and copy them to all others."""
    bar = progress.add_task(f"{workspaces:,} workspaces: writing", total=workspaces)
    with open_nexus(path) as large:
        for number, (messages, facts) in enumerate(contents):
            write_messages(get_room(large, workspace_name(number)), messages, facts, lambda _: None)
            progress.advance(bar)
    copies = range(len(contents), workspaces)
    copy_workspaces(path, len(contents), copies, partial(progress.advance, bar))


def ask_pairs(
    pairs: list[tuple[Place, Place]], generator: ConversationGenerator, progress: Progress
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the figures of the first question to each workspace, and of all later ones.

    Both files get the same questions, in alternating order.
    """
    rounds: list[list[tuple[float, float]]] = []
    questions = generator.make_questions(len(pairs) * (QUESTIONS_PER_WORKSPACE + 1))
    bar = progress.add_task(
        "questions in both files", total=len(pairs) * (QUESTIONS_PER_WORKSPACE + 1)
    )
    for _ in range(QUESTIONS_PER_WORKSPACE + 1):
        rounds.append([])
        for number, (large, alone) in enumerate(pairs):
            question = questions.pop()
            ask = {"large": large, "alone": alone}
            order = (
                list(ask) if number // 4 % 2 else list(ask)[::-1]
            )  # alternates for each kind of question
            took = {name: measure_seconds(partial(ask[name].recall, question)) for name in order}
            rounds[-1].append((took["large"], took["alone"]))
            progress.advance(bar)
    return compare_files(rounds[0]), compare_files([pair for each in rounds[1:] for pair in each])


def compare_files(pairs: list[tuple[float, float]]) -> dict[str, float]:
    """Return percentiles of both files in milliseconds, and the ratio of the medians."""
    large, alone = ([pair[side] for pair in pairs] for side in (0, 1))
    return {
        "large_p50_ms": percentile(large, 50),
        "alone_p50_ms": percentile(alone, 50),
        "large_p95_ms": percentile(large, 95),
        "alone_p95_ms": percentile(alone, 95),
        "ratio": median(large) / median(alone),
    }


# Report


def make_tables(results: dict[str, Any]) -> Iterator[Table]:
    for size in results["sizes"]:
        yield size_table(size)
    if scale := results.get("scale"):
        title = f"{scale['memories']:,} memories in {scale['workspaces']:,} workspaces"
        table = Table("", "large file p50 / p95", "own file p50 / p95", "ratio of p50", title=title)
        for name in ("later_questions", "first_question_of_a_workspace"):
            row = scale[name]
            both = (
                f"{row[f'{which}_p50_ms']:.1f} / {row[f'{which}_p95_ms']:.1f} ms"
                for which in ("large", "alone")
            )
            table.add_row(name.replace("_", " "), *both, f"{row['ratio']:.2f}")
        yield table


def size_table(size: dict[str, Any]) -> Table:
    count = size["memories"]
    target = "target {} / {} ms".format(*TARGETS[count]) if count in TARGETS else "no target"
    table = Table("", "p50", "p95", "CPU p50", "", title=f"{count:,} memories ({target})")
    for ranking_name in ("floor", "contextual", "fused"):
        row = size[ranking_name]
        times = (f"{row[name]:.2f} ms" for name in ("p50_ms", "p95_ms", "processor_p50_ms"))
        table.add_row(ranking_name, *times, f"{row['ratio']:.1f} × floor" if "ratio" in row else "")
        for name, part in row.get("strategies", {}).items():
            hits = part.get("found_something")
            hit_share = "" if hits is None else f"hits for {hits:.0%}"
            table.add_row(
                f"  {name}", f"{part['p50_ms']:.2f} ms", f"{part['p95_ms']:.2f} ms", "", hit_share
            )
    opening = f"{size['open_ms']:.0f} ms to open"
    table.add_row("first question", f"{size['first_question_ms']:.0f} ms", "", "", opening)
    if "indexed_per_second" in size:  # missing if the file already existed
        times = (f"{size[f'indexed_per_{what}']:.0f}/s" for what in ("second", "processor_second"))
        wall, processor = times
        table.add_row("indexed", wall, "", processor, f"target {INDEXING_TARGET}/s")
    return table


def open_folder(options: argparse.Namespace) -> AbstractContextManager[str]:
    return nullcontext(options.keep) if options.keep else tempfile.TemporaryDirectory()


def measure(options: argparse.Namespace) -> dict[str, Any]:
    error = Console(stderr=True)
    with open_folder(options) as name, ProgressBars(error) as progress:
        folder = Path(name)
        results: dict[str, Any] = {
            "machine": {"cores": os.cpu_count(), "python": sys.version.split()[0]},
            "openblas_threads": os.environ.get("OPENBLAS_NUM_THREADS", "default"),
            "load_before": os.getloadavg()[0],
            "questions": options.questions,
            "sizes": [
                measure_size(folder, size, options.questions, progress) for size in options.sizes
            ],
        }
        if options.scale:
            results["scale"] = measure_scale(folder, options.scale, progress)
        results["load_after"] = os.getloadavg()[0]
    return results


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="measure at most 10,000 memories")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="memories per room")
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="questions per ranking")
    parser.add_argument(
        "--scale", type=int, default=SCALE, help="memories in the file of many workspaces (0: skip)"
    )
    parser.add_argument(
        "--keep", metavar="FOLDER", help="keep the files there, or use existing ones"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args()
    if options.quick:
        options.sizes, options.scale = (1_000, 10_000), 10_000
    results = measure(options)
    text = json.dumps(results, indent=2)
    if options.json:
        print(text)
    else:
        Console().print(*make_tables(results), sep="\n")
    full = tuple(options.sizes) == SIZES and options.scale >= SCALE
    if full and options.questions >= QUESTIONS:
        RESULTS.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
