"""Answer parser: turns the items of a model's answer into drafts, checking each item.

An item is accepted only if the turns support it. A rejected item is dropped alone and its reason
is counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from ...core.canonical import EARLIEST, LATEST, canonical_json, clean_time, format_time
from ...core.derive import normalize_name
from ...core.errors import InvalidInput
from ...core.ids import digest
from ...core.records import Draft, Fact, MemoryKind
from ...core.records.facts import PREDICATE_PATTERN
from ...core.records.landmarks import LandmarkKind
from ...text.dates import DateRelation, DateSpan, find_dates
from ...text.utc_offset import local_time, normalize_range
from ..extract.explicit_events import LANDMARK_SALIENCE
from ..extract.fact_drafts import landmark_body
from ..extract.passages import event_tags
from ..rules.instructions import SpeakerPolicy, find_instructions
from ..rules.relations import START_RELATIONS, STATE_RELATIONS, identity_from_fact
from ..rules.results import (
    NO_SPAN,
    Category,
    Certainty,
    Entity,
    ExtractionResult,
    Identity,
    Landmark,
    MessageContext,
    SourceMessage,
    Statement,
    StatementTense,
)
from .turns import Excerpt, ExcerptTurn, content_terms


class ItemRejected(Exception):
    """Reason for dropping one item; it has no content of the item, which may be private."""


MAX_TIME_CHARS = 200
OPEN_END_RELATIONS = (DateRelation.SINCE, DateRelation.AFTER)
OPEN_START_RELATIONS = (DateRelation.UNTIL, DateRelation.BEFORE)


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A time range; None means open."""

    since: datetime | None
    until: datetime | None


def resolve_time_span(
    time_item: Mapping[str, Any] | None, turns: Sequence[ExcerptTurn], *, is_future: bool = False
) -> TimeSpan:
    """Return the range that the quoted words mean, or else the dates that the model gave.

    `is_future`: prefer the model's dates if the words give a past range ("on Friday").
    """
    if time_item is None:
        return TimeSpan(None, None)
    given = _parse_time_item(time_item)  # always checked: a wrong date casts doubt on the item
    span = next(_find_spans(time_item["words"], turns), None)
    spoken_at = turns[-1].event.at
    if span is None or (is_future and span.until <= spoken_at and _is_later(given, spoken_at)):
        return given
    since = None if span.relation in OPEN_START_RELATIONS else span.since
    until = None if span.relation in OPEN_END_RELATIONS else span.until
    return TimeSpan(*map(_drop_extreme_time, normalize_range(since, until)))


def _is_later(span: TimeSpan, at: datetime) -> bool:
    end = span.until or span.since
    return end is not None and end > at


def _find_spans(words: str, turns: Sequence[ExcerptTurn]) -> Iterator[DateSpan]:
    """Yield dates of turns that contain these words, then dates of the words alone."""
    quoted = " ".join(words.casefold().split())
    if not quoted or len(quoted) > MAX_TIME_CHARS:
        return
    for turn in turns:
        for span in _dates_in_text(turn.text, local_time(turn.event)):
            found = " ".join(span.text.casefold().split())
            if found in quoted or quoted in found:
                yield span
    for turn in turns:
        dates = find_dates(words, local_time(turn.event))
        if len(dates) == 1:
            yield dates[0]


@lru_cache(maxsize=32)  # called for every dated item of a turn
def _dates_in_text(text: str, at: datetime) -> list[DateSpan]:
    return find_dates(text, at)


def _parse_time_item(time_item: Mapping[str, Any]) -> TimeSpan:
    since = _parse_iso_time(time_item["from"], is_end=False)
    until = _parse_iso_time(time_item["to"], is_end=True)
    if since and until and since > until:
        raise ItemRejected("time ends before it begins")
    return TimeSpan(since, until)


def _parse_iso_time(text: str | None, *, is_end: bool) -> datetime | None:
    """Parse a date or time in ISO 8601; for `is_end`, a date means the end of that day."""
    if text is None or not text.strip():
        return None
    try:
        if len(text) <= len("2026-01-31"):
            day = date.fromisoformat(text) + timedelta(days=1 if is_end else 0)
            return clean_time(datetime(day.year, day.month, day.day, tzinfo=UTC))
        return clean_time(datetime.fromisoformat(text))
    except (ValueError, OverflowError, InvalidInput):
        raise ItemRejected("invalid date") from None


