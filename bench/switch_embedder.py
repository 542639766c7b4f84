"""Embedder switch and index rebuild: throughput, and how long writers are blocked.

    python bench/switch_embedder.py                     5,000 memories in a SQLite file
    python bench/switch_embedder.py --memories 50000

Rates use the CPU time of this process, because wall times on a shared machine are noise. The
time that a switch blocks other writers is a wall time: the best of several runs.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from embedded import TextSampler
from nexusmem import Nexus, Workspace
from nexusmem.core.protocols.index_repair import DerivedLayer
from nexusmem.embedders.builtin import BuiltinEmbedder
from nexusmem.embedders.feature_hash import HashingEmbedder

RESULTS = Path(__file__).parent / "results" / "changing.json"
BATCH = 500  # memories
TIMES = 20  # switches
QUESTIONS = 2_000


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU seconds of this process for one call of `work`."""
    started = time.process_time()
    work()
    return time.process_time() - started


def fill(nexus: Nexus, memories: int) -> Workspace:
    """Store `memories` explicit memories in rooms of 1,000; nothing is learned from them."""
    texts, workspace = TextSampler(), nexus.workspace("acme")
    for start in range(0, memories, BATCH):
        room = workspace.room(f"room {start // 1_000}")
        for number in range(start, min(start + BATCH, memories)):
            room.remember(texts(), key=str(number))
        workspace.flush()
    return workspace


def measure_switches(nexus: Nexus) -> list[float]:
    """Return the seconds of each profile switch, lock and commit included.

    Other writers to the file are blocked during a switch.
    """
    store, workspace = nexus._parts.store, nexus.workspace("acme").id
    hashing_profile, builtin_profile = HashingEmbedder(64).profile, BuiltinEmbedder().profile
    switch_seconds = []
    for number in range(TIMES):
        started = time.perf_counter()
        store.vectors.activate_profile(
            workspace, builtin_profile if number % 2 else hashing_profile
        )
        switch_seconds.append(time.perf_counter() - started)
    return switch_seconds


def measure_status_check(nexus: Nexus) -> float:
    """Return the CPU microseconds that a question spends on reading the vector status."""
    grant = nexus.workspace("acme").admin_grant
    read_status = nexus._parts.embedder_switch.vector_status
    return cpu_seconds(lambda: [read_status(grant) for _ in range(QUESTIONS)]) / QUESTIONS * 1e6


def measure(file: Path, memories: int) -> dict[str, float]:
    with Nexus.open(file, embedder=HashingEmbedder(64), background=False) as nexus:
        workspace = fill(nexus, memories)
        results = {
            f"rebuild {layer}, memories/s of CPU": memories
            / cpu_seconds(lambda: workspace.rebuild(layer.value))  # noqa: B023
            for layer in (DerivedLayer.KEYWORDS, DerivedLayer.GRAPH)
        }
    with Nexus.open(file, embedder=BuiltinEmbedder(), background=False) as nexus:
        seconds = cpu_seconds(nexus.reembed)
        results["re-embedding, built-in embedder, memories/s of CPU"] = memories / seconds
        blocked = measure_switches(nexus)
        results["switch, best of 20, ms"] = min(blocked) * 1e3
        results["switch, longest of 20, ms"] = max(blocked) * 1e3
        results["vector status before a question, µs of CPU"] = measure_status_check(nexus)
    return results


def measure_knowledge(file: Path, messages: int) -> float:
    """Return the number of events of one room that are learned again per CPU second."""
    with Nexus.open(file, embedder=HashingEmbedder(64), background=False) as nexus:
        texts, workspace = TextSampler(), nexus.workspace("acme")
        room = workspace.room("design")
        for number in range(messages):
            room.observe("alice", f"Helen Diaz likes {texts(8)}.", key=str(number))
        workspace.flush()
        return messages / cpu_seconds(lambda: workspace.rebuild("knowledge"))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--memories", type=int, default=5_000, help="number of memories")
    memories = parser.parse_args().memories
    with tempfile.TemporaryDirectory() as folder:
        results = measure(Path(folder, "memory.db"), memories)
        for messages in (250, 1_000):
            name = f"rebuild knowledge of a room of {messages}, events/s of CPU"
            results[name] = measure_knowledge(Path(folder, f"{messages}.db"), messages)
    for name, value in results.items():
        print(f"{value:12,.1f}  {name}")
    result = {"memories": memories, **{name: round(value, 2) for name, value in results.items()}}
    RESULTS.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
