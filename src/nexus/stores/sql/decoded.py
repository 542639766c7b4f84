"""Records that were read a moment ago, by the very text they are spelt with.

The text comes from a query that its grant let through, so nothing here is out of date or seen by
somebody else. What no query gives any more, because it was erased, is gone after two rounds.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from ...core.codec import event_from_json, memory_from_json
from ...core.ids import WorkspaceId

T = TypeVar("T")

MOST = 4_000  # of a round
ROUND_SECONDS = 60.0
LONGEST = 4_000  # characters of a text that is kept


class Decoded(Generic[T]):
    """Two rounds of records: what is asked for again goes along into the next one."""

    def __init__(self, read: Callable[..., T]) -> None:
        self._read = read
        self._now: dict[tuple[Any, ...], T] = {}
        self._before: dict[tuple[Any, ...], T] = {}
        self._began = time.monotonic()

    def __call__(self, content: str, workspace: WorkspaceId, *state: Any) -> T:
        """The record of this content; what else it is read with, such as a tier, tells it apart."""
        key = (workspace.value, content, *state)
        known = self._now.get(key)
        if known is None:
            known = self._before.get(key) or self._read(json.loads(content), workspace, *state)
            if len(content) <= LONGEST:
                self._keep(key, known)
        return known

    def _keep(self, key: tuple[Any, ...], record: T) -> None:
        if len(self._now) >= MOST or time.monotonic() - self._began > ROUND_SECONDS:
            self._before, self._now = self._now, {}
            self._began = time.monotonic()
        self._now[key] = record

    def forget(self) -> None:
        """Let everything go."""
        self._now, self._before = {}, {}


read_memory = Decoded(memory_from_json)
read_event = Decoded(event_from_json)


def forget_decoded() -> None:
    """What was erased must not even lie here."""
    read_memory.forget()
    read_event.forget()
