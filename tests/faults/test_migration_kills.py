"""`nexus migrate`, killed in the middle again and again, and then let finish."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from nexus.core.access import administrator_grant
from nexus.core.moving import Shelf
from nexus.core.protocols import Store
from nexus.core.records import Tombstone
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.samples import ACME, LATER, NOON, SPACE, draft, event

EVENTS = 3_000
KILLS = 6


def filled(path: Path) -> SqliteStore:
    """Events, memories with vectors, and some that were erased."""
    store = SqliteStore(path)
    told = [
        event(str(n), f"Message {n} about tea, coffee and {n % 97}.", at=NOON + timedelta(n))
        for n in range(EVENTS)
    ]
    ids = [r.event_id for r in store.ledger.append(ACME, told, recorded_at=NOON)]
    drafts = [draft(id, text=each.text) for id, each in zip(ids, told, strict=True)]
    kept = store.memories.put(ACME, drafts)
    numbers = np.random.default_rng(1).normal(size=(len(kept), SPACE.dimension))
    units = (numbers / np.linalg.norm(numbers, axis=1, keepdims=True)).astype(np.float32)
    store.vectors.put(ACME, SPACE, {m.id: row for m, row in zip(kept, units, strict=True)})
    gone = ids[::100]
    stones = [Tombstone(kind="event", digest=id, at=LATER) for id in gone]
    store.eraser.erase(ACME, events=gone, memories=[], tombstones=stones)
    return store


def migrating(source: Path, target: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "nexus", "migrate", str(source), target, "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def everything(store: Store) -> dict[str, list[str]]:
    mover, grant = store.mover, administrator_grant(ACME)
    found: dict[str, list[str]] = {}
    for shelf in Shelf:
        rows = mover.read(grant, shelf, limit=10 * EVENTS)
        found[shelf.value] = sorted(row.line for row in rows)
    return found


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.requirement("E31", "X10")
def test_killed_in_the_middle_it_goes_on_and_nothing_is_there_twice(tmp_path: Path) -> None:
    source, target = tmp_path / "old.db", tmp_path / "new.db"
    store = filled(source)
    started = time.monotonic()
    first = migrating(source, str(tmp_path / "whole.db"))
    first.communicate(timeout=120)
    whole = time.monotonic() - started
    delays = random.Random(7)
    killed = 0
    for _ in range(KILLS):
        run = migrating(source, str(target))
        try:
            run.wait(timeout=whole * delays.uniform(0.3, 0.7))
        except subprocess.TimeoutExpired:
            run.kill()
            killed += 1
        run.communicate()

    last = migrating(source, str(target))
    out, said = last.communicate(timeout=120)

    assert last.returncode == 0, said
    assert killed >= 5
    moved = SqliteStore(target)
    assert everything(moved) == everything(store)
    assert moved.ledger.verify(ACME) == store.ledger.verify(ACME)
    assert json.loads(out)["records"]["events"] == EVENTS
    moved.close()
    store.close()
