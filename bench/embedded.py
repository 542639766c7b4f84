"""How fast the embedded default is, as ratios to a floor measured in the same run.

    python bench/embedded.py                 all figures (about five minutes)
    python bench/embedded.py --quick         1,000 and 10,000 memories only (about a minute)
    python bench/embedded.py --only writing  or finding, or starting

The floor is the least any memory could do: one matrix of vectors in memory and numpy for a
question, one fsynced SQLite insert for a write. Wall times of a shared machine are noisy;
ratios of one run are less so. Recall is measured with the `fused` ranking, vectors and keywords
alone; `bench/recall.py` measures the default.
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

from nexus import Nexus, Place
from nexus.config import Settings
from nexus.embedders.builtin import BuiltinEmbedder
from nexus.recall.query import Search

RESULTS = Path(__file__).parent / "results" / "embedded.json"
WORDS_A_MESSAGE = 18
ROUNDS = 9
LOG_PAGES = 1_000  # a write-ahead log is so long before it is overwritten from its beginning
FUSED = Settings(search=Search(ranking="fused", strategies=("meaning", "keyword")))


class Texts:
    """Messages cut from English prose that every Python brings along, the same in every run."""

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)
        self._words = " ".join(topics.values()).split()

    def __call__(self, count: int = WORDS_A_MESSAGE) -> str:
        """Half from one place and half from another, so that hardly two are alike."""
        half = count // 2
        places = self._random.choices(range(len(self._words) - count), k=2)
        first, second = (self._words[place : place + half] for place in places)
        return " ".join([*first, *second])


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def percentile(values: list[float], share: float) -> float:
    return float(np.percentile(values, share)) * 1_000


# The floor


def floor_commit(folder: Path) -> Callable[[str], object]:
    """One row in one fsynced transaction."""
    connection = sqlite3.connect(folder / "floor.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)")
    return lambda text: connection.execute("INSERT INTO t (text) VALUES (?)", (text,))


def floor_search(vectors: np.ndarray) -> Callable[[np.ndarray], object]:
    """The ten largest of one matrix product."""

    def search(asked: np.ndarray) -> object:
        scores = vectors @ asked
        best = np.argpartition(-scores, 10)[:10]
        return best[np.argsort(-scores[best])]

    return search


# Writing


def measure_observe(folder: Path) -> dict[str, float | list[float]]:
    """A single writer several times over, because a neighbour's load moves its ratio most."""
    with Nexus.open(folder / "observe.db", background=False) as nexus:
        room = nexus.workspace("bench").room("r", participants=["ann"])
        commit = floor_commit(folder)
        fill_logs(room, commit)
        rounds = [single_writer(room, commit, Texts(seed)) for seed in range(ROUNDS)]
        floors, singles = zip(*rounds, strict=True)
        return {
            "commit_floor_p50_ms": median(floors) * 1_000,
            "observe_single_p50_ms": median(singles) * 1_000,
            "observe_single_ratio": median(single / floor for floor, single in rounds),
            "observe_single_ratios": sorted(round(single / floor, 2) for floor, single in rounds),
            "observe_32_writers_per_second": concurrent_writers(room, 32, 200),
        }


