"""Name directory: indexes of the entities of one scope by name, alias, part and address.

It is loaded from memories (entities, facts, reviews) and grows while a batch is learned. Every
query is a dictionary lookup; no query scans all entities.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ...core.derive import normalize_name
from ...core.records import Draft, Event, Memory, MemoryKind
from ...text.terms import extract_terms

DraftOrMemory = Draft | Memory
NamePair = frozenset[str]
Address = tuple[str, str]  # kind and value
FactLookup = Callable[[str], Iterable[tuple[datetime, str]]]  # name → time and text of facts

UNTYPED = "thing"  # the type that the rules use for entities of unknown type
MAX_TEXTS_PER_NAME = 30  # texts of facts, for comparison with a context
MIN_SIMILAR_CHARS, MAX_SIMILAR_CHARS = 6, 60  # in shorter names one letter makes another name
SIMILAR_TYPES = (  # types that a single sentence often confuses
    frozenset({"product", "company"}),
    frozenset({"product", "project", "document", "event"}),
)
TITLES = frozenset("mr mrs ms miss dr prof professor sir".split())
LEGAL_SUFFIXES = frozenset(
    "inc ltd gmbh corp llc co ag plc corporation limited incorporated".split()
)


@dataclass(slots=True)
class NameEntry:
    """One entity: its first name, its types, aliases and introducing events."""

    name: str
    sources: tuple[str, ...]
    types: set[str] = field(default_factory=set)
    aliases: set[str] = field(default_factory=set)  # normalized

    def can_be(self, type: str) -> bool:
        """Return whether a mention of this type can mean the entity; untyped ones match all."""
        if type == UNTYPED or not self.types or type in self.types:
            return True
        return any(type in alike and not alike.isdisjoint(self.types) for alike in SIMILAR_TYPES)

    @property
    def can_be_lowercase(self) -> bool:
        """True if the name is recognized in lower case: "sarah", "redis", but not "pride"."""
        return "person" in self.types or (bool(self.types) and " " not in self.name)


@dataclass(frozen=True, slots=True)
class IdentifierClaim:
    """An entity's claim to an address: proven by the channel or only stated."""

    proven: bool
    sources: tuple[str, ...]


