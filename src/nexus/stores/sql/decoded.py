"""Records that were read a moment ago, by the very text they are spelt with.

The text comes from a query that its grant let through, so nothing here is out of date or seen by
somebody else. What no query gives any more, because it was erased, is gone after two rounds.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from ...core.codec import event_from_json, memory_from_json
from ...core.ids import WorkspaceId

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

MOST = 4_000  # of a round
ROUND_SECONDS = 60.0
LONGEST = 4_000  # characters of a text that is kept


class Rounds(Generic[K, T]):
    """Two rounds of what was read: what is asked for again goes along into the next one."""

    def __init__(self) -> None:
        self._now: dict[K, T] = {}
        self._before: dict[K, T] = {}
        self._began = time.monotonic()
        _every.add(self)

    def find(self, key: K) -> T | None:
        known = self._now.get(key)
        if known is None:
            known = self._before.get(key)
            if known is not None:
                self.keep(key, known)
        return known

    def keep(self, key: K, value: T) -> None:
        if len(self._now) >= MOST or time.monotonic() - self._began > ROUND_SECONDS:
            self._before, self._now = self._now, {}
            self._began = time.monotonic()
        self._now[key] = value

    def forget(self) -> None:
        """Let everything go."""
        self._now, self._before = {}, {}


_every: WeakSet[Rounds[Any, Any]] = WeakSet()


class Decoded(Generic[T]):
    """Records, made of their text when it is first read."""

    def __init__(self, read: Callable[..., T]) -> None:
        self._read = read
        self._known: Rounds[tuple[Any, ...], T] = Rounds()

    def __call__(self, rows: Iterable[tuple[Any, ...]], workspace: WorkspaceId) -> list[T]:
        """The records of these contents, each with what else it is read with, such as a tier."""
        keys = [(workspace.value, *row) for row in rows]
        found = [self._known.find(key) for key in keys]
        new = [key for key, record in zip(keys, found, strict=True) if record is None]
        made = iter(self._made(new, workspace) if new else ())
        return [next(made) if record is None else record for record in found]

    def _made(self, keys: Sequence[tuple[Any, ...]], workspace: WorkspaceId) -> Iterator[T]:
        """All of them read as one text: the names in it are made once, and not for each record."""
        together = json.loads(f"[{','.join(content for _, content, *_ in keys)}]")
        for key, told in zip(keys, together, strict=True):
            _, content, *state = key
            record = self._read(told, workspace, *state)
            if len(content) <= LONGEST:
                self._known.keep(key, record)
            yield record


read_memory = Decoded(memory_from_json)
read_event = Decoded(event_from_json)


def forget_decoded() -> None:
    """What was erased must not even lie here."""
    for each in list(_every):
        each.forget()
