"""Graph traversal in the records and in Neo4j, and how fast the Neo4j mirror catches up.

    python bench/graph.py            20,000 facts, three kinds of names
    python bench/graph.py --quick    2,000 facts

Needs Java and Maven, like `make test-neo4j`. Traversals in the records and in Neo4j alternate,
so that other load slows both; the ratio is the result. The server is Neo4j Community with 512
MB, after a warm-up of 200 traversals.
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

from nexusmem.core.records import MemoryKind
from nexusmem.stores.external.neo4j import mirror
from nexusmem.stores.external.neo4j.graph import Neo4jGraph
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.samples import ACME, ADMIN, IN_ROOM, append_events, make_draft, make_event

RESULTS = Path(__file__).parent / "results" / "graph.json"
GRANT = IN_ROOM.grant()
WARM_UP = 200  # traversals
ROUNDS = 60
BATCH = 1_000  # facts
NAMES = {
    "a rare name among forty unknown names": ["p17", *(f"nobody {n}" for n in range(40))],
    "ten rare names": [f"p{n}" for n in range(100, 110)],
    "a name in a tenth of all facts": ["hub"],
}


def fill(store: SqliteStore, count: int) -> None:
    """Store facts between people with a few facts each, and one hub in every tenth fact."""
    people = count // 4
    for start in range(0, count, BATCH):
        numbers = range(start, min(start + BATCH, count))
        sources = append_events(store, *(make_event(str(n)) for n in numbers))
        drafts = [
            make_draft(
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
    """Return the wall milliseconds of one call."""
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1e3


def compare(graph: Neo4jGraph, store: SqliteStore, names: list[str]) -> dict[str, float]:
    """Compare the traversal times of both graphs; exit if their results differ."""

    def traverse(source: Neo4jGraph | SqliteStore) -> object:
        graph_index = source if isinstance(source, Neo4jGraph) else source.graph
        return graph_index.traverse(GRANT, names, depth=2, limit=30)

    if traverse(graph) != traverse(store):
        raise SystemExit("the records and Neo4j returned different results")
    for _ in range(WARM_UP):
        traverse(graph)
    pairs = [
        (milliseconds(lambda: traverse(store)), milliseconds(lambda: traverse(graph)))
        for _ in range(ROUNDS)
    ]
    records, neo4j = (statistics.median(each) for each in zip(*pairs, strict=True))
    return {
        "records ms": round(records, 2),
        "neo4j ms": round(neo4j, 2),
        "ratio": round(neo4j / records, 1),
    }


def run(count: int) -> dict[str, object]:
    """Fill a store, mirror it to Neo4j and measure all kinds of names."""
    mirror.READ_TIMEOUT_SECONDS = 60.0  # no timeout during the measurement
    mirror.WRITE_TIMEOUT_SECONDS = 300.0
    with Neo4j() as server, tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "memory.db")
        fill(store, count)
        graph = Neo4jGraph(server.url, store)
        started = time.perf_counter()
        while graph.catch_up():
            pass
        seconds = time.perf_counter() - started
        facts = store.count_records(ADMIN)["fact"]
        results: dict[str, object] = {"facts": facts, "mirrored per second": round(facts / seconds)}
        for name, names in NAMES.items():
            results[name] = compare(graph, store, names)
        graph.close()
        store.close()
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="2,000 facts; results are not saved")
    quick = parser.parse_args().quick
    results = run(2_000 if quick else 20_000)
    print(json.dumps(results, indent=2))
    if not quick:
        RESULTS.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