class NameDirectory:
    """Entities by name, alias, part of a name, address and spelling; keys are normalized."""

    def __init__(self, find_facts: FactLookup | None = None) -> None:
        self._find_facts = find_facts
        self._facts_by_name: dict[str, list[tuple[datetime, str]]] = {}
        self._pending: list[Memory] = []  # newest first
        self._now: datetime | None = None
        self._terms_by_name: dict[str, frozenset[str]] = {}
        self.entries: dict[str, NameEntry] = {}
        self.alias_owners: defaultdict[str, set[str]] = defaultdict(set)  # alias → entities
        # first or last word → entities
        self.names_by_part: defaultdict[str, set[str]] = defaultdict(set)
        # name without "Inc.", "Project" → entities
        self.names_by_core: defaultdict[str, set[str]] = defaultdict(set)
        self.identifiers: defaultdict[Address, dict[str, IdentifierClaim]] = defaultdict(dict)
        self.texts_by_name: defaultdict[str, deque[str]] = defaultdict(
            lambda: deque(maxlen=MAX_TEXTS_PER_NAME)
        )
        self.proposed_merges: set[NamePair] = set()  # with a review, open or closed
        self.confirmed_merges: set[NamePair] = set()  # in effect
        self.rejected_merges: set[NamePair] = set()  # by a person
        self._names_by_deletion: defaultdict[str, set[str]] = defaultdict(set)

    @classmethod
    def from_memories(
        cls, memories: Iterable[Memory], find_facts: FactLookup | None = None
    ) -> NameDirectory:
        """Return a directory of entities, facts and reviews; other kinds are ignored.

        A memory is added when `advance_to` reaches its time. So learning an event again gives the
        same result, although the store has more memories now. `find_facts` loads further facts of
        a name; it is called only for ambiguous names.
        """
        directory = cls(find_facts)
        directory._pending = sorted(memories, key=lambda each: (each.at, each.id), reverse=True)
        return directory

    def advance_to(self, event: Event) -> NameDirectory:
        """Add the memories up to the event's time, except those derived from it; return self."""
        own = []
        while self._pending and self._pending[-1].at <= event.at:
            memory = self._pending.pop()
            own.append(memory) if event.id in memory.sources else self.add_records([memory])
        self._pending += reversed(own)
        if self._now is None or event.at > self._now:
            self._now = event.at
            self._terms_by_name.clear()
        return self

    def add_records(self, records: Iterable[DraftOrMemory]) -> NameDirectory:
        """Add new records; return self."""
        for record in records:
            if record.kind is MemoryKind.ENTITY:
                self._add_entity(record)
            elif record.kind is MemoryKind.FACT:
                self._add_fact(record.body, record.text)
            elif record.kind is MemoryKind.REVIEW:
                self._add_review(record.body)
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """Names that are recognized in lower case, too."""
        return tuple(entry.name for entry in self.entries.values() if entry.can_be_lowercase)

    def fact_texts(self, key: str) -> list[str]:
        """Return the texts of facts about a name."""
        if self._find_facts and key not in self._facts_by_name:
            self._facts_by_name[key] = list(self._find_facts(key))
        stored = self._facts_by_name.get(key, ())
        before = [text for at, text in stored if self._now is None or at < self._now]
        return [*before[:MAX_TEXTS_PER_NAME], *self.texts_by_name.get(key, ())]

    def fact_terms(self, key: str) -> frozenset[str]:
        """Return the search terms of facts about a name; cached."""
        terms = self._terms_by_name.get(key)
        if terms is None:
            terms = self._terms_by_name[key] = frozenset(
                extract_terms(" ".join(self.fact_texts(key)))
            )
        return terms

    def similar_names(self, key: str) -> set[str]:
        """Return names at edit distance one: insertion, deletion, substitution or transposition."""
        candidates = {
            each
            for variant in deletion_variants(key)
            for each in self._names_by_deletion.get(variant, ())
        }
        return {each for each in candidates - {key} if _is_one_edit_apart(key, each)}

    def are_merged(self, keys: Iterable[str]) -> bool:
        """Return whether confirmed merges join all these names."""
        first, *others = keys
        return all(frozenset({first, other}) in self.confirmed_merges for other in others)

    def _add_entity(self, record: DraftOrMemory) -> None:
        body = record.body
        key = normalize_name(body["name"])
        aliases = {normalize_name(alias) for alias in body.get("aliases", ())} - {key}
        if body.get("same_as"):
            self.confirmed_merges.update(frozenset({key, alias}) for alias in aliases)
            return
        entry = self.entries.get(key)
        if entry is None:
            entry = self.entries[key] = NameEntry(body["name"], record.sources)
            self._index_name(key)
        if (type := body.get("type")) and type != UNTYPED and not body.get("guess"):
            entry.types.add(type)
        entry.aliases |= aliases
        for alias in aliases:
            self.alias_owners[alias].add(key)
        if identifier := body.get("identifier"):
            claims = self.identifiers[identifier["kind"], identifier["value"]]
            if key not in claims or (identifier["proven"] and not claims[key].proven):
                claims[key] = IdentifierClaim(identifier["proven"], record.sources)

    def _index_name(self, key: str) -> None:
        words = strip_title(key)
        if len(words) > 1:
            for part in (words[0], words[-1]):
                self.names_by_part[part].add(key)
        if (form := " ".join(core_words(words))) != key:
            self.names_by_core[form].add(key)
        for variant in deletion_variants(key):
            self._names_by_deletion[variant].add(key)

    def _add_fact(self, body: Any, text: str) -> None:
        for name in (body.get("subject"), body.get("object")):
            if isinstance(name, str):
                key = normalize_name(name)
                self.texts_by_name[key].append(text)
                self._terms_by_name.pop(key, None)

    def _add_review(self, body: Any) -> None:
        if body.get("what") != "merge":
            return
        pair = frozenset(map(normalize_name, body["names"]))
        self.proposed_merges.add(pair)
        if body.get("decision") == "reject":
            self.rejected_merges.add(pair)


def strip_title(key: str) -> list[str]:
    """Return the words of a name without a title."""
    words = key.split()
    return words[1:] if len(words) > 1 and words[0].rstrip(".") in TITLES else words


def core_words(words: list[str]) -> list[str]:
    """Return the words of a name without a legal suffix ("Inc.") and without "Project"."""
    if len(words) > 1 and words[-1].rstrip(".") in LEGAL_SUFFIXES:
        return words[:-1]
    if len(words) > 1 and words[0] == "project":
        return words[1:]
    return words[:-1] if len(words) > 1 and words[-1] == "project" else words


def deletion_variants(key: str) -> Iterator[str]:
    """Yield the name and its variants with one letter deleted.

    Two names at edit distance one share a variant.
    """
    if MIN_SIMILAR_CHARS <= len(key) <= MAX_SIMILAR_CHARS:
        yield key
        for index in range(1, len(key)):  # typing errors rarely affect the first letter
            yield key[:index] + key[index + 1 :]


def _is_one_edit_apart(one: str, other: str) -> bool:
    """Return whether two names with equal digits have edit distance one."""
    if [c for c in one if c.isdigit()] != [c for c in other if c.isdigit()]:
        return False
    if abs(len(one) - len(other)) > 1:
        return False
    if len(one) == len(other):
        wrong = [index for index in range(len(one)) if one[index] != other[index]]
        swapped = len(wrong) == 2 and one[wrong[0]] == other[wrong[1]]
        return len(wrong) == 1 or (swapped and wrong[1] == wrong[0] + 1)
    short, long = sorted((one, other), key=len)
    return any(long[:index] + long[index + 1 :] == short for index in range(len(long)))
