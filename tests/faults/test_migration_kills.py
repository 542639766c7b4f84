"""`nexus migrate`, killed in the middle again and again, and then let finish."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from tests.servers.postgres import Postgres

from nexus.config import StoreSettings
from nexus.core.access import administrator_grant
from nexus.core.moving import Shelf
from nexus.core.protocols import Store
from nexus.core.records import Tombstone
from nexus.stores.sqlite.store import SqliteStore
from nexus.storing import make_records
from nexus.testing.samples import ACME, LATER, NOON, SPACE, draft, event

EVENTS = 1_500
KILLS = 6
ATTEMPTS = 24  # one that is let run too long ends by itself


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


def opened(address: str) -> Store:
    return make_records(StoreSettings(url=address))


@pytest.fixture(params=["sqlite", "postgres"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Two addresses to move to: one to measure, one to be disturbed at."""
    if request.param == "sqlite":
        yield str(tmp_path / "whole.db"), str(tmp_path / "new.db")
        return
    server: Postgres = request.getfixturevalue("postgres_server")
    whole, new = server.database(), server.database()
    yield whole.url, new.url
    whole.drop()
    new.drop()


@pytest.mark.slow
@pytest.mark.requirement("E31", "X10")
def test_killed_in_the_middle_it_goes_on_and_nothing_is_there_twice(
    tmp_path: Path, places: tuple[str, str]
) -> None:
    source, (measured, target) = tmp_path / "old.db", places
    store = filled(source)
    started = time.monotonic()
    migrating(source, measured).communicate(timeout=120)
    whole = time.monotonic() - started
    delays = random.Random(7)
    killed = 0
    for _ in range(ATTEMPTS):
        run = migrating(source, target)
        try:
            run.wait(timeout=whole * delays.uniform(0.25, 0.65))
        except subprocess.TimeoutExpired:
            run.kill()
            killed += 1
        run.communicate()
        if killed == KILLS:
            break

    last = migrating(source, target)
    out, said = last.communicate(timeout=120)

    assert last.returncode == 0, said
    assert killed == KILLS
    moved = opened(target)
    assert everything(moved) == everything(store)
    assert moved.ledger.verify(ACME) == store.ledger.verify(ACME)
    assert json.loads(out)["records"]["events"] == EVENTS
    moved.close()
    store.close()
