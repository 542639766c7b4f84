"""Nobody can tell what somebody else wrote in private."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.servers.windows import beside_redis

from nexus.core.protocols import Store
from nexus.stores.inprocess import InProcessStore
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.leaks import LeakReport, run_leaktest


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in memory where there is one: this test is not about disks."""
    shared = Path("/dev/shm")
    with TemporaryDirectory(dir=shared if shared.is_dir() else None) as name:
        yield Path(name)


def over_sqlite(
    seconds: float, folder: Path, seed: int, open_file: Callable[[Path], Store] = SqliteStore
) -> LeakReport:
    numbers = itertools.count()

    def reopen(store: Store) -> Store:
        store.close()
        return open_file(store.files()[0])

    def discard(store: Store) -> None:
        for file in store.files():
            file.unlink()

    return run_leaktest(
        seconds,
        lambda: open_file(folder / f"{next(numbers)}.db"),
        seed=seed,
        reopen=reopen,
        discard=discard,
    )


def check(report: LeakReport) -> None:
    print(report)
    assert report.clean, "\n".join(map(str, report.violations))
    assert report.observations > 100  # a slow machine gets less far


@pytest.mark.requirement("X2", "A12")
def test_nobody_notices_a_secret_in_the_reference() -> None:
    check(run_leaktest(5, InProcessStore, seed=1))


@pytest.mark.requirement("X2", "A12")
def test_nobody_notices_a_secret_in_sqlite(folder: Path) -> None:
    check(over_sqlite(5, folder, seed=2))


@pytest.mark.requirement("X2", "A12")
@pytest.mark.slow
@pytest.mark.parametrize("seconds", [3, 60])
def test_nobody_notices_a_secret_with_the_window_in_redis(
    folder: Path, redis_url: str, seconds: float
) -> None:
    def open_file(path: Path) -> Store:
        return beside_redis(SqliteStore(path), redis_url, f"{folder.name} {path.stem}")

    check(over_sqlite(seconds, folder, 4, open_file))


@pytest.mark.slow
@pytest.mark.requirement("X2", "A12")
@pytest.mark.parametrize("vectors", ["plain", "sqlite-vec"])
def test_nobody_notices_a_secret_in_sqlite_for_a_minute(folder: Path, vectors: str) -> None:
    if vectors == "sqlite-vec":
        pytest.importorskip("sqlite_vec", reason="the extra sqlite-vec is not installed")
    check(over_sqlite(60, folder, 3, partial(SqliteStore, vectors=vectors)))
