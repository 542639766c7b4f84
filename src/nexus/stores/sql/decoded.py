"""Records that were read a moment ago, by the very text they are spelt with.

The text comes from a query that its grant let through, so nothing here is out of date or seen by
somebody else. What no query gives any more, because it was erased, is gone after two rounds.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
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

    def find(self, keys: Iterable[K]) -> dict[K, T]:
        """Those that are known."""
        now, before = self._now, self._before
        found, older = {}, {}
        for key in keys:
            if (known := now.get(key)) is not None:
                found[key] = known
            elif (known := before.get(key)) is not None:
                found[key] = older[key] = known
        if older:
            self.keep(older)
        return found

    def keep(self, values: Mapping[K, T]) -> None:
        if len(self._now) >= MOST or time.monotonic() - self._began > ROUND_SECONDS:
            self._before, self._now = self._now, {}
            self._began = time.monotonic()
        self._now.update(values)

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
        found = self._known.find(keys)
        if len(found) < len(keys):
            found |= self._made([key for key in keys if key not in found], workspace)
        return [found[key] for key in keys]

    def _made(self, keys: Sequence[tuple[Any, ...]], workspace: WorkspaceId) -> dict[Any, T]:
        """All of them read as one text: the names in it are made once, and not for each record."""
        together = json.loads(f"[{','.join([key[1] for key in keys])}]")
        read, pairs = self._read, zip(keys, together, strict=True)
        made = {key: read(told, workspace, *key[2:]) for key, told in pairs}
        self._known.keep({key: each for key, each in made.items() if len(key[1]) <= LONGEST})
        return made


read_memory = Decoded(memory_from_json)
read_event = Decoded(event_from_json)


def forget_decoded() -> None:
    """What was erased must not even lie here."""
    for each in list(_every):
        each.forget()
