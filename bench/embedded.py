"""Embedded default: speed as ratios to a floor measured in the same run.

    python bench/embedded.py                 all figures (about five minutes)
    python bench/embedded.py --quick         1,000 and 10,000 memories only (about a minute)
    python bench/embedded.py --only writing  or finding, or starting

The floor is the least work that any memory must do. For a question it is a product with one in-
memory numpy matrix. For a write it is one fsynced SQLite insert. Wall times on a shared machine
are noisy; ratios within one run are less so. Recall uses the `fused` ranking with vectors and
keywords only; `bench/recall.py` measures the default.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import distribution
from pathlib import Path
from pydoc_data.topics import topics
from statistics import median

import numpy as np

from nexusmem import Nexus, Place
from nexusmem.config.settings import Settings
from nexusmem.embedders.builtin import BuiltinEmbedder
from nexusmem.recall.query import SearchSettings

RESULTS = Path(__file__).parent / "results" / "embedded.json"
WORDS_PER_MESSAGE = 18
ROUNDS = 9  # of the single writer
LOG_PAGES = 1_000  # length of a write-ahead log before SQLite reuses it from the start
FUSED = Settings(search=SearchSettings(ranking="fused", strategies=("vector", "keyword")))


class TextSampler:
    """Messages cut from the English prose in `pydoc_data`; the same sequence in every run."""

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)
        self._words = " ".join(topics.values()).split()

    def __call__(self, count: int = WORDS_PER_MESSAGE) -> str:
        """Return `count` words, half each from two positions, so that few texts are alike."""
        half = count // 2
        positions = self._random.choices(range(len(self._words) - count), k=2)
        first, second = (self._words[position : position + half] for position in positions)
        return " ".join([*first, *second])


def measure_seconds(work: Callable[[], object]) -> float:
    """Return the wall seconds of one call of `work`."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def percentile(values: list[float], share: float) -> float:
    """Return a percentile of `values` (seconds) in milliseconds."""
    return float(np.percentile(values, share)) * 1_000


# The floor


def floor_commit(folder: Path) -> Callable[[str], object]:
    """Return a function that inserts one row in one fsynced transaction."""
    connection = sqlite3.connect(folder / "floor.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)")
    return lambda text: connection.execute("INSERT INTO t (text) VALUES (?)", (text,))


def floor_search(vectors: np.ndarray) -> Callable[[np.ndarray], object]:
    """Return a function that finds the ten largest scores of one matrix product."""

    def search(query_vector: np.ndarray) -> object:
        scores = vectors @ query_vector
        best = np.argpartition(-scores, 10)[:10]
        return best[np.argsort(-scores[best])]

    return search


# Writing


def measure_observe(folder: Path) -> dict[str, float | list[float]]:
    """Measure one writer in several rounds, because other load moves its ratio most."""
    with Nexus.open(folder / "observe.db", background=False) as nexus:
        room = nexus.workspace("bench").room("r", participants=["ann"])
        commit = floor_commit(folder)
        fill_logs(room, commit)
        rounds = [single_writer(room, commit, TextSampler(seed)) for seed in range(ROUNDS)]
        floors, singles = zip(*rounds, strict=True)
        return {
            "commit_floor_p50_ms": median(floors) * 1_000,
            "observe_single_p50_ms": median(singles) * 1_000,
            "observe_single_ratio": median(single / floor for floor, single in rounds),
            "observe_single_ratios": sorted(round(single / floor, 2) for floor, single in rounds),
            "observe_32_writers_per_second": concurrent_writers(room, 32, 200),
        }


