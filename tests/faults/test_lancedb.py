"""Kills during replication to LanceDB."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from nexusmem.stores.external.lancedb.tables import LanceTables, TableId
from nexusmem.stores.external.lancedb.vectors import LanceVectors
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.samples import ACME, ADMIN, TEST_PROFILE
from nexusmem.testing.suites.vectors import add_memories, vector_clusters

if not find_spec("lancedb"):  # importing lancedb takes seconds
    pytest.skip("the extra lancedb is not installed", allow_module_level=True)

FOLLOWER = Path(__file__).with_name("lancedb_replicator.py")
COUNT = 900
LONGEST_LIFE = 0.6  # seconds after the first batch


@pytest.fixture
def folder() -> Iterator[Path]:
    shared = Path("/dev/shm")
    with TemporaryDirectory(dir=shared if shared.is_dir() else None) as name:
        yield Path(name)


def follow_and_be_killed(folder: Path, run: int) -> None:
    command = [FOLLOWER, folder / "memory.db", folder / "vectors", 10]
    with subprocess.Popen(
        [sys.executable, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as program:
        assert program.stdout
        assert program.stderr
        assert program.stdout.readline() == b"ready\n", program.stderr.read().decode()
        try:
            program.wait(timeout=random.Random(run).uniform(0, LONGEST_LIFE))
            pytest.fail(f"it ended by itself: {program.stderr.read().decode()}")
        except subprocess.TimeoutExpired:
            program.kill()


def check(records: SqliteStore, vectors: LanceVectors, run: int) -> None:
    for asked in vector_clusters(COUNT, TEST_PROFILE.dimension)[run::97]:
        for limit in (5, 200):
            found = vectors.find_nearest(ADMIN, TEST_PROFILE, asked, limit=limit)
            assert found == records.vectors.find_nearest(ADMIN, TEST_PROFILE, asked, limit=limit)


@pytest.mark.slow
@pytest.mark.requirement("C2", "X3")
def test_kill_during_replication_does_not_change_results(folder: Path, kills: int) -> None:
    records = SqliteStore(folder / "memory.db")
    ids = add_memories(records, COUNT)
    rows = vector_clusters(COUNT, TEST_PROFILE.dimension)
    records.vectors.put(ACME, TEST_PROFILE, dict(zip(ids, rows, strict=True)))
    found_behind = 0
    for run in range(kills):
        follow_and_be_killed(folder, run)
        vectors = LanceVectors(folder / "vectors", records, min_documents=10)
        reached = LanceTables(folder / "vectors").load_progress(TableId(1, 1, 1))
        found_behind += reached is None or reached.rows < COUNT
        check(records, vectors, run)

        if run % 2:
            while vectors.catch_up():
                pass
            check(records, vectors, run)
            reached = LanceTables(folder / "vectors").load_progress(TableId(1, 1, 1))
            assert reached
            assert reached.rows == COUNT
            stored = LanceTables(folder / "vectors").load_numbers(TableId(1, 1, 1), reached)
            assert len(np.unique(stored)) == COUNT

    assert found_behind  # otherwise the test proves nothing
    records.close()
