"""Documents about somebody or something, woven from what is known; made again when it changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from . import observe as tell
from .auditing import audited
from .core.access import Grant, Viewer
from .core.derive import known_as
from .core.errors import NotFound
from .core.ids import check_name
from .core.records import Hit, Memory
from .maintain.dossiers import Dossier, Material, Narrate, draft, kept, material, opened, standing
from .recall.answer import answer
from .recall.query import make_query
from .wiring import Parts

MOST_SAID = 12
RELEVANT = 0.2  # the least score of what answers a standing question, as in a context

Listed = list[Dossier]  # inside the class, `list` is its method
Questions = list[str]


class Dossiers:
    """The dossiers of a place, as one viewer may read them."""

    def __init__(self, parts: Parts, viewer: Viewer, grant: Grant, narrate: Narrate | None) -> None:
        self._parts = parts
        self._viewer = viewer
        self._grant = grant
        self._narrate = narrate

    @audited
    def get(self, name: str) -> Dossier:
        """The dossier of a name as it would be written now: made anew if stale or missing."""
        found = self._material(name)
        if found is None:
            raise NotFound(f"nothing is known of {name!r} here")
        return self._kept_or_made(name, found)

    def ask(self, question: str) -> Dossier | None:
        """Keep the answer to a question fresh from now on; None as long as nothing answers."""
        check_name(question, "the question")
        if question not in self.questions():
            self._tell(question, dropped=False)
        return self._answered(question)

    def drop(self, question: str) -> None:
        """Keep this answer fresh no more."""
        if question not in self.questions():
            raise NotFound(f"{question!r:.80} is not asked here")
        self._tell(question, dropped=True)
        self._delete(kept(self._parts.store, self._grant, self._viewer.home, question))

    def questions(self) -> Questions:
        """What is asked here for good, oldest first."""
        self._parts.learner.catch_up(self._grant.within([self._viewer.home]))
        return standing(self._parts.store, self._grant, self._viewer.home)

    @audited
    def answers(self) -> Mapping[str, Dossier | None]:
        """The answer to each standing question as it is now."""
        return {question: self._answered(question) for question in self.questions()}

    @audited
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
            found = self._material(name)
            if found is None:
                self._delete(kept(self._parts.store, self._grant, self._viewer.home, name))
            else:
                self._kept_or_made(name, found)
        return len(stale)

    def _answered(self, question: str) -> Dossier | None:
        found = self._material(question)
        return None if found is None else self._kept_or_made(question, found)

    def _kept_or_made(self, name: str, found: Material) -> Dossier:
        store, home = self._parts.store, self._viewer.home
        there = kept(store, self._grant, home, name)
        for each in there:
            if each.body["mark"] == found.mark:
                return opened(store, self._grant, each, mark=found.mark)
        made = draft(found, home, name, now=self._parts.now(), narrate=self._narrate)
        (memory,) = store.memories.put(self._viewer.workspace, [made])
        self._delete(each for each in there if each.id != memory.id)
        return opened(store, self._grant, memory, mark=found.mark)

    def _delete(self, memories: Iterable[Memory]) -> None:
        ids = [each.id for each in memories]
        self._parts.store.memories.delete(self._viewer.workspace, ids)

    def _tell(self, question: str, *, dropped: bool) -> None:
        now = self._parts.now()
        event = tell.question(self._viewer, question, dropped=dropped, now=now)
        self._parts.append(self._viewer.workspace, [event], now)

    def _mark(self, name: str) -> str | None:
        found = self._material(name)
        return found.mark if found else None

    def _material(self, name: str) -> Material | None:
        """What a dossier would be made of now: of a standing question, what answers it."""
        check_name(name, "the name")
        self._parts.learner.catch_up(self._grant)
        now, store = self._parts.now(), self._parts.store
        hits = self._hits(name)
        if name in self.questions():
            relevant = [hit.memory for hit in hits if hit.score >= RELEVANT]
            return Material(name, (), {"said": relevant}) if relevant else None
        words = known_as(name).split()
        naming = [
            hit.memory for hit in hits if all(word in hit.memory.text.casefold() for word in words)
        ]
        return material(store, self._grant, name, naming, now=now)

    def _hits(self, question: str) -> Sequence[Hit]:
        query = make_query(question, limit=MOST_SAID, threshold=0.0, now=self._parts.now())
        return answer(self._parts.store, self._parts.ranking, self._grant, query)
