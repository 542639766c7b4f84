"""LRU cache: bounded, thread-safe, with an optional time to live and hit counters."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from itertools import islice
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """A mapping of at most `max_entries` entries that evicts the least recently used one.

    `max_entries=0` disables the cache: `put` stores nothing. With `ttl_seconds`, an entry expires
    that many seconds after it was written; with `renew_on_read`, after its last use. `clock`
    returns seconds; tests pass their own. Each call reads it exactly once: a clock that advances on
    each read must not reveal other entries.

    `generation` counts the calls of `clear`, `remove` and `remove_where`. A caller that computes
    a value outside the lock reads it first and passes it to `put`. `put` then drops the value if
    entries were invalidated in the meantime.

    Values must not be None: `get` returns None for a missing or expired entry.
    """

    def __init__(
        self,
        max_entries: int,
        *,
        ttl_seconds: float | None = None,
        renew_on_read: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_entries = max_entries
        self._ttl_seconds = ttl_seconds
        self._renew_on_read = renew_on_read
        self._clock = clock
        self._entries: OrderedDict[K, tuple[float, V]] = OrderedDict()  # with the time of writing
        self._lock = Lock()
        self.generation = 0
        self.hits = 0
        self.misses = 0

    def __len__(self) -> int:
        """Return the number of entries, including expired ones not yet removed."""
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        """Return whether `key` has a fresh entry; counts neither a hit nor a use."""
        with self._lock:
            return self._find_fresh(key, self._clock()) is not None

    def keys(self) -> list[K]:
        """Return the keys, least recently used first, including those of expired entries."""
        with self._lock:
            return list(self._entries)

    def get(self, key: K) -> V | None:
        """Return the value of `key` and mark it as used; None if it is missing or expired."""
        with self._lock:
            now = self._clock()
            entry = self._find_fresh(key, now)
            if entry is None:
                self.misses += 1
                return None
            self.hits += 1
            self._entries.move_to_end(key)
            if self._renew_on_read:
                self._entries[key] = (now, entry[1])
            return entry[1]

    def put(self, key: K, value: V, *, generation: int | None = None) -> None:
        """Store `value` under `key`, evicting the least recently used entries over the limit.

        With `generation`, store nothing if the cache was invalidated since it was read.
        """
        with self._lock:
            if generation is not None and generation != self.generation:
                return
            now = self._clock()
            self._entries[key] = (now, value)
            self._entries.move_to_end(key)
            while len(self._entries) > self._max_entries or self._is_oldest_expired(now):
                self._entries.popitem(last=False)

    def get_or_create(self, key: K, create: Callable[[], V]) -> V:
        """Return the cached value of `key`, or call `create` and cache its result.

        `create` runs outside the lock: two threads that miss together both call it. An
        exception propagates and caches nothing.
        """
        generation = self.generation
        value = self.get(key)
        if value is None:
            value = create()
            self.put(key, value, generation=generation)
        return value

    def remove(self, keys: Iterable[K]) -> None:
        """Delete the entries of `keys`; missing keys are ignored."""
        with self._lock:
            self.generation += 1
            for key in keys:
                self._entries.pop(key, None)

    def remove_where(self, predicate: Callable[[K], bool]) -> None:
        """Delete every entry whose key fulfils `predicate`, which runs under the lock."""
        with self._lock:
            self.generation += 1
            for key in [each for each in self._entries if predicate(each)]:
                del self._entries[key]

    def clear(self) -> None:
        """Delete every entry; the hit and miss counters stay."""
        with self._lock:
            self.generation += 1
            self._entries.clear()

    def _find_fresh(self, key: K, now: float) -> tuple[float, V] | None:
        """Return the entry of `key`; delete it and return None if it has expired."""
        entry = self._entries.get(key)
        if entry is not None and self._is_expired(entry[0], now):
            del self._entries[key]
            return None
        return entry

    def _is_oldest_expired(self, now: float) -> bool:
        """Return whether the least recently used entry has expired."""
        return any(self._is_expired(at, now) for at, _ in islice(self._entries.values(), 1))

    def _is_expired(self, written_at: float, now: float) -> bool:
        # An entry from the future, after the clock was set back, counts as expired.
        age = now - written_at
        return self._ttl_seconds is not None and not 0 <= age < self._ttl_seconds
