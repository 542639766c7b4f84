"""Consolidation: precision and recall of duplicate detection, and speed.

    python bench/consolidate.py [--memories 20000] [--out bench/results/consolidate.json]

`pairs.json` holds labelled pairs of messages. Half of them are held out: no rule was written
after looking at their results. Each pair is sent in its own room, with the built-in embedder.
Then a workspace of facts and decisions, a fifth of them repeated, is consolidated twice on
SQLite. Times are CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nexusmem import Nexus, Workspace
from nexusmem.core.protocols.store import Store
from nexusmem.core.records import MemoryKind
from nexusmem.core.records.links import LinkRelation
from nexusmem.maintain.jobs.consolidate import consolidate_next

PAIRS = Path(__file__).parent / "consolidate" / "pairs.json"
PEOPLE = ["ada", "ben", "cleo", "dan", "eva", "finn", "gwen", "hugo"]
THINGS = "tea coffee chess jazz rowing sushi opera hiking cycling pottery rugby yoga".split()
PLACES = "Rome Oslo Paris Lyon Bonn Graz Turin Ghent Malmo Porto".split()
TOOLS = "Postgres Redis Kafka Vim Docker Terraform Nginx Grafana Airflow Rust".split()


def consolidate_all(store: Store, workspace: Workspace) -> dict[str, int]:
    """Consolidate a workspace once and return the counts."""
    after, total = 0, {"looked_at": 0, "put": 0, "dropped": 0}
    while True:
        after, counts = consolidate_next(store, workspace.id, after=after)
        total = {name: total[name] + counts[name] for name in total}
        if not counts["looked_at"]:
            return total


def evaluate_pairs(pairs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return precision and recall over labelled pairs, and the pairs with wrong results."""
    with Nexus.open(":memory:", background=False) as nexus:
        workspace, store = nexus.workspace("pairs"), nexus._parts.store
        rooms = [workspace.room(f"r{n}", participants=["alice", "bob"]) for n in range(len(pairs))]
        event_ids = []
        for room, pair in zip(rooms, pairs, strict=True):
            first = room.observe("alice", pair["one"])
            event_ids.append((first.event_id, room.observe(pair["by"], pair["other"]).event_id))
        workspace.flush()
        consolidate_all(store, workspace)
        links = [
            set(link.sources)
            for link in store.memories.find(workspace.admin_grant)
            if link.kind is MemoryKind.LINK and link.body["relation"] == LinkRelation.SAME_AS
        ]
    is_linked = [any(set(ids) <= link for link in links) for ids in event_ids]
    correct = sum(each and pair["same"] for each, pair in zip(is_linked, pairs, strict=True))
    wrong = [pair for each, pair in zip(is_linked, pairs, strict=True) if each and not pair["same"]]
    missed = [
        pair for each, pair in zip(is_linked, pairs, strict=True) if pair["same"] and not each
    ]
    return {
        "pairs": len(pairs),
        "same": sum(pair["same"] for pair in pairs),
        "found": sum(is_linked),
        "precision": round(correct / max(1, sum(is_linked)), 3),
        "recall": round(correct / sum(pair["same"] for pair in pairs), 3),
        "wrong": [[pair["one"], pair["other"]] for pair in wrong],
        "missed": [[pair["one"], pair["other"]] for pair in missed],
    }


def make_messages(count: int, seed: int = 7) -> Iterator[tuple[str, str]]:
    """Yield facts and decisions; a fifth repeat an earlier one, possibly reworded."""
    generator = random.Random(seed)
    earlier: list[tuple[str, str]] = []
    for number in range(count):
        if earlier and generator.random() < 0.2:
            speaker, text = generator.choice(earlier)
            yield speaker, generator.choice(["", "Really, ", "As I said, "]) + text
            continue
        speaker = generator.choice(PEOPLE)
        text = generator.choice(
            [
                f"I like {generator.choice(THINGS)} number {number}.",
                f"I visited {generator.choice(PLACES)} {number}.",
                f"We decided to use {generator.choice(TOOLS)} for service {number}.",
                f"I work with Person{number} in {generator.choice(PLACES)}.",
            ]
        )
        earlier.append((speaker, text))
        yield speaker, text


def measure_speed(memories: int) -> dict[str, Any]:
    """Return the CPU seconds of a first and a second consolidation of a workspace."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Nexus.open(Path(folder) / "memory.db", background=False) as nexus,
    ):
        workspace, store = nexus.workspace("many"), nexus._parts.store
        rooms = [workspace.room(f"room {n}", participants=PEOPLE) for n in range(20)]
        generated = make_messages(memories)
        now = datetime(2026, 1, 1, tzinfo=UTC)
        for room in rooms:
            batch = [next(generated) for _ in range(memories // 2 // len(rooms))]
            room.observe_many({"speaker": s, "text": t, "at": now} for s, t in batch)
        workspace.flush()
        runs = []
        for _ in range(2):
            started = time.process_time()
            counts = consolidate_all(store, workspace)
            seconds = time.process_time() - started
            speed = round(counts["looked_at"] / seconds)
            runs.append({**counts, "seconds": round(seconds, 2), "memories_per_second": speed})
    return {"first": runs[0], "second": runs[1]}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--memories", type=int, default=20_000, help="approximate number of facts and decisions"
    )
    parser.add_argument("--out", type=Path, help="file for the results")
    options = parser.parse_args()
    sets = json.loads(PAIRS.read_text(encoding="utf-8"))["sets"]
    result = {name: evaluate_pairs(pairs) for name, pairs in sets.items()}
    result["speed"] = measure_speed(options.memories)
    text = json.dumps(result, indent=1, ensure_ascii=False)
    print(text)
    if options.out:
        options.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
