"""Lines that were rendered and counted a moment ago, for the next question in the same place.

A line is found again by who asks, its section and its id, and only where it would be made of the
very same things: nothing here is out of date, or seen by somebody else. Lines last no longer than
a context does.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING

from ..core.access import Viewer
from ..core.ids import WorkspaceId
from ..core.part import Part
from .steady import MOST  # places: as many as whose steady sections are kept

if TYPE_CHECKING:
    from ..core.context import Item

MOST_OF_A_SECTION = 100  # lines
LONGEST = 2_000  # characters of a text whose line is kept


class PlaceLines:
    """Items of one place with their lines, as one family of models counts them."""

    def __init__(self, began: datetime | None = None) -> None:
        self.began = began
        self._sections: defaultdict[Part, dict[str, Item]] = defaultdict(dict)

    def section(self, part: Part) -> Mapping[str, Item]:
        """How its items were told last, by their ids."""
        return self._sections[part]

    def keep(self, part: Part, items: Iterable[Item]) -> None:
        section = self._sections[part]
        for item in items:
            if len(item.text) > LONGEST:
                continue
            if len(section) >= MOST_OF_A_SECTION:
                section.clear()
            section[item.id] = item


class KeptLines:
    """Those of the places that were asked in last."""

    def __init__(self, clock: Callable[[], datetime], *, seconds: float) -> None:
        self._clock = clock
        self._lasts = timedelta(seconds=seconds)
        self._kept: OrderedDict[tuple[Viewer, str], PlaceLines] = OrderedDict()
        self._lock = Lock()

    def of(self, viewer: Viewer, family: str) -> PlaceLines:
        """To be asked for before anything is read: what is forgotten later is not kept then."""
        now = self._clock()
        if not self._lasts:
            return PlaceLines()
        with self._lock:
            lines = self._kept.pop((viewer, family), None)
            if lines is None or not (lines.began and now - self._lasts < lines.began <= now):
                lines = PlaceLines(now)
            self._kept[viewer, family] = lines
            if len(self._kept) > MOST:
                self._kept.popitem(last=False)
            return lines

    def forget(self, workspace: WorkspaceId) -> None:
        """Drop whatever is kept of this workspace."""
        with self._lock:
            for place in [each for each in self._kept if each[0].workspace == workspace]:
                del self._kept[place]
