"""Who and what is known in one place, ready to be looked up.

It is read from memories (entities, facts, reviews) and grows while a batch is learned. Every
question it answers is a look-up: nothing here walks over all that is known.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..core.derive import known_as
from ..core.records import Draft, Event, Memory, MemoryKind
from ..core.text import terms

Record = Draft | Memory
Pair = frozenset[str]
Address = tuple[str, str]  # kind and value
Remembered = Callable[[str], Iterable[tuple[datetime, str]]]  # facts about a name: when, and what

UNTYPED = "thing"  # what the rules call something whose type nothing tells
MOST_TEXTS = 30  # of facts about one name: what a context is compared with
SHORTEST_SIMILAR, LONGEST_SIMILAR = 6, 60  # letters; among shorter ones a letter makes another name
ALIKE = (  # types one sentence tells from another too seldom to keep names apart by
    frozenset({"product", "company"}),
    frozenset({"product", "project", "document", "event"}),
)
TITLES = frozenset("mr mrs ms miss dr prof professor sir".split())
LEGAL = frozenset("inc ltd gmbh corp llc co ag plc corporation limited incorporated".split())


@dataclass(slots=True)
class Entry:
    """One entity: as it was first called, what it is, and the events that introduced it."""

    name: str
    sources: tuple[str, ...]
    types: set[str] = field(default_factory=set)
    aliases: set[str] = field(default_factory=set)  # keys

    def may_be(self, type: str) -> bool:
        """Whether a mention of this type can mean it. What has no type yet can be anything."""
        if type == UNTYPED or not self.types or type in self.types:
            return True
        return any(type in alike and not alike.isdisjoint(self.types) for alike in ALIKE)

    @property
    def plain(self) -> bool:
        """Whether it is one however it is written: "sarah", "redis", but no "pride" or "month"."""
        return "person" in self.types or (bool(self.types) and " " not in self.name)


@dataclass(frozen=True, slots=True)
class Claim:
    """That somebody has an address: proven by the channel, or merely said; and where."""

    proven: bool
    sources: tuple[str, ...]


class Directory:
    """Entities by name, alias, part of a name, address and likeness; all keys are `known_as`."""

    def __init__(self, remembered: Remembered | None = None) -> None:
        self._remembered = remembered
        self._recalled: dict[str, list[tuple[datetime, str]]] = {}
        self._later: list[Memory] = []  # newest first
        self._now: datetime | None = None
        self._terms: dict[str, frozenset[str]] = {}
        self.entries: dict[str, Entry] = {}
        self.owners: defaultdict[str, set[str]] = defaultdict(set)  # alias → entities
        self.parts: defaultdict[str, set[str]] = defaultdict(set)  # first or last word → entities
        self.forms: defaultdict[str, set[str]] = defaultdict(set)  # without Inc., Project → same
        self.identifiers: defaultdict[Address, dict[str, Claim]] = defaultdict(dict)
        self.texts: defaultdict[str, deque[str]] = defaultdict(lambda: deque(maxlen=MOST_TEXTS))
        self.proposed: set[Pair] = set()  # merges a person was, or is, asked about
        self.same: set[Pair] = set()  # merges that hold
        self.apart: set[Pair] = set()  # merges a person refused
        self._near: defaultdict[str, set[str]] = defaultdict(set)

    @classmethod
    def of(cls, memories: Iterable[Memory], remembered: Remembered | None = None) -> Directory:
        """From entities, facts and reviews in any order; other kinds are left out.

        Each becomes known when `until` comes to its time, so that reading an event again, when
        more is known, reads the same. `remembered` gives facts about a name that are not among
        these. It is asked only where several are called alike.
        """
        known = cls(remembered)
        known._later = sorted(memories, key=lambda each: (each.at, each.id), reverse=True)
        return known

    def until(self, event: Event) -> Directory:
        """Itself, with what had been said when this happened, but for what it says itself."""
        own = []
        while self._later and self._later[-1].at <= event.at:
            memory = self._later.pop()
            own.append(memory) if event.id in memory.sources else self.with_([memory])
        self._later += reversed(own)
        if self._now is None or event.at > self._now:
            self._now = event.at
            self._terms.clear()
        return self

    def with_(self, records: Iterable[Record]) -> Directory:
        """Itself, grown by what was just learned."""
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
        """Names to be read in small letters, too."""
        return tuple(entry.name for entry in self.entries.values() if entry.plain)

    def said_about(self, key: str) -> list[str]:
        """The texts of facts about a name."""
        if self._remembered and key not in self._recalled:
            self._recalled[key] = list(self._remembered(key))
        recalled = self._recalled.get(key, ())
        before = [text for at, text in recalled if self._now is None or at < self._now]
        return [*before[:MOST_TEXTS], *self.texts.get(key, ())]

    def terms_about(self, key: str) -> frozenset[str]:
        """What facts about a name speak of, as terms; kept, because a few names are often asked."""
        found = self._terms.get(key)
        if found is None:
            found = self._terms[key] = frozenset(terms(" ".join(self.said_about(key))))
        return found

    def near(self, key: str) -> set[str]:
        """Names one slip away: a letter more, less, changed, or two that changed places."""
        found = {each for slip in slips(key) for each in self._near.get(slip, ())}
        return {each for each in found - {key} if _one_slip(key, each)}

    def united(self, keys: Iterable[str]) -> bool:
        """Whether merges that hold make these one."""
        first, *others = keys
        return all(frozenset({first, other}) in self.same for other in others)

    def _add_entity(self, record: Record) -> None:
        body = record.body
        key = known_as(body["name"])
        aliases = {known_as(alias) for alias in body.get("aliases", ())} - {key}
        if body.get("same_as"):
            self.same.update(frozenset({key, alias}) for alias in aliases)
            return
        entry = self.entries.get(key)
        if entry is None:
            entry = self.entries[key] = Entry(body["name"], record.sources)
            self._index(key)
        if (type := body.get("type")) and type != UNTYPED:
            entry.types.add(type)
        entry.aliases |= aliases
        for alias in aliases:
            self.owners[alias].add(key)
        if identifier := body.get("identifier"):
            claims = self.identifiers[identifier["kind"], identifier["value"]]
            if key not in claims or (identifier["proven"] and not claims[key].proven):
                claims[key] = Claim(identifier["proven"], record.sources)

    def _index(self, key: str) -> None:
        words = bare(key)
        if len(words) > 1:
            for part in (words[0], words[-1]):
                self.parts[part].add(key)
        if (form := " ".join(core(words))) != key:
            self.forms[form].add(key)
        for slip in slips(key):
            self._near[slip].add(key)

    def _add_fact(self, body: Any, text: str) -> None:
        for name in (body.get("subject"), body.get("object")):
            if isinstance(name, str):
                key = known_as(name)
                self.texts[key].append(text)
                self._terms.pop(key, None)

    def _add_review(self, body: Any) -> None:
        if body.get("what") != "merge":
            return
        pair = frozenset(map(known_as, body["names"]))
        self.proposed.add(pair)
        if body.get("decision") == "reject":
            self.apart.add(pair)


def bare(key: str) -> list[str]:
    """The words of a name without a title."""
    words = key.split()
    return words[1:] if len(words) > 1 and words[0].rstrip(".") in TITLES else words


def core(words: list[str]) -> list[str]:
    """The words that are the name: no Inc. behind, no Project before or behind."""
    if len(words) > 1 and words[-1].rstrip(".") in LEGAL:
        return words[:-1]
    if len(words) > 1 and words[0] == "project":
        return words[1:]
    return words[:-1] if len(words) > 1 and words[-1] == "project" else words


def slips(key: str) -> Iterator[str]:
    """The name, and the name with any one letter left out: two names one slip apart share one."""
    if SHORTEST_SIMILAR <= len(key) <= LONGEST_SIMILAR:
        yield key
        for place in range(1, len(key)):  # the first letter is seldom wrong
            yield key[:place] + key[place + 1 :]


def _one_slip(one: str, other: str) -> bool:
    """Whether two names differ in a letter, and not in a number."""
    if [c for c in one if c.isdigit()] != [c for c in other if c.isdigit()]:
        return False
    if abs(len(one) - len(other)) > 1:
        return False
    if len(one) == len(other):
        wrong = [place for place in range(len(one)) if one[place] != other[place]]
        turned = len(wrong) == 2 and one[wrong[0]] == other[wrong[1]]
        return len(wrong) == 1 or (turned and wrong[1] == wrong[0] + 1)
    short, long = sorted((one, other), key=len)
    return any(long[:place] + long[place + 1 :] == short for place in range(len(long)))
