"""The LRU cache: eviction, expiry, invalidation and its counters."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from nexusmem.runtime.cache import LruCache


class ManualClock:
    """A clock that only a test advances."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def test_get_returns_the_value_and_counts_hits_and_misses() -> None:
    cache: LruCache[str, int] = LruCache(2)
    cache.put("a", 1)

    assert (cache.get("a"), cache.get("b")) == (1, None)
    assert (cache.hits, cache.misses) == (1, 1)
    assert "a" in cache
    assert "b" not in cache
    assert (cache.hits, cache.misses) == (1, 1)


def test_least_recently_used_entry_is_evicted() -> None:
    cache: LruCache[str, int] = LruCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.get("a")
    cache.put("c", 3)

    assert cache.keys() == ["a", "c"]
    assert len(cache) == 2


def test_put_replaces_a_value_and_counts_as_a_use() -> None:
    cache: LruCache[str, int] = LruCache(2)
    for key, value in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        cache.put(key, value)

    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (3, None, 4)


def test_cache_without_room_stores_nothing() -> None:
    cache: LruCache[str, int] = LruCache(0)
    cache.put("a", 1)

    assert cache.get("a") is None


def test_entry_expires_after_its_time_to_live(clock: ManualClock) -> None:
    cache: LruCache[str, int] = LruCache(9, ttl_seconds=10, clock=clock)
    cache.put("a", 1)
    clock.seconds += 9
    assert cache.get("a") == 1
    clock.seconds += 1

    assert "a" not in cache
    assert cache.get("a") is None
    assert len(cache) == 0


def test_renewed_entry_expires_after_its_last_use(clock: ManualClock) -> None:
    cache: LruCache[str, int] = LruCache(9, ttl_seconds=10, renew_on_read=True, clock=clock)
    cache.put("a", 1)
    for _ in range(3):
        clock.seconds += 9
        assert cache.get("a") == 1
    clock.seconds += 10

    assert cache.get("a") is None


def test_entry_from_the_future_is_expired(clock: ManualClock) -> None:
    cache: LruCache[str, int] = LruCache(9, ttl_seconds=10, clock=clock)
    cache.put("a", 1)
    clock.seconds -= 1

    assert cache.get("a") is None


def test_put_removes_expired_entries(clock: ManualClock) -> None:
    cache: LruCache[str, int] = LruCache(9, ttl_seconds=10, clock=clock)
    cache.put("a", 1)
    cache.put("b", 2)
    clock.seconds += 10
    cache.put("c", 3)

    assert cache.keys() == ["c"]


def test_get_or_create_calls_create_only_on_a_miss() -> None:
    cache: LruCache[str, int] = LruCache(9)
    calls: list[int] = []

    def create() -> int:
        calls.append(1)
        return len(calls)

    assert [cache.get_or_create("a", create) for _ in range(3)] == [1, 1, 1]


def test_failed_create_caches_nothing() -> None:
    cache: LruCache[str, float] = LruCache(9)

    with pytest.raises(ZeroDivisionError):
        cache.get_or_create("a", lambda: 1 / 0)

    assert len(cache) == 0


@pytest.mark.parametrize(
    "invalidate",
    [
        lambda cache: cache.clear(),
        lambda cache: cache.remove(["other"]),
        lambda cache: cache.remove_where(lambda key: key == "other"),
    ],
)
def test_value_computed_before_an_invalidation_is_not_stored(
    invalidate: Callable[[LruCache[str, int]], None],
) -> None:
    cache: LruCache[str, int] = LruCache(9)
    generation = cache.generation

    invalidate(cache)
    cache.put("a", 1, generation=generation)
    cache.put("b", 2, generation=cache.generation)

    assert cache.keys() == ["b"]


def test_remove_deletes_only_matching_entries() -> None:
    cache: LruCache[tuple[str, int], int] = LruCache(9)
    for key in (("acme", 1), ("acme", 2), ("zeta", 1)):
        cache.put(key, 1)

    cache.remove([("acme", 1), ("acme", 9)])
    assert cache.keys() == [("acme", 2), ("zeta", 1)]
    cache.remove_where(lambda key: key[0] == "acme")
    assert cache.keys() == [("zeta", 1)]
    cache.clear()
    assert cache.keys() == []


def test_threads_share_a_cache_within_its_limit() -> None:
    cache: LruCache[int, int] = LruCache(10)

    def work(offset: int) -> None:
        for number in range(2_000):
            key = (number * 7 + offset) % 30
            assert cache.get_or_create(key, lambda key=key: key) == key  # type: ignore[misc]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(cache) == 10
    assert cache.hits + cache.misses == 8_000


def test_each_call_reads_the_clock_once() -> None:
    """A clock that ticks with each reading must not reveal how many entries others have."""
    readings: list[float] = []

    def read_clock() -> float:
        readings.append(0.0)
        return 100.0 * len(readings)

    cache: LruCache[int, str] = LruCache(10, ttl_seconds=1.0, clock=read_clock)
    for number in range(5):  # every earlier entry has expired by then
        cache.put(number, "x")
    assert len(readings) == 5
    cache.get(4)
    cache.get(99)
    assert len(readings) == 7
