"""How fast questions are answered, as milliseconds and as ratios to a floor of the same run.

    python bench/recall.py                   all figures (about eight minutes)
    python bench/recall.py --quick           1,000 and 10,000 memories, and a small file
    python bench/recall.py --scale 1000000   as many memories in the file of many workspaces
    python bench/recall.py --keep FOLDER     leave the files there, or use those that are

A question asks for ten hits with all default strategies, and no question is asked twice, so that
its embedding is always part of the time. The floor is the least any memory could do: embed the
question and multiply one matrix in memory by it. Other work on the machine slows both, which is
why each size is told as a ratio too, and beside the wall time the processor time of the process.
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

from bars import Bars
from embedded import Texts, floor_search, percentile, seconds
from filling import DIFFERENT, copy, name_of
from nexus import Nexus
from nexus.config import Settings
from nexus.core.records import Found
from nexus.embedders.builtin import BuiltinEmbedder
from nexus.place import Place
from nexus.recall.query import Search

RESULTS = Path(__file__).parent / "results" / "recall.json"
SIZES = (10_000, 100_000)
SCALE = 100_000
TARGETS = {10_000: (12, 30), 100_000: (25, 60)}  # p50 and p95, ms
INDEXING_TARGET = 300  # messages a second and core

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
THREAD = 20  # messages
PORTION = 2_000  # messages told and indexed at a time
FACTS = 50  # one of so many memories is a fact
WORKSPACE = 100  # memories of each workspace in the file of many
CHOSEN = 50  # workspaces that are asked there
QUESTIONS = 200
WARMING = 20  # questions that are asked and not counted
EACH = 5  # questions to each chosen workspace

SPEAKERS = ("alice", "bob")
FIRST_NAMES = "Mara Tyler Ines Jonas Priya Omar Lena Hugo Yuki Nadia".split()
LAST_NAMES = "Ostrow Okafor Lindqvist Haddad Moreau Petrov Tanaka Silva Weber Quinn".split()
COMPANIES = "Northwind Helio Quarry Bluefin Ironbridge Larkspur".split()
CITIES = "Lisbon Oslo Kyoto Toronto Nairobi Leipzig".split()
DAYS = ("yesterday", "last Tuesday", "last week", "on 20 February 2026", "in February")
SPOKEN_DATES = ("tomorrow at 10", "next Friday", "on 14 March 2026", "two weeks ago", "by Monday")

Say = Callable[[int], None]
Contents = list[tuple[list[dict[str, Any]], list[tuple[str, str, str]]]]  # messages and facts


# What is told and asked


@dataclass
class Talk:
    """Conversations of two people, and questions about them; the same in every run."""

    text: Texts
    random: random.Random

    @classmethod
    def seeded(cls, seed: int) -> Talk:
        return cls(Texts(seed), random.Random(seed))

    def messages(self, count: int) -> Iterator[dict[str, Any]]:
        """Threads an hour apart, the last of them just now; in each a minute between messages."""
        threads = -(-count // THREAD)
        for number in range(count):
            thread, place = divmod(number, THREAD)
            at = NOW - timedelta(hours=threads - thread) + timedelta(minutes=place)
            yield {
                "speaker": SPEAKERS[number % 2],
                "text": self.said(number),
                "at": at,
                "key": str(number),
                "thread": f"thread-{thread}",
            }

    def said(self, number: int) -> str:
        text = self.text()
        if number % 7 == 0:
            return f"{text}, {self.random.choice(SPOKEN_DATES)}."
        if number % 11 == 0:
            return f"I met {self.person()} about {text}."
        return f"{text}?" if number % 5 == 0 else f"{text}."

    def facts(self, count: int) -> Iterator[tuple[str, str, str]]:
        """Who works where, and where that is: two steps for the graph."""
        for number in range(count):
            if number % 3:
                yield self.person(), "WORKS_AT", self.company()
            else:
                yield self.company(), "LOCATED_IN", self.random.choice(CITIES)

    def questions(self, count: int) -> list[str]:
        """Of four sorts in turn: plain, about a speaker, about a time, about somebody known."""
        sorts = (
            lambda: f"{self.text(8)}?",
            lambda: f"What did {self.random.choice(SPEAKERS)} say about {self.text(6)}?",
            lambda: f"What was decided {self.random.choice(DAYS)} about {self.text(6)}?",
            lambda: (
                f"What does {self.person()} of {self.company()} have to do with {self.text(4)}?"
            ),
        )
        return [sorts[number % len(sorts)]() for number in range(count)]

    def company(self) -> str:
        return self.random.choice(COMPANIES)

    def person(self) -> str:
        return f"{self.random.choice(FIRST_NAMES)} {self.random.choice(LAST_NAMES)}"


def opened(path: Path, ranking: str = "contextual") -> Nexus:
    settings = Settings(search=Search(ranking=ranking))
    return Nexus.open(path, settings=settings, clock=lambda: NOW, background=False)


def room(nexus: Nexus, workspace: str = "bench") -> Place:
    return nexus.workspace(workspace).room("talk", participants=SPEAKERS)


def tell(
    place: Place, messages: list[dict[str, Any]], facts: Iterable[tuple[str, str, str]], say: Say
) -> tuple[float, float]:
    """Wall and processor seconds of telling and indexing the messages; facts are not counted."""
    wall, processor = time.perf_counter(), time.process_time()
    for start in range(0, len(messages), PORTION):
        portion = messages[start : start + PORTION]
        place.observe_many(portion)
        if stuck := place.flush():
            raise RuntimeError(f"{stuck} messages could not be indexed")
        say(len(portion))
    took = time.perf_counter() - wall, time.process_time() - processor
    for subject, predicate, object in facts:
        place.add_fact(subject, predicate, object)
        say(1)
    place.flush()
    return took


# One room


def measure_size(folder: Path, count: int, questions: int, progress: Progress) -> dict[str, Any]:
    path = folder / f"recall-{count}.db"
    talk = Talk.seeded(7)
    facts = count // FACTS
    messages = list(talk.messages(count - facts))
    stated = list(talk.facts(facts))
    indexed = {} if path.exists() else measure_telling(path, messages, stated, progress)
    return {
        "memories": count,
        **indexed,
        **measure_first(path, talk.questions(3)),
        **measure_questions(path, count, questions, talk, progress),
    }


def measure_telling(
    path: Path,
    messages: list[dict[str, Any]],
    facts: list[tuple[str, str, str]],
    progress: Progress,
) -> dict[str, float]:
    count = len(messages) + len(facts)
    bar = progress.add_task(f"{count:,} memories: telling", total=count)
    with opened(path) as nexus:
        wall, processor = tell(room(nexus), messages, facts, partial(progress.advance, bar))
    return {
        "indexed_per_second": len(messages) / wall,
        "indexed_per_processor_second": len(messages) / processor,
    }


def measure_first(path: Path, questions: list[str]) -> dict[str, float]:
    """In a new process each time: what somebody waits for who has just started a program."""
    code = (
        "import sys, time; from nexus import Nexus; a = time.perf_counter();"
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
    path: Path, count: int, questions: int, talk: Talk, progress: Progress
) -> dict[str, Any]:
    """Both rankings and the floor in turn, each asked questions of its own."""
    matrix = np.random.default_rng(0).normal(size=(count, 256)).astype(np.float32)
    search, embedder = floor_search(matrix), BuiltinEmbedder()
    ways: dict[str, Callable[[str], Any]] = {"floor": lambda q: search(embedder.embed([q])[0])}
    taken: dict[str, list[tuple[float, float, Any]]] = {}
    with ExitStack() as stack:
        for ranking in ("contextual", "fused"):
            ways[ranking] = room(stack.enter_context(opened(path, ranking))).recall
        asked = {way: talk.questions(WARMING + questions) for way in ways}
        bar = progress.add_task(f"{count:,} memories: asking", total=WARMING + questions)
        for number in range(WARMING + questions):
            for way, ask in ways.items():
                taken.setdefault(way, []).append(timed(ask, asked[way][number]))
            progress.advance(bar)
    counted = {way: times[WARMING:] for way, times in taken.items()}
    figures = {way: spread(times) for way, times in counted.items()}
    floor = figures["floor"]["p50_ms"]
    for ranking in ("contextual", "fused"):
        figures[ranking] |= {
            "ratio": figures[ranking]["p50_ms"] / floor,
            "strategies": strategies([found for *_, found in counted[ranking]]),
        }
    return figures


def timed(ask: Callable[[str], Any], question: str) -> tuple[float, float, Any]:
    """Wall and processor seconds, and the answer."""
    wall, processor = time.perf_counter(), time.process_time()
    found = ask(question)
    return time.perf_counter() - wall, time.process_time() - processor, found


def spread(times: list[tuple[float, float, Any]]) -> dict[str, Any]:
    wall, processor = [each[0] for each in times], [each[1] for each in times]
    return {
        "p50_ms": percentile(wall, 50),
        "p95_ms": percentile(wall, 95),
        "processor_p50_ms": percentile(processor, 50),
    }


def strategies(answers: list[Found]) -> dict[str, dict[str, float]]:
    """The time of each, over the questions for which it found anything."""
    figures = {}
    for name in [report.name for report in answers[0].strategies]:
        reports = [each for found in answers for each in found.strategies if each.name == name]
        busy = [each.seconds for each in reports if each.found] or [0.0]
        figures[name] = {
            "p50_ms": percentile(busy, 50),
            "p95_ms": percentile(busy, 95),
            "found_something": sum(each.found > 0 for each in reports) / len(reports),
            "hits_shown": sum(each.shown for each in reports) / len(reports),
        }
    rest = [found.seconds - sum(each.seconds for each in found.strategies) for found in answers]
    figures["all else"] = {"p50_ms": percentile(rest, 50), "p95_ms": percentile(rest, 95)}
    return figures


# Many workspaces in one file


def measure_scale(folder: Path, count: int, progress: Progress) -> dict[str, Any]:
    """Some workspaces of a large file, each against the same one alone in a file of its own."""
    talk = Talk.seeded(11)
    workspaces = count // WORKSPACE
    different = min(DIFFERENT, workspaces)
    facts = WORKSPACE // FACTS
    contents = [
        (list(talk.messages(WORKSPACE - facts)), list(talk.facts(facts))) for _ in range(different)
    ]
    path = folder / f"many-{count}.db"
    if not path.exists():
        fill(path, contents, workspaces, progress)
    chosen = sorted(talk.random.sample(range(workspaces), min(CHOSEN, workspaces)))
    with ExitStack() as stack:
        large = stack.enter_context(opened(path))
        alone: dict[int, Place] = {}
        for number in chosen:
            file = folder / f"alone-{count}-{number}.db"
            there = file.exists()
            alone[number] = room(stack.enter_context(opened(file)), name_of(number))
            if not there:
                tell(alone[number], *contents[number % different], lambda _: None)
        pairs = [(room(large, name_of(number)), alone[number]) for number in chosen]
        first, later = ask_pairs(pairs, talk, progress)
    return {
        "memories": count,
        "workspaces": workspaces,
        "asked_workspaces": len(chosen),
        "questions_each": EACH,
        "file_megabytes": path.stat().st_size / 1e6,
        "later_questions": later,
        "first_question_of_a_workspace": first,
    }


def fill(path: Path, contents: Contents, workspaces: int, progress: Progress) -> None:
    """A few workspaces are told, all others are copies of them behind walls of their own."""
    bar = progress.add_task(f"{workspaces:,} workspaces: telling", total=workspaces)
    with opened(path) as large:
        for number, (messages, facts) in enumerate(contents):
            tell(room(large, name_of(number)), messages, facts, lambda _: None)
            progress.advance(bar)
    others = range(len(contents), workspaces)
    copy(path, len(contents), others, partial(progress.advance, bar))


def ask_pairs(
    pairs: list[tuple[Place, Place]], talk: Talk, progress: Progress
) -> tuple[dict[str, float], dict[str, float]]:
    """The first question to each, and all others; both get the same, in changing order."""
    rounds: list[list[tuple[float, float]]] = []
    questions = talk.questions(len(pairs) * (EACH + 1))
    bar = progress.add_task("asking in both files", total=len(pairs) * (EACH + 1))
    for _ in range(EACH + 1):
        rounds.append([])
        for place, (large, alone) in enumerate(pairs):
            question = questions.pop()
            ask = {"large": large, "alone": alone}
            order = list(ask) if place // 4 % 2 else list(ask)[::-1]  # for each sort of question
            took = {name: seconds(partial(ask[name].recall, question)) for name in order}
            rounds[-1].append((took["large"], took["alone"]))
            progress.advance(bar)
    return compared(rounds[0]), compared([pair for each in rounds[1:] for pair in each])


def compared(pairs: list[tuple[float, float]]) -> dict[str, float]:
    large, alone = ([pair[place] for pair in pairs] for place in (0, 1))
    return {
        "large_p50_ms": percentile(large, 50),
        "alone_p50_ms": percentile(alone, 50),
        "large_p95_ms": percentile(large, 95),
        "alone_p95_ms": percentile(alone, 95),
        "ratio": median(large) / median(alone),
    }


# Showing it


def shown(results: dict[str, Any]) -> Iterator[Table]:
    for size in results["sizes"]:
        yield size_table(size)
    if scale := results.get("scale"):
        title = f"{scale['memories']:,} memories in {scale['workspaces']:,} workspaces"
        table = Table("", "large file p50 / p95", "alone p50 / p95", "ratio of p50", title=title)
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
    table = Table("", "p50", "p95", "processor p50", "", title=f"{count:,} memories ({target})")
    for way in ("floor", "contextual", "fused"):
        row = size[way]
        times = (f"{row[name]:.2f} ms" for name in ("p50_ms", "p95_ms", "processor_p50_ms"))
        table.add_row(way, *times, f"{row['ratio']:.1f} × floor" if "ratio" in row else "")
        for name, part in row.get("strategies", {}).items():
            found = part.get("found_something")
            told = "" if found is None else f"found for {found:.0%}"
            table.add_row(
                f"  {name}", f"{part['p50_ms']:.2f} ms", f"{part['p95_ms']:.2f} ms", "", told
            )
    opening = f"{size['open_ms']:.0f} ms to open"
    table.add_row("first question", f"{size['first_question_ms']:.0f} ms", "", "", opening)
    if "indexed_per_second" in size:  # else the file was there
        times = (f"{size[f'indexed_per_{what}']:.0f}/s" for what in ("second", "processor_second"))
        wall, processor = times
        table.add_row("indexed", wall, "", processor, f"target {INDEXING_TARGET}/s")
    return table


def folder_of(options: argparse.Namespace) -> AbstractContextManager[str]:
    return nullcontext(options.keep) if options.keep else tempfile.TemporaryDirectory()


def measure(options: argparse.Namespace) -> dict[str, Any]:
    error = Console(stderr=True)
    with folder_of(options) as name, Bars(error) as progress:
        folder = Path(name)
        results: dict[str, Any] = {
            "machine": {"cores": os.cpu_count(), "python": sys.version.split()[0]},
            "openblas_threads": os.environ.get("OPENBLAS_NUM_THREADS", "its default"),
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
    parser.add_argument("--quick", action="store_true", help="leave out the large ones")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="memories in scope")
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="of each ranking")
    parser.add_argument(
        "--scale", type=int, default=SCALE, help="memories in the file of many workspaces; 0: none"
    )
    parser.add_argument("--keep", metavar="FOLDER", help="leave the files there, or use them again")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args()
    if options.quick:
        options.sizes, options.scale = (1_000, 10_000), 10_000
    results = measure(options)
    text = json.dumps(results, indent=2)
    if options.json:
        print(text)
    else:
        Console().print(*shown(results), sep="\n")
    full = tuple(options.sizes) == SIZES and options.scale >= SCALE
    if full and options.questions >= QUESTIONS:
        RESULTS.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
