"""Documents about somebody or something, woven from what is known; made again when it changed."""

from __future__ import annotations

from collections.abc import Sequence

from .core.access import Grant, Viewer
from .core.derive import known_as
from .core.errors import NotFound
from .core.ids import check_name
from .core.records import Memory
from .maintain.dossiers import Dossier, Material, Narrate, draft, kept, material, opened
from .recall.answer import answer
from .recall.query import make_query
from .wiring import Parts

MOST_SAID = 12

Listed = list[Dossier]  # inside the class, `list` is its method


class Dossiers:
    """The dossiers of a place, as one viewer may read them."""

    def __init__(self, parts: Parts, viewer: Viewer, grant: Grant, narrate: Narrate | None) -> None:
        self._parts = parts
        self._viewer = viewer
        self._grant = grant
        self._narrate = narrate

    def get(self, name: str) -> Dossier:
        """The dossier of a name as it would be written now: made anew if stale or missing."""
        now = self._parts.now()
        found = self._material(name)
        store = self._parts.store
        if found is None:
            raise NotFound(f"nothing is known of {name!r} here")
        there = kept(store, self._grant, self._viewer.home, name)
        for each in there:
            if each.body["mark"] == found.mark:
                return opened(store, self._grant, each, mark=found.mark)
        made = draft(found, self._viewer.home, name, now=now, narrate=self._narrate)
        (memory,) = store.memories.put(self._viewer.workspace, [made])
        old = [each.id for each in there if each.id != memory.id]
        store.memories.delete(self._viewer.workspace, old)
        return opened(store, self._grant, memory, mark=found.mark)

    def list(self) -> Listed:
        """Those that were made here, by name, each with whether it is stale."""
        store = self._parts.store
        found = kept(store, self._grant, self._viewer.home)
        shown = [
            opened(store, self._grant, each, mark=self._mark(each.body["name"])) for each in found
        ]
        return sorted(shown, key=lambda each: (known_as(each.name), each.id))

    def refresh(self) -> int:
        """Make the stale ones anew; how many that were."""
        stale = {each.name for each in self.list() if each.stale}
        for name in sorted(stale):
            try:
                self.get(name)
            except NotFound:
                gone = kept(self._parts.store, self._grant, self._viewer.home, name)
                self._parts.store.memories.delete(
                    self._viewer.workspace, [each.id for each in gone]
                )
        return len(stale)

    def _mark(self, name: str) -> str | None:
        found = self._material(name)
        return found.mark if found else None

    def _material(self, name: str) -> Material | None:
        check_name(name, "the name")
        self._parts.learner.catch_up(self._grant)
        now = self._parts.now()
        said = self._said(name)
        return material(self._parts.store, self._grant, name, said, now=now)

    def _said(self, name: str) -> Sequence[Memory]:
        """What people said of it, best first: only what names it."""
        query = make_query(name, limit=MOST_SAID, threshold=0.0, now=self._parts.now())
        found = answer(self._parts.store, self._parts.ranking, self._grant, query)
        words = known_as(name).split()
        return [
            hit.memory for hit in found if all(word in hit.memory.text.casefold() for word in words)
        ]
