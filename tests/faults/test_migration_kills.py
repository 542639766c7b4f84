"""Kills of `nexus migrate`, which resumes."""

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

from nexusmem.config.settings import StoreSettings
from nexusmem.core.access import administrator_grant
from nexusmem.core.protocols.bulk_copy import RecordType
from nexusmem.core.protocols.store import Store
from nexusmem.core.records import Tombstone
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.samples import ACME, LATER, NOON, TEST_PROFILE, make_draft, make_event
from nexusmem.wiring.stores import make_records

EVENTS = 1_500
KILLS = 6
ATTEMPTS = 24  # a longer run would finish


def fill_store(path: Path) -> SqliteStore:
    """Write events, memories with vectors, and erase some of them."""
    store = SqliteStore(path)
    told = [
        make_event(str(n), f"Message {n} about tea, coffee and {n % 97}.", at=NOON + timedelta(n))
        for n in range(EVENTS)
    ]
    ids = [r.event_id for r in store.ledger.append(ACME, told, recorded_at=NOON)]
    drafts = [make_draft(id, text=each.text) for id, each in zip(ids, told, strict=True)]
    kept = store.memories.put(ACME, drafts)
    numbers = np.random.default_rng(1).normal(size=(len(kept), TEST_PROFILE.dimension))
    units = (numbers / np.linalg.norm(numbers, axis=1, keepdims=True)).astype(np.float32)
    store.vectors.put(ACME, TEST_PROFILE, {m.id: row for m, row in zip(kept, units, strict=True)})
    gone = ids[::100]
    stones = [Tombstone(kind="event", digest=id, at=LATER) for id in gone]
    store.eraser.erase(ACME, events=gone, memories=[], tombstones=stones)
    return store


def migrating(source: Path, target: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "nexusmem", "migrate", str(source), target, "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def everything(store: Store) -> dict[str, list[str]]:
    bulk_copy, grant = store.bulk_copy, administrator_grant(ACME)
    found: dict[str, list[str]] = {}
    for shelf in RecordType:
        rows = bulk_copy.read_rows(grant, shelf, limit=10 * EVENTS)
        found[shelf.value] = sorted(row.line for row in rows)
    return found


def opened(address: str) -> Store:
    return make_records(StoreSettings(url=address))


@pytest.fixture(params=["sqlite", "postgres"])
def targets(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Return two target URLs: one to measure, one for the kills."""
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
def test_killed_migration_resumes_without_duplicates(
    tmp_path: Path, targets: tuple[str, str]
) -> None:
    source, (measured, target) = tmp_path / "old.db", targets
    store = fill_store(source)
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
