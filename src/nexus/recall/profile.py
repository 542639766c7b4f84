"""A person, as far as the viewer may know: a view over facts, and never stored.

What holds now is read from the observations; each entry keeps the memory it comes from, so that
one can ask how we know. How somebody writes is counted in their own messages.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from operator import or_
from statistics import median
from typing import Any

from ..core.access import Grant
from ..core.derive import directs, known_as, names_in
from ..core.filters import Condition, Every, Op
from ..core.links import Relation, links_of, once_each, times_said
from ..core.outline import Outline
from ..core.predicates import bearing_on
from ..core.protocols import Memories, Store
from ..core.records import Event, EventKind, Memory, MemoryKind, Trust
from .entities import Called, whom
from .interpret import Tense, standing, tenses
from .observed import Observed

MOST_FACTS = 5_000
MOST_LANDMARKS = 1_000
MOST_MESSAGES = 200  # the newest, to count in
MOST_ENTRIES = 20  # of a kind, the newest
FEWEST_MESSAGES = 5  # to say how somebody writes
SHORT, LONG = 12, 40  # words of a message
OFTEN = 0.3  # a share of messages

PARTS = ("about", "preferences", "expertise", "patterns")
PREFERENCES = frozenset("LIKES DISLIKES PREFERS LOVES HATES INTERESTED_IN".split())
EXPERTISE = frozenset(
    """WORKS_AS WORKS_IN STUDIES SPEAKS TEACHES GRADUATED_FROM LEARNING USES EXPERT_IN SKILLED_IN
    KNOWS_HOW_TO EXPERIENCED_IN SPECIALIZES_IN PROFICIENT_IN MANAGES FOUNDED CREATED BUILDING
    CONTRIBUTED_TO WORKING_ON""".split()
)
PATTERNS = frozenset("TYPICALLY_CONTACTS_AT PREFERS_CHANNEL COMMUNICATION_FREQUENCY".split())
ABOUT = frozenset(
    """WORKS_AT REPORTS_TO COLLEAGUE_OF LIVES_IN MOVED_TO MOVING_TO FROM BORN_IN BORN_ON GREW_UP_IN
    AGE NAMED SPOUSE_OF DATING FRIEND_OF SIBLING_OF PARENT_OF CHILD_OF RELATIVE_OF NEIGHBOR_OF KNOWS
    HAS_PET HAS_CONDITION ALLERGIC_TO OWNS HAS_EMAIL HAS_PHONE HAS_HANDLE""".split()
)
PREFERRED_KEY = re.compile(r"prefer|favou?rite|theme|style|tone|language|format", re.IGNORECASE)
COMMUNICATING = re.compile(
    r"\b(?:answers?|repl(?:y|ies)|respon\w+|explain\w*|explanations?|messages?|emails?|calls?"
    r"|tone|formal|informal|concise|brief|short|detail(?:s|ed)?|bullet|summar\w+|examples?)\b",
    re.IGNORECASE,
)
# Of small letters; and what one of them holds: to see that it is missing takes a fifth of the time.
INFORMAL = re.compile(r"\b(?:lol|haha+|gonna|wanna|gotta|btw|omg|yeah|yep|nope|hey|thx)\b|!!")
INFORMALLY = "lol haha gonna wanna gotta btw omg yeah yep nope hey thx !!".split()
POLITE = re.compile(r"\b(?:please|thank(?:s| you)|would you|could you|kindly|sorry)\b")
POLITELY = "please thank would could kindly sorry".split()
EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf]|[:;]-?[)(DP]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that holds of a person, and how we know."""

    text: str
    memory: Memory
    since: datetime
    link: Memory | None = None  # stands for this and others that say the same

    @property
    def said(self) -> int:
        """How often it was said, by people who did not merely repeat it."""
        return times_said(self.link) if self.link else 1

    @property
    def confidence(self) -> float:
        return self.memory.confidence

    @property
    def trust(self) -> Trust:
        return self.memory.trust

    @property
    def sources(self) -> tuple[str, ...]:
        """The ids of the events it rests on."""
        return self.memory.sources


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How somebody writes, and how they said they want to be written to.

    Shares are of messages. Nothing is claimed from fewer than five.
    """

    messages: int = 0
    words: float = 0.0  # of a message, the median
    questions: float = 0.0
    emoji: float = 0.0
    polite: float = 0.0
    informal: float = 0.0
    traits: tuple[str, ...] = ()  # in words: short messages, asks often, …
    stated: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What is known of a person, newest first in each part."""

    person: str
    aliases: tuple[str, ...]
    about: tuple[Entry, ...]
    preferences: tuple[Entry, ...]
    expertise: tuple[Entry, ...]
    patterns: tuple[Entry, ...]
    style: Style

    @property
    def empty(self) -> bool:
        """Whether nothing at all is known here."""
        told = (self.about, self.preferences, self.expertise, self.patterns, self.style.stated)
        return not any(told) and not self.style.messages


