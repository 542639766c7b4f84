"""A conversation in one room, learned without a store."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from tests.unit.making import NOON, event

from nexus.core.derive import known_as
from nexus.core.records import Draft, Event, MemoryKind
from nexus.learn.around import Around
from nexus.learn.directory import Directory
from nexus.learn.entities import entity_drafts
from nexus.learn.knowledge import knowledge
from nexus.learn.linking import Resolved, resolved
from nexus.learn.resolve import Resolution
from nexus.learn.rules import Message, extract


@dataclass
class Talk:
    known: Directory = field(default_factory=Directory)
    said: list[Event] = field(default_factory=list)
    drafts: list[Draft] = field(default_factory=list)

    def say(self, speaker: str, text: str, **rest: Any) -> Resolved:
        number = len(self.said)
        at = NOON + timedelta(minutes=number)
        told = event(text, speaker=speaker, at=at, key=str(number), **rest)
        around = Around(told, tuple(self.said[-10:]))
        extracted = extract(Message.of(told), around.context(self.known.names))
        found = resolved(extracted, self.known, around)
        facts = list(knowledge(told, found.extracted, around.grounds))
        self.known.with_(facts)
        who = list(entity_drafts(told, found.extracted, self.known))
        self.drafts += [*facts, *who, *found.reviews]
        self.said.append(told)
        return found

    def meant(self, speaker: str, text: str, name: str, **rest: Any) -> Resolution:
        """Whom a name means in what is said now."""
        return self.say(speaker, text, **rest).links[name]

    def meant_by(self, told: Event, name: str, known: Directory) -> Resolution:
        """Whom a name means in an event, to who knows this."""
        around = Around(told, ())
        return resolved(extract(Message.of(told), around.context()), known, around).links[name]

    def of(self, kind: MemoryKind) -> list[Draft]:
        return [draft for draft in self.drafts if draft.kind is kind]

    def records(self, name: str) -> list[Draft]:
        return [
            draft
            for draft in self.of(MemoryKind.ENTITY)
            if known_as(draft.body["name"]) == known_as(name)
        ]

    @property
    def questions(self) -> list[list[str]]:
        """The names of those a person is asked about."""
        return [draft.body["names"] for draft in self.of(MemoryKind.REVIEW)]
