"""A bounded cache of what searches read over and over: posting lists and vectors.

An entry knows how far it has read. Numbers only grow, so refreshing reads the new rows; when
something was removed, its label's generation differs and the entry starts over. Another
process writing to the same file therefore needs to tell us nothing.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from .labels import LabelState


class Sized(Protocol):
    @property
    def bytes(self) -> int: ...


T = TypeVar("T", bound=Sized)


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
        self._lock = threading.Lock()

    def fresh(self, key: Hashable, state: LabelState, read: Callable[[T | None, int], T]) -> T:
        """The value for `key` as of `state`; `read(known, after)` adds the rows after a number."""
        with self._lock:
            entry = self._entries.get(key)
            if entry and entry.generation == state.generation:
                if entry.read_to >= state.latest:
                    self._entries.move_to_end(key)
                    return entry.value
                known, after = entry.value, entry.read_to
            else:
                known, after = None, 0
        value = read(known, after)
        self._keep(key, _Entry(value, state.latest, state.generation))
        return value

    def _keep(self, key: Hashable, entry: _Entry[T]) -> None:
        with self._lock:
            old = self._entries.pop(key, None)
            self._bytes += entry.value.bytes - (old.value.bytes if old else 0)
            self._entries[key] = entry
            while self._bytes > self._limit and self._entries:
                _, dropped = self._entries.popitem(last=False)
                self._bytes -= dropped.value.bytes

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self._bytes = 0
