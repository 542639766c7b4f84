"""Writes to a server until it is killed: client.py URL ACKNOWLEDGED THREADS RUN

Like `writer.py`, but the server restarts. Failed writes are repeated with the same key until they
are acknowledged.
"""

from __future__ import annotations

import os
import random
import sys
import threading
import time
from collections.abc import Callable
from itertools import count

from nexusmem import Nexus
from nexusmem.config.settings import Settings
from nexusmem.core.errors import NotFound, StoreUnavailable
from nexusmem.core.records import event_id
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.stores.postgres.store import PostgresStore

BREATH = 0.002  # seconds between two writes


def note(file: int, what: str, key: str) -> None:
    os.write(file, f"{what} {key}\n".encode())
    os.fsync(file)


def patiently(work: Callable[[], object]) -> object:
    while True:
        try:
            return work()
        except StoreUnavailable:
            time.sleep(0.02)


def write(nexus: Nexus, notes: int, name: str) -> None:
    numbers = random.Random(name)
    workspace = nexus.workspace("acme")
    room = workspace.room("design", participants=["alice"])
    told: list[str] = []
    for number in count():
        key = f"{name}-{number}"
        text = f"message {key} about tea and herons"
        if numbers.random() < 0.3:
            patiently(lambda: room.remember(text, key=key))  # called at once  # noqa: B023
        else:
            patiently(lambda: room.observe("alice", text, key=key))  # noqa: B023
        note(notes, "told", key)
        told.append(key)
        if numbers.random() < 0.02:
            gone = told.pop(numbers.randrange(len(told)))
            note(notes, "forgetting", gone)
            patiently(lambda: forgotten(workspace, event_id(room.viewer.home, gone)))  # noqa: B023
            note(notes, "forgot", gone)
        time.sleep(BREATH)


def forgotten(workspace, event: str) -> None:
    """Forget an event; an unacknowledged attempt may have erased it already."""
    try:
        workspace.forget(event=event)
    except NotFound:
        return


def main() -> None:
    url, acknowledged, threads, run = sys.argv[1:]
    notes = os.open(acknowledged, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    nexus = patiently(
        lambda: Nexus.open(PostgresStore(url), settings=Settings(), embedder=HashingEmbedder())
    )
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
