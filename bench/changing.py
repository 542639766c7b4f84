"""How fast a memory changes its embedder and makes its layers again, and who waits for it.

    python bench/changing.py                     5,000 memories in a SQLite file
    python bench/changing.py --memories 50000

Rates are of CPU time of this process, because wall times of a shared machine are noise. How long
the switch keeps others from writing is a wall time: the best of several.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from embedded import Texts
from nexus import Nexus, Workspace
from nexus.core.layers import Layer
from nexus.embedders.builtin import BuiltinEmbedder
from nexus.embedders.hashing import HashingEmbedder

RESULTS = Path(__file__).parent / "results" / "changing.json"
BATCH = 500
TIMES = 20
QUESTIONS = 2_000


def cpu_seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def fill(nexus: Nexus, memories: int) -> Workspace:
    """Passages of rooms of a thousand, as they are remembered: nothing else is learned of them."""
    texts, workspace = Texts(), nexus.workspace("acme")
    for start in range(0, memories, BATCH):
        room = workspace.room(f"room {start // 1_000}")
        for number in range(start, min(start + BATCH, memories)):
            room.remember(texts(), key=str(number))
        workspace.flush()
    return workspace


def switches(nexus: Nexus) -> list[float]:
    """Seconds that a switch takes, lock and commit: nobody else writes to the file meanwhile."""
    store, workspace = nexus._parts.store, nexus.workspace("acme").id
    one, other = HashingEmbedder(64).profile, BuiltinEmbedder().profile
    taken = []
    for number in range(TIMES):
        started = time.perf_counter()
        store.vectors.use(workspace, other if number % 2 else one)
        taken.append(time.perf_counter() - started)
    return taken


def settled_look(nexus: Nexus) -> float:
    """Microseconds of CPU that a question spends on whether it can be asked by meaning."""
    grant = nexus.workspace("acme").administrator
    standing = nexus._parts.changeover.standing
    return cpu_seconds(lambda: [standing(grant) for _ in range(QUESTIONS)]) / QUESTIONS * 1e6


def measure(file: Path, memories: int) -> dict[str, float]:
    with Nexus.open(file, embedder=HashingEmbedder(64), background=False) as nexus:
        workspace = fill(nexus, memories)
        figures = {
            f"rebuild {layer}, memories/s of CPU": memories
            / cpu_seconds(lambda: workspace.rebuild(layer.value))  # noqa: B023
            for layer in (Layer.KEYWORDS, Layer.GRAPH)
        }
    with Nexus.open(file, embedder=BuiltinEmbedder(), background=False) as nexus:
        taken = cpu_seconds(nexus.reembed)
        figures["re-embedding, built-in embedder, memories/s of CPU"] = memories / taken
        locked = switches(nexus)
        figures["switch, best of 20, ms"] = min(locked) * 1e3
        figures["switch, longest of 20, ms"] = max(locked) * 1e3
        figures["look before a question, µs of CPU"] = settled_look(nexus)
    return figures


def measure_knowledge(file: Path, messages: int) -> float:
    """Events of one room that are read again for a second of CPU."""
    with Nexus.open(file, embedder=HashingEmbedder(64), background=False) as nexus:
        texts, workspace = Texts(), nexus.workspace("acme")
        room = workspace.room("design")
        for number in range(messages):
            room.observe("alice", f"Helen Diaz likes {texts(8)}.", key=str(number))
        workspace.flush()
        return messages / cpu_seconds(lambda: workspace.rebuild("knowledge"))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--memories", type=int, default=5_000)
    memories = parser.parse_args().memories
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder, "memory.db"), memories)
        for messages in (250, 1_000):
            name = f"rebuild knowledge of a room of {messages}, events/s of CPU"
            figures[name] = measure_knowledge(Path(folder, f"{messages}.db"), messages)
    for name, figure in figures.items():
        print(f"{figure:12,.1f}  {name}")
    told = {"memories": memories, **{name: round(figure, 2) for name, figure in figures.items()}}
    RESULTS.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
