"""Speed of learning, end to end: messages per second and core through `observe_many` and `flush`.

    python bench/learning_speed.py --data ../shared/data

The messages are those of LoCoMo, in one room and one SQLite file, in batches of 100, learned by the
rules. The time is the CPU time of the process without what is loaded and compiled once. On cores
that others use, too, it is longer. Set OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from nexusmem import Nexus, Place
from nexusmem.evaluation.benchmarks import read_benchmark

BATCH = 100
START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def measure(messages: list[tuple[str, str]], file: Path) -> float:
    """Return the CPU seconds in which all messages are stored and learned."""
    now = [START]
    with Nexus.open(file, background=False, clock=lambda: now[0]) as nexus:
        first_use = nexus.workspace("warm-up")  # loads models and compiles patterns
        learn(first_use.room("chat"), messages[:BATCH])
        workspace = nexus.workspace("bench")
        room = workspace.room("chat", participants=sorted({who for who, _ in messages}))
        began = time.process_time()
        for first in range(0, len(messages), BATCH):
            now[0] += timedelta(hours=12)
            learn(room, messages[first : first + BATCH])
        return time.process_time() - began


def learn(room: Place, messages: Sequence[tuple[str, str]]) -> None:
    room.observe_many([{"speaker": who, "text": text} for who, text in messages])
    room.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with locomo")
    parser.add_argument("--messages", type=int, default=1000)
    options = parser.parse_args()
    turns = [
        (each.speaker.lower(), each.text)
        for conversation in read_benchmark("locomo", options.data)
        for each in conversation.messages
    ][: options.messages]
    with TemporaryDirectory() as folder:
        seconds = measure(turns, Path(folder) / "speed.db")
    characters = sum(len(text) for _, text in turns) / len(turns)
    print(f"messages\t{len(turns)}")
    print(f"characters per message\t{characters:.0f}")
    print(f"CPU seconds\t{seconds:.2f}")
    print(f"messages per second and core\t{len(turns) / seconds:.0f}")


if __name__ == "__main__":
    main()
