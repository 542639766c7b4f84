"""What a walk costs in the records and in Neo4j, and how fast Neo4j follows the records.

    python bench/graph.py            20,000 facts, three kinds of names
    python bench/graph.py --quick    2,000 facts

Needs Java and Maven, as `make test-neo4j` does. Walks in the records and in Neo4j alternate, so
that a busy machine slows both; what counts is the ratio. The server is a plain Neo4j Community
with 512 MB, after some hundred walks to warm it up.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.servers.neo4j import Neo4j

from nexus.core.records import MemoryKind
from nexus.stores.neo4j import mirror
from nexus.stores.neo4j.graph import Neo4jGraph
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.samples import ACME, ADMIN, IN_ROOM, draft, event, tell

RESULTS = Path(__file__).parent / "results" / "graph.json"
HERE = IN_ROOM.grant()
WARM_UP = 200
ROUNDS = 60
AT_ONCE = 1_000
NAMES = {
    "a rare name among forty others": ["p17", *(f"nobody {n}" for n in range(40))],
    "ten rare names": [f"p{n}" for n in range(100, 110)],
    "a name that a tenth of all facts have": ["hub"],
}


def fill(store: SqliteStore, count: int) -> None:
    """Facts between people who have a few each, and one whom every tenth is about."""
    people = count // 4
    for start in range(0, count, AT_ONCE):
        numbers = range(start, min(start + AT_ONCE, count))
        sources = tell(store, *(event(str(n)) for n in numbers))
        drafts = [
            draft(
                source,
                kind=MemoryKind.FACT,
                text=f"fact {n}",
                body={
                    "subject": f"p{n % people}",
                    "predicate": "KNOWS",
                    "object": "hub" if n % 10 == 0 else f"p{n * 7 % people}",
                },
            )
            for n, source in zip(numbers, sources, strict=True)
        ]
        store.memories.put(ACME, drafts)


def milliseconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1e3


def compare(graph: Neo4jGraph, store: SqliteStore, names: list[str]) -> dict[str, float]:
    def walk(one: Neo4jGraph | SqliteStore) -> object:
        walked = one if isinstance(one, Neo4jGraph) else one.graph
        return walked.around(HERE, names, depth=2, limit=30)

    if walk(graph) != walk(store):
        raise SystemExit("the two graphs are not the same")
    for _ in range(WARM_UP):
        walk(graph)
    pairs = [
        (milliseconds(lambda: walk(store)), milliseconds(lambda: walk(graph)))
        for _ in range(ROUNDS)
    ]
    records, neo4j = (statistics.median(each) for each in zip(*pairs, strict=True))
    return {
        "records ms": round(records, 2),
        "neo4j ms": round(neo4j, 2),
        "ratio": round(neo4j / records, 1),
    }


def run(count: int) -> dict[str, object]:
    mirror.ASKING_SECONDS = 60.0  # here it shall answer, however long that takes
    mirror.WRITING_SECONDS = 300.0
    with Neo4j() as server, tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "memory.db")
        fill(store, count)
        graph = Neo4jGraph(server.url, store)
        began = time.perf_counter()
        while graph.follow():
            pass
        seconds = time.perf_counter() - began
        facts = store.count(ADMIN)["fact"]
        told: dict[str, object] = {"facts": facts, "followed per second": round(facts / seconds)}
        for name, names in NAMES.items():
            told[name] = compare(graph, store, names)
        graph.close()
        store.close()
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    told = run(2_000 if quick else 20_000)
    print(json.dumps(told, indent=2))
    if not quick:
        RESULTS.write_text(json.dumps(told, indent=2) + "\n")


if __name__ == "__main__":
    main()
