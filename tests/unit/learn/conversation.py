"""Test helper: a conversation in one room, learned without a store."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from tests.unit.making import NOON, event

from nexusmem.core.derive import normalize_name
from nexusmem.core.records import Draft, Event, MemoryKind
from nexusmem.learn.extract.event_context import EventContext
from nexusmem.learn.extract.fact_drafts import knowledge_drafts
from nexusmem.learn.names.entities import entity_drafts
from nexusmem.learn.names.name_directory import NameDirectory
from nexusmem.learn.names.resolve import NameResolution, ResolvedExtraction, resolve_names
from nexusmem.learn.rules import SourceMessage, extract


@dataclass
class Conversation:
    known: NameDirectory = field(default_factory=NameDirectory)
    said: list[Event] = field(default_factory=list)
    drafts: list[Draft] = field(default_factory=list)

    def say(self, speaker: str, text: str, **rest: Any) -> ResolvedExtraction:
        number = len(self.said)
        at = NOON + timedelta(minutes=number)
        message = event(text, speaker=speaker, at=at, key=str(number), **rest)
        context = EventContext(message, tuple(self.said[-10:]))
        extracted = extract(
            SourceMessage.from_event(message), context.extraction_context(self.known.names)
        )
        found = resolve_names(extracted, self.known, context)
        facts = list(knowledge_drafts(message, found.extracted, context.find_name_sources))
        self.known.add_records(facts)
        entities = list(entity_drafts(message, found.extracted, self.known))
        self.drafts += [*facts, *entities, *found.reviews]
        self.said.append(message)
        return found

    def meant(self, speaker: str, text: str, name: str, **rest: Any) -> NameResolution:
        """Return the resolution of a name in a new message."""
        return self.say(speaker, text, **rest).links[name]

    def meant_by(self, message: Event, name: str, known: NameDirectory) -> NameResolution:
        """Return the resolution of a name in an event with a given directory."""
        context = EventContext(message, ())
        return resolve_names(
            extract(SourceMessage.from_event(message), context.extraction_context()), known, context
        ).links[name]

    def of(self, kind: MemoryKind) -> list[Draft]:
        return [draft for draft in self.drafts if draft.kind is kind]

    def records(self, name: str) -> list[Draft]:
        return [
            draft
            for draft in self.of(MemoryKind.ENTITY)
            if normalize_name(draft.body["name"]) == normalize_name(name)
        ]

    @property
    def questions(self) -> list[list[str]]:
        """The names in merge reviews."""
        return [draft.body["names"] for draft in self.of(MemoryKind.REVIEW)]