def profile(store: Store, grant: Grant, person: str, *, now: datetime) -> Profile:
    """Everything that holds of a person, as far as this grant lets one know."""
    (known,) = profiles(store, grant, [person], now=now)
    return known


def profiles(
    store: Store,
    grant: Grant,
    people: Sequence[str],
    *,
    now: datetime,
    messages: Sequence[Event] | None = None,
    landmarks: Sequence[Memory] | None = None,
    fewest: int = FEWEST_MESSAGES,
    stated: bool = True,
) -> list[Profile]:
    """The same of several people, read together.

    How they write is counted in `messages`, where somebody has read some; or else in the newest.
    Of `fewest` messages or more, that is: fewer say nothing. Unless `stated`, nobody looks how
    they want to be written to, which also stands among their preferences. What they prefer is
    looked for among all `landmarks` one may see, newest first, where somebody has read them.
    """
    if not people:
        return []
    with store.moment():
        known = whom(store, grant, people)
        names = [
            each.spellings | {known_as(person)} for person, each in zip(people, known, strict=True)
        ]
        told = _told(store.memories, grant, sorted(frozenset().union(*names)), landmarks)
        spelt = [_spelt(person, each.aliases) for person, each in zip(people, known, strict=True)]
        written = _written(store, grant, spelt, messages)
        found = [
            _profile(each, theirs, told, _Written(texts, fewest, stated), now)
            for each, theirs, texts in zip(known, names, written, strict=True)
        ]
        ids = [entry.memory.id for each in found for part in PARTS for entry in getattr(each, part)]
        links = links_of(store, grant, ids, Relation.SAME_AS)
    known_then = {id: link for id, link in links.items() if link.recorded_at <= now}
    return [_once_each(each, known_then) for each in found] if known_then else found


def _once_each(profile: Profile, links: Mapping[str, Memory]) -> Profile:
    """What says the same is one entry: the newest, with how often it was said."""
    parts: dict[str, Any] = {}
    for part in PARTS:
        by_memory = {entry.memory.id: entry for entry in getattr(profile, part)}
        kept = once_each((entry.memory for entry in by_memory.values()), links)
        parts[part] = tuple(
            replace(by_memory[memory.id], link=links.get(memory.id)) for memory in kept
        )
    return replace(profile, **parts)


@dataclass(frozen=True, slots=True)
class _Told:
    facts: Sequence[tuple[str, Memory]]  # with the subject's name
    parts: Mapping[str, str]  # id → where it belongs, of those that a profile tells
    landmarks: Sequence[tuple[frozenset[str], Memory]]  # with their owners' names


@dataclass(frozen=True, slots=True)
class _Written:
    messages: Sequence[Event]
    fewest: int  # fewer say nothing about how somebody writes
    stated: bool  # whether it is wanted how they said they want to be written to


