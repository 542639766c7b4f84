"""SQLite encryption overhead: the same work on a plain file and on an encrypted file.

    python bench/encrypted_sqlite.py                 2,000 messages, 300 questions
    python bench/encrypted_sqlite.py --messages 9000

Both files take turns, so that other load on the machine affects both. Times are CPU times.
Ratios are encrypted to plain. `cold` is a question to a client that was just opened, so nothing
of the file is cached in the process.
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

from chat_generator import ChatGenerator
from nexusmem import Nexus, Place
from nexusmem.config.settings import Settings
from nexusmem.stores.sqlite.store import SqliteStore

RESULTS = Path(__file__).parent / "results" / "encrypted.json"
BATCH = 100
KEYS = {"plain": None, "encrypted": secrets.token_hex(32)}

Times = dict[str, dict[str, list[float]]]  # operation → kind → CPU milliseconds of each call


def open_encrypted(path: Path, key: str | None) -> Nexus:
    return Nexus.open(SqliteStore(path, key=key), settings=Settings(), background=False)


def get_room(nexus: Nexus) -> Place:
    return nexus.workspace("acme").room("design", participants=["alice", "bob"])


def record_time(
    times_by_work: Times, work: str, kind: str, call: Callable[[], object], times: int = 1
) -> None:
    """Append the CPU milliseconds of `call`, divided by `times`, to the results."""
    started = time.process_time()
    call()
    times_by_work[work][kind].append(1_000 * (time.process_time() - started) / times)


def write(times_by_work: Times, rooms: dict[str, Place], messages: int) -> None:
    """Observe and learn `messages` messages in both rooms, in batches."""
    chat = ChatGenerator(5)
    for start in range(0, messages, BATCH):
        texts = [chat.make_message() for _ in range(BATCH)]
        for kind, room in rooms.items():
            record_time(
                times_by_work, "observe", kind, partial(observe_batch, room, texts, start), BATCH
            )
            record_time(times_by_work, "learn", kind, room.flush, BATCH)


def observe_batch(room: Place, texts: list[str], start: int) -> None:
    for number, text in enumerate(texts, start):
        room.observe(("alice", "bob")[number % 2], text, key=str(number))


def ask(times_by_work: Times, rooms: dict[str, Place], questions: int) -> None:
    """Recall `questions` questions in both rooms."""
    chat = ChatGenerator(6)
    for _ in range(questions):
        question = chat.make_message()
        for kind, room in rooms.items():
            record_time(times_by_work, "recall", kind, partial(room.recall, question))


def ask_cold(times_by_work: Times, folder: Path, times: int) -> None:
    """Ask a question in a newly opened file, `times` times for each kind."""
    for _ in range(times):
        for kind, key in KEYS.items():
            record_time(times_by_work, "cold", kind, partial(recall_cold, folder / kind, key))


def recall_cold(path: Path, key: str | None) -> None:
    with open_encrypted(path, key) as nexus:
        get_room(nexus).recall("Which database did we choose?")


def report(times_by_work: Times, messages: int, sizes: dict[str, int]) -> dict[str, object]:
    rows = {
        work: {kind: mean(times) for kind, times in by_kind.items()}
        for work, by_kind in times_by_work.items()
    }
    table = Table("operation", "plain, CPU ms", "encrypted, CPU ms", "ratio")
    for work, row in rows.items():
        ratio = row["encrypted"] / row["plain"]
        table.add_row(work, *(f"{row[kind]:.3f}" for kind in KEYS), f"{ratio:.2f}")
    Console().print(table)
    ratios = {work: round(row["encrypted"] / row["plain"], 2) for work, row in rows.items()}
    size = round(sizes["encrypted"] / sizes["plain"], 3)
    print(f"size on disk: {size:.3f} times the plain file")
    return {"messages": messages, "cpu_ms": rows, "ratios": ratios, "size_ratio": size}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=2_000, help="messages to write")
    parser.add_argument("--questions", type=int, default=300, help="questions to recall")
    parser.add_argument("--cold", type=int, default=20, help="questions to newly opened files")
    options = parser.parse_args()
    times_by_work: Times = defaultdict(lambda: defaultdict(list))
    with TemporaryDirectory() as name:
        folder = Path(name)
        nexuses = {kind: open_encrypted(folder / kind, key) for kind, key in KEYS.items()}
        rooms = {kind: get_room(nexus) for kind, nexus in nexuses.items()}
        write(times_by_work, rooms, options.messages)
        ask(times_by_work, rooms, options.questions)
        for nexus in nexuses.values():
            nexus.close()
        ask_cold(times_by_work, folder, options.cold)
        sizes = {kind: (folder / kind).stat().st_size for kind in KEYS}
    RESULTS.write_text(json.dumps(report(times_by_work, options.messages, sizes), indent=2) + "\n")


if __name__ == "__main__":
    main()
