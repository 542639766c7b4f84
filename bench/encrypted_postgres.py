"""Postgres content encryption overhead: the same work on a plain and an encrypted database.

    python bench/encrypted_postgres.py                 1,000 messages, 200 questions
    python bench/encrypted_postgres.py --messages 9000

Both databases take turns, so that other load on the machine affects both. Times are CPU times of
this process, because contents are encrypted by the client and not by the server. Ratios are
encrypted to plain. `cold` is a question to a client that was just opened. Opening derives the
key with a deliberately slow function.
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

sys.path.insert(0, str(Path(__file__).parents[1]))  # for tests.servers

from tests.servers.postgres import Postgres

from encrypted_sqlite import KEYS, Times, ask, get_room, record_time, write
from nexusmem import Nexus
from nexusmem.config.settings import Settings
from nexusmem.stores.postgres.store import PostgresStore

RESULTS = Path(__file__).parent / "results" / "sealed.json"
SIZE = """SELECT sum(pg_total_relation_size(oid)) FROM pg_class
           WHERE relnamespace = %s::regnamespace"""


def open_encrypted(url: str, key: str | None) -> Nexus:
    return Nexus.open(PostgresStore(url, key=key), settings=Settings(), background=False)


def recall_cold(url: str, key: str | None) -> None:
    with open_encrypted(url, key) as nexus:
        get_room(nexus).recall("Which database did we choose?")


def report(times_by_work: Times) -> dict[str, dict[str, float]]:
    rows = {
        work: {kind: mean(times) for kind, times in by_kind.items()}
        for work, by_kind in times_by_work.items()
    }
    table = Table("operation", "plain, CPU ms", "encrypted, CPU ms", "ratio")
    for row in rows.values():
        row["ratio"] = round(row["encrypted"] / row["plain"], 2)
    for work, row in rows.items():
        table.add_row(work, *(f"{row[kind]:.3f}" for kind in KEYS), f"{row['ratio']:.2f}")
    Console().print(table)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=1_000, help="messages to write")
    parser.add_argument("--questions", type=int, default=200, help="questions to recall")
    parser.add_argument("--cold", type=int, default=5, help="questions to new clients")
    options = parser.parse_args()
    times_by_work: Times = defaultdict(lambda: defaultdict(list))
    with Postgres() as server:
        databases = {kind: server.database() for kind in KEYS}
        nexuses = {kind: open_encrypted(databases[kind].url, key) for kind, key in KEYS.items()}
        rooms = {kind: get_room(nexus) for kind, nexus in nexuses.items()}
        write(times_by_work, rooms, options.messages)
        ask(times_by_work, rooms, options.questions)
        for nexus in nexuses.values():
            nexus.close()
        for _ in range(options.cold):
            for kind, key in KEYS.items():
                record_time(
                    times_by_work, "cold", kind, partial(recall_cold, databases[kind].url, key)
                )
        sizes = {
            kind: int(database.run(SIZE, "nexus")[0][0]) for kind, database in databases.items()
        }
    size = round(sizes["encrypted"] / sizes["plain"], 2)
    print(f"size on the server: {size:.2f} times the plain database")
    result = {"messages": options.messages, "cpu_ms": report(times_by_work), "size_ratio": size}
    RESULTS.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
