"""Profiles: current facts, preferences and writing style of a person, computed on read.

Profiles are never stored. Each entry has the memory it comes from, so that its source can be shown.
Facts and preferences that are not sure (`core.records.facts.is_sure`) are left out. The writing
style is measured on the person's own messages.
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

from ...core.access import Grant
from ...core.derive import is_instruction, names_in, normalize_name
from ...core.filters import And, Condition, Op
from ...core.protocols.memories import Memories
from ...core.protocols.store import Store
from ...core.records import Event, EventKind, Memory, MemoryKind, Trust
from ...core.records.annotations import annotate_text
from ...core.records.facts import current_confidence, is_sure
from ...core.records.links import LinkRelation, drop_duplicates, find_links, statement_count
from ...core.records.memory import drop_copies
from ...core.records.projections import FactOutline
from ...text.predicates import SHARED_HOME, WE, predicates_about
from .entities import EntityNames, find_full_name, resolve_names
from .fact_timeline import FactStatus, Observation, current_values, fact_statuses, is_said_for

MAX_FACTS = 5_000
MAX_LANDMARKS = 1_000
MAX_MESSAGES = 200  # newest messages, for the writing style
MAX_ENTRIES = 20  # entries of each section, the most important ones
MIN_MESSAGES = 5  # with fewer, no writing style is computed
SHORT_WORDS, LONG_WORDS = 12, 40  # words per message
FREQUENT_SHARE = 0.3  # share of messages that makes a trait

PROFILE_SECTIONS = ("about", "preferences", "expertise", "patterns")
PREFERENCE_PREDICATES = frozenset("LIKES DISLIKES PREFERS LOVES HATES INTERESTED_IN".split())
EXPERTISE_PREDICATES = frozenset(
    """WORKS_AS HAS_ROLE WORKS_IN STUDIES SPEAKS TEACHES GRADUATED_FROM LEARNING USES EXPERT_IN
    SKILLED_IN KNOWS_HOW_TO EXPERIENCED_IN SPECIALIZES_IN PROFICIENT_IN MANAGES FOUNDED CREATED
    BUILDING CONTRIBUTED_TO WORKING_ON""".split()
)
PATTERN_PREDICATES = frozenset(
    "TYPICALLY_CONTACTS_AT PREFERS_CHANNEL COMMUNICATION_FREQUENCY".split()
)
ABOUT_PREDICATES = frozenset(
    """WORKS_AT REPORTS_TO COLLEAGUE_OF LIVES_IN MOVED_TO MOVING_TO FROM BORN_IN BORN_ON GREW_UP_IN
    AGE HAS_AGE NAMED HAS_NAME SPOUSE_OF ENGAGED_TO DATING FRIEND_OF SIBLING_OF PARENT_OF CHILD_OF
    RELATIVE_OF NEIGHBOR_OF KNOWS HAS_PET HAS_CONDITION ALLERGIC_TO TAKES_MEDICATION HAS_DIET
    HAS_DOCTOR EATS DRINKS DRIVES OWNS MEMBER_OF RESPONSIBLE_FOR STUDIES_AT TRAVELING_TO HAS_EMAIL
    HAS_PHONE HAS_HANDLE HAS_USERNAME HAS_ADDRESS HAS_SCHEDULE""".split()
)
PREFERENCE_KEY_PATTERN = re.compile(
    r"prefer|favou?rite|theme|style|tone|language|format", re.IGNORECASE
)
COMMUNICATION_PATTERN = re.compile(
    r"\b(?:answers?|repl(?:y|ies)|respon\w+|explain\w*|explanations?|messages?|emails?|calls?"
    r"|tone|formal|informal|concise|brief|short|detail(?:s|ed)?|bullet|summar\w+|examples?)\b",
    re.IGNORECASE,
)
# For lowercase text. Testing for the words as substrings first takes a fifth of the time.
INFORMAL_PATTERN = re.compile(
    r"\b(?:lol|haha+|gonna|wanna|gotta|btw|omg|yeah|yep|nope|hey|thx)\b|!!"
)
INFORMAL_WORDS = "lol haha gonna wanna gotta btw omg yeah yep nope hey thx !!".split()
POLITE_PATTERN = re.compile(r"\b(?:please|thank(?:s| you)|would you|could you|kindly|sorry)\b")
POLITE_WORDS = "please thank would could kindly sorry".split()
EMOJI_PATTERN = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf]|[:;]-?[)(DP]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileEntry:
    """One current statement about a person, with its source."""

    text: str
    memory: Memory
    since: datetime
    confidence: float = 1.0  # now: that of an inferred fact falls with time
    link: Memory | None = None  # SAME_AS link to duplicates of this memory

    @property
    def mention_count(self) -> int:
        """The number of independent statements of this entry."""
        return statement_count(self.link) if self.link else 1

    @property
    def trust(self) -> Trust:
        return self.memory.trust

    @property
    def sources(self) -> tuple[str, ...]:
        """The ids of the source events."""
        return self.memory.sources


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingStyle:
    """The measured writing style of a person, and their stated communication preferences.

    Shares are shares of messages, from 0 to 1. All are 0 with fewer than MIN_MESSAGES messages.
    """

    messages: int = 0
    words: float = 0.0  # median words per message
    questions: float = 0.0
    emoji: float = 0.0
    polite: float = 0.0
    informal: float = 0.0
    traits: tuple[str, ...] = ()  # such as "asks often"
    stated: tuple[ProfileEntry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The profile of a person; entries of each section are newest first."""

    person: str
    aliases: tuple[str, ...]
    about: tuple[ProfileEntry, ...]
    preferences: tuple[ProfileEntry, ...]
    expertise: tuple[ProfileEntry, ...]
    patterns: tuple[ProfileEntry, ...]
    style: WritingStyle

    @property
    def is_empty(self) -> bool:
        """True if the profile has no entries and no messages."""
        entries = (self.about, self.preferences, self.expertise, self.patterns, self.style.stated)
        return not any(entries) and not self.style.messages


