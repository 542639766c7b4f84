"""Counting what recall and compose have shown, while nobody waits for it.

What was shown is only noted on the way out. It is written later, much of it in one go; a crash
may lose the last few seconds of it, which harms nobody.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime
from threading import Lock

from ..core.access import Viewer
from ..core.errors import NexusError
from ..core.ids import WorkspaceId
from ..core.uses import NewUse, Uses

MOST_WAITING = 64  # contexts and recalls; then they are written

log = logging.getLogger(__name__)


class Using:
    """What was shown and is not counted yet."""

    def __init__(self, uses: Uses, *, counted: bool = True) -> None:
        self._uses = uses
        self._counted = counted
        self._waiting: dict[WorkspaceId, list[NewUse]] = defaultdict(list)
        self._lock = Lock()
        self._number = 0

    def note(
        self, viewer: Viewer, ids: Iterable[str], at: datetime, thread: str | None = None
    ) -> int:
        """These were shown in a place: each counts once, in this thread or else this day.

        Gives how many contexts and recalls wait to be counted; 0 if nothing is.
        """
        shown = tuple(dict.fromkeys(ids))
        if not shown or not self._counted:
            return 0
        conversation = f"={thread}" if thread else f"~{at:%Y-%m-%d}"
        use = NewUse(place=viewer.home, conversation=conversation, ids=shown, at=at)
        with self._lock:
            self._waiting[viewer.workspace].append(use)
            self._number += 1
            return self._number

    def and_then(self, follow: Callable[[], bool]) -> Callable[[], bool]:
        """What is done every few seconds: count what was shown, and then the rest."""

        def both() -> bool:
            self.write()
            return follow()

        return both

    def write(self) -> None:
        """Count all that was noted: one small write a workspace."""
        with self._lock:
            waiting, self._waiting = self._waiting, defaultdict(list)
            self._number = 0
        for workspace, uses in waiting.items():
            try:
                self._uses.add(workspace, uses)
            except NexusError as error:  # they are lost: nobody shall wait or fail because of them
                log.warning("what was shown was not counted: %s", error)
