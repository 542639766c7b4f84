"""Answer parser: turns the items of a model's answer into drafts, checking each item.

An item is accepted only if the turns support it. Spellings are normalized first. A rejected item is
dropped alone and its reason is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from ...core.canonical import canonical_json, format_time
from ...core.derive import normalize_name
from ...core.ids import digest
from ...core.protocols.models import NULL_WORDS
from ...core.records import Draft, Fact, MemoryKind
from ...core.records.landmarks import LandmarkKind
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
from .answer_schema import MAX_NAMES, MAX_TOPICS, FactStatus
from .answer_times import ISO_DATE, TimeSpan, resolve_time_span
from .spelling import (
    CATEGORY_BY_PREDICATE,
    LITERAL_PREDICATES,
    MAX_PREDICATE_CHARS,
    MAX_TEXT_CHARS,
    ItemRejected,
    clean_name,
    clean_text,
    normalize_predicate,
    split_sentences,
)
from .turns import Excerpt, ExcerptTurn, content_terms

AnswerItem = Mapping[str, Any]

TIMELESS_PREDICATES = frozenset("BORN_ON ANNIVERSARY_ON HAS_SCHEDULE TYPICALLY_CONTACTS_AT".split())
REFUSAL_REASONS = frozenset(  # a correction cannot repair these: the model found nothing else
    {
        "nothing is stated",
        "name is not in the turns",
        "tools and agents may not state facts about people",
        "external sources may not state preferences",
        "external sources may not state landmarks",
        "external sources may not describe themselves",
        "object is not in the turns",
        "object is a person",
    }
)
PREFERENCE_PREDICATES = frozenset(
    "PREFERS LIKES DISLIKES LOVES HATES WANTS AVOIDS FAVORITE".split()
)


FIRST_PERSON = frozenset({"i", "me", "myself", "speaker", "the speaker", "user"})
PLACE_PREDICATES = frozenset({"LIVES_IN", "MOVED_TO", "BORN_IN", "GREW_UP_IN", "FROM"})
TENSES = {
    FactStatus.TRUE: StatementTense.CURRENT,
    FactStatus.ENDED: StatementTense.PAST,
    FactStatus.PAST: StatementTense.PAST,
    FactStatus.PLANNED: StatementTense.FUTURE,
    FactStatus.DENIED: StatementTense.CURRENT,
}


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
    model: str  # the provider's name of the model
    known_words: frozenset[str]  # of known names; allowed although no turn has them
    max_items: int  # of each kind
    dropped: Counter[str] = field(default_factory=Counter)
    extracted: dict[str, ExtractionResult] = field(default_factory=dict)  # by event, no labels
    _turns_by_number: dict[int, ExcerptTurn] = field(init=False)
    _names: set[str] = field(init=False)  # names of the answer, normalized
    _people: set[str] = field(init=False)  # names of speakers and of people in the answer

    def __post_init__(self) -> None:
        self._turns_by_number = {turn.number: turn for turn in self.excerpt.all_turns}
        self._names = set()
        self._people = {normalize_name(turn.event.speaker) for turn in self.excerpt.all_turns}

    def parse_drafts(self, answer: Mapping[str, Sequence[AnswerItem]]) -> list[Draft]:
        """Return the drafts of accepted items; fill `extracted` and `dropped`."""
        parsers: dict[str, Callable[[AnswerItem], ParsedItem]] = {
            "names": self._parse_name,
            "facts": self._parse_fact,
            "landmarks": self._parse_landmark,
            "labels": self._parse_label,
        }
        drafts: dict[str, Draft] = {}
        for name, parse in parsers.items():
            items = answer.get(name, ())
            self.dropped["too many"] += max(0, len(items) - self.max_items)
            for item in items[: self.max_items]:
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

    def parse_verdicts(self, answer: Mapping[str, Sequence[int]]) -> tuple[list[int], list[int]]:
        """Return the numbers of confirmed and of rejected claims, without contradictory ones.

        Text from outside cannot reject what people said: it may be written to do that.
        """
        known = range(1, len(self.excerpt.claims) + 1)
        right = {number for number in answer.get("right", ()) if number in known}
        wrong = {number for number in answer.get("wrong", ()) if number in known}
        if _is_external(self.excerpt.all_turns):
            return sorted(right - wrong), []
        return sorted(right - wrong), sorted(wrong - right)

    # -- the four kinds of items

    def _parse_name(self, item: AnswerItem) -> ParsedItem:
        """Parse a name. It has no draft: name resolution decides, as for the rules."""
        name = clean_name(item["name"])
        turns = [turn for turn in self.excerpt.turns if self._is_mentioned([turn], name)]
        if not turns:
            raise ItemRejected("name is not in the turns")
        aliases = [] if _is_external(turns) else [clean_name(alias) for alias in item["aliases"]]
        aliases = [
            each
            for each in _distinct_names(aliases)
            if normalize_name(each) != normalize_name(name)
        ]
        if not all(self._is_mentioned(self.excerpt.turns, each) for each in aliases):
            raise ItemRejected("name is not in the turns")
        type = " ".join(item["type"].casefold().split())
        if not type or len(type) > MAX_PREDICATE_CHARS:
            raise ItemRejected("type is empty or too long")
        self._names.update(map(normalize_name, (name, *aliases)))
        self._people.update(map(normalize_name, (name, *aliases)) if type == "person" else ())
        identities = tuple(_alias_identity(name, alias) for alias in aliases)
        return None, _ItemExtraction(
            turns[-1], entities=(Entity(name=name, type=type),), identities=identities
        )

    def _parse_fact(self, item: AnswerItem) -> ParsedItem:
        turns = self._find_turns(item["turns"], f"{item['subject']} {item['object']}")
        fact = self._parse_relation(item)
        sentence = self._quote_sentence(turns, fact)
        external = _is_external(turns)
        if external and (
            fact.category == Category.PREFERENCES or fact.predicate in PREFERENCE_PREDICATES
        ):
            raise ItemRejected("external sources may not state preferences")
        if external and fact.subject in {turn.event.speaker for turn in turns}:
            raise ItemRejected("external sources may not describe themselves")
        names = " ".join(filter(None, (fact.subject, fact.object, _string_or_empty(fact.value))))
        status = FactStatus(item["status"] or FactStatus.TRUE)
        is_future = status is FactStatus.PLANNED
        time = resolve_time_span(item["when"], turns, is_future=is_future)
        time = _validity_span(time, fact, status)
        told_by = _other_speaker(item["by"], turns)
        certainty = Certainty(item["certainty"] or Certainty.EXPLICIT)
        self._check_object(fact, certainty)
        if not self._is_grounded(turns, names, time):
            certainty = _lower_certainty(Certainty.INFERRED, certainty)
        if external or told_by:  # hearsay
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
        origin = self._origin_fields(turns, names, sentence)
        if told_by:
            origin["metadata"]["told_by"] = told_by
        draft = Draft(
            kind=MemoryKind.FACT,
            text=sentence,
            slot=digest("fact", canonical_json(asdict(fact))),
            confidence=certainty.confidence,
            valid_from=time.since,
            valid_to=time.until,
            body=asdict(fact),
            **origin,
        )
        return draft, _ItemExtraction(turns[-1], facts=(statement,))

    def _parse_relation(self, item: AnswerItem) -> Fact:
        predicate, aspect = normalize_predicate(item["predicate"])
        words = clean_text(item["object"]).strip("\"'“”")
        if words.casefold() in NULL_WORDS:
            raise ItemRejected("nothing is stated")
        is_name = self._is_name(predicate, words)
        status = FactStatus(item["status"] or FactStatus.TRUE)
        return Fact(
            subject=clean_name(item["subject"]),
            predicate=predicate,
            object=clean_name(words) if is_name else None,
            value=None if is_name else clean_text(words),
            aspect=aspect,
            category=CATEGORY_BY_PREDICATE.get(predicate, Category.PERSONAL).value,
            tense=TENSES[status].value,
            negated=status is FactStatus.DENIED,
        )

    def _is_name(self, predicate: str, words: str) -> bool:
        """Return whether an object is a name: a known or listed one, or with a capital letter."""
        if predicate in LITERAL_PREDICATES:
            return False
        if normalize_name(words) in self._names:
            return True
        terms = content_terms(words)
        return words[:1].isupper() or (bool(terms) and terms <= self.known_words)

    def _parse_landmark(self, item: AnswerItem) -> ParsedItem:
        turns = self._find_turns(item["turns"], item["text"])
        if _is_external(turns):
            raise ItemRejected("external sources may not state landmarks")
        due = resolve_time_span(item["due"], turns, is_future=True)
        text = clean_text(item["text"])
        landmark = Landmark(
            kind=LandmarkKind(item["kind"]),
            text=text,
            source=NO_SPAN,
            owner=self._parse_owner(item["owner"], turns),
            due=due.until,
            due_from=due.since,
            wrong=clean_text(item["wrong"]) if item["wrong"] else None,
            right=clean_text(item["right"]) if item["right"] else None,
        )
        if not self._strongest_voice(turns).filter_landmarks([landmark]):
            raise ItemRejected("tools and agents may not state facts about people")
        grounded = self._is_mentioned(turns, text)
        certainty = Certainty.EXPLICIT if grounded else Certainty.IMPLIED
        draft = Draft(
            kind=MemoryKind.LANDMARK,
            text=landmark.text,
            slot=digest("landmark", landmark.kind.value, landmark.text),
            confidence=certainty.confidence,
            body=landmark_body(landmark),
            **self._origin_fields(turns, f"{landmark.owner or ''} {text}", text),
        )
        return draft, _ItemExtraction(turns[-1], landmarks=(landmark,))

    def _parse_owner(self, owner: str | None, turns: Sequence[ExcerptTurn]) -> str | None:
        """Return the name of the owner; "I" and "me" are the speaker."""
        if owner and owner.strip().casefold() in FIRST_PERSON:
            return turns[-1].event.speaker
        return clean_name(owner) if owner else None

    def _parse_label(self, item: AnswerItem) -> ParsedItem:
        turns = self._find_turns([item["turn"]], item["text"])
        label, text = clean_text(item["label"]), clean_text(item["text"])
        topics = _distinct_names(clean_name(topic) for topic in item["topics"])[:MAX_TOPICS]
        names = _distinct_names(clean_name(name) for name in item["entities"])[:MAX_NAMES]
        capitals = " ".join(word for word in f"{label} {text}".split() if word[:1].isupper())
        borrowed = " ".join((*names, *topics, capitals))
        draft = Draft(
            kind=MemoryKind.EPISODE,
            text=text,
            slot="turn",
            indexed_text="",  # labels are looked up by names and thread only
            body={"span": "turn", "label": label, "topics": topics, "entities": names},
            **self._origin_fields(turns, borrowed, text),
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

    def _find_turns(self, numbers: Sequence[int], words: str) -> list[ExcerptTurn]:
        """Return the turns of an item. A wrong number is repaired if only one turn is possible."""
        known = [number for number in sorted(set(numbers)) if number in self._turns_by_number]
        named = [self._turns_by_number[number] for number in known]
        own = self.excerpt.turns
        if named and named[-1].number >= own[0].number and len(known) == len(set(numbers)):
            return named
        if named and len(known) == len(set(numbers)):
            raise ItemRejected("the turns were read before")
        possible = own
        if len(own) > 1:
            terms = content_terms(words)
            possible = tuple(turn for turn in own if terms and terms <= turn.words)
        if len(possible) != 1:
            raise ItemRejected("no turn has this number")
        earlier = [turn for turn in named if turn.number < possible[0].number]
        return [*earlier, possible[0]]

    def _quote_sentence(self, turns: Sequence[ExcerptTurn], fact: Fact) -> str:
        """Return the sentence of the turns that has most words of the fact."""
        said = fact.object or _string_or_empty(fact.value)
        wanted = content_terms(f"{said} {fact.subject} {fact.predicate.replace('_', ' ')}")
        weighty = content_terms(said)
        sentences = [each for turn in reversed(turns) for each in split_sentences(turn.text)]

        def count_words(sentence: str) -> tuple[int, int]:
            terms = content_terms(sentence)
            return len(terms & weighty), len(terms & wanted)

        best = max(sentences, key=count_words, default="")
        if find_instructions(best):
            raise ItemRejected("instruction to a model")
        return best[:MAX_TEXT_CHARS]

    def _origin_fields(
        self, turns: Sequence[ExcerptTurn], names: str, words: str
    ) -> dict[str, Any]:
        """Return draft fields from the turns; the newest turn is the first source.

        `names` are words of the item that may be from turns which the model did not cite; `words`
        is what the model read.
        """
        last = turns[-1].event
        others = (*turns[:-1], *self._find_borrowed_turns(turns, names))
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
            "metadata": {"made_by": [self.maker], "model": self.model, "words": words},
        }

    def _find_borrowed_turns(self, turns: Sequence[ExcerptTurn], names: str) -> list[ExcerptTurn]:
        """Return turns that the model did not cite but took words from.

        They become sources, so that the draft is erased with them.
        """
        borrowed = content_terms(names) - _turn_words(turns)
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

    def _check_object(self, fact: Fact, certainty: Certainty) -> None:
        """Reject an explicit object that no turn mentions, and a person where a place is meant.

        Small models invent both. A date may be computed.
        """
        said = fact.object or _string_or_empty(fact.value)
        words = content_terms(said)
        known = _turn_words(self.excerpt.all_turns) | self.known_words
        is_invented = bool(words) and words.isdisjoint(known) and not ISO_DATE.fullmatch(said)
        if certainty is Certainty.EXPLICIT and is_invented:
            raise ItemRejected("object is not in the turns")
        if fact.predicate in PLACE_PREDICATES and normalize_name(said) in self._people:
            raise ItemRejected("object is a person")

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


def _validity_span(time: TimeSpan, fact: Fact, status: FactStatus) -> TimeSpan:
    """Return the validity of a fact: states and starts have no end; birthdays have no range."""
    if fact.predicate in TIMELESS_PREDICATES:
        return TimeSpan(None, None)
    if status is FactStatus.ENDED:
        return TimeSpan(None, time.until)
    is_open = fact.predicate in START_RELATIONS or (
        fact.predicate in STATE_RELATIONS and fact.tense == "current"
    )
    return TimeSpan(time.since, None) if is_open and time.since else time


def _other_speaker(name: str | None, turns: Sequence[ExcerptTurn]) -> str | None:
    """Return the person whose words the speaker repeats; None if the speaker says it."""
    if name is None or name.strip().casefold() in FIRST_PERSON:
        return None
    told_by = clean_name(name)
    speakers = {normalize_name(turn.event.speaker) for turn in turns}
    return None if normalize_name(told_by) in speakers else told_by


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
