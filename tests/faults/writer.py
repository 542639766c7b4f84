"""Writes until it is killed: writer.py FILE ACKNOWLEDGED THREADS RUN

Each acknowledged write is logged to a second file, with fsync:

    told KEY · forgetting KEY · forgot KEY
"""

from __future__ import annotations

import os
import random
import sys
import threading
from itertools import count

from nexusmem import Nexus
from nexusmem.config.settings import Settings
from nexusmem.core.records import event_id
from nexusmem.embedders.feature_hash import HashingEmbedder


def note(file: int, what: str, key: str) -> None:
    os.write(file, f"{what} {key}\n".encode())
    os.fsync(file)


def write(nexus: Nexus, notes: int, name: str) -> None:
    numbers = random.Random(name)
    workspace = nexus.workspace("acme")
    room = workspace.room("design", participants=["alice"])
    told: list[str] = []
    for number in count():
        key = f"{name}-{number}"
        text = f"message {key} about tea and herons"
        if numbers.random() < 0.3:
            room.remember(text, key=key)
        else:
            room.observe("alice", text, key=key)
        note(notes, "told", key)
        told.append(key)
        chance = numbers.random()
        if chance < 0.05:
            room.flush()
        elif chance < 0.15:
            gone = told.pop(numbers.randrange(len(told)))
            note(notes, "forgetting", gone)
            workspace.forget(event=event_id(room.viewer.home, gone))
            note(notes, "forgot", gone)


def main() -> None:
    path, acknowledged, threads, run = sys.argv[1:]
    notes = os.open(acknowledged, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    nexus = Nexus.open(path, settings=Settings(), embedder=HashingEmbedder())
    print("ready", flush=True)
    writers = [
        threading.Thread(target=write, args=(nexus, notes, f"{run}-{number}"))
        for number in range(int(threads))
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()


main()