def _drop_extreme_time(at: datetime | None) -> datetime | None:
    """Return None for times at the limits of the calendar."""
    return at if at is not None and EARLIEST < at < LATEST else None


AnswerItem = Mapping[str, Any]

MAX_NAME_CHARS = 120
MAX_TEXT_CHARS = 1_000
MAX_PREDICATE_CHARS = 60
MAX_NAMES = 24
MAX_TOPICS = 5
PRONOUNS = frozenset(
    """i me my mine we us our you your he him his she her it its they them their this that these
    those who someone somebody everyone everybody nobody""".split()
)
TIMELESS_PREDICATES = frozenset("BORN_ON ANNIVERSARY_ON HAS_SCHEDULE TYPICALLY_CONTACTS_AT".split())
WORD = re.compile(r"\w+")
REFUSAL_REASONS = frozenset(  # a correction prompt cannot repair these
    {
        "tools and agents may not state facts about people",
        "external sources may not state preferences",
        "external sources may not state landmarks",
        "external sources may not describe themselves",
    }
)
PREFERENCE_PREDICATES = frozenset(
    "PREFERS LIKES DISLIKES LOVES HATES WANTS AVOIDS FAVORITE".split()
)


class _ItemExtraction(NamedTuple):
    """An item in the form of the rules' results, with its newest turn."""

    turn: ExcerptTurn
    entities: tuple[Entity, ...] = ()
    identities: tuple[Identity, ...] = ()
    facts: tuple[Statement, ...] = ()
    landmarks: tuple[Landmark, ...] = ()


EXTRACTED_FIELDS = ("entities", "identities", "facts", "landmarks")
ParsedItem = tuple[Draft | None, _ItemExtraction]


