"""What encrypting a SQLite file costs: the same work on a plain and on an encrypted one.

    python bench/encrypted.py                 2,000 messages, 300 questions
    python bench/encrypted.py --messages 9000

Both kinds take turns, so that whatever else the machine does happens to both, and processor time
is counted, not the clock. Ratios are of an encrypted file to a plain one. `cold` is a question to
a memory that was opened for it: nothing of the file is in the process yet.
"""

from __future__ import annotations

import argparse
import json
import secrets
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from chatter import Chatter
from nexus import Nexus, Place
from nexus.config import Settings
from nexus.stores.sqlite.store import SqliteStore

RESULTS = Path(__file__).parent / "results" / "encrypted.json"
BATCH = 100
KEYS = {"plain": None, "encrypted": secrets.token_hex(32)}

Took = dict[str, dict[str, list[float]]]  # work → kind → processor time of each, in ms


def opened(path: Path, key: str | None) -> Nexus:
    return Nexus.open(SqliteStore(path, key=key), settings=Settings(), background=False)


def room_of(nexus: Nexus) -> Place:
    return nexus.workspace("acme").room("design", participants=["alice", "bob"])


def timed(took: Took, work: str, kind: str, call: Callable[[], object], times: int = 1) -> None:
    begun = time.process_time()
    call()
    took[work][kind].append(1_000 * (time.process_time() - begun) / times)


def write(took: Took, rooms: dict[str, Place], messages: int) -> None:
    chatter = Chatter(5)
    for start in range(0, messages, BATCH):
        texts = [chatter.message() for _ in range(BATCH)]
        for kind, room in rooms.items():
            timed(took, "observe", kind, partial(said, room, texts, start), BATCH)
            timed(took, "learn", kind, room.flush, BATCH)


def said(room: Place, texts: list[str], start: int) -> None:
    for number, text in enumerate(texts, start):
        room.observe(("alice", "bob")[number % 2], text, key=str(number))


def ask(took: Took, rooms: dict[str, Place], questions: int) -> None:
    chatter = Chatter(6)
    for _ in range(questions):
        question = chatter.message()
        for kind, room in rooms.items():
            timed(took, "recall", kind, partial(room.recall, question))


def ask_cold(took: Took, folder: Path, times: int) -> None:
    for _ in range(times):
        for kind, key in KEYS.items():
            timed(took, "cold", kind, partial(cold, folder / kind, key))


def cold(path: Path, key: str | None) -> None:
    with opened(path, key) as nexus:
        room_of(nexus).recall("Which database did we choose?")


def report(took: Took, messages: int, sizes: dict[str, int]) -> dict[str, object]:
    rows = {work: {kind: mean(times) for kind, times in by.items()} for work, by in took.items()}
    table = Table("work", "plain, CPU ms", "encrypted, CPU ms", "ratio")
    for work, row in rows.items():
        ratio = row["encrypted"] / row["plain"]
        table.add_row(work, *(f"{row[kind]:.3f}" for kind in KEYS), f"{ratio:.2f}")
    Console().print(table)
    ratios = {work: round(row["encrypted"] / row["plain"], 2) for work, row in rows.items()}
    size = round(sizes["encrypted"] / sizes["plain"], 3)
    print(f"size on disk: {size:.3f} of the plain file")
    return {"messages": messages, "cpu_ms": rows, "ratios": ratios, "size_ratio": size}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=2_000)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--cold", type=int, default=20)
    given = parser.parse_args()
    took: Took = defaultdict(lambda: defaultdict(list))
    with TemporaryDirectory() as name:
        folder = Path(name)
        nexuses = {kind: opened(folder / kind, key) for kind, key in KEYS.items()}
        rooms = {kind: room_of(nexus) for kind, nexus in nexuses.items()}
        write(took, rooms, given.messages)
        ask(took, rooms, given.questions)
        for nexus in nexuses.values():
            nexus.close()
        ask_cold(took, folder, given.cold)
        sizes = {kind: (folder / kind).stat().st_size for kind in KEYS}
    RESULTS.write_text(json.dumps(report(took, given.messages, sizes), indent=2) + "\n")


if __name__ == "__main__":
    main()
