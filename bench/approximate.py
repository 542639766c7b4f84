"""Approximate vector search: recall and speed of sign bits for large partitions.

    python bench/approximate.py            100,000 to 1,000,000 vectors (2.4 GB, ten minutes)
    python bench/approximate.py --quick    50,000 and 200,000 vectors

Sentences are cut from the English prose in Python's `pydoc_data` and embedded with the built-in
embedder. `uniform` vectors have no structure and are the hardest case. Exact and approximate
searches alternate. Times are CPU times, because the machine is shared; they exclude reading ten
float vectors from the file. `cells` shows what a k-means index would have to read for the same
recall. The last part measures a real store.
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

from embedded import TextSampler
from nexusmem.embedders.builtin import BuiltinEmbedder
from nexusmem.stores.sql.vectors import top_k as search
from nexusmem.stores.sql.vectors.vector_codes import (
    MEMORY,
    BinaryCodes,
    ByteCodes,
    LabelVectors,
    VectorPrecision,
    encode_vectors,
)
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.samples import ACME, ADMIN, append_events, make_draft, make_event

RESULTS = Path(__file__).parent / "results" / "approximate.json"
QUESTIONS = 200
LIMITS = (10, 100)
BATCH = 10_000  # vectors
CELLS = 1_024  # of the k-means index
ROUNDS = 8  # of k-means


def embed_sentences(count: int) -> np.ndarray:
    """Return the vectors of `count` random sentences."""
    text, embedder = TextSampler(), BuiltinEmbedder()
    table = np.empty((count, 256), np.float32)
    for start in range(0, count, BATCH):
        size = min(BATCH, count - start)
        table[start : start + size] = embedder.embed([text() for _ in range(size)])
    return table


def embed_questions(kind: str) -> np.ndarray:
    """Return the question vectors; questions are shorter than the stored sentences."""
    if kind == "uniform":
        return uniform_vectors(QUESTIONS, seed=2)
    text = TextSampler(seed=8)
    return BuiltinEmbedder().embed([text(7) for _ in range(QUESTIONS)])


def uniform_vectors(count: int, seed: int = 1) -> np.ndarray:
    """Return `count` random unit vectors."""
    table = np.random.default_rng(seed).standard_normal((count, 256), dtype=np.float32)
    return table / np.linalg.norm(table, axis=1, keepdims=True)


@contextmanager
def exact_up_to(count: int) -> Iterator[None]:
    """Set the largest size that is searched exactly, within the context."""
    previous, search.EXACT_SEARCH_MAX = search.EXACT_SEARCH_MAX, count
    yield
    search.EXACT_SEARCH_MAX = previous


def time_cpu(work: Callable[[], object]) -> tuple[float, object]:
    """Return the CPU seconds of this thread, and the result."""
    started = time.thread_time()
    result = work()
    return time.thread_time() - started, result


def milliseconds(values: list[float]) -> dict[str, float]:
    """Return p50 and p95 in milliseconds."""
    return {f"p{share}_ms": float(np.percentile(values, share)) * 1_000 for share in (50, 95)}


# Vector codes


def measure(kind: str, table: np.ndarray) -> dict[str, object]:
    """Measure encoding time, size, recall and speed of vector codes."""
    numbers = np.arange(len(table), dtype=np.int64)
    rows = np.stack([numbers * 0, numbers, numbers], axis=1)
    starts = range(0, len(table), BATCH)
    bytes_seconds = time.perf_counter()
    parts = [  # in batches, as a store reads them
        encode_vectors(rows[s : s + BATCH], table[s : s + BATCH], VectorPrecision(False, False))
        for s in starts
    ]
    bytes_seconds = time.perf_counter() - bytes_seconds
    (block,) = LabelVectors().with_added(parts).blocks
    signs_seconds = time.perf_counter()
    signed = ByteCodes(block.rows, block.coarse, block.fine, BinaryCodes.from_vectors(table))
    signs_seconds = time.perf_counter() - signs_seconds
    return {
        "vectors": len(table),
        "kind": kind,
        "bytes_seconds": bytes_seconds,
        "signs_seconds": signs_seconds,
        "bytes_megabytes": block.size_bytes / 1e6,
        "signs_megabytes": (signed.size_bytes - block.size_bytes) / 1e6,
        **{f"at_{limit}": compare(table, signed, embed_questions(kind), limit) for limit in LIMITS},
    }


def compare(
    table: np.ndarray, block: ByteCodes, query_vectors: np.ndarray, limit: int
) -> dict[str, float]:
    """Compare exact and approximate search of one block, question by question."""
    exact, approximate, shares, recall = [], [], [], []
    for question in query_vectors:
        with exact_up_to(len(block)):
            cpu, _ = time_cpu(lambda q=question: search.prefilter([block], q, limit))
            exact.append(cpu)
        with exact_up_to(0):
            cpu, near = time_cpu(lambda q=question: search.prefilter([block], q, limit))
            approximate.append(cpu)
            (positions,) = search._select_by_sign_bits([block], question, limit)
        shares.append(1.0 if positions is None else len(positions) / len(block))
        recall.append(recall_share(table @ question, near[0].rows[:, MEMORY], limit))
    return {
        "recall": float(np.mean(recall)),
        "lowest_recall": float(np.min(recall)),
        "looked_at": float(np.mean(shares)),
        **{f"exact_{name}": value for name, value in milliseconds(exact).items()},
        **{f"approximate_{name}": value for name, value in milliseconds(approximate).items()},
    }


def recall_share(scores: np.ndarray, hits: np.ndarray, limit: int) -> float:
    """Return the share of the `limit` nearest vectors that are among `hits`."""
    best = np.argpartition(-scores, limit)[:limit]
    return float(np.isin(best, hits).mean())


# Comparison with a k-means index


def measure_cells(table: np.ndarray, query_vectors: np.ndarray) -> dict[str, object]:
    """Return the share of vectors that a k-means index reads for a recall of 99 % at 10."""
    random = np.random.default_rng(0)
    sample = table[random.choice(len(table), min(len(table), 64 * CELLS), replace=False)]
    centres = sample[:CELLS].copy()
    for _ in range(ROUNDS):
        nearest = assign_cells(sample, centres)
        for cell in range(CELLS):
            members = sample[nearest == cell]
            if len(members):
                centres[cell] = members.mean(axis=0)
    nearest = assign_cells(table, centres)
    sizes = np.bincount(nearest, minlength=CELLS)
    needed, read = [], []
    for question in query_vectors:
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


def assign_cells(table: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the nearest centre of each vector."""
    half = (centres**2).sum(axis=1) / 2
    parts = range(0, len(table), BATCH)
    return np.concatenate([(table[s : s + BATCH] @ centres.T - half).argmax(1) for s in parts])


