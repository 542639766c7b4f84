"""The same thing said again gets one representative. Nothing is removed.

A representative is a link (`core.links`): it rests on all that say the same and on their events, so
it has their readers, and goes or is made again when one of them goes. Everything is compared
within one label: what is said in one place changes nothing in another.

`consolidate` looks at what was written since its last run, and `near_duplicates` at everything
there is. What comes out depends on what there is, and not on when it was looked at: a second run,
or another order, changes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime

from ..core.access import Grant, Label, administrator_grant
from ..core.audit import by_worker
from ..core.derive import known_as
from ..core.filters import Condition, Op
from ..core.ids import WorkspaceId
from ..core.jobs import Json, Step
from ..core.links import Relation, links_of
from ..core.protocols import Floats, Store
from ..core.records import Draft, Event, Memory, MemoryKind
from ..core.sharing import is_copy
from ..core.text import words_alone
from ..learn.immune import is_person
from .alike import AGREEING, KINDS, in_other_words, same_in

AT_ONCE = 500  # memories looked at in one step
MOST_COMPARED = 5_000  # of one label and name, or of one label: the newest
LOOKED_AT = (*KINDS, MemoryKind.LINK)
SLOT = "consolidated"
CONSOLIDATE = "consolidate"  # the name of the job


def consolidate(
    store: Store, workspace: WorkspaceId, *, now: datetime, cursor: Json = None
) -> Step:
    """What was written since the last run: the same thing said again gets a representative."""
    start = _up_to(store, workspace) if cursor is None else int(cursor)
    end, counts = look_on(store, workspace, after=start, limit=AT_ONCE, now=now)
    more = counts["looked_at"] == AT_ONCE
    return Step(counts=counts, cursor=end if more else None, mark=end)


def near_duplicates(
    store: Store, workspace: WorkspaceId, *, now: datetime, cursor: Json = None
) -> Step:
    """The same for all there is: also what got its vector later, or was learned otherwise."""
    end, counts = look_on(store, workspace, after=int(cursor or 0), limit=AT_ONCE, now=now)
    return Step(counts=counts, cursor=end if counts["looked_at"] == AT_ONCE else None)


def put_right_again(store: Store, workspace: WorkspaceId, *, after: int) -> Step:
    """What the job has looked at, once more: a representative that was lost comes back."""
    end = _up_to(store, workspace)
    if after >= end:
        return Step(counts={})
    last, counts = look_on(store, workspace, after=after)
    done = counts["looked_at"] < AT_ONCE or last >= end
    changed = {"looked": counts["looked_at"], "changed": counts["put"] + counts["dropped"]}
    return Step(counts=changed, cursor=None if done else last)


def _up_to(store: Store, workspace: WorkspaceId) -> int:
    """The number the last run came to, as the job itself says."""
    jobs = store.jobs.listed(administrator_grant(workspace))
    return next((job.mark or 0 for job in jobs if job.name == CONSOLIDATE), 0)


def look_on(
    store: Store,
    workspace: WorkspaceId,
    *,
    after: int = 0,
    limit: int = AT_ONCE,
    now: datetime | None = None,
) -> tuple[int, dict[str, int]]:
    """Look at those written next after this number; how far that went, and what was done."""
    found = store.memories.written(workspace, LOOKED_AT, after=after, limit=limit)
    changed = refresh(store, workspace, [memory for _, memory in found], now=now)
    last = found[-1][0] if found else after
    return last, {"looked_at": len(found), **changed}


def refresh(
    store: Store, workspace: WorkspaceId, memories: Iterable[Memory], *, now: datetime | None = None
) -> dict[str, int]:
    """Put right the representatives of these, and of whatever says the same as one of them.

    With a time, it is recorded as something that was done then, and not a part of another thing.
    """
    put = dropped = 0
    by_label: defaultdict[Label, list[Memory]] = defaultdict(list)
    for memory in memories:
        if memory.body.get("relation", Relation.SAME_AS) == Relation.SAME_AS:
            by_label[memory.label].append(memory)
    for label, fresh in sorted(by_label.items(), key=lambda item: sorted(map(str, item[0]))):
        shelf = _Shelf(store, workspace, label, now)
        more, fewer = shelf.put_right(fresh)
        put, dropped = put + more, dropped + fewer
    return {"put": put, "dropped": dropped}


@dataclass(frozen=True, slots=True)
class _Shelf:
    """What one label holds."""

    store: Store
    workspace: WorkspaceId
    label: Label
    now: datetime | None

    def put_right(self, fresh: Sequence[Memory]) -> tuple[int, int]:
        """How many representatives were put, and how many dropped."""
        links = [each for each in fresh if each.kind is MemoryKind.LINK]
        with self.store.moment():
            compared = self._beside([each for each in fresh if each.kind in KINDS], links)
            wanted = {draft.id: draft for draft in self._representatives(compared)}
            known = {each.id: each for each in (*links, *self._known(compared))}
        fewer = sorted(known.keys() - wanted.keys())
        more = [wanted[id] for id in sorted(wanted.keys() - known.keys())]
        with self._recording(len(more), len(fewer)):
            if fewer:
                self.store.memories.delete(self.workspace, fewer)
            put = len(self.store.memories.put(self.workspace, more)) if more else 0
        return put, len(fewer)

    def _recording(self, put: int, dropped: int) -> AbstractContextManager[None]:
        if self.now is None:
            return nullcontext()
        entry = by_worker(CONSOLIDATE, self.now, put=put, dropped=dropped, agreeing=AGREEING)
        return self.store.recording(self.workspace, entry)

    def _beside(self, fresh: Sequence[Memory], links: Sequence[Memory]) -> list[Memory]:
        """These, and all that could say the same."""
        members = [id for link in links for id in link.body["members"]]
        fresh = [*fresh, *self._own(self.store.memories.get(self._grant, members))]
        found = {memory.id: memory for memory in fresh}
        if any(memory.kind is MemoryKind.LANDMARK for memory in fresh):
            kind = Condition("kind", Op.EQ, MemoryKind.LANDMARK)
            found |= self._by_id(
                self.store.memories.find(self._grant, where=kind, limit=MOST_COMPARED)
            )
        facts = (memory.body for memory in fresh if memory.kind is MemoryKind.FACT)
        found |= self._by_id(self._facts_about(sorted({known_as(f["subject"]) for f in facts})))
        known = self._known(found.values())
        absent = [id for link in known for id in link.body["members"] if id not in found]
        return [*found.values(), *self._own(self.store.memories.get(self._grant, absent))]

    def _facts_about(self, subjects: Sequence[str]) -> list[Memory]:
        """The newest of each subject: asked for in one go, unless there are very many."""
        found = self._facts_named(subjects) if subjects else []
        if len(found) < MOST_COMPARED:
            return found
        return [fact for subject in subjects for fact in self._facts_named([subject])]

    def _facts_named(self, subjects: Sequence[str]) -> list[Memory]:
        return self.store.memories.named(
            self._grant, subjects, kinds=[MemoryKind.FACT], limit=MOST_COMPARED
        )

    def _representatives(self, memories: Sequence[Memory]) -> list[Draft]:
        together = same_in(memories, self._vectors(in_other_words(memories)))
        origins = {each.sources[0]: None for same in together for each in same}
        events = {each.id: each for each in self.store.ledger.get(self._grant, list(origins))}
        return [representative(same, events) for same in together]

    def _vectors(self, ids: Sequence[str]) -> Mapping[str, Floats]:
        profile = self.store.vectors.in_use(self.workspace) if ids else None
        return self.store.vectors.get(self._grant, profile, ids) if profile else {}

    def _known(self, memories: Iterable[Memory]) -> list[Memory]:
        """The representatives that any of these has already."""
        ids = [memory.id for memory in memories]
        return self._own(links_of(self.store, self._grant, ids, Relation.SAME_AS).values())

    @property
    def _grant(self) -> Grant:
        return administrator_grant(self.workspace).within(self.label)

    def _own(self, memories: Iterable[Memory]) -> list[Memory]:
        """Those of this label: the grant also shows what lies in a part of it."""
        return [memory for memory in memories if memory.label == self.label]

    def _by_id(self, memories: Iterable[Memory]) -> dict[str, Memory]:
        return {memory.id: memory for memory in self._own(memories)}


def representative(same: Sequence[Memory], events: Mapping[str, Event]) -> Draft:
    """The link that stands for these, oldest first: told by the newest of the most trusted."""
    members = [memory.id for memory in same]
    sources = dict.fromkeys([id for memory in same for id in memory.sources])
    best = max(same, key=lambda memory: (memory.trust, memory.at, memory.id))
    return Draft(
        scope=min(memory.scope for memory in same),
        kind=MemoryKind.LINK,
        text=best.text,
        indexed_text="",  # found by its members
        sources=(*sources, *members),
        slot=SLOT,
        confidence=max(memory.confidence for memory in same),
        salience=max(memory.salience for memory in same),
        source="consolidated",
        learned=True,
        metadata={"made_by": [SLOT]},
        body={
            "relation": Relation.SAME_AS.value,
            "what": best.kind.value,
            "members": members,
            "said": times_said(same, events),
        },
    )


def times_said(same: Sequence[Memory], events: Mapping[str, Event]) -> int:
    """By people, each time in words of its own. One origin counts once.

    Whoever says the same words again, or shares what was said, is no second witness; and an
    agent, a tool or a document may have it from those who were.
    """
    first = [events[each.sources[0]] for each in same if each.sources[0] in events]
    own = [event for event in first if is_person(event) and not is_copy(event)]
    return max(1, len({(known_as(event.speaker), words_alone(event.text)) for event in own}))
