"""VACUUMs that are shared: each caller gets one that began after it came."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import pytest

from nexus.core.errors import StoreUnavailable
from nexus.stores.postgres.tidying import Tidying

CALLERS = 12


def test_whoever_waits_shares_the_next_one() -> None:
    runs: list[tuple[int, Sequence[str]]] = []
    numbers, came, served = iter(range(10_000)), {}, {}
    order = threading.Lock()

    def tick() -> int:
        with order:
            return next(numbers)

    def vacuum(tables: Sequence[str]) -> None:
        runs.append((tick(), tables))
        time.sleep(0.02)

    tidy = Tidying(vacuum)

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


def test_who_waited_for_one_that_failed_tries_it_again() -> None:
    tries: list[Sequence[str]] = []

    def vacuum(tables: Sequence[str]) -> None:
        tries.append(tables)
        if len(tries) == 1:
            raise StoreUnavailable("away")

    tidy = Tidying(vacuum)
    with pytest.raises(StoreUnavailable):
        tidy(["events"])
    tidy(["memories"])

    assert tries == [["events"], ["memories"]]