# SQLite store


def measure_store(folder: Path, table: np.ndarray) -> dict[str, object]:
    """Measure recall and speed through a SQLite store."""
    store = SqliteStore(folder / "approximate.db", cache_megabytes=2_000)
    profile = BuiltinEmbedder.profile
    ids: list[str] = []

    def add_vectors(vectors: np.ndarray) -> None:
        keys = [str(len(ids) + position) for position in range(len(vectors))]
        sources = append_events(store, *(make_event(key, f"Note {key}.") for key in keys))
        drafts = [make_draft(s, text=f"Note {k}.") for s, k in zip(sources, keys, strict=True)]
        new = [memory.id for memory in store.memories.put(ACME, drafts)]
        store.vectors.put(ACME, profile, dict(zip(new, vectors, strict=True)))
        ids.extend(new)

    def ask(question: np.ndarray) -> object:
        return store.vectors.find_nearest(ADMIN, profile, question, limit=10)

    query_vectors = embed_questions("sentences")
    for start in range(0, len(table) - 50, 2_000):
        add_vectors(table[start : min(start + 2_000, len(table) - 50)])
    first = time.perf_counter()
    ask(query_vectors[0])
    first = time.perf_counter() - first
    exact, approximate, recall = [], [], []
    for question in query_vectors:
        with exact_up_to(len(table)):
            cpu, expected = time_cpu(lambda q=question: ask(q))
            exact.append(cpu)
        cpu, hits = time_cpu(lambda q=question: ask(q))
        approximate.append(cpu)
        recall.append(len({h.id for h in expected} & {h.id for h in hits}) / 10)
    written = []
    for position in range(len(table) - 50, len(table)):
        add_vectors(table[position : position + 1])
        written.append(time_cpu(lambda q=query_vectors[0]: ask(q))[0])
    store.close()
    return {
        "vectors": len(table),
        "first_question_seconds": first,
        "recall": float(np.mean(recall)),
        **{f"exact_{name}": value for name, value in milliseconds(exact).items()},
        **{f"approximate_{name}": value for name, value in milliseconds(approximate).items()},
        **{f"after_a_write_{name}": value for name, value in milliseconds(written).items()},
    }


# Report


def format_row(row: dict[str, object]) -> str:
    """Return a Markdown table row."""
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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="measure only 50,000 and 200,000 vectors"
    )
    options = parser.parse_args()
    sizes = (50_000, 200_000) if options.quick else (100_000, 200_000, 500_000, 1_000_000)
    table = embed_sentences(sizes[-1])
    rows = [measure("sentences", table[:size]) for size in sizes]
    rows.append(measure("uniform", uniform_vectors(sizes[-1] // 2)))
    with tempfile.TemporaryDirectory() as folder:
        store_results = measure_store(Path(folder), table[:200_000])
    results = {
        "machine": {"cores": os.cpu_count(), "python": sys.version.split()[0]},
        "codes": rows,
        "cells": measure_cells(table, embed_questions("sentences")),
        "store": store_results,
    }
    print("\n".join(map(format_row, rows)))
    print(json.dumps({name: results[name] for name in ("cells", "store")}, indent=2))
    if not options.quick:
        RESULTS.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