@dataclass(slots=True)
class AnswerParser:
    """Parses the answer of a model about one excerpt."""

    excerpt: Excerpt
    maker: str  # name, version and hash of the prompt
    source: str
    known_words: frozenset[str]  # of known names; allowed although no turn has them
    max_items: int  # of each kind
    dropped: Counter[str] = field(default_factory=Counter)
    extracted: dict[str, ExtractionResult] = field(default_factory=dict)  # by event, no labels
    _turns_by_number: dict[int, ExcerptTurn] = field(init=False)

    def __post_init__(self) -> None:
        self._turns_by_number = {turn.number: turn for turn in self.excerpt.all_turns}

    def parse_drafts(self, answer: Mapping[str, Sequence[AnswerItem]]) -> list[Draft]:
        """Return the drafts of accepted items; fill `extracted` and `dropped`."""
        parsers: dict[str, Callable[[AnswerItem], ParsedItem]] = {
            "entities": self._parse_entity,
            "facts": self._parse_fact,
            "landmarks": self._parse_landmark,
            "labels": self._parse_label,
        }
        drafts: dict[str, Draft] = {}
        for name, parse in parsers.items():
            self.dropped["too many"] += max(0, len(answer[name]) - self.max_items)
            for item in answer[name][: self.max_items]:
                try:
                    draft, extraction = parse(item)
                except ItemRejected as reason:
                    self.dropped[str(reason)] += 1
                    continue
                if draft is None or draft.id not in drafts:
                    self._add_extraction(extraction)
                if draft:
                    drafts.setdefault(draft.id, draft)
        self.dropped = +self.dropped
        return list(drafts.values())

    # -- the four kinds of items

    def _parse_entity(self, item: AnswerItem) -> ParsedItem:
        """Parse an entity. It has no draft: name resolution decides, as for the rules."""
        turns = self._find_turns(item["turns"])
        name = _clean_name(item["name"])
        aliases = [] if _is_external(turns) else [_clean_name(alias) for alias in item["aliases"]]
        aliases = [
            each
            for each in _distinct_names(aliases)
            if normalize_name(each) != normalize_name(name)
        ]
        if not all(self._is_mentioned(turns, each) for each in (name, *aliases)):
            raise ItemRejected("name is not in the turns")
        type = " ".join(item["type"].casefold().split())
        if not type or len(type) > MAX_PREDICATE_CHARS:
            raise ItemRejected("type is empty or too long")
        identities = tuple(_alias_identity(name, alias) for alias in aliases)
        return None, _ItemExtraction(
            turns[-1], entities=(Entity(name=name, type=type),), identities=identities
        )

    def _parse_fact(self, item: AnswerItem) -> ParsedItem:
        turns = self._find_turns(item["turns"])
        fact = _parse_relation(item)
        sentence = _clean_text(item["sentence"])
        external = _is_external(turns)
        if external and (
            fact.category == Category.PREFERENCES or fact.predicate in PREFERENCE_PREDICATES
        ):
            raise ItemRejected("external sources may not state preferences")
        if external and fact.subject in {turn.event.speaker for turn in turns}:
            raise ItemRejected("external sources may not describe themselves")
        names = " ".join(filter(None, (fact.subject, fact.object, _string_or_empty(fact.value))))
        time = _validity_span(
            resolve_time_span(item["when"], turns, is_future=fact.tense == "future"), fact
        )
        certainty = Certainty(item["certainty"])
        if not self._is_grounded(turns, names, time):
            certainty = _lower_certainty(Certainty.INFERRED, certainty)
        if external:
            certainty = Certainty.UNCERTAIN
        fact = replace(fact, stated=certainty is not Certainty.INFERRED)
        statement = _make_statement(fact, sentence, certainty, time)
        if not self._strongest_voice(turns).filter_facts([statement]):
            raise ItemRejected("tools and agents may not state facts about people")
        if (
            not external
            and self._is_mentioned(turns, names)
            and (alias := identity_from_fact(fact))
        ):
            return None, _ItemExtraction(turns[-1], identities=(alias,))
        draft = Draft(
            kind=MemoryKind.FACT,
            text=sentence,
            slot=digest("fact", canonical_json(asdict(fact))),
            confidence=certainty.confidence,
            valid_from=time.since,
            valid_to=time.until,
            body=asdict(fact),
            **self._origin_fields(turns, names, sentence),
        )
        return draft, _ItemExtraction(turns[-1], facts=(statement,))

    def _parse_landmark(self, item: AnswerItem) -> ParsedItem:
        turns = self._find_turns(item["turns"])
        if _is_external(turns):
            raise ItemRejected("external sources may not state landmarks")
        due = resolve_time_span(item["due"], turns, is_future=True)
        landmark = Landmark(
            kind=LandmarkKind(item["kind"]),
            text=_clean_text(item["text"]),
            source=NO_SPAN,
            owner=_clean_name(item["owner"]) if item["owner"] else None,
            due=due.until,
            due_from=due.since,
            wrong=_clean_text(item["wrong"]) if item["wrong"] else None,
            right=_clean_text(item["right"]) if item["right"] else None,
        )
        if not self._strongest_voice(turns).filter_landmarks([landmark]):
            raise ItemRejected("tools and agents may not state facts about people")
        draft = Draft(
            kind=MemoryKind.LANDMARK,
            text=landmark.text,
            slot=digest("landmark", landmark.kind.value, landmark.text),
            confidence=Certainty(item["certainty"]).confidence,
            salience=LANDMARK_SALIENCE,
            body=landmark_body(landmark),
            **self._origin_fields(turns, landmark.owner or "", landmark.text),
        )
        return draft, _ItemExtraction(turns[-1], landmarks=(landmark,))

    def _parse_label(self, item: AnswerItem) -> ParsedItem:
        turns = self._find_turns([item["turn"]])
        label, text = _clean_text(item["label"]), _clean_text(item["text"])
        topics = _distinct_names(_clean_name(topic) for topic in item["topics"])[:MAX_TOPICS]
        names = _distinct_names(_clean_name(name) for name in item["entities"])[:MAX_NAMES]
        borrowed = " ".join((*names, *topics))
        draft = Draft(
            kind=MemoryKind.EPISODE,
            text=text,
            slot="turn",
            indexed_text="",  # labels are looked up by names and thread only
            body={"span": "turn", "label": label, "topics": topics, "entities": names},
            **self._origin_fields(turns, borrowed, f"{label} {text}"),
        )
        return draft, _ItemExtraction(turns[-1])

    # -- sources and evidence

    def _add_extraction(self, extraction: _ItemExtraction) -> None:
        id = extraction.turn.event.id
        existing = self.extracted.get(id, ExtractionResult())
        merged = {
            kind: (*getattr(existing, kind), *getattr(extraction, kind))
            for kind in EXTRACTED_FIELDS
        }
        if any(merged.values()):
            self.extracted[id] = replace(existing, **merged)

    def _strongest_voice(self, turns: Sequence[ExcerptTurn]) -> SpeakerPolicy:
        """Return the policy of the most trusted turn: a person may confirm an agent's claim."""
        event = max((turn.event for turn in turns), key=lambda event: event.trust)
        people = {turn.event.speaker for turn in self.excerpt.all_turns}
        people.add(event.scope.owner or "")
        return SpeakerPolicy.for_message(
            SourceMessage.from_event(event), MessageContext(participants=tuple(people))
        )

    def _find_turns(self, numbers: Sequence[int]) -> list[ExcerptTurn]:
        if any(number not in self._turns_by_number for number in numbers):
            raise ItemRejected("unknown turn number")
        named = [self._turns_by_number[number] for number in sorted(set(numbers))]
        first = self.excerpt.turns[0].number
        if not named or named[-1].number < first:
            raise ItemRejected("no turn of this batch")
        return named

    def _origin_fields(
        self, turns: Sequence[ExcerptTurn], names: str, sentence: str = ""
    ) -> dict[str, Any]:
        """Return draft fields from the turns; the newest turn is the first source."""
        last = turns[-1].event
        others = (*turns[:-1], *self._find_borrowed_turns(turns, names, sentence))
        return {
            "scope": last.scope,
            "sources": (last.id, *(turn.event.id for turn in others)),
            "at": last.at,
            "speaker": last.speaker,
            "role": last.role,
            "source": self.source,
            "thread": last.thread,
            "tags": event_tags(last),
            "learned": True,
            "metadata": {"made_by": [self.maker]},
        }

    def _find_borrowed_turns(
        self, turns: Sequence[ExcerptTurn], names: str, sentence: str
    ) -> list[ExcerptTurn]:
        """Return turns that the model did not cite but took words from.

        They become sources, so that the draft is erased with them.
        """
        capitals = [word for word in WORD.findall(sentence) if word[0].isupper()]
        borrowed = content_terms(" ".join([names, *capitals])) - _turn_words(turns)
        last = turns[-1].number
        nearest = sorted(
            self.excerpt.all_turns, key=lambda turn: (turn.number > last, -turn.number)
        )
        lenders: dict[int, ExcerptTurn] = {}
        for word in sorted(borrowed):
            lender = next((turn for turn in nearest if word in turn.words), None)
            if lender:
                lenders[lender.number] = lender
        return [lenders[number] for number in sorted(lenders)]

    def _is_grounded(self, turns: Sequence[ExcerptTurn], names: str, time: TimeSpan) -> bool:
        """Return whether each word is in the turns, in a known name or in the resolved time."""
        times = [format_time(at) for at in (time.since, time.until) if at]
        return content_terms(names) <= _turn_words(turns) | self.known_words | content_terms(
            " ".join(times)
        )

    def _is_mentioned(self, turns: Sequence[ExcerptTurn], name: str) -> bool:
        return content_terms(name) <= _turn_words(turns) | self.known_words


