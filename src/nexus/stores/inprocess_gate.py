"""Who may come to a store in memory: one at a time, and nobody after it was closed."""

from __future__ import annotations

from threading import RLock

from ..core.errors import StoreUnavailable


class Gate:
    """A lock that whoever holds it may take again, until it is closed."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._closed = False

    def __enter__(self) -> None:
        self._lock.acquire()
        if self._closed:
            self._lock.release()
            raise StoreUnavailable("this memory was closed, and is gone")

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def close(self) -> None:
        with self._lock:
            self._closed = True
