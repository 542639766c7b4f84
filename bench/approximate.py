"""What the signs of vectors buy, and cost, where a viewer may read very many of them.

    python bench/approximate.py            100,000 to 1,000,000 vectors (2.4 GB, ten minutes)
    python bench/approximate.py --quick    50,000 and 200,000 vectors

Sentences are cut from English prose that every Python brings along and embedded with the built-in
embedder; `uniform` vectors are the hardest there are, without any structure. An exact and an
approximate answer alternate. Times are those of the processor, because the machine is shared;
they leave out reading ten floats from the file. `cells` tells what a k-means index would have to
read for the same recall. The last part asks a real store.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from embedded import Texts
from nexus.embedders.builtin import BuiltinEmbedder
from nexus.stores.sql import candidates as searched
from nexus.stores.sql.codes import MEMORY, Codes, LabelCodes, Way, encoded
from nexus.stores.sql.signs import Signs
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.samples import ACME, ADMIN, draft, event, tell

RESULTS = Path(__file__).parent / "results" / "approximate.json"
QUESTIONS = 200
LIMITS = (10, 100)
AT_ONCE = 10_000
CELLS = 1_024
ROUNDS = 8


def sentences(count: int) -> np.ndarray:
    text, embedder = Texts(), BuiltinEmbedder()
    table = np.empty((count, 256), np.float32)
    for start in range(0, count, AT_ONCE):
        size = min(AT_ONCE, count - start)
        table[start : start + size] = embedder.embed([text() for _ in range(size)])
    return table


def questions(kind: str) -> np.ndarray:
    """Shorter than what is remembered, as questions are."""
    if kind == "uniform":
        return uniform(QUESTIONS, seed=2)
    text = Texts(seed=8)
    return BuiltinEmbedder().embed([text(7) for _ in range(QUESTIONS)])


def uniform(count: int, seed: int = 1) -> np.ndarray:
    table = np.random.default_rng(seed).standard_normal((count, 256), dtype=np.float32)
    return table / np.linalg.norm(table, axis=1, keepdims=True)


@contextmanager
def exact_up_to(count: int) -> Iterator[None]:
    before, searched.EXACT_UP_TO = searched.EXACT_UP_TO, count
    yield
    searched.EXACT_UP_TO = before


def timed(work: Callable[[], object]) -> tuple[float, object]:
    started = time.thread_time()
    result = work()
    return time.thread_time() - started, result


def milliseconds(values: list[float]) -> dict[str, float]:
    return {f"p{share}_ms": float(np.percentile(values, share)) * 1_000 for share in (50, 95)}


# Codes alone


def measure(kind: str, table: np.ndarray) -> dict[str, object]:
    numbers = np.arange(len(table), dtype=np.int64)
    rows = np.stack([numbers * 0, numbers, numbers], axis=1)
    starts = range(0, len(table), AT_ONCE)
    bytes_seconds = time.perf_counter()
    parts = [  # as a store reads them
        encoded(rows[s : s + AT_ONCE], table[s : s + AT_ONCE], Way(False, False)) for s in starts
    ]
    bytes_seconds = time.perf_counter() - bytes_seconds
    (block,) = LabelCodes().grown(parts).parts
    signs_seconds = time.perf_counter()
    signed = Codes(block.rows, block.coarse, block.fine, Signs.of(table))
    signs_seconds = time.perf_counter() - signs_seconds
    return {
        "vectors": len(table),
        "kind": kind,
        "bytes_seconds": bytes_seconds,
        "signs_seconds": signs_seconds,
        "bytes_megabytes": block.bytes / 1e6,
        "signs_megabytes": (signed.bytes - block.bytes) / 1e6,
        **{f"at_{limit}": compare(table, signed, questions(kind), limit) for limit in LIMITS},
    }


def compare(table: np.ndarray, block: Codes, asked: np.ndarray, limit: int) -> dict[str, float]:
    exact, approximate, shares, recall = [], [], [], []
    for question in asked:
        with exact_up_to(len(block)):
            took, _ = timed(lambda q=question: searched.candidates([block], q, limit))
            exact.append(took)
        with exact_up_to(0):
            took, near = timed(lambda q=question: searched.candidates([block], q, limit))
            approximate.append(took)
            (places,) = searched._worth_a_look([block], question, limit)
        shares.append(1.0 if places is None else len(places) / len(block))
        recall.append(share_found(table @ question, near[0].rows[:, MEMORY], limit))
    return {
        "recall": float(np.mean(recall)),
        "lowest_recall": float(np.min(recall)),
        "looked_at": float(np.mean(shares)),
        **{f"exact_{name}": value for name, value in milliseconds(exact).items()},
        **{f"approximate_{name}": value for name, value in milliseconds(approximate).items()},
    }


def share_found(scores: np.ndarray, found: np.ndarray, limit: int) -> float:
    best = np.argpartition(-scores, limit)[:limit]
    return float(np.isin(best, found).mean())


# What cells would do


def cells(table: np.ndarray, asked: np.ndarray) -> dict[str, object]:
    """The share of vectors in the nearest cells that hold 99 of 100 of the ten nearest."""
    random = np.random.default_rng(0)
    sample = table[random.choice(len(table), min(len(table), 64 * CELLS), replace=False)]
    centres = sample[:CELLS].copy()
    for _ in range(ROUNDS):
        nearest = assigned(sample, centres)
        for cell in range(CELLS):
            members = sample[nearest == cell]
            if len(members):
                centres[cell] = members.mean(axis=0)
    nearest = assigned(table, centres)
    sizes = np.bincount(nearest, minlength=CELLS)
    needed, read = [], []
    for question in asked:
        order = np.argsort(-(centres @ question))
        rank = np.argsort(order)
        best = np.argpartition(-(table @ question), 10)[:10]
        needed.append(rank[nearest[best]])
        read.append(np.cumsum(sizes[order]) / len(table))
    probes = int(np.quantile(np.concatenate(needed), 0.99, method="higher"))
    return {
        "vectors": len(table),
        "cells": CELLS,
        "probed_for_recall_99": probes + 1,
        "share_read": float(np.mean([shares[probes] for shares in read])),
    }


def assigned(table: np.ndarray, centres: np.ndarray) -> np.ndarray:
    half = (centres**2).sum(axis=1) / 2
    parts = range(0, len(table), AT_ONCE)
    return np.concatenate([(table[s : s + AT_ONCE] @ centres.T - half).argmax(1) for s in parts])


# A real store


def measure_store(folder: Path, table: np.ndarray) -> dict[str, object]:
    store = SqliteStore(folder / "approximate.db", cache_megabytes=2_000)
    profile = BuiltinEmbedder.profile
    ids: list[str] = []

    def keep(vectors: np.ndarray) -> None:
        keys = [str(len(ids) + place) for place in range(len(vectors))]
        sources = tell(store, *(event(key, f"Note {key}.") for key in keys))
        drafts = [draft(s, text=f"Note {k}.") for s, k in zip(sources, keys, strict=True)]
        new = [memory.id for memory in store.memories.put(ACME, drafts)]
        store.vectors.put(ACME, profile, dict(zip(new, vectors, strict=True)))
        ids.extend(new)

    def ask(question: np.ndarray) -> object:
        return store.vectors.nearest(ADMIN, profile, question, limit=10)

    asked = questions("sentences")
    for start in range(0, len(table) - 50, 2_000):
        keep(table[start : min(start + 2_000, len(table) - 50)])
    first = time.perf_counter()
    ask(asked[0])
    first = time.perf_counter() - first
    exact, approximate, recall = [], [], []
    for question in asked:
        with exact_up_to(len(table)):
            took, right = timed(lambda q=question: ask(q))
            exact.append(took)
        took, found = timed(lambda q=question: ask(q))
        approximate.append(took)
        recall.append(len({h.id for h in right} & {h.id for h in found}) / 10)
    written = []
    for place in range(len(table) - 50, len(table)):
        keep(table[place : place + 1])
        written.append(timed(lambda q=asked[0]: ask(q))[0])
    store.close()
    return {
        "vectors": len(table),
        "first_question_seconds": first,
        "recall": float(np.mean(recall)),
        **{f"exact_{name}": value for name, value in milliseconds(exact).items()},
        **{f"approximate_{name}": value for name, value in milliseconds(approximate).items()},
        **{f"after_a_write_{name}": value for name, value in milliseconds(written).items()},
    }


# The table


def shown(row: dict[str, object]) -> str:
    ten, hundred = row["at_10"], row["at_100"]
    times = [
        f"{at['exact_p50_ms']:.1f} / {at['exact_p95_ms']:.1f} | "
        f"{at['approximate_p50_ms']:.1f} / {at['approximate_p95_ms']:.1f}"
        for at in (ten, hundred)
    ]
    return (
        f"| {row['vectors']:,} {row['kind']} | {ten['recall']:.4f} | {hundred['recall']:.4f} | "
        f"{times[0]} | {times[1]} | {ten['looked_at']:.2%} / {hundred['looked_at']:.2%} | "
        f"{row['signs_seconds']:.1f} ({row['bytes_seconds']:.1f}) | "
        f"{row['signs_megabytes']:.0f} ({row['bytes_megabytes']:.0f}) |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out the large ones")
    options = parser.parse_args()
    sizes = (50_000, 200_000) if options.quick else (100_000, 200_000, 500_000, 1_000_000)
    table = sentences(sizes[-1])
    rows = [measure("sentences", table[:size]) for size in sizes]
    rows.append(measure("uniform", uniform(sizes[-1] // 2)))
    with tempfile.TemporaryDirectory() as folder:
        through = measure_store(Path(folder), table[:200_000])
    results = {
        "machine": {"cores": os.cpu_count(), "python": sys.version.split()[0]},
        "codes": rows,
        "cells": cells(table, questions("sentences")),
        "store": through,
    }
    print("\n".join(map(shown, rows)))
    print(json.dumps({name: results[name] for name in ("cells", "store")}, indent=2))
    if not options.quick:
        RESULTS.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
