"""The sections that no question changes, kept for the next question in the same place.

They are found again by who asks, and by the epoch of everything that may be seen, read in the
moment they are for: any write there makes another epoch. They last no longer than a context does.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING

from ..core.access import Viewer
from ..core.ids import WorkspaceId
from ..core.part import Part

if TYPE_CHECKING:
    from ..core.context import Item

MOST = 1_024  # places

Sections = Mapping[Part, Sequence["Item"]]
Place = tuple[Viewer, int, str]  # of each the newest epoch is kept


@dataclass(frozen=True, slots=True)
class Standing:
    """Everything these sections depend on, but for the time."""

    viewer: Viewer
    window: int
    family: str  # whose tokens are counted
    epoch: int

    @property
    def place(self) -> Place:
        return self.viewer, self.window, self.family


class SteadySections:
    """Those of the places that were asked in last."""

    def __init__(self, clock: Callable[[], datetime], *, seconds: float) -> None:
        self._clock = clock
        self._lasts = timedelta(seconds=seconds)
        self._kept: OrderedDict[Place, tuple[int, datetime, Sections]] = OrderedDict()
        self._lock = Lock()
        self.forgotten = 0  # how often something was

    def find(self, standing: Standing) -> Sections | None:
        now = self._clock()
        with self._lock:
            epoch, at, sections = self._kept.get(standing.place, (None, now, None))
            if epoch != standing.epoch or not now - self._lasts < at <= now:
                return None
            self._kept.move_to_end(standing.place)
            return sections

    def keep(self, standing: Standing, sections: Sections, *, forgotten: int) -> None:
        """Unless something was forgotten since they were begun to be read."""
        now = self._clock()
        with self._lock:
            if not self._lasts or self.forgotten != forgotten:
                return
            self._kept[standing.place] = (standing.epoch, now, sections)
            self._kept.move_to_end(standing.place)
            if len(self._kept) > MOST:
                self._kept.popitem(last=False)

    def forget(self, workspace: WorkspaceId) -> None:
        """Drop whatever is kept of this workspace."""
        with self._lock:
            self.forgotten += 1
            for place in [each for each in self._kept if each[0].workspace == workspace]:
                del self._kept[place]
