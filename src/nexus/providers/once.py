"""A client that is made when it is first needed, and only once."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, Protocol, TypeVar


class Closable(Protocol):
    def close(self) -> None: ...


Client = TypeVar("Client", bound=Closable)


class Once(Generic[Client]):
    """Makes one client for all threads: a second one would never be closed."""

    def __init__(self, make: Callable[[], Client]) -> None:
        self._make = make
        self._lock = Lock()
        self._client: Client | None = None

    def __call__(self) -> Client:
        with self._lock:
            if self._client is None:
                self._client = self._make()
            return self._client

    def close(self) -> None:
        """Let go of the connections. The next call makes a new client."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()
