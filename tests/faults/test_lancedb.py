"""A program is killed while it follows the records: no answer changes, and it is made good."""

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

from nexus.stores.lancedb.tables import Place, Tables
from nexus.stores.lancedb.vectors import LanceVectors
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.samples import ACME, ADMIN, SPACE
from nexus.testing.suites.vectors import crowd, spread_out

if not find_spec("lancedb"):  # loading it takes seconds, which the fast run need not wait for
    pytest.skip("the extra lancedb is not installed", allow_module_level=True)

FOLLOWER = Path(__file__).with_name("follower.py")
COUNT = 900
LONGEST_LIFE = 0.6  # seconds, after its first batch


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
    for asked in spread_out(COUNT, SPACE.dimension)[run::97]:
        for limit in (5, 200):
            found = vectors.nearest(ADMIN, SPACE, asked, limit=limit)
            assert found == records.vectors.nearest(ADMIN, SPACE, asked, limit=limit)


@pytest.mark.slow
@pytest.mark.requirement("C2", "X3")
def test_a_kill_while_following_changes_no_answer(folder: Path, kills: int) -> None:
    records = SqliteStore(folder / "memory.db")
    ids = crowd(records, COUNT)
    rows = spread_out(COUNT, SPACE.dimension)
    records.vectors.put(ACME, SPACE, dict(zip(ids, rows, strict=True)))
    found_behind = 0
    for run in range(kills):
        follow_and_be_killed(folder, run)
        vectors = LanceVectors(folder / "vectors", records, large=10)
        reached = Tables(folder / "vectors").reached(Place(1, 1, 1))
        found_behind += reached is None or reached.rows < COUNT
        check(records, vectors, run)

        if run % 2:
            while vectors.follow():
                pass
            check(records, vectors, run)
            reached = Tables(folder / "vectors").reached(Place(1, 1, 1))
            assert reached
            assert reached.rows == COUNT
            stored = Tables(folder / "vectors").numbers(Place(1, 1, 1), reached)
            assert len(np.unique(stored)) == COUNT

    assert found_behind  # else nothing was shown
    records.close()