def fill_logs(room: Place, commit: Callable[[str], object]) -> None:
    """Write until both write-ahead logs are reused: commits that extend the file are slower."""
    sample = TextSampler(ROUNDS)
    for _ in range(LOG_PAGES):
        commit(sample())  # writes one page
    for _ in range(LOG_PAGES // 5):
        room.observe("ann", sample())  # writes more than five


def single_writer(
    room: Place, commit: Callable[[str], object], sample: TextSampler
) -> tuple[float, float]:
    """Return the median seconds of a commit and of an `observe`."""
    floor, single = [], []
    for message in [sample() for _ in range(300)]:  # alternating: other load affects both
        floor.append(measure_seconds(partial(commit, message)))
        single.append(measure_seconds(partial(room.observe, "ann", message)))
    return median(floor), median(single)


def concurrent_writers(room: Place, writers: int, each: int) -> float:
    """Return the acknowledged observations per second of all writers together."""
    texts = [[TextSampler(seed)() for _ in range(each)] for seed in range(writers)]
    start = threading.Barrier(writers + 1)

    def write(messages: list[str]) -> None:
        start.wait()
        for message in messages:
            room.observe("ann", message)

    threads = [threading.Thread(target=write, args=(messages,)) for messages in texts]
    for thread in threads:
        thread.start()
    start.wait()
    elapsed = measure_seconds(lambda: [thread.join() for thread in threads])
    return writers * each / elapsed


# Searching


def fill(nexus: Nexus, workspace: str, count: int, sample: TextSampler) -> None:
    room = nexus.workspace(workspace).room("r", participants=["ann"])
    room.observe_many({"speaker": "ann", "text": sample(), "key": str(i)} for i in range(count))
    room.flush()


def measure_recall(folder: Path, count: int, *, others: int = 0) -> dict[str, float]:
    """Measure a room of `count` memories; `others` memories are in other workspaces."""
    sample = TextSampler()
    embedder = BuiltinEmbedder()
    file = folder / f"recall-{count}-{others}.db"
    with Nexus.open(file, settings=FUSED, background=False) as nexus:
        fill_seconds = measure_seconds(lambda: fill(nexus, "bench", count, sample))
        for number in range(others // 1_000):
            fill(nexus, f"other-{number}", 1_000, sample)
        room = nexus.workspace("bench").room("r", participants=["ann"])
        questions = [sample(7) for _ in range(60)]
        first = measure_seconds(lambda: room.recall(questions[0]))
        matrix = np.random.default_rng(0).normal(size=(count, 256)).astype(np.float32)
        search = floor_search(matrix)
        for question in questions:
            room.recall(question)
        recall_times, floor = [], []
        for question in questions * 2:
            query_vector = embedder.embed([question])[0]
            floor.append(measure_seconds(lambda query_vector=query_vector: search(query_vector)))  # type: ignore[misc]
            recall_times.append(room.recall(question).seconds)
        return {
            "memories": count,
            "in_the_file": count + others,
            "indexed_per_second": count / fill_seconds,
            "first_ms": first * 1_000,
            "floor_p50_ms": percentile(floor, 50),
            "recall_p50_ms": percentile(recall_times, 50),
            "recall_p95_ms": percentile(recall_times, 95),
            "ratio": median(recall_times) / median(floor),
        }


# Start-up and installation


def measure_import() -> dict[str, float]:
    def run(code: list[str]) -> float:
        command = [sys.executable, *code]
        return min(
            measure_seconds(lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True))
            for _ in range(7)
        )

    bare, nexus = run(["-c", "pass"]), run(["-c", "from nexusmem import Nexus"])
    help_seconds = run(["-m", "nexusmem", "--help"])
    return {
        "python_ms": bare * 1_000,
        "from_nexus_import_nexus_ms": (nexus - bare) * 1_000,
        "nexus_help_ms": help_seconds * 1_000,
    }


def list_distributions() -> list[str]:
    """Return the distributions that `pip install nexus-memory` adds."""
    names: set[str] = set()
    pending = ["nexus-memory"]
    while pending:
        for line in distribution(pending.pop()).requires or []:
            name = "".join(line.split(";")[0].split("[")[0].split(" ")[0])
            name = name.rstrip("<>=!~0123456789.,").lower()
            if "extra ==" not in line and "python_version" not in line and name not in names:
                names.add(name)
                pending.append(name)
    return sorted(names)


def resident_megabytes(folder: Path) -> float:
    """Return the peak memory of a process that opens 10,000 memories and answers."""
    code = (
        "import sys; from nexusmem import Nexus; from pathlib import Path;"
        "n = Nexus.open(sys.argv[1]); r = n.workspace('bench').room('r', participants=['ann']);"
        "[r.recall(q) for q in ('alpha beta', 'where is it', 'what did we decide')];"
        "lines = Path('/proc/self/status').read_text().splitlines();"
        "print(next(line.split()[1] for line in lines if line.startswith('VmHWM')))"
    )
    path = str(folder / "recall-10000-0.db")
    run = subprocess.run([sys.executable, "-c", code, path], capture_output=True, check=True)
    return float(run.stdout) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="measure at most 10,000 memories")
    parser.add_argument("--only", choices=PARTS, help="measure one part; results are not saved")
    parser.add_argument("--folder", type=Path, help="folder for temporary files")
    options = parser.parse_args()
    largest = 10_000 if options.quick else 100_000
    results: dict[str, object] = {
        "machine": {"cores": os.cpu_count(), "python": sys.version.split()[0]}
    }
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        for part in [options.only] if options.only else PARTS:
            results |= PARTS[part](Path(name), largest)
    text = json.dumps(results, indent=2)
    print(text)
    if not (options.quick or options.only):
        RESULTS.write_text(text + "\n", encoding="utf-8")


def measure_writing(folder: Path, _largest: int) -> dict[str, object]:
    return {"observe": measure_observe(folder)}


def measure_searching(folder: Path, largest: int) -> dict[str, object]:
    sizes = [size for size in (1_000, 10_000, 100_000) if size <= largest]
    return {
        "recall": [measure_recall(folder, size) for size in sizes],
        "recall_in_a_large_file": measure_recall(folder, 1_000, others=largest - 1_000),
        "resident_megabytes_at_10000": resident_megabytes(folder),
    }


def measure_start(_folder: Path, _largest: int) -> dict[str, object]:
    return {"start": measure_import(), "distributions": list_distributions()}


PARTS = {"writing": measure_writing, "finding": measure_searching, "starting": measure_start}


if __name__ == "__main__":
    main()
