"""Consolidation job: one representative for memories that state the same. Nothing is deleted.

A representative is a link (`core.records.links`). It derives from all duplicates and their events,
so it has their readers. It is deleted or derived again when one of them is deleted. Memories are
compared within one label only: text in one scope changes nothing in another.

`consolidate` processes memories written since its last run, `consolidate_all` processes all
memories. The result depends only on the stored memories, not on the order or number of runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime

from ...audit.records import worker_entry
from ...core.access import Grant, Label, administrator_grant
from ...core.derive import normalize_name
from ...core.filters import Condition, Op
from ...core.ids import WorkspaceId
from ...core.protocols.embedder import Floats
from ...core.protocols.jobs import JobStep, Json
from ...core.protocols.store import Store
from ...core.records import Draft, EmbeddingProfile, Event, Memory, MemoryKind
from ...core.records.links import LinkRelation, find_links, is_shared_copy
from ...core.records.memory import is_copy
from ...learn.extract.echo_filter import is_from_person
from ...text.terms import normalize_words
from .similarity import COMPARED_KINDS, MIN_COSINE, group_same, ids_needing_vectors

BATCH_SIZE = 500  # memories per step
MAX_COMPARED = 5_000  # newest memories compared, per label and name or per label
SCANNED_KINDS = (*COMPARED_KINDS, MemoryKind.LINK)
SLOT = "consolidated"
CONSOLIDATE = "consolidate"  # name of the job


def consolidate(
    store: Store, workspace: WorkspaceId, *, now: datetime, cursor: Json = None
) -> JobStep:
    """Process memories written since the last run and link duplicates."""
    start = _last_position(store, workspace) if cursor is None else int(cursor)
    end, counts = consolidate_next(store, workspace, after=start, limit=BATCH_SIZE, now=now)
    more = counts["looked_at"] == BATCH_SIZE
    return JobStep(counts=counts, cursor=end if more else None, mark=end)


def consolidate_all(
    store: Store, workspace: WorkspaceId, *, now: datetime, cursor: Json = None
) -> JobStep:
    """Process all memories, including those whose vector was computed later."""
    end, counts = consolidate_next(
        store, workspace, after=int(cursor or 0), limit=BATCH_SIZE, now=now
    )
    return JobStep(counts=counts, cursor=end if counts["looked_at"] == BATCH_SIZE else None)


def repair_representatives(store: Store, workspace: WorkspaceId, *, after: int) -> JobStep:
    """Process the memories of earlier runs again and restore lost representatives."""
    end = _last_position(store, workspace)
    if after >= end:
        return JobStep(counts={})
    last, counts = consolidate_next(store, workspace, after=after)
    done = counts["looked_at"] < BATCH_SIZE or last >= end
    changed = {"looked": counts["looked_at"], "changed": counts["put"] + counts["dropped"]}
    return JobStep(counts=changed, cursor=None if done else last)


def _last_position(store: Store, workspace: WorkspaceId) -> int:
    """Return the position of the last run, as stored with the job."""
    jobs = store.jobs.list_jobs(administrator_grant(workspace))
    return next((job.mark or 0 for job in jobs if job.name == CONSOLIDATE), 0)


def consolidate_next(
    store: Store,
    workspace: WorkspaceId,
    *,
    after: int = 0,
    limit: int = BATCH_SIZE,
    now: datetime | None = None,
) -> tuple[int, dict[str, int]]:
    """Process the next memories after this number. Return the new position and the counts."""
    found = store.memories.changes_since(workspace, SCANNED_KINDS, after=after, limit=limit)
    changed = refresh_representatives(store, workspace, [memory for _, memory in found], now=now)
    last = found[-1][0] if found else after
    return last, {"looked_at": len(found), **changed}


def refresh_representatives(
    store: Store, workspace: WorkspaceId, memories: Iterable[Memory], *, now: datetime | None = None
) -> dict[str, int]:
    """Update the representatives of these memories and of their duplicates.

    With `at`, write an audit entry with this time. Otherwise the caller writes the entry.
    """
    put = dropped = 0
    by_label: defaultdict[Label, list[Memory]] = defaultdict(list)
    for memory in memories:
        if memory.body.get("relation", LinkRelation.SAME_AS) == LinkRelation.SAME_AS:
            by_label[memory.label].append(memory)
    for label, fresh in sorted(by_label.items(), key=lambda item: sorted(map(str, item[0]))):
        shelf = _LabelConsolidator(store, workspace, label, now)
        more, fewer = shelf.update_representatives(fresh)
        put, dropped = put + more, dropped + fewer
    return {"put": put, "dropped": dropped}


@dataclass(frozen=True, slots=True)
class _LabelConsolidator:
    """Consolidation within one label."""

    store: Store
    workspace: WorkspaceId
    label: Label
    now: datetime | None

    def update_representatives(self, fresh: Sequence[Memory]) -> tuple[int, int]:
        """Return the numbers of stored and deleted representatives."""
        fresh = [each for each in fresh if not is_copy(each)]
        links = [each for each in fresh if each.kind is MemoryKind.LINK]
        with self.store.snapshot():
            compared = self._load_comparable(
                [each for each in fresh if each.kind in COMPARED_KINDS], links
            )
            wanted = {draft.id: draft for draft in self._make_representatives(compared)}
            known = {each.id: each for each in (*links, *self._find_links(compared))}
        fewer = sorted(known.keys() - wanted.keys())
        more = [wanted[id] for id in sorted(wanted.keys() - known.keys())]
        with self._audit_context(len(more), len(fewer)):
            if fewer:
                self.store.memories.delete(self.workspace, fewer)
            put = len(self.store.memories.put(self.workspace, more)) if more else 0
        return put, len(fewer)

    def _audit_context(self, put: int, dropped: int) -> AbstractContextManager[None]:
        if self.now is None:
            return nullcontext()
        entry = worker_entry(CONSOLIDATE, self.now, put=put, dropped=dropped, agreeing=MIN_COSINE)
        return self.store.with_audit_entry(self.workspace, entry)

    def _load_comparable(self, fresh: Sequence[Memory], links: Sequence[Memory]) -> list[Memory]:
        """Return these memories and every memory that could be a duplicate of one."""
        members = [id for link in links for id in link.body["members"]]
        fresh = [*fresh, *self._in_label(self.store.memories.get(self._grant, members))]
        found = {memory.id: memory for memory in fresh}
        if any(memory.kind is MemoryKind.LANDMARK for memory in fresh):
            kind = Condition("kind", Op.EQ, MemoryKind.LANDMARK)
            found |= self._by_id(
                self.store.memories.find(self._grant, where=kind, limit=MAX_COMPARED)
            )
        facts = (memory.body for memory in fresh if memory.kind is MemoryKind.FACT)
        found |= self._by_id(
            self._facts_about(sorted({normalize_name(f["subject"]) for f in facts}))
        )
        known = self._find_links(found.values())
        absent = [id for link in known for id in link.body["members"] if id not in found]
        return [*found.values(), *self._in_label(self.store.memories.get(self._grant, absent))]

    def _facts_about(self, subjects: Sequence[str]) -> list[Memory]:
        """Return the newest facts of each subject, in one query unless there are very many
        subjects.
        """
        found = self._find_facts(subjects) if subjects else []
        if len(found) < MAX_COMPARED:
            return found
        return [fact for subject in subjects for fact in self._find_facts([subject])]

    def _find_facts(self, subjects: Sequence[str]) -> list[Memory]:
        return self.store.memories.find_by_name(
            self._grant, subjects, kinds=[MemoryKind.FACT], limit=MAX_COMPARED
        )

    def _make_representatives(self, memories: Sequence[Memory]) -> list[Draft]:
        memories = [each for each in memories if not is_copy(each)]
        together = group_same(memories, *self._load_vectors(ids_needing_vectors(memories)))
        origins = {each.sources[0]: None for same in together for each in same}
        events = {each.id: each for each in self.store.ledger.get(self._grant, list(origins))}
        return [make_representative(same, events) for same in together]

    def _load_vectors(
        self, ids: Sequence[str]
    ) -> tuple[Mapping[str, Floats], EmbeddingProfile | None]:
        profile = self.store.vectors.active_profile(self.workspace) if ids else None
        return (self.store.vectors.get(self._grant, profile, ids) if profile else {}), profile

    def _find_links(self, memories: Iterable[Memory]) -> list[Memory]:
        """Return existing representatives of these memories."""
        ids = [memory.id for memory in memories]
        return self._in_label(
            find_links(self.store, self._grant, ids, LinkRelation.SAME_AS).values()
        )

    @property
    def _grant(self) -> Grant:
        return administrator_grant(self.workspace).narrow_to(self.label)

    def _in_label(self, memories: Iterable[Memory]) -> list[Memory]:
        """Return the memories with exactly this label. The grant also returns narrower
        labels.
        """
        return [memory for memory in memories if memory.label == self.label]

    def _by_id(self, memories: Iterable[Memory]) -> dict[str, Memory]:
        return {memory.id: memory for memory in self._in_label(memories)}


def make_representative(same: Sequence[Memory], events: Mapping[str, Event]) -> Draft:
    """Return the link for these duplicates, oldest first. The newest of the most trusted
    gives the text.
    """
    members = [memory.id for memory in same]
    sources = dict.fromkeys([id for memory in same for id in memory.sources])
    best = max(same, key=lambda memory: (memory.trust, memory.at, memory.id))
    return Draft(
        scope=min(memory.scope for memory in same),
        kind=MemoryKind.LINK,
        text=best.text,
        indexed_text="",  # looked up by its members
        sources=(*sources, *members),
        slot=SLOT,
        confidence=max(memory.confidence for memory in same),
        salience=max(memory.salience for memory in same),
        source="consolidated",
        learned=True,
        metadata={"made_by": [SLOT]},
        body={
            "relation": LinkRelation.SAME_AS.value,
            "what": best.kind.value,
            "members": members,
            "said": count_statements(same, events),
        },
    )


def count_statements(same: Sequence[Memory], events: Mapping[str, Event]) -> int:
    """Count independent statements by people.

    Each origin counts once. A repetition in the same words or a shared copy is no second statement.
    Agents, tools and documents do not count, because they may quote a person.
    """
    first = [events[each.sources[0]] for each in same if each.sources[0] in events]
    own = [event for event in first if is_from_person(event) and not is_shared_copy(event)]
    return max(
        1, len({(normalize_name(event.speaker), normalize_words(event.text)) for event in own})
    )
