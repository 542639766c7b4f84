"""A lock that refuses work after the store is closed."""

from __future__ import annotations

from threading import RLock

from ...core.errors import StoreUnavailable


class ClosableLock:
    """A re-entrant lock; after `close` it raises StoreUnavailable instead of locking."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._closed = False

    def __enter__(self) -> None:
        self._lock.acquire()
        if self._closed:
            self._lock.release()
            raise StoreUnavailable("the in-memory store is closed and its data are gone")

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def close(self) -> None:
        with self._lock:
            self._closed = True