def get_profile(store: Store, grant: Grant, person: str, *, now: datetime) -> Profile:
    """Return the profile of a person, computed from the memories inside the grant."""
    (profile,) = get_profiles(store, grant, [person], now=now)
    return profile


def get_profiles(
    store: Store,
    grant: Grant,
    people: Sequence[str],
    *,
    now: datetime,
    messages: Sequence[Event] | None = None,
    landmarks: Sequence[Memory] | None = None,
    min_messages: int = MIN_MESSAGES,
    include_stated: bool = True,
) -> list[Profile]:
    """Return the profiles of several people, with shared reads.

    The writing style is measured on `messages` if given, else on the newest messages of each
    person; it needs at least `min_messages`. If `include_stated` is false, `style.stated` stays
    empty. `landmarks`, newest first, avoids reading the landmarks again if the caller has them.
    """
    if not people:
        return []
    with store.snapshot():
        entities = resolve_names(store, grant, people)
        names = [
            each.spellings | {normalize_name(person)} | find_full_name(store, grant, person)
            for person, each in zip(people, entities, strict=True)
        ]
        records = _load_records(store.memories, grant, sorted(frozenset().union(*names)), landmarks)
        speakers = [
            _name_variants(person, each.aliases)
            for person, each in zip(people, entities, strict=True)
        ]
        authored = _group_by_author(store, grant, speakers, messages)
        profiles = [
            _build_profile(
                entity, own_names, records, _StyleInput(own, min_messages, include_stated), now
            )
            for entity, own_names, own in zip(entities, names, authored, strict=True)
        ]
        ids = [
            entry.memory.id
            for each in profiles
            for section in PROFILE_SECTIONS
            for entry in getattr(each, section)
        ]
        links = find_links(store, grant, ids, LinkRelation.SAME_AS)
    current = {id: link for id, link in links.items() if link.recorded_at <= now}
    return [_merge_duplicates(each, current) for each in profiles] if current else profiles


def _merge_duplicates(profile: Profile, links: Mapping[str, Memory]) -> Profile:
    """Merge entries with a SAME_AS link into the newest of them."""
    sections: dict[str, Any] = {}
    for section in PROFILE_SECTIONS:
        by_memory = {entry.memory.id: entry for entry in getattr(profile, section)}
        unique = drop_duplicates((entry.memory for entry in by_memory.values()), links)
        sections[section] = tuple(
            replace(by_memory[memory.id], link=links.get(memory.id)) for memory in unique
        )
    return replace(profile, **sections)


@dataclass(frozen=True, slots=True)
class _ProfileRecords:
    facts: Sequence[tuple[str, Memory]]  # normalized subject, fact
    section_by_id: Mapping[str, str]  # memory id → section, for facts that a profile shows
    landmarks: Sequence[tuple[frozenset[str], Memory]]  # names of the owners, landmark


@dataclass(frozen=True, slots=True)
class _StyleInput:
    messages: Sequence[Event]
    min_messages: int
    include_stated: bool


