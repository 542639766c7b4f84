"""Dossiers: documents about one person or thing, rewritten when their memories change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ..core.access import Grant, Viewer
from ..core.derive import normalize_name
from ..core.errors import NotFound
from ..core.ids import check_name
from ..core.records import Memory
from ..core.records.notebook import Document, content_hash, path_part
from ..maintain.dossier_builder import DossierBuilder, subject_of
from ..maintain.dossiers import (
    Dossier,
    DossierSubject,
    Narrate,
    format_document,
    open_dossier,
)
from ..observe.events import question_event
from ..recall.views.entities import resolve_names
from ..recall.views.name_lookup import resolve_name
from ..wiring.parts import Parts
from .base import audit_read

DOSSIER_FOLDER = "dossiers/"  # in the notebook

DossierList = list[Dossier]  # `list` is a method of the class
QuestionList = list[str]


class Dossiers:
    """The dossiers and standing questions of a place."""

    _audit_prefix: ClassVar[str] = "dossiers_"

    def __init__(self, parts: Parts, viewer: Viewer, grant: Grant, narrate: Narrate | None) -> None:
        self._parts = parts
        self._viewer = viewer
        self._grant = grant
        self._builder = DossierBuilder(
            store=parts.store,
            ranking=parts.ranking,
            grant=grant,
            home=viewer.home,
            narrate=narrate,
        )

    @audit_read
    def get(self, name: str) -> Dossier:
        """Return the dossier of a person, thing or standing question, up to date.

        It is written if it is missing or outdated. Raises NotFound if there are no memories.
        """
        check_name(name, "the name")
        self._parts.learner.catch_up(self._grant)
        found = self._build_dossier(self._find_subject(name))
        if found is None:
            raise NotFound(f"no memories of {name!r} here")
        return found

    @audit_read
    def history(self, name: str) -> DossierList:
        """List every version of a dossier, oldest first; the last one is the current one.

        An earlier version is erased with any of its sources, as a dossier is. Nothing is written.
        """
        check_name(name, "the name")
        self._parts.learner.catch_up(self._grant)
        subject = self._find_subject(name)
        slot = subject.slot_for(self._grant.scopes)
        current = [each for each in self._load_dossiers() if each.slot == slot]
        versions = [self._open_dossier(each, None) for each in self._builder.list_versions(subject)]
        mark = self._current_mark(subject) if current else None
        found = [*versions, *(self._open_dossier(each, mark) for each in current)]
        if not found:
            raise NotFound(f"no dossier {name!r} here")
        return found

    def _find_subject(self, name: str) -> DossierSubject:
        """Return the standing question of this text, or the entity; its names have one dossier."""
        if question := self._builder.find_questions().get(name):
            return question
        store, people = self._parts.store, [each.value for each in self._viewer.people]
        with store.snapshot():
            resolved = resolve_name(store, self._grant, name, people)
            (names,) = resolve_names(store, self._grant, [resolved])
        return DossierSubject(names.name)

    @audit_read
    def add_question(self, question: str) -> Dossier | None:
        """Add a standing question; return its answer, or None while nothing answers it."""
        check_name(question, "the question")
        if question not in self._load_questions():
            self._write_question(question, removed=False)
        self._parts.learner.catch_up(self._grant)
        return self._build_dossier(self._builder.resolve_subject(question))

    def remove_question(self, question: str) -> None:
        """Remove a standing question and its answer."""
        if question not in self._load_questions():
            raise NotFound(f"no standing question {question!r:.80} here")
        subject = self._builder.resolve_subject(question)
        self._write_question(question, removed=True)
        self._builder.remove_subject(subject)

    @audit_read
    def questions(self) -> QuestionList:
        """List the standing questions, oldest first."""
        return self._load_questions()

    def _load_questions(self) -> QuestionList:
        self._parts.learner.catch_up(self._grant.narrow_to([self._viewer.home]))
        return [*self._builder.find_questions()]

    @audit_read
    def answers(self) -> Mapping[str, Dossier | None]:
        """Return the current answer of each standing question, or None."""
        self._parts.learner.catch_up(self._grant)
        return {
            name: self._build_dossier(subject)
            for name, subject in self._builder.find_questions().items()
        }

    @audit_read
    def list(self) -> DossierList:
        """List the dossiers of this place by name; `stale` marks the outdated ones."""
        self._parts.learner.catch_up(self._grant)
        dossiers = [
            self._open_dossier(each, self._current_mark(subject_of(each)))
            for each in self._load_dossiers()
        ]
        return sorted(dossiers, key=lambda each: (normalize_name(each.name), each.id))

    @audit_read
    def refresh(self) -> int:
        """Rewrite the outdated dossiers; return their number."""
        self._parts.learner.catch_up(self._grant)
        subjects = dict.fromkeys(
            [*map(subject_of, self._load_dossiers()), *self._builder.find_questions().values()]
        )
        now = self._parts.now()
        requests = [self._builder.make_request(each, looked_at=now) for each in subjects]
        return sum(self._builder.build(each, now=now).changed for each in requests)

    def _list_documents(self) -> Mapping[str, Sequence[Document]]:
        """Return the versions of every dossier as Markdown documents, by path, oldest first.

        The notebook of the place lists them below `dossiers/`. Nothing is written.
        """
        documents: dict[str, Sequence[Document]] = {}
        taken: set[str] = set()
        for memory in sorted(self._load_dossiers(), key=lambda each: each.slot):
            title = memory.text.partition("\n")[0].removeprefix("# ").partition(" (also known")[0]
            path = f"{DOSSIER_FOLDER}{path_part(title)}.md"
            if path.casefold() in taken:  # two names that differ in case, or in forbidden letters
                path = f"{DOSSIER_FOLDER}{path_part(title)}-{memory.slot[:8]}.md"
            taken.add(path.casefold())
            versions = [*self._builder.list_versions(subject_of(memory)), memory]
            documents[path] = [self._make_document(path, each) for each in versions]
        return documents

    def _make_document(self, path: str, memory: Memory) -> Document:
        dossier = self._open_dossier(memory, memory.body.get("mark"))
        text = format_document(dossier)
        return Document(
            path=path,
            text=text,
            version=dossier.version,
            hash=content_hash(text),
            at=dossier.made_at,
            by=memory.source,
            event=memory.id,
        )

    def _load_dossiers(self) -> Sequence[Memory]:
        """Return the dossiers without answers of removed questions; a job deletes those."""
        current = {None, *(each.question_id for each in self._builder.find_questions().values())}
        return [
            each
            for each in self._builder.list_dossiers()
            if subject_of(each).question_id in current
        ]

    def _build_dossier(self, subject: DossierSubject) -> Dossier | None:
        """Return the dossier, written if necessary, and count the use."""
        now = self._parts.now()
        request = self._builder.make_request(subject, looked_at=now)
        watch = self._builder.ensure_watch(request, now=now)
        memory = self._builder.build(request, now=now).memory
        used = [memory.id if memory else None, watch]
        self._parts.count_uses(self._viewer, filter(None, used), now)
        return self._open_dossier(memory, memory.body["mark"]) if memory else None

    def _open_dossier(self, memory: Memory, mark: str | None) -> Dossier:
        return open_dossier(self._parts.store, self._grant, memory, fingerprint=mark)

    def _current_mark(self, subject: DossierSubject) -> str | None:
        found = self._builder.collect_material(subject, now=self._parts.now())
        return found.fingerprint if found else None

    def _write_question(self, question: str, *, removed: bool) -> None:
        now = self._parts.now()
        event = question_event(self._viewer, question, dropped=removed, now=now)
        self._parts.recorder.append(self._viewer.workspace, [event], now)