def _told(
    memories: Memories, grant: Grant, names: Sequence[str], every: Sequence[Memory] | None
) -> _Told:
    """Facts about these names, and what their bearers said they prefer; of `every` landmark."""
    outlines = memories.outlines(grant, names, limit=MOST_FACTS)
    parts = {each.id: part for each in outlines if (part := _part(each))}
    if every is None:
        every = memories.named(grant, names, limit=MOST_LANDMARKS, kinds=[MemoryKind.LANDMARK])
    wishes = [each for each in every if each.body.get("kind") == "preference_stated"]
    facts = memories.get(grant, _worth_reading(outlines, parts))
    return _Told(
        facts=[(known_as(each.body["subject"]), each) for each in facts],
        parts=parts,
        landmarks=[(names_in(each), each) for each in wishes],
    )


def _worth_reading(outlines: Sequence[Outline], parts: Mapping[str, str]) -> list[str]:
    """Those a profile tells, and what bears on them: most of what is learned does neither."""
    told = {each.predicate.upper() for each in outlines if each.id in parts}
    needed = {relation for each in told for relation in bearing_on(each)}
    return [each.id for each in outlines if each.predicate.upper() in needed]


def _profile(
    known: Called,
    names: frozenset[str],
    told: _Told,
    written: _Written,
    now: datetime,
) -> Profile:
    facts = [each for name, each in told.facts if name in names]
    parts = _sorted_out(_holding(facts, told.parts, now), told.parts)
    wishes = [e for owners, e in told.landmarks if names & owners and e.recorded_at <= now]
    liked = [each for each in facts if told.parts.get(each.id) == "preferences"]
    stated = [*parts["preferences"], *_wishes(wishes, liked)]
    style = [each for each in stated if _says_how_to_write(each)] if written.stated else []
    return Profile(
        person=known.name,
        aliases=known.aliases,
        about=_newest(parts["about"]),
        preferences=_newest(stated),
        expertise=_newest(parts["expertise"]),
        patterns=_newest(parts["patterns"]),
        style=_style(written, _newest(style)),
    )


# -- what holds


def _holding(facts: Sequence[Memory], parts: Mapping[str, str], now: datetime) -> list[Entry]:
    """Every value that holds, once; and what is said not to be so."""
    telling = [fact for fact in facts if fact.id in parts]
    rows: defaultdict[str, list[Memory]] = defaultdict(list)
    for fact in facts:
        rows[_relation(fact)].append(fact)
    found: dict[tuple[str, str, str, bool], Entry] = {}
    for predicate in dict.fromkeys(map(_relation, telling)):
        row = [fact for relation in bearing_on(predicate) for fact in rows.get(relation, ())]
        for place, each in enumerate(standing(row, now, predicate)):
            since = each.since if place == 0 else None
            found.setdefault(_said(each.newest), _entry(each.newest.memory, since))
    denied = [fact for fact in telling if fact.body.get("negated")]
    held = tenses(facts, now) if denied else {}
    for fact in denied:
        if held[fact.id] is Tense.CURRENT:
            found.setdefault(_said(Observed.of(fact)), _entry(fact))
    return list(found.values())


def _said(told: Observed) -> tuple[str, str, str, bool]:
    return told.fact.predicate.upper(), told.aspect, told.value, told.fact.negated


def _entry(memory: Memory, since: datetime | None = None) -> Entry:
    return Entry(text=memory.text, memory=memory, since=since or memory.valid_from or memory.at)


def _sorted_out(entries: Iterable[Entry], parts: Mapping[str, str]) -> dict[str, list[Entry]]:
    sorted_out: dict[str, list[Entry]] = {name: [] for name in PARTS}
    for entry in entries:
        if part := parts.get(entry.memory.id):
            sorted_out[part].append(entry)
    return sorted_out