def _load_records(
    memories: Memories, grant: Grant, names: Sequence[str], landmarks: Sequence[Memory] | None
) -> _ProfileRecords:
    """Load the facts about these names and their landmarks of kind preference_stated.

    "We live in Ghent" is a fact about the speaker; other facts about "we" belong to no profile.
    """
    about_us = memories.fact_outlines(grant, [WE], limit=MAX_FACTS)
    homes = [each for each in about_us if each.predicate.upper() in SHARED_HOME]
    outlines = [*memories.fact_outlines(grant, names, limit=MAX_FACTS), *homes]
    sections = {each.id: section for each in outlines if (section := _section_for(each))}
    if landmarks is None:
        landmarks = memories.find_by_name(
            grant, names, limit=MAX_LANDMARKS, kinds=[MemoryKind.LANDMARK]
        )
    landmarks = drop_copies(landmarks)
    preferences = [each for each in landmarks if each.body.get("kind") == "preference_stated"]
    facts = drop_copies(memories.get(grant, _relevant_fact_ids(outlines, sections)))
    return _ProfileRecords(
        facts=[(normalize_name(each.body["subject"]), each) for each in facts],
        section_by_id=sections,
        landmarks=[(names_in(each), each) for each in preferences],
    )


def _relevant_fact_ids(
    outlines: Sequence[FactOutline], section_by_id: Mapping[str, str]
) -> list[str]:
    """Return the ids of facts with a section, and of facts with related predicates."""
    shown = {each.predicate.upper() for each in outlines if each.id in section_by_id}
    needed = {relation for each in shown for relation in predicates_about(each)}
    return [each.id for each in outlines if each.predicate.upper() in needed]


def _build_profile(
    entity: EntityNames,
    names: frozenset[str],
    records: _ProfileRecords,
    style_input: _StyleInput,
    now: datetime,
) -> Profile:
    facts = [each for name, each in records.facts if name in names or is_said_for(each, names)]
    sections = _group_by_section(
        _current_entries(facts, records.section_by_id, now), records.section_by_id
    )
    landmarks = [
        each
        for owners, each in records.landmarks
        if names & owners and each.recorded_at <= now and is_sure(each, now)
    ]
    preference_facts = [
        each for each in facts if records.section_by_id.get(each.id) == "preferences"
    ]
    stated = [*sections["preferences"], *_preference_entries(landmarks, preference_facts, now)]
    style = (
        [each for each in stated if _is_style_preference(each)]
        if style_input.include_stated
        else []
    )
    return Profile(
        person=entity.name,
        aliases=entity.aliases,
        about=_choose_entries(sections["about"]),
        preferences=_choose_entries(stated),
        expertise=_choose_entries(sections["expertise"]),
        patterns=_choose_entries(sections["patterns"]),
        style=_build_style(style_input, _choose_entries(style)),
    )


# -- current facts


def _current_entries(
    facts: Sequence[Memory], section_by_id: Mapping[str, str], now: datetime
) -> list[ProfileEntry]:
    """Return an entry for every current value, and for every current denial."""
    shown = [fact for fact in facts if fact.id in section_by_id]
    rows: defaultdict[str, list[Memory]] = defaultdict(list)
    for fact in facts:
        rows[_fact_predicate(fact)].append(fact)
    entries: dict[tuple[str, str, str, bool], ProfileEntry] = {}
    for predicate in dict.fromkeys(map(_fact_predicate, shown)):
        row = [fact for relation in predicates_about(predicate) for fact in rows.get(relation, ())]
        for index, each in enumerate(current_values(row, now, predicate)):
            since = each.since if index == 0 else None
            entries.setdefault(_value_key(each.newest), _make_entry(each.newest.memory, now, since))
    denials = [fact for fact in shown if fact.body.get("negated") and is_sure(fact, now)]
    statuses = fact_statuses(facts, now) if denials else {}
    for fact in denials:
        if statuses[fact.id] is FactStatus.CURRENT:
            entries.setdefault(_value_key(Observation.from_memory(fact)), _make_entry(fact, now))
    return list(entries.values())


def _value_key(observation: Observation) -> tuple[str, str, str, bool]:
    return (
        observation.fact.predicate.upper(),
        observation.aspect,
        observation.value,
        observation.fact.negated,
    )


def _make_entry(memory: Memory, now: datetime, since: datetime | None = None) -> ProfileEntry:
    return ProfileEntry(
        text=annotate_text(memory),
        memory=memory,
        since=since or memory.valid_from or memory.at,
        confidence=current_confidence(memory, now),
    )


def _group_by_section(
    entries: Iterable[ProfileEntry], section_by_id: Mapping[str, str]
) -> dict[str, list[ProfileEntry]]:
    sections: dict[str, list[ProfileEntry]] = {name: [] for name in PROFILE_SECTIONS}
    for entry in entries:
        if section := section_by_id.get(entry.memory.id):
            sections[section].append(entry)
    return sections


def _section_for(fact: FactOutline) -> str | None:
    """Return the section of a fact; None for derived facts with other predicates."""
    predicate = fact.predicate.upper()
    if fact.category == "behavioural" or predicate in PATTERN_PREDICATES:
        return "patterns"
    if predicate in PREFERENCE_PREDICATES or (
        fact.exact and PREFERENCE_KEY_PATTERN.search(predicate)
    ):
        return "preferences"
    if predicate in EXPERTISE_PREDICATES:
        return "expertise"
    return "about" if predicate in ABOUT_PREDICATES or not fact.learned else None