def fill_logs(room: Place, commit: Callable[[str], object]) -> None:
    """Until both overwrite their logs: a commit that makes its file longer takes longer, too."""
    text = Texts(ROUNDS)
    for _ in range(LOG_PAGES):
        commit(text())  # writes one page
    for _ in range(LOG_PAGES // 5):
        room.observe("ann", text())  # writes more than five


def single_writer(room: Place, commit: Callable[[str], object], text: Texts) -> tuple[float, float]:
    """The median seconds of a commit and of an `observe`."""
    floor, single = [], []
    for message in [text() for _ in range(300)]:  # alternating: a slow moment hits both
        floor.append(seconds(partial(commit, message)))
        single.append(seconds(partial(room.observe, "ann", message)))
    return median(floor), median(single)


def concurrent_writers(room: Place, writers: int, each: int) -> float:
    texts = [[Texts(seed)() for _ in range(each)] for seed in range(writers)]
    start = threading.Barrier(writers + 1)

    def write(messages: list[str]) -> None:
        start.wait()
        for message in messages:
            room.observe("ann", message)

    threads = [threading.Thread(target=write, args=(messages,)) for messages in texts]
    for thread in threads:
        thread.start()
    start.wait()
    took = seconds(lambda: [thread.join() for thread in threads])
    return writers * each / took


# Finding


def fill(nexus: Nexus, workspace: str, count: int, text: Texts) -> None:
    room = nexus.workspace(workspace).room("r", participants=["ann"])
    room.observe_many({"speaker": "ann", "text": text(), "key": str(i)} for i in range(count))
    room.flush()


def measure_recall(folder: Path, count: int, *, others: int = 0) -> dict[str, float]:
    """A room of `count` memories, in a file with `others` memories in other workspaces."""
    text = Texts()
    embedder = BuiltinEmbedder()
    file = folder / f"recall-{count}-{others}.db"
    with Nexus.open(file, settings=FUSED, background=False) as nexus:
        filled = seconds(lambda: fill(nexus, "bench", count, text))
        for number in range(others // 1_000):
            fill(nexus, f"other-{number}", 1_000, text)
        room = nexus.workspace("bench").room("r", participants=["ann"])
        questions = [text(7) for _ in range(60)]
        first = seconds(lambda: room.recall(questions[0]))
        matrix = np.random.default_rng(0).normal(size=(count, 256)).astype(np.float32)
        search = floor_search(matrix)
        for question in questions:
            room.recall(question)
        ours, floor = [], []
        for question in questions * 2:
            asked = embedder.embed([question])[0]
            floor.append(seconds(lambda asked=asked: search(asked)))  # type: ignore[misc]
            ours.append(room.recall(question).seconds)
        return {
            "memories": count,
            "in_the_file": count + others,
            "indexed_per_second": count / filled,
            "first_ms": first * 1_000,
            "floor_p50_ms": percentile(floor, 50),
            "recall_p50_ms": percentile(ours, 50),
            "recall_p95_ms": percentile(ours, 95),
            "ratio": median(ours) / median(floor),
        }


# Around it


def measure_import() -> dict[str, float]:
    def run(code: list[str]) -> float:
        command = [sys.executable, *code]
        return min(
            seconds(lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True))
            for _ in range(7)
        )

    bare, nexus = run(["-c", "pass"]), run(["-c", "from nexus import Nexus"])
    helped = run(["-m", "nexus", "--help"])
    return {
        "python_ms": bare * 1_000,
        "from_nexus_import_nexus_ms": (nexus - bare) * 1_000,
        "nexus_help_ms": helped * 1_000,
    }


def distributions() -> list[str]:
    """What `pip install nexus-memory` brings, itself left out."""
    found: set[str] = set()
    waiting = ["nexus-memory"]
    while waiting:
        for line in distribution(waiting.pop()).requires or []:
            name = "".join(line.split(";")[0].split("[")[0].split(" ")[0])
            name = name.rstrip("<>=!~0123456789.,").lower()
            if "extra ==" not in line and "python_version" not in line and name not in found:
                found.add(name)
                waiting.append(name)
    return sorted(found)


def resident_megabytes(folder: Path) -> float:
    """Of a process that opened 10,000 memories and answered, measured from inside it."""
    code = (
        "import sys; from nexus import Nexus; from pathlib import Path;"
        "n = Nexus.open(sys.argv[1]); r = n.workspace('bench').room('r', participants=['ann']);"
        "[r.recall(q) for q in ('alpha beta', 'where is it', 'what did we decide')];"
        "lines = Path('/proc/self/status').read_text().splitlines();"
        "print(next(line.split()[1] for line in lines if line.startswith('VmHWM')))"
    )
    path = str(folder / "recall-10000-0.db")
    run = subprocess.run([sys.executable, "-c", code, path], capture_output=True, check=True)
    return float(run.stdout) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out the large ones")
    parser.add_argument("--only", choices=MEASURED, help="one part of it; nothing is kept")
    parser.add_argument("--folder", type=Path, help="where the files are written")
    options = parser.parse_args()
    largest = 10_000 if options.quick else 100_000
    results: dict[str, object] = {
        "machine": {"cores": os.cpu_count(), "python": sys.version.split()[0]}
    }
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        for part in [options.only] if options.only else MEASURED:
            results |= MEASURED[part](Path(name), largest)
    text = json.dumps(results, indent=2)
    print(text)
    if not (options.quick or options.only):
        RESULTS.write_text(text + "\n", encoding="utf-8")


def writing(folder: Path, _largest: int) -> dict[str, object]:
    return {"observe": measure_observe(folder)}


def finding(folder: Path, largest: int) -> dict[str, object]:
    sizes = [size for size in (1_000, 10_000, 100_000) if size <= largest]
    return {
        "recall": [measure_recall(folder, size) for size in sizes],
        "recall_in_a_large_file": measure_recall(folder, 1_000, others=largest - 1_000),
        "resident_megabytes_at_10000": resident_megabytes(folder),
    }


def starting(_folder: Path, _largest: int) -> dict[str, object]:
    return {"start": measure_import(), "distributions": distributions()}


MEASURED = {"writing": writing, "finding": finding, "starting": starting}


if __name__ == "__main__":
    main()
