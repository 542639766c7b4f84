"""What sealing contents costs in Postgres: the same work on a plain and an encrypted database.

    python bench/sealed.py                 1,000 messages, 200 questions
    python bench/sealed.py --messages 9000

Both take turns, so that whatever else the machine does happens to both. Processor time of this
process is counted: sealing is done here, and not on the server. Ratios are of an encrypted
database to a plain one. `cold` is a question to a memory that was opened for it; opening stretches
the key, which is slow on purpose.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from functools import partial
from pathlib import Path
from statistics import mean

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))  # the tests' servers

from tests.servers.postgres import Postgres

from encrypted import KEYS, Took, ask, room_of, timed, write
from nexus import Nexus
from nexus.config import Settings
from nexus.stores.postgres.store import PostgresStore

RESULTS = Path(__file__).parent / "results" / "sealed.json"
SIZE = """SELECT sum(pg_total_relation_size(oid)) FROM pg_class
           WHERE relnamespace = %s::regnamespace"""


def opened(url: str, key: str | None) -> Nexus:
    return Nexus.open(PostgresStore(url, key=key), settings=Settings(), background=False)


def cold(url: str, key: str | None) -> None:
    with opened(url, key) as nexus:
        room_of(nexus).recall("Which database did we choose?")


def report(took: Took) -> dict[str, dict[str, float]]:
    rows = {work: {kind: mean(times) for kind, times in by.items()} for work, by in took.items()}
    table = Table("work", "plain, CPU ms", "sealed, CPU ms", "ratio")
    for row in rows.values():
        row["ratio"] = round(row["encrypted"] / row["plain"], 2)
    for work, row in rows.items():
        table.add_row(work, *(f"{row[kind]:.3f}" for kind in KEYS), f"{row['ratio']:.2f}")
    Console().print(table)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=1_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--cold", type=int, default=5)
    given = parser.parse_args()
    took: Took = defaultdict(lambda: defaultdict(list))
    with Postgres() as server:
        databases = {kind: server.database() for kind in KEYS}
        nexuses = {kind: opened(databases[kind].url, key) for kind, key in KEYS.items()}
        rooms = {kind: room_of(nexus) for kind, nexus in nexuses.items()}
        write(took, rooms, given.messages)
        ask(took, rooms, given.questions)
        for nexus in nexuses.values():
            nexus.close()
        for _ in range(given.cold):
            for kind, key in KEYS.items():
                timed(took, "cold", kind, partial(cold, databases[kind].url, key))
        sizes = {kind: int(base.run(SIZE, "nexus")[0][0]) for kind, base in databases.items()}
    size = round(sizes["encrypted"] / sizes["plain"], 2)
    print(f"size on the server: {size:.2f} of the plain database")
    told = {"messages": given.messages, "cpu_ms": report(took), "size_ratio": size}
    RESULTS.write_text(json.dumps(told, indent=2) + "\n")


if __name__ == "__main__":
    main()
