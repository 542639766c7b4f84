"""Making the dossiers of a place and keeping them, for whoever may read what a grant holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..core.access import Grant
from ..core.derive import known_as
from ..core.errors import Unavailable
from ..core.filters import Condition, Every, Op
from ..core.protocols import Store
from ..core.questions import QUESTION
from ..core.records import Draft, Hit, Memory, MemoryKind
from ..core.scope import Scope
from ..core.text import speaks_of
from ..recall.answer import Ranking, answer
from ..recall.query import make_query
from .dossiers import Material, Narrate, Order, Subject, draft, material, watch

MOST_SAID = 12
RELEVANT = 0.2  # the least score of what answers a standing question, as in a context
TRIES = 2  # what it is made of may be erased meanwhile

DOSSIERS = Condition("kind", Op.EQ, MemoryKind.DOSSIER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Woven:
    """A dossier as it is now, if there is anything to tell, and whether it was another before."""

    memory: Memory | None
    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Weaver:
    """Makes the dossiers of one place, for those who may read all that the grant holds."""

    store: Store
    ranking: Ranking
    grant: Grant
    home: Scope
    narrate: Narrate | None = None
    whole: bool = False  # make none of half a search, while something is away
    only_while: str | None = None  # make none once this memory of theirs is gone

    def standing(self) -> dict[str, Subject]:
        """The questions that are asked here for good, oldest first."""
        told = self.store.memories.find(self.grant.within([self.home]), where=DOSSIERS)
        asked: dict[str, Subject] = {}
        for each in sorted(told, key=lambda each: (each.at, each.recorded_at, each.id)):
            if QUESTION in each.body:
                question = each.body[QUESTION]
                asked.pop(question, None)
                if not each.body.get("dropped", False):
                    asked[question] = Subject(question, each.id)
        return asked

    def subject(self, name: str) -> Subject:
        """What is meant by a name: a question that stands here, or whoever is called so."""
        return self.standing().get(name, Subject(name))

    def kept(self) -> list[Memory]:
        """All that were made here for just these readers."""
        return [each for each in self._here() if "mark" in each.body]

    def material(self, subject: Subject, *, now: datetime) -> Material | None:
        """What a dossier would be made of now: of a standing question, what answers it."""
        hits = self._hits(subject.name, now)
        if subject.asked:
            relevant = [hit.memory for hit in hits if hit.score >= RELEVANT]
            return Material(subject.name, (), {"said": relevant}) if relevant else None
        words = known_as(subject.name).split()
        naming = [
            hit.memory for hit in hits if all(speaks_of(hit.memory.text, each) for each in words)
        ]
        return material(self.store, self.grant, subject.name, naming, now=now)

    def order(self, subject: Subject, *, looked_at: datetime) -> Order:
        """To be given before anything is read for it: who is forgotten from then on is noticed."""
        reach = self.grant.scopes
        stones = self.store.eraser.stones(self.grant.workspace, reach)
        return Order(
            home=self.home, reach=reach, subject=subject, looked_at=looked_at, stones=stones
        )

    def weave(self, order: Order, *, now: datetime) -> Woven:
        """The dossier as it would be written now: the one that is kept, or one made anew.

        Done again after a crash, it comes to the same: the new one is there before others go.
        """
        subject = order.subject
        there = [each for each in self.kept() if each.slot == subject.slot(order.reach)]
        for _ in range(TRIES):
            found = self.material(subject, now=now)
            same = [each for each in there if found and each.body["mark"] == found.mark]
            memory = same[0] if same else self._made(found, order, now)
            if memory or found is None:
                break
        self.delete(each for each in there if memory is None or each.id != memory.id)
        return Woven(memory=memory, changed=not same and bool(there or memory))

    def _made(self, found: Material | None, order: Order, now: datetime) -> Memory | None:
        if found is None:
            return None
        made = draft(found, order, now=now, narrate=self.narrate)
        if self.only_while and not self.store.memories.get(self.grant, [self.only_while]):
            return None  # forgotten before, perhaps with one of those it was made for
        return self._kept(made, order)

    def _kept(self, made: Draft, order: Order) -> Memory | None:
        """Unless somebody was forgotten for whom it was being made: it would hold their name."""
        put = self.store.memories.put(self.grant.workspace, [made], stones=order.stones)
        return next(iter(put), None)

    def watch(self, order: Order, *, now: datetime) -> str | None:
        """Let workers keep the answer fresh for these readers; the id of what tells them to."""
        if order.subject.asked is None:
            return None
        told = watch(order, order.subject.asked, now=now)
        known = self.store.memories.get(self.grant, [told.id]) or self._kept(told, order)
        return told.id if known else None

    def drop(self, subject: Subject) -> None:
        """Keep it no longer, nor have it kept fresh."""
        slot = subject.slot(self.grant.scopes)
        self.delete(each for each in self._here() if each.slot == slot)

    def delete(self, memories: Iterable[Memory]) -> None:
        ids = [each.id for each in memories]
        if ids:
            self.store.memories.delete(self.grant.workspace, ids)

    def _here(self) -> list[Memory]:
        here = Condition("scope", Op.EQ, str(self.home))
        found = self.store.memories.find(self.grant, where=Every((DOSSIERS, here)))
        return [each for each in found if each.label == self.grant.scopes]

    def _hits(self, question: str, now: datetime) -> Sequence[Hit]:
        query = make_query(question, limit=MOST_SAID, threshold=0.0, now=now)
        found = answer(self.store, self.ranking, self.grant, query)
        if self.whole and found.degraded:
            raise Unavailable(f"not all of the search answered: {'; '.join(found.degraded)}")
        return found


def subject_of(memory: Memory) -> Subject:
    """What a dossier that is kept, or shall be, is about."""
    return Subject(memory.body["name"], memory.body.get("asked"))
