"""What the writings of one thread do besides, in the same transaction."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

S = TypeVar("S")  # what a writing is done with: a session
R = TypeVar("R")


class Along(threading.local, Generic[S]):
    """Notes that the next writing of this thread takes along."""

    def __init__(self) -> None:
        self.notes: list[Callable[[S, Any], None]] = []

    def __bool__(self) -> bool:
        return bool(self.notes)

    @contextmanager
    def noting(self, note: Callable[[S, Any], None]) -> Iterator[None]:
        """The first writing inside that succeeds does this, too, and knows what came of it."""
        self.notes.append(note)
        try:
            yield
        finally:
            if note in self.notes:
                self.notes.remove(note)

    def around(self, work: Callable[[S], R]) -> Callable[[S], R]:
        """The work with all of this; call `taken` once it is committed."""
        notes = tuple(self.notes)

        def together(session: S) -> R:
            value = work(session)
            for note in notes:
                note(session, value)
            return value

        return together

    def taken(self) -> None:
        self.notes.clear()
