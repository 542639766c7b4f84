"""What the rules find in one message. Frozen, and without I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from ...core.records import Event, Trust
from ...core.zones import said_at


class Category(StrEnum):
    """The seed's soft categories of relations; identity goes to aliases instead."""

    PERSONAL = "personal"
    PROFESSIONAL = "professional"
    SOCIAL = "social"
    PROJECTS = "projects"
    TEMPORAL = "temporal"
    PREFERENCES = "preferences"
    BEHAVIOURAL = "behavioural"
    FINANCIAL = "financial"


class Certainty(StrEnum):
    """How directly something was said; each has its calibrated confidence."""

    EXPLICIT = "explicit"
    IMPLIED = "implied"
    INFERRED = "inferred"
    UNCERTAIN = "uncertain"

    @property
    def confidence(self) -> float:
        return CONFIDENCE[self]


CONFIDENCE = {
    Certainty.EXPLICIT: 0.95,
    Certainty.IMPLIED: 0.85,
    Certainty.INFERRED: 0.70,
    Certainty.UNCERTAIN: 0.50,
}


class Temporal(StrEnum):
    CURRENT = "current"
    PAST = "past"
    FUTURE = "future"


class LandmarkKind(StrEnum):
    DECISION = "decision"
    ACTION_ITEM = "action_item"
    COMMITMENT = "commitment"
    PREFERENCE_STATED = "preference_stated"
    CORRECTION = "correction"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What somebody said, and when."""

    speaker: str
    text: str
    at: datetime
    role: str = "user"
    trust: Trust = Trust.DIRECT

    @classmethod
    def of(cls, event: Event) -> Message:
        return cls(
            speaker=event.speaker,
            text=event.text,
            at=said_at(event),
            role=event.role,
            trust=event.trust,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What is known around a message: enough to say who "we", "you" and "she" are."""

    recent: tuple[Message, ...] = ()  # of the same place, oldest first
    participants: tuple[str, ...] = ()
    project: str | None = None
    known: tuple[str, ...] = ()  # names of entities, for those written in small letters
    types: Mapping[str, str] = field(default_factory=dict)  # word → type: ferry → vessel


@dataclass(frozen=True, slots=True)
class Span:
    """Part of the message's text: `text[start:end]`."""

    start: int
    end: int


NOWHERE = Span(0, 0)  # of what nobody points to a place in the text for


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    name: str
    type: str  # person, company, project, place, event, document, pet, product, group or thing
    mentions: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A fact as it was said: subject – predicate – object (an entity) or value (a literal).

    `aspect` tells apart what one predicate says of several things: PREFERS has the aspect color
    in "my favorite color is green". `sentence` can be read without the conversation.
    """

    subject: str
    predicate: str
    sentence: str
    source: Span
    category: Category
    object: str | None = None
    value: str | None = None
    aspect: str | None = None
    certainty: Certainty = Certainty.EXPLICIT
    temporal: Temporal = Temporal.CURRENT
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    negated: bool = False

    @property
    def confidence(self) -> float:
        return self.certainty.confidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A statement about who is who: it belongs to the aliases, never proven by itself."""

    owner: str
    kind: str  # email, phone, handle, username, name, or kin: "Bob's sister" is Jenny
    value: str  # normalised
    source: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Landmark:
    """A turning point: pinned when a conversation is compacted."""

    kind: LandmarkKind
    text: str
    source: Span
    owner: str | None = None  # who is to do it
    due: datetime | None = None  # the end of the date it was given
    due_from: datetime | None = None
    wrong: str | None = None  # what a correction takes back,
    right: str | None = None  # and what it puts there


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    entities: tuple[Entity, ...] = ()
    facts: tuple[Statement, ...] = ()
    identities: tuple[Identity, ...] = ()
    landmarks: tuple[Landmark, ...] = ()
    secrets: tuple[Span, ...] = field(default=())  # to redact before anything else is done
