"""Shared VACUUM: each caller gets a run that started after its call."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import pytest

from nexusmem.core.errors import StoreUnavailable
from nexusmem.stores.postgres.eraser import SharedVacuum

CALLERS = 12


def test_waiting_callers_share_next_vacuum() -> None:
    runs: list[tuple[int, Sequence[str]]] = []
    numbers, came, served = iter(range(10_000)), {}, {}
    order = threading.Lock()

    def tick() -> int:
        with order:
            return next(numbers)

    def vacuum(tables: Sequence[str]) -> None:
        runs.append((tick(), tables))
        time.sleep(0.02)

    tidy = SharedVacuum(vacuum)

    def call(name: str) -> None:
        came[name] = tick()
        tidy([name])
        served[name] = tick()

    threads = [threading.Thread(target=call, args=(f"t{n}",)) for n in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(runs) < CALLERS
    for name, at in came.items():
        assert any(at < begun < served[name] and name in tables for begun, tables in runs)


def test_callers_retry_after_failed_vacuum() -> None:
    tries: list[Sequence[str]] = []

    def vacuum(tables: Sequence[str]) -> None:
        tries.append(tables)
        if len(tries) == 1:
            raise StoreUnavailable("away")

    tidy = SharedVacuum(vacuum)
    with pytest.raises(StoreUnavailable):
        tidy(["events"])
    tidy(["memories"])

    assert tries == [["events"], ["memories"]]