def _alias_identity(name: str, alias: str) -> Identity:
    return Identity(owner=name, kind="name", value=alias, source=NO_SPAN)


def _make_statement(fact: Fact, sentence: str, certainty: Certainty, time: TimeSpan) -> Statement:
    return Statement(
        subject=fact.subject,
        predicate=fact.predicate,
        sentence=sentence,
        source=NO_SPAN,
        category=Category(fact.category or Category.PERSONAL),
        object=fact.object,
        value=_string_or_empty(fact.value) or None,
        aspect=fact.aspect,
        certainty=certainty,
        temporal=StatementTense(fact.tense),
        valid_from=time.since,
        valid_to=time.until,
        negated=fact.negated,
    )


def _parse_relation(item: AnswerItem) -> Fact:
    predicate = item["predicate"].strip()
    if not PREDICATE_PATTERN.fullmatch(predicate) or len(predicate) > MAX_PREDICATE_CHARS:
        raise ItemRejected("predicate is not UPPER_CASE")
    object = _clean_name(item["object"]) if item["object"] else None
    value = _clean_text(item["value"]) if item["value"] else None
    if (object is None) == (value is None):
        raise ItemRejected("needs an object or a value")
    return Fact(
        subject=_clean_name(item["subject"]),
        predicate=predicate,
        object=object,
        value=value,
        aspect=_clean_name(item["aspect"]).casefold() if item["aspect"] else None,
        category=item["category"],
        tense=item["tense"],
        negated=item["negated"],
    )


