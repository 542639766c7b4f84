"""Which things said twice are found to be the same, and how fast a workspace is looked through.

    python bench/consolidate.py [--memories 20000] [--out bench/results/consolidate.json]

`pairs.json` holds pairs of messages with whether they say the same. Half of them are kept aside: no
rule was made after looking at what comes out for them. Each pair is told in a room of its own, with
the embedder that comes along. Then a workspace of facts and decisions, of which a fifth repeats
another one, is looked through twice on SQLite; seconds are of the processor.
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

from nexus import Nexus, Workspace
from nexus.core.links import Relation
from nexus.core.protocols import Store
from nexus.core.records import MemoryKind
from nexus.maintain.consolidate import look_on

PAIRS = Path(__file__).parent / "consolidate" / "pairs.json"
PEOPLE = ["ada", "ben", "cleo", "dan", "eva", "finn", "gwen", "hugo"]
THINGS = "tea coffee chess jazz rowing sushi opera hiking cycling pottery rugby yoga".split()
PLACES = "Rome Oslo Paris Lyon Bonn Graz Turin Ghent Malmo Porto".split()
TOOLS = "Postgres Redis Kafka Vim Docker Terraform Nginx Grafana Airflow Rust".split()


def swept(store: Store, workspace: Workspace) -> dict[str, int]:
    """All there is, looked through once."""
    after, total = 0, {"looked_at": 0, "put": 0, "dropped": 0}
    while True:
        after, counts = look_on(store, workspace.id, after=after)
        total = {name: total[name] + counts[name] for name in total}
        if not counts["looked_at"]:
            return total


def judged(pairs: list[dict[str, Any]]) -> dict[str, Any]:
    """Precision and recall over pairs, and which came out wrong."""
    with Nexus.open(":memory:", background=False) as nexus:
        workspace, store = nexus.workspace("pairs"), nexus._parts.store
        rooms = [workspace.room(f"r{n}", participants=["alice", "bob"]) for n in range(len(pairs))]
        told = []
        for room, pair in zip(rooms, pairs, strict=True):
            first = room.observe("alice", pair["one"])
            told.append((first.event_id, room.observe(pair["by"], pair["other"]).event_id))
        workspace.flush()
        swept(store, workspace)
        links = [
            set(link.sources)
            for link in store.memories.find(workspace.administrator)
            if link.kind is MemoryKind.LINK and link.body["relation"] == Relation.SAME_AS
        ]
    found = [any(set(both) <= link for link in links) for both in told]
    right = sum(each and pair["same"] for each, pair in zip(found, pairs, strict=True))
    wrong = [pair for each, pair in zip(found, pairs, strict=True) if each and not pair["same"]]
    missed = [pair for each, pair in zip(found, pairs, strict=True) if pair["same"] and not each]
    return {
        "pairs": len(pairs),
        "same": sum(pair["same"] for pair in pairs),
        "found": sum(found),
        "precision": round(right / max(1, sum(found)), 3),
        "recall": round(right / sum(pair["same"] for pair in pairs), 3),
        "wrong": [[pair["one"], pair["other"]] for pair in wrong],
        "missed": [[pair["one"], pair["other"]] for pair in missed],
    }


def sayings(count: int, seed: int = 7) -> Iterator[tuple[str, str]]:
    """Facts and decisions; a fifth of them was said before, by somebody or in other words."""
    draw = random.Random(seed)
    before: list[tuple[str, str]] = []
    for number in range(count):
        if before and draw.random() < 0.2:
            speaker, text = draw.choice(before)
            yield speaker, draw.choice(["", "Really, ", "As I said, "]) + text
            continue
        speaker = draw.choice(PEOPLE)
        text = draw.choice(
            [
                f"I like {draw.choice(THINGS)} number {number}.",
                f"I visited {draw.choice(PLACES)} {number}.",
                f"We decided to use {draw.choice(TOOLS)} for service {number}.",
                f"I work with Person{number} in {draw.choice(PLACES)}.",
            ]
        )
        before.append((speaker, text))
        yield speaker, text


def timed(memories: int) -> dict[str, Any]:
    """Processor seconds of a first and of a second look at a workspace."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Nexus.open(Path(folder) / "memory.db", background=False) as nexus,
    ):
        workspace, store = nexus.workspace("many"), nexus._parts.store
        rooms = [workspace.room(f"room {n}", participants=PEOPLE) for n in range(20)]
        told = sayings(memories)
        now = datetime(2026, 1, 1, tzinfo=UTC)
        for room in rooms:
            batch = [next(told) for _ in range(memories // 2 // len(rooms))]
            room.observe_many({"speaker": s, "text": t, "at": now} for s, t in batch)
        workspace.flush()
        looks = []
        for _ in range(2):
            started = time.process_time()
            counts = swept(store, workspace)
            seconds = time.process_time() - started
            speed = round(counts["looked_at"] / seconds)
            looks.append({**counts, "seconds": round(seconds, 2), "memories_per_second": speed})
    return {"first": looks[0], "second": looks[1]}


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--memories", type=int, default=20_000, help="facts and decisions, about")
    asked.add_argument("--out", type=Path)
    chosen = asked.parse_args()
    sets = json.loads(PAIRS.read_text(encoding="utf-8"))["sets"]
    result = {name: judged(pairs) for name, pairs in sets.items()}
    result["speed"] = timed(chosen.memories)
    text = json.dumps(result, indent=1, ensure_ascii=False)
    print(text)
    if chosen.out:
        chosen.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