def _part(fact: Outline) -> str | None:
    """Where a fact belongs. What was told always does; of what was learned, some relations."""
    predicate = fact.predicate.upper()
    if fact.category == "behavioural" or predicate in PATTERNS:
        return "patterns"
    if predicate in PREFERENCES or (fact.exact and PREFERRED_KEY.search(predicate)):
        return "preferences"
    if predicate in EXPERTISE:
        return "expertise"
    return "about" if predicate in ABOUT or not fact.learned else None


def _relation(memory: Memory) -> str:
    return str(memory.body["predicate"]).upper()


def _newest(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    if len(entries) < 2:
        return tuple(entries)
    ranked = sorted(entries, key=lambda entry: (entry.memory.at, entry.memory.id), reverse=True)
    return tuple(ranked[:MOST_ENTRIES])


# -- how somebody writes, and wants to be written to


def _wishes(landmarks: Sequence[Memory], liked: Sequence[Memory]) -> Iterator[Entry]:
    """What was stated and became no fact; each text once. Of a fact it is known if it holds."""
    rests = {source for fact in liked for source in fact.sources}
    texts: set[str] = set()
    for landmark in landmarks:
        if not rests & set(landmark.sources) and landmark.text not in texts:
            texts.add(landmark.text)
            yield _entry(landmark)


def _says_how_to_write(entry: Entry) -> bool:
    return bool(COMMUNICATING.search(entry.text)) or directs(entry.memory)


def _spelt(person: str, aliases: Sequence[str]) -> list[str]:
    return sorted({person, person.lower(), person.title(), *aliases})


def _written(
    store: Store, grant: Grant, spelt: Sequence[Sequence[str]], messages: Sequence[Event] | None
) -> list[list[Event]]:
    """What each of these people wrote, by how they are spelt."""
    if messages is None:
        return [_messages(store, grant, names) for names in spelt]
    said = [each for each in messages if each.kind is EventKind.MESSAGE and each.role == "user"]
    return [[each for each in said if each.speaker in names] for names in spelt]


def _messages(store: Store, grant: Grant, spelt: Sequence[str]) -> list[Event]:
    where = Every(
        (
            Condition("speaker", Op.IN, tuple(spelt)),
            Condition("kind", Op.EQ, EventKind.MESSAGE),
            Condition("role", Op.EQ, "user"),
        )
    )
    return store.ledger.find(grant, where=where, limit=MOST_MESSAGES)


def _style(written: _Written, stated: tuple[Entry, ...]) -> Style:
    texts = [message.text for message in written.messages]
    if len(texts) < written.fewest:
        return Style(messages=len(texts), stated=stated)
    small = [text.lower() for text in texts]
    emoji = [_has_emoji(text) for text in texts]
    informal = [_says(text, INFORMAL, INFORMALLY) for text in small]
    measured = {
        "questions": _share("?" in text for text in texts),
        "emoji": _share(emoji),
        "polite": _share(_says(text, POLITE, POLITELY) for text in small),
        "informal": _share(map(or_, informal, emoji)),
    }
    words = float(median(len(text.split()) for text in texts))
    return Style(
        messages=len(texts),
        words=words,
        traits=tuple(_traits(words, measured)),
        stated=stated,
        **measured,
    )


def _traits(words: float, shares: dict[str, float]) -> Iterator[str]:
    length = "short" if words < SHORT else "long" if words > LONG else "medium-length"
    yield f"writes {length} messages"
    if shares["questions"] >= OFTEN:
        yield "asks often"
    if shares["emoji"] >= OFTEN:
        yield "uses emoji"
    if shares["polite"] >= OFTEN:
        yield "is polite"
    if shares["informal"] >= OFTEN:
        yield "writes informally"


def _says(text: str, pattern: re.Pattern[str], any_of: Sequence[str]) -> bool:
    return any(part in text for part in any_of) and pattern.search(text) is not None


def _has_emoji(text: str) -> bool:
    plain = text.isascii() and ":" not in text and ";" not in text
    return not plain and EMOJI.search(text) is not None


def _share(those: Iterable[bool]) -> float:
    every = list(those)
    return round(sum(every) / len(every), 3)
