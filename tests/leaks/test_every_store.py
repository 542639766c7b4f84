"""Leak test in every store.

A longer run: `NEXUS_LEAK_SECONDS=600 pytest tests/leaks/test_every_store.py`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.conformance.conftest import STORES, Kind

from nexusmem.core.protocols.store import Store
from nexusmem.testing.leaks.state_machine import run_leaktest

SECONDS = float(os.environ.get("NEXUS_LEAK_SECONDS", "15"))
LONGEST = max(SECONDS, 60.0)  # in the default store
FEWEST = 100  # minimum number of observations, also on a slow machine


@pytest.fixture
def folder() -> Iterator[Path]:
    """Yield a folder on a RAM disk if there is one: this test does not test disks."""
    shared = Path("/dev/shm")
    with TemporaryDirectory(dir=shared if shared.is_dir() else None) as name:
        yield Path(name)


@pytest.mark.slow
@pytest.mark.timeout(10 * LONGEST + 120)
@pytest.mark.requirement("X2", "A12")
@pytest.mark.parametrize("name", STORES)
def test_store_has_no_leak(name: str, folder: Path, request: pytest.FixtureRequest) -> None:
    kind = Kind(name, folder, request.getfixturevalue)

    def discard(store: Store) -> None:
        for file in store.list_files()[:1]:
            shutil.rmtree(file.parent)

    seconds = LONGEST if name == "sqlite" else SECONDS
    report = run_leaktest(seconds, kind.make, seed=11, reopen=kind.reopen, discard=discard)

    print(report)
    assert report.is_clean, "\n".join(map(str, report.violations))
    assert report.observations > FEWEST
