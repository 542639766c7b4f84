"""Leak test: a few runs that are the same on every machine.

`test_every_store` runs longer and covers the other stores.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from nexusmem.core.protocols.store import Store
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.leaks.state_machine import run_leaktest

RUNS = 5
PATIENCE = 60  # seconds


@pytest.mark.requirement("X2", "A12")
def test_sqlite_has_no_leak(tmp_path: Path) -> None:
    numbers = itertools.count()

    def make() -> Store:
        return SqliteStore(tmp_path / f"{next(numbers)}.db")

    def reopen(store: Store) -> Store:
        store.close()
        return SqliteStore(store.list_files()[0])

    report = run_leaktest(PATIENCE, make, seed=2, reopen=reopen, max_runs=RUNS)

    print(report)
    assert report.is_clean, "\n".join(map(str, report.violations))
    assert report.observations > 100
