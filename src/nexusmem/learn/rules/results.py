"""Results of the rules for one message. Frozen records without I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from ...core.records import Event, Trust
from ...core.records.landmarks import LandmarkKind
from ...text.utc_offset import local_time


class Category(StrEnum):
    """Categories of relations in the specification. Identity statements become aliases
    instead.
    """

    PERSONAL = "personal"
    PROFESSIONAL = "professional"
    SOCIAL = "social"
    PROJECTS = "projects"
    TEMPORAL = "temporal"
    PREFERENCES = "preferences"
    BEHAVIOURAL = "behavioural"
    FINANCIAL = "financial"


class Certainty(StrEnum):
    """How directly something was stated. Each level has a calibrated confidence."""

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


class StatementTense(StrEnum):
    CURRENT = "current"
    PAST = "past"
    FUTURE = "future"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMessage:
    """A message with its speaker and time."""

    speaker: str
    text: str
    at: datetime
    role: str = "user"
    trust: Trust = Trust.DIRECT

    @classmethod
    def from_event(cls, event: Event) -> SourceMessage:
        return cls(
            speaker=event.speaker,
            text=event.text,
            at=local_time(event),
            role=event.role,
            trust=event.trust,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageContext:
    """Context of a message: enough to resolve "we", "you" and "she"."""

    recent: tuple[SourceMessage, ...] = ()  # of the same scope, oldest first
    participants: tuple[str, ...] = ()
    project: str | None = None
    known_names: tuple[str, ...] = ()  # entity names, to recognize them in lower case
    types: Mapping[str, str] = field(default_factory=dict)  # word → type: ferry → vessel


@dataclass(frozen=True, slots=True)
class TextSpan:
    """Part of the message's text: `text[start:end]`."""

    start: int
    end: int


NO_SPAN = TextSpan(0, 0)  # for results without a position in the text


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    name: str
    type: str  # person, company, project, place, event, document, pet, product, group or thing
    mentions: tuple[TextSpan, ...] = ()
    is_guess: bool = False  # nothing in the message says the type


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A fact as stated: subject, predicate, and object (an entity) or value (a literal).

    `aspect` distinguishes statements of one predicate: PREFERS has the aspect color in "my favorite
    color is green". `sentence` is understandable without the conversation.
    """

    subject: str
    predicate: str
    sentence: str
    source: TextSpan
    category: Category
    object: str | None = None
    value: str | None = None
    aspect: str | None = None
    certainty: Certainty = Certainty.EXPLICIT
    temporal: StatementTense = StatementTense.CURRENT
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    negated: bool = False
    rule: str = ""  # the reader that found it: "work at", "_read_move"

    @property
    def confidence(self) -> float:
        return self.certainty.confidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """An identity statement, which becomes an alias. It is never sufficient proof."""

    owner: str
    kind: str  # email, phone, handle, username, name, or kin: "Bob's sister" is Jenny
    value: str  # normalized
    source: TextSpan


@dataclass(frozen=True, slots=True, kw_only=True)
class Landmark:
    """A turning point of a conversation. Compaction preserves it."""

    kind: LandmarkKind
    text: str
    source: TextSpan
    owner: str | None = None  # the person who will do it
    due: datetime | None = None  # end of the stated date
    due_from: datetime | None = None
    wrong: str | None = None  # the value that a correction retracts
    right: str | None = None  # and the value that replaces it
    request: str | None = None  # of the message before, if `text` only takes it up: "I'll do it"


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUp:
    """What a message says about a plan of the conversation without naming it, or by one word."""

    sentence: str
    what: str | None = None  # words that name the plan: "audit"; None: "it"
    day: str | None = None  # the new date, as dated facts have it
    since: datetime | None = None  # when that date begins
    shift: timedelta | None = None  # "a week later"
    place: str | None = None  # the new venue
    is_due: bool = False  # a deadline
    is_cancelled: bool = False
    needs_gap: bool = False  # counts only for a plan that has no date any more


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionResult:
    entities: tuple[Entity, ...] = ()
    facts: tuple[Statement, ...] = ()
    identities: tuple[Identity, ...] = ()
    landmarks: tuple[Landmark, ...] = ()
    secrets: tuple[TextSpan, ...] = field(default=())  # to redact before any other step
    follow_ups: tuple[FollowUp, ...] = ()
