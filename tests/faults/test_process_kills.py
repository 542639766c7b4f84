"""Kills during writes: every acknowledged write exists once, and erased records stay erased."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faults.durability_checks import Acknowledged, check_promises

from nexusmem.stores.sqlite.store import SqliteStore

WRITER = Path(__file__).with_name("writer.py")
LONGEST_LIFE = 0.4  # seconds after the first write


def write_and_be_killed(folder: Path, threads: int, run: int) -> Acknowledged:
    acknowledged = folder / "acknowledged"
    command = [WRITER, folder / "memory.db", acknowledged, threads, run]
    with subprocess.Popen(
        [sys.executable, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as writer:
        assert writer.stdout
        assert writer.stderr
        assert writer.stdout.readline() == b"ready\n", writer.stderr.read().decode()
        try:
            writer.wait(timeout=random.Random(run).uniform(0, LONGEST_LIFE))
            pytest.fail(f"the writer ended by itself: {writer.stderr.read().decode()}")
        except subprocess.TimeoutExpired:
            writer.kill()
    return Acknowledged.read(acknowledged)


def check(folder: Path, promised: Acknowledged) -> None:
    path = folder / "memory.db"
    store = SqliteStore(path)
    check_promises(store, promised)
    store.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


@pytest.mark.requirement("X3", "X6")
def test_kill_loses_no_acknowledged_write(kill: int, tmp_path: Path) -> None:
    promised = write_and_be_killed(tmp_path, threads=8 if kill % 2 else 1, run=kill)

    check(tmp_path, promised)


@pytest.mark.slow
@pytest.mark.requirement("X3")
def test_repeated_kills_lose_nothing(tmp_path: Path) -> None:
    for run in range(100, 103):
        promised = write_and_be_killed(tmp_path, threads=4, run=run)

    assert len(promised.told) > 3
    check(tmp_path, promised)