def _fact_predicate(memory: Memory) -> str:
    return str(memory.body["predicate"]).upper()


def _choose_entries(entries: Sequence[ProfileEntry]) -> tuple[ProfileEntry, ...]:
    """Return the MAX_ENTRIES most salient entries, newest first; newer ones win a tie."""
    if len(entries) < 2:
        return tuple(entries)
    newest = sorted(entries, key=lambda entry: (entry.memory.at, entry.memory.id), reverse=True)
    if len(newest) <= MAX_ENTRIES:
        return tuple(newest)
    chosen = sorted(newest, key=lambda entry: -entry.memory.salience)[:MAX_ENTRIES]
    ids = {entry.memory.id for entry in chosen}
    return tuple(entry for entry in newest if entry.memory.id in ids)


# -- writing style and communication preferences


def _preference_entries(
    landmarks: Sequence[Memory], preference_facts: Sequence[Memory], now: datetime
) -> Iterator[ProfileEntry]:
    """Yield preference landmarks that did not become a fact, each text once."""
    fact_sources = {source for fact in preference_facts for source in fact.sources}
    texts: set[str] = set()
    for landmark in landmarks:
        if not fact_sources & set(landmark.sources) and landmark.text not in texts:
            texts.add(landmark.text)
            yield _make_entry(landmark, now)


def _is_style_preference(entry: ProfileEntry) -> bool:
    return bool(COMMUNICATION_PATTERN.search(entry.text)) or is_instruction(entry.memory)


def _name_variants(person: str, aliases: Sequence[str]) -> list[str]:
    return sorted({person, person.lower(), person.title(), *aliases})


def _group_by_author(
    store: Store,
    grant: Grant,
    names_by_person: Sequence[Sequence[str]],
    messages: Sequence[Event] | None,
) -> list[list[Event]]:
    """Return the messages of each person."""
    if messages is None:
        return [_load_messages(store, grant, names) for names in names_by_person]
    own = [each for each in messages if each.kind is EventKind.MESSAGE and each.role == "user"]
    return [[each for each in own if each.speaker in names] for names in names_by_person]


def _load_messages(store: Store, grant: Grant, names: Sequence[str]) -> list[Event]:
    where = And(
        (
            Condition("speaker", Op.IN, tuple(names)),
            Condition("kind", Op.EQ, EventKind.MESSAGE),
            Condition("role", Op.EQ, "user"),
        )
    )
    return store.ledger.find(grant, where=where, limit=MAX_MESSAGES)


def _build_style(style_input: _StyleInput, stated: tuple[ProfileEntry, ...]) -> WritingStyle:
    texts = [message.text for message in style_input.messages]
    if len(texts) < style_input.min_messages:
        return WritingStyle(messages=len(texts), stated=stated)
    lowercase = [text.lower() for text in texts]
    emoji = [_has_emoji(text) for text in texts]
    informal = [_matches_any(text, INFORMAL_PATTERN, INFORMAL_WORDS) for text in lowercase]
    shares = {
        "questions": _fraction_true("?" in text for text in texts),
        "emoji": _fraction_true(emoji),
        "polite": _fraction_true(
            _matches_any(text, POLITE_PATTERN, POLITE_WORDS) for text in lowercase
        ),
        "informal": _fraction_true(map(or_, informal, emoji)),
    }
    words = float(median(len(text.split()) for text in texts))
    return WritingStyle(
        messages=len(texts),
        words=words,
        traits=tuple(_describe_traits(words, shares)),
        stated=stated,
        **shares,
    )


def _describe_traits(words: float, shares: dict[str, float]) -> Iterator[str]:
    length = "short" if words < SHORT_WORDS else "long" if words > LONG_WORDS else "medium-length"
    yield f"writes {length} messages"
    if shares["questions"] >= FREQUENT_SHARE:
        yield "asks often"
    if shares["emoji"] >= FREQUENT_SHARE:
        yield "uses emoji"
    if shares["polite"] >= FREQUENT_SHARE:
        yield "is polite"
    if shares["informal"] >= FREQUENT_SHARE:
        yield "writes informally"


def _matches_any(text: str, pattern: re.Pattern[str], any_of: Sequence[str]) -> bool:
    return any(part in text for part in any_of) and pattern.search(text) is not None


def _has_emoji(text: str) -> bool:
    is_plain = text.isascii() and ":" not in text and ";" not in text
    return not is_plain and EMOJI_PATTERN.search(text) is not None


def _fraction_true(values: Iterable[bool]) -> float:
    every = list(values)
    return round(sum(every) / len(every), 3)
