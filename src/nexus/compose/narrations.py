"""What a model told of messages that were left out, for the next time the same ones are.

Who hands in the same messages in the same place gets the same words: a prompt begins with the
same bytes, and no model is asked twice. What it could not tell is not asked for again, either.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING

from ..core.access import Viewer
from ..core.ids import WorkspaceId, digest

if TYPE_CHECKING:
    from ..learn.episodes.narrating import Narrated

MOST = 256  # narrations
LASTS = timedelta(hours=1)  # after it was last used

Key = tuple[WorkspaceId, str]


class Narrations:
    """Those that were used last in this process."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._kept: OrderedDict[Key, tuple[datetime, Narrated]] = OrderedDict()
        self._lock = Lock()
        self._forgotten = 0  # how often something was

    def once(
        self, viewer: Viewer, said: Sequence[tuple[str, str]], tell: Callable[[], Narrated]
    ) -> Narrated:
        """What was told of this, or is told now; an error is nothing to keep."""
        words = (part for turn in said for part in turn)
        key = viewer.workspace, digest(str(viewer.home), viewer.agent.value, *words)
        before = self._forgotten
        told = self._find(key) or tell()
        with self._lock:
            if self._forgotten == before:
                self._kept[key] = (self._clock(), told)
                self._kept.move_to_end(key)
                while len(self._kept) > MOST:
                    self._kept.popitem(last=False)
        return told

    def _find(self, key: Key) -> Narrated | None:
        old = self._clock() - LASTS
        with self._lock:
            while self._kept and next(iter(self._kept.values()))[0] <= old:
                self._kept.popitem(last=False)
            found = self._kept.get(key)
        return found[1] if found else None

    def forget(self, workspace: WorkspaceId) -> None:
        """Drop whatever is kept of this workspace, and what is being told meanwhile."""
        with self._lock:
            self._forgotten += 1
            for key in [each for each in self._kept if each[0] == workspace]:
                del self._kept[key]
