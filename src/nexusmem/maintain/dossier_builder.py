"""Dossier builder: creates, updates and deletes the dossiers of one scope for one grant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..core.access import Grant
from ..core.derive import normalize_name
from ..core.errors import Unavailable
from ..core.filters import And, Condition, Op
from ..core.protocols.store import Store
from ..core.records import Draft, Hit, Memory, MemoryKind
from ..core.records.dossiers import QUESTION_KEY
from ..core.scope import Scope
from ..recall.query import make_query
from ..recall.search import Ranking, search_memories
from ..text.terms import mentions_name
from .dossiers import (
    DossierMaterial,
    DossierRequest,
    DossierSubject,
    Narrate,
    collect_material,
    draft_dossier,
    draft_version,
    draft_watch,
    version_of,
    version_prefix,
)

MAX_HITS = 12
MIN_SCORE = 0.2  # of hits that answer a standing question, as in a context
MAX_VERSIONS = 50  # earlier versions of one dossier; older ones are deleted
MAX_TRIES = 2  # because material can be erased while the dossier is written

IS_DOSSIER = Condition("kind", Op.EQ, MemoryKind.DOSSIER)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltDossier:
    """The current dossier (None: no material) and whether it differs from the stored one."""

    memory: Memory | None
    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DossierBuilder:
    """Builds dossiers of one scope for viewers who may read everything in the grant."""

    store: Store
    ranking: Ranking
    grant: Grant
    home: Scope
    narrate: Narrate | None = None
    complete_only: bool = False  # raise Unavailable if a part of the search did not answer
    required_memory: str | None = None  # build none after this memory was deleted

    def find_questions(self) -> dict[str, DossierSubject]:
        """Return the standing questions of this scope by text, oldest first."""
        memories = self.store.memories.find(self.grant.narrow_to([self.home]), where=IS_DOSSIER)
        questions: dict[str, DossierSubject] = {}
        for each in sorted(memories, key=lambda each: (each.at, each.recorded_at, each.id)):
            if QUESTION_KEY in each.body:
                question = each.body[QUESTION_KEY]
                questions.pop(question, None)
                if not each.body.get("dropped", False):
                    questions[question] = DossierSubject(question, each.id)
        return questions

    def resolve_subject(self, name: str) -> DossierSubject:
        """Return the standing question with this text, or else the entity of this name."""
        return self.find_questions().get(name, DossierSubject(name))

    def list_dossiers(self) -> list[Memory]:
        """Return the dossiers of this scope that were built for exactly this grant."""
        return [each for each in self._memories_here() if "mark" in each.body]

    def collect_material(self, subject: DossierSubject, *, now: datetime) -> DossierMaterial | None:
        """Search the current material of a dossier; None if there is none."""
        hits = self._search(subject.name, now)
        if subject.question_id:
            relevant = [hit.memory for hit in hits if hit.score >= MIN_SCORE]
            return DossierMaterial(subject.name, (), {"said": relevant}) if relevant else None
        words = normalize_name(subject.name).split()
        naming = [
            hit.memory
            for hit in hits
            if all(mentions_name(hit.memory.text, each) for each in words)
        ]
        return collect_material(self.store, self.grant, subject.name, naming, now=now)

    def make_request(self, subject: DossierSubject, *, looked_at: datetime) -> DossierRequest:
        """Return a request with the current tombstones.

        Call this before reading material: erasures after it prevent the dossier from being stored.
        """
        reach = self.grant.scopes
        stones = self.store.eraser.scope_tombstones(self.grant.workspace, reach)
        return DossierRequest(
            home=self.home, reach=reach, subject=subject, looked_at=looked_at, tombstones=stones
        )

    def build(self, request: DossierRequest, *, now: datetime) -> BuiltDossier:
        """Return the stored dossier if it is current, else write a new version.

        The replaced dossier is kept as an earlier version. Idempotent after a crash: both are
        stored in one transaction before the replaced one is deleted.
        """
        subject = request.subject
        stored = [
            each for each in self.list_dossiers() if each.slot == subject.slot_for(request.reach)
        ]
        for _ in range(MAX_TRIES):
            material = self.collect_material(subject, now=now)
            same = [
                each for each in stored if material and each.body["mark"] == material.fingerprint
            ]
            memory = same[0] if same else self._build_new(material, request, stored, now)
            if memory or material is None:
                break
        self.delete(each for each in stored if memory is None or each.id != memory.id)
        return BuiltDossier(memory=memory, changed=not same and bool(stored or memory))

    def _build_new(
        self,
        material: DossierMaterial | None,
        request: DossierRequest,
        replaced: Sequence[Memory],
        now: datetime,
    ) -> Memory | None:
        if material is None:
            return None
        earlier = self.list_versions(request.subject)
        number = 1 + max(map(version_of, (*earlier, *replaced)), default=0)
        draft = draft_dossier(material, request, now=now, narrate=self.narrate, version=number)
        if self.required_memory and not self.store.memories.get(self.grant, [self.required_memory]):
            return None  # erased, perhaps together with one of the readers
        versions = [draft_version(each, now=now) for each in replaced]
        self.delete(earlier[: max(0, len(earlier) + len(versions) - MAX_VERSIONS)])
        return self._store_draft(draft, request, versions)

    def _store_draft(
        self, draft: Draft, request: DossierRequest, versions: Sequence[Draft] = ()
    ) -> Memory | None:
        """Store the draft; return None if one of its readers was erased since the request."""
        put = self.store.memories.put(
            self.grant.workspace, [draft, *versions], tombstones=request.tombstones
        )
        return next((each for each in put if each.id == draft.id), None)

    def list_versions(self, subject: DossierSubject) -> list[Memory]:
        """Return the earlier versions of a dossier, oldest first."""
        prefix = version_prefix(subject.slot_for(self.grant.scopes))
        found = [each for each in self._memories_here() if each.slot.startswith(prefix)]
        return sorted(found, key=lambda each: (version_of(each), each.at, each.id))

    def ensure_watch(self, request: DossierRequest, *, now: datetime) -> str | None:
        """Store a watch, so that workers refresh this answer; return the id of the watch."""
        if request.subject.question_id is None:
            return None
        watch = draft_watch(request, request.subject.question_id, now=now)
        stored = self.store.memories.get(self.grant, [watch.id])
        return watch.id if stored or self._store_draft(watch, request) else None

    def remove_subject(self, subject: DossierSubject) -> None:
        """Delete the dossier, its earlier versions and its watch."""
        slot = subject.slot_for(self.grant.scopes)
        own = [each for each in self._memories_here() if each.slot == slot]
        self.delete([*own, *self.list_versions(subject)])

    def delete(self, memories: Iterable[Memory]) -> None:
        ids = [each.id for each in memories]
        if ids:
            self.store.memories.delete(self.grant.workspace, ids)

    def _memories_here(self) -> list[Memory]:
        here = Condition("scope", Op.EQ, str(self.home))
        found = self.store.memories.find(self.grant, where=And((IS_DOSSIER, here)))
        return [each for each in found if each.label == self.grant.scopes]

    def _search(self, question: str, now: datetime) -> Sequence[Hit]:
        query = make_query(question, limit=MAX_HITS, threshold=0.0, now=now)
        hits = search_memories(self.store, self.ranking, self.grant, query)
        if self.complete_only and hits.degraded:
            raise Unavailable(f"search is incomplete: {'; '.join(hits.degraded)}")
        return hits


def subject_of(memory: Memory) -> DossierSubject:
    """Return the subject of a stored dossier or watch."""
    return DossierSubject(memory.body["name"], memory.body.get("asked"))
