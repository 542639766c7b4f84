"""Records that were read a moment ago, by the very text they are spelt with.

The text comes from a query that its grant let through, so nothing here is out of date or seen by
somebody else. What no query gives any more, because it was erased, is gone after two rounds.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from itertools import repeat, starmap
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

    def find(self, keys: Collection[K]) -> dict[K, T]:
        """Those that are known."""
        pairs = zip(keys, self.look_up(keys), strict=True)
        return {key: known for key, known in pairs if known is not None}

    def look_up(self, keys: Collection[K]) -> list[T | None]:
        """What is known of each: every key is looked at as seldom as can be, for it is long."""
        now, before = self._now, self._before
        found = list(map(now.get, keys))
        if before and not all(found):
            older: dict[K, T] = {}
            for place, key in enumerate(keys):
                if found[place] is None and (known := before.get(key)) is not None:
                    found[place] = older[key] = known
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
        of = (workspace.value,)
        keys = [of + row for row in rows]
        found = self._known.look_up(keys)
        fresh = [key for key, each in zip(keys, found, strict=True) if each is None]
        made = self._made(fresh, workspace) if fresh else []
        if len(made) == len(keys):
            return made
        rest = iter(made)
        return [next(rest) if each is None else each for each in found]

    def _made(self, keys: Sequence[tuple[Any, ...]], workspace: WorkspaceId) -> list[T]:
        """All of them read as one text: the names in it are made once, and not for each record."""
        _, contents, *more = zip(*keys, strict=True)
        together = json.loads(f"[{','.join(contents)}]")
        told = zip(together, repeat(workspace, len(keys)), *more, strict=True)
        made = list(starmap(self._read, told))
        pairs = zip(keys, made, strict=True)
        self._known.keep({key: each for key, each in pairs if len(key[1]) <= LONGEST})
        return made


read_memory = Decoded(memory_from_json)
read_event = Decoded(event_from_json)


def forget_decoded() -> None:
    """What was erased must not even lie here."""
    for each in list(_every):
        each.forget()
