"""Nobody can tell what somebody else wrote in private, whichever store keeps it.

A longer hunt: `NEXUS_LEAK_SECONDS=600 pytest tests/leaks/test_every_store.py`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.conformance.conftest import STORES, Kind

from nexus.core.protocols import Store
from nexus.testing.leaks import run_leaktest

SECONDS = float(os.environ.get("NEXUS_LEAK_SECONDS", "15"))
LONGEST = max(SECONDS, 60.0)  # in the store that nearly everybody has
FEWEST = 100  # observations, even on a slow machine


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in memory where there is one: this test is not about disks."""
    shared = Path("/dev/shm")
    with TemporaryDirectory(dir=shared if shared.is_dir() else None) as name:
        yield Path(name)


@pytest.mark.slow
@pytest.mark.timeout(10 * LONGEST + 120)
@pytest.mark.requirement("X2", "A12")
@pytest.mark.parametrize("name", STORES)
def test_nobody_notices_a_secret(name: str, folder: Path, request: pytest.FixtureRequest) -> None:
    kind = Kind(name, folder, request.getfixturevalue)

    def discard(store: Store) -> None:
        for file in store.files()[:1]:
            shutil.rmtree(file.parent)

    seconds = LONGEST if name == "sqlite" else SECONDS
    report = run_leaktest(seconds, kind.make, seed=11, reopen=kind.reopen, discard=discard)

    print(report)
    assert report.clean, "\n".join(map(str, report.violations))
    assert report.observations > FEWEST
