"""Nobody can tell what somebody else wrote in private: a few runs, the same on every machine.

`test_every_store` hunts for longer, and in the other stores.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from nexus.core.protocols import Store
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.leaks import run_leaktest

RUNS = 5
PATIENCE = 60  # seconds


@pytest.mark.requirement("X2", "A12")
def test_nobody_notices_a_secret_in_sqlite(tmp_path: Path) -> None:
    numbers = itertools.count()

    def make() -> Store:
        return SqliteStore(tmp_path / f"{next(numbers)}.db")

    def reopen(store: Store) -> Store:
        store.close()
        return SqliteStore(store.files()[0])

    report = run_leaktest(PATIENCE, make, seed=2, reopen=reopen, most_runs=RUNS)

    print(report)
    assert report.clean, "\n".join(map(str, report.violations))
    assert report.observations > 100
