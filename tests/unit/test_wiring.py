"""Time that always rises, and parts chosen by name."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from nexus.config import EmbeddingSettings, StoreSettings
from nexus.core.errors import ConfigError
from nexus.stores.inprocess import InProcessStore
from nexus.wiring import RisingClock, make_embedder, make_store

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def test_a_clock_that_stands_still_still_rises() -> None:
    clock = RisingClock(lambda: NOON)

    times = [clock() for _ in range(5)]

    assert times[0] == NOON
    assert all(later - earlier == timedelta(microseconds=1) for earlier, later in pairwise(times))


def test_a_clock_set_back_does_not_go_back() -> None:
    told = iter([NOON, NOON - timedelta(days=1), NOON + timedelta(seconds=1)])
    clock = RisingClock(lambda: next(told))

    assert clock() == NOON
    assert clock() == NOON + timedelta(microseconds=1)
    assert clock() == NOON + timedelta(seconds=1)


def test_no_two_threads_get_the_same_time() -> None:
    clock = RisingClock(lambda: NOON)
    times: list[datetime] = []
    threads = [
        threading.Thread(target=lambda: times.extend(clock() for _ in range(200))) for _ in range(8)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(times)) == len(times) == 1600


@pytest.mark.requirement("C4")
def test_a_store_is_named_by_its_url() -> None:
    assert isinstance(make_store(StoreSettings(url=":memory:")), InProcessStore)
    with pytest.raises(ConfigError, match="mongo"):
        make_store(StoreSettings(url="mongo://x"))


def test_an_unknown_embedder_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="hashing"):
        make_embedder(EmbeddingSettings(provider="hash"))