def _validity_span(time: TimeSpan, fact: Fact) -> TimeSpan:
    """Return the validity of a fact: states and starts have no end; birthdays have no range."""
    if fact.predicate in TIMELESS_PREDICATES:
        return TimeSpan(None, None)
    is_open = fact.predicate in START_RELATIONS or (
        fact.predicate in STATE_RELATIONS and fact.tense == "current"
    )
    return TimeSpan(time.since, None) if is_open and time.since else time


def _clean_name(text: str) -> str:
    name = " ".join(text.split()).strip("\"'“”")
    if not name or len(name) > MAX_NAME_CHARS:
        raise ItemRejected("name is empty or too long")
    if name.casefold() in PRONOUNS:
        raise ItemRejected("name is a pronoun")
    if not WORD.search(name) or find_instructions(name):
        raise ItemRejected("not a name")
    return name


def _clean_text(value: str) -> str:
    text = " ".join(value.split())
    if not text or len(text) > MAX_TEXT_CHARS:
        raise ItemRejected("text is empty or too long")
    if find_instructions(text):
        raise ItemRejected("instruction to a model")
    return text


def _string_or_empty(value: object) -> str:
    return value if isinstance(value, str) else ""


def _is_external(turns: Sequence[ExcerptTurn]) -> bool:
    return any(turn.is_external for turn in turns)


def _turn_words(turns: Iterable[ExcerptTurn]) -> frozenset[str]:
    return frozenset().union(*(turn.words for turn in turns))


def _distinct_names(names: Iterable[str]) -> list[str]:
    distinct: dict[str, str] = {}
    for name in names:
        distinct.setdefault(normalize_name(name), name)
    return list(distinct.values())


def _lower_certainty(first: Certainty, second: Certainty) -> Certainty:
    return min(first, second, key=lambda certainty: certainty.confidence)


SchemaNode = Mapping[str, Any]

TEXT: SchemaNode = {"type": "string"}
TEXTS: SchemaNode = {"type": "array", "items": TEXT}
NUMBER: SchemaNode = {"type": "integer"}
NUMBERS: SchemaNode = {"type": "array", "items": NUMBER}
BOOLEAN: SchemaNode = {"type": "boolean"}


def _object_schema(**properties: SchemaNode) -> SchemaNode:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _nullable_schema(node: SchemaNode) -> SchemaNode:
    return {"anyOf": [node, {"type": "null"}]}


def _enum_schema(names: type[StrEnum]) -> SchemaNode:
    return {"type": "string", "enum": [name.value for name in names]}


def _list_schema(node: SchemaNode) -> SchemaNode:
    return {"type": "array", "items": node}


TIME_SPAN = _object_schema(
    words=TEXT, **{"from": _nullable_schema(TEXT), "to": _nullable_schema(TEXT)}
)
ENTITY = _object_schema(turns=NUMBERS, name=TEXT, type=TEXT, aliases=TEXTS)
FACT = _object_schema(
    turns=NUMBERS,
    subject=TEXT,
    predicate=TEXT,
    object=_nullable_schema(TEXT),
    value=_nullable_schema(TEXT),
    aspect=_nullable_schema(TEXT),
    category=_enum_schema(Category),
    certainty=_enum_schema(Certainty),
    tense=_enum_schema(StatementTense),
    negated=BOOLEAN,
    sentence=TEXT,
    when=_nullable_schema(TIME_SPAN),
)
LANDMARK = _object_schema(
    turns=NUMBERS,
    kind=_enum_schema(LandmarkKind),
    text=TEXT,
    owner=_nullable_schema(TEXT),
    due=_nullable_schema(TIME_SPAN),
    wrong=_nullable_schema(TEXT),
    right=_nullable_schema(TEXT),
    certainty=_enum_schema(Certainty),
)
LABEL = _object_schema(turn=NUMBER, label=TEXT, text=TEXT, topics=TEXTS, entities=TEXTS)
ANSWER_SCHEMA = _object_schema(
    entities=_list_schema(ENTITY),
    facts=_list_schema(FACT),
    landmarks=_list_schema(LANDMARK),
    labels=_list_schema(LABEL),
)
