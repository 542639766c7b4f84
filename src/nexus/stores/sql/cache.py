"""A bounded cache of what searches read over and over: posting lists and vectors.

An entry knows how far it has read. Numbers only grow, so refreshing reads the new rows; when
something was removed, its label's generation differs and the entry starts over. Another
process writing to the same file therefore needs to tell us nothing. A reader whose view of the
database is older than an entry is given what was there by then: what came later it could not
name, and would miss among the best.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

from ...core.metrics import CacheUse
from .labels import LabelState


class Kept(Protocol):
    @property
    def bytes(self) -> int: ...

    def until(self, number: int, /) -> Self:
        """What of it was there when this number was the latest."""
        ...


T = TypeVar("T", bound=Kept)
K = TypeVar("K", bound=Hashable)
Read = Callable[[Mapping[K, tuple[T | None, int]]], Sequence[T]]


@dataclass(slots=True)
class _Entry(Generic[T]):
    value: T
    read_to: int
    generation: int


class LabelCache(Generic[T]):
    """Values by key, the least recently used dropped first when `limit_bytes` are full."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._entries: OrderedDict[Hashable, _Entry[T]] = OrderedDict()
        self._bytes = 0
        self._hits = 0
        self._misses = 0
        self._lock = threading.Lock()

    @property
    def use(self) -> CacheUse:
        """How often a value was there and up to date."""
        with self._lock:
            return CacheUse(self._hits, self._misses)

    def fresh(self, wanted: Mapping[K, LabelState], read: Read[K, T]) -> list[T]:
        """The values for these keys, as of the states of their labels.

        `read` is asked once for all that are out of date. It is told of each what is known and
        the number after which there may be more rows, and gives the whole value.
        """
        fresh: dict[K, T] = {}
        stale: dict[K, tuple[T | None, int]] = {}
        with self._lock:
            for key, state in wanted.items():
                entry = self._entries.get(key)
                if entry is None or entry.generation != state.generation:
                    stale[key] = (None, 0)
                elif entry.read_to < state.latest:
                    stale[key] = (entry.value, entry.read_to)
                else:
                    self._entries.move_to_end(key)
                    later = entry.read_to > state.latest
                    fresh[key] = entry.value.until(state.latest) if later else entry.value
            self._hits += len(fresh)
            self._misses += len(stale)
        if stale:
            made = dict(zip(stale, read(stale), strict=True))
            self._keep(made, wanted)
            fresh |= made
        return [fresh[key] for key in wanted]

    def _keep(self, made: Mapping[K, T], states: Mapping[K, LabelState]) -> None:
        with self._lock:
            for key, value in made.items():
                old = self._entries.pop(key, None)
                self._bytes += value.bytes - (old.value.bytes if old else 0)
                state = states[key]
                self._entries[key] = _Entry(value, state.latest, state.generation)
            while self._bytes > self._limit and self._entries:
                _, dropped = self._entries.popitem(last=False)
                self._bytes -= dropped.value.bytes

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self._bytes = 0
