"""Connections whose writings do something more, in the same transaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..along import Along
from .session import Connections, Session

T = TypeVar("T")


class Accompanied:
    """The same connections; what a thread has along goes with its writings."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self.reading = connections.reading  # nothing is added to that
        self.holding = connections.holding
        self.along: Along[Session] = Along()

    def write(self, work: Callable[[Session], T], /, *, lazily: bool = False) -> T:
        along = self.along
        if not along.notes:
            return self._connections.write(work, lazily=lazily)
        value = self._connections.write(along.around(work), lazily=lazily)
        along.taken()
        return value
