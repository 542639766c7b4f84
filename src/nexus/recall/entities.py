"""Entities as one viewer sees them: the union of the records that viewer may read.

Records are joined by name. An alias leads to who has it, unless it is somebody's own name or two
people's: nobody becomes another one by saying so. Only a merge, accepted by a person or proven by
a channel, makes two names one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from ..core.access import Grant
from ..core.derive import known_as
from ..core.filters import Condition, Op
from ..core.identifiers import possible_identifiers, spelt_identifier
from ..core.protocols import Store
from ..core.records import Memory, MemoryKind

ROUNDS = 4  # from name to alias to merge to alias
MOST_NAMES = 100  # of one entity
MOST_RECORDS = 2_000  # read a round
MOST_FACTS = 100
UNTYPED = "thing"
ENTITY, FACT = (MemoryKind.ENTITY,), (MemoryKind.FACT,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identifier:
    """An address: proven by the channel it was used on, or merely said."""

    kind: str  # email, phone, handle or username
    value: str  # normalised
    proven: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityView:
    """Somebody or something, as far as the viewer may know."""

    name: str
    types: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    identifiers: tuple[Identifier, ...] = ()
    same_as: tuple[str, ...] = ()  # other names a merge made its own
    could_be: tuple[str, ...] = ()  # who has this for an alias, where several have
    facts: tuple[Memory, ...] = ()  # newest first
    records: tuple[Memory, ...] = ()  # what all this was read from, newest first


def entity(store: Store, grant: Grant, name: str, *, limit: int = MOST_FACTS) -> EntityView | None:
    """Everything this viewer may know under a name, or nothing."""
    with store.moment():
        cards = _gather(store, grant, name)
        member = cards.start(_key(name))
        spellings = cards.spellings(member)
        facts = store.memories.named(grant, sorted(spellings), kinds=FACT, limit=limit)
    if not facts and not cards.records:
        return None
    return replace(cards.view(member, name), facts=tuple(facts))


def meant(store: Store, grant: Grant, name: str, people: Iterable[str]) -> str:
    """Whom a name means here: "mom" is the mother of the one of these people who told of theirs."""
    if entity(store, grant, name, limit=1):
        return name
    theirs = [f"{person}'s {name}" for person in people]
    known = [each for each in theirs if entity(store, grant, each, limit=1)]
    return known[0] if len(known) == 1 else name


def entities(
    store: Store, grant: Grant, *, type: str | None = None, limit: int = MOST_FACTS
) -> list[EntityView]:
    """Who and what this viewer may know of, by name; without the facts about them."""
    cards = _Cards()
    cards.add(entity_records(store, grant))
    views: dict[str, EntityView] = {}
    seen: set[str] = set()
    for key in sorted(cards.own):
        if key not in seen:
            seen |= cards.merged(key)
            view = cards.view(key, cards.called(key))
            if type is None or type in view.types:
                views[view.name] = view
    return [views[name] for name in sorted(views)][:limit]


def names_of(
    store: Store, grant: Grant, name: str, known_by: datetime | None = None
) -> frozenset[str]:
    """Every spelling this viewer knows for whom the name means, as `known_as` writes them.

    `known_by`: by what had been told and decided by then.
    """
    cards = _gather(store, grant, name, known_by=known_by)
    return frozenset(cards.spellings(cards.start(_key(name))))


class Called(NamedTuple):
    """How somebody is called: no more than that."""

    name: str
    aliases: tuple[str, ...]
    spellings: frozenset[str]  # all of them, as `known_as` writes them


def whom(store: Store, grant: Grant, names: Sequence[str]) -> list[Called]:
    """Whom each name means: all from one look."""
    cards = _gather(store, grant, *names)
    found: list[Called] = []
    for name in names:
        member = cards.start(_key(name))
        records, spellings = cards.about(member), cards.spellings(member)
        known = records or member in cards.same
        called = cards.called(member) if known else name
        found.append(Called(called, _aliases(records, spellings), frozenset(spellings)))
    return found


def entity_records(store: Store, grant: Grant) -> list[Memory]:
    """Every entity record this viewer may read, newest first."""
    return store.memories.find(grant, where=Condition("kind", Op.EQ, MemoryKind.ENTITY))


def _key(name: str) -> str:
    """How a name or an address is looked up."""
    spelt = [spelt_identifier(kind, value) for kind, value in possible_identifiers(name)]
    return known_as(spelt[0] if spelt else name)


def _gather(store: Store, grant: Grant, *asked: str, known_by: datetime | None = None) -> _Cards:
    """The records these names lead to, a few rounds outwards."""
    cards = _Cards()
    looked: set[str] = set()
    names = {_key(name) for name in asked}
    for _ in range(ROUNDS):
        fresh = sorted(names - looked)[:MOST_NAMES]
        if not fresh:
            break
        looked.update(fresh)
        found = store.memories.named(grant, fresh, kinds=ENTITY, limit=MOST_RECORDS)
        cards.add(each for each in found if known_by is None or each.recorded_at <= known_by)
        names = set().union(*cards.names.values())
    return cards


class _Cards:
    """Entity records, by whom they are about. Names are keys, as `known_as` writes them."""

    def __init__(self) -> None:
        self.records: dict[str, Memory] = {}
        self.names: dict[str, set[str]] = {}  # of each of these
        self.own: defaultdict[str, list[Memory]] = defaultdict(list)  # name → records
        self.owners: defaultdict[str, set[str]] = defaultdict(set)  # alias → names
        self.proven: defaultdict[str, set[str]] = defaultdict(set)  # address → names
        self.same: defaultdict[str, set[str]] = defaultdict(set)  # merged, both ways
        self.kept: dict[str, str] = {}  # of a merge: the name to be known by, as it is written

    def add(self, memories: Iterable[Memory]) -> None:
        for memory in memories:
            if memory.id in self.records:
                continue
            self.records[memory.id] = memory
            names = self.names[memory.id] = _names(memory)
            key = known_as(memory.body["name"])
            aliases = names - {key}
            if memory.body.get("same_as"):
                self.kept[key] = memory.body["name"]
                for alias in aliases:
                    self.same[key].add(alias)
                    self.same[alias].add(key)
            else:
                self.own[key].append(memory)
                proven = memory.body.get("identifier", {}).get("proven", False)
                for alias in aliases:
                    self.owners[alias].add(key)
                    if proven:
                        self.proven[alias].add(key)

    def start(self, key: str) -> str:
        """Whom a spelling means: its own bearer, or else the only one who is also called so."""
        holders = self.holders(key)
        if key in self.own or key in self.same or len(holders) != 1:
            return key
        return next(iter(holders))

    def holders(self, alias: str) -> set[str]:
        """Who has an alias: who has proven it, or else who is said to have it."""
        return self.proven.get(alias) or self.owners.get(alias, set())

    def merged(self, key: str) -> set[str]:
        """The names that merges made one with this one, itself among them."""
        if key not in self.same:
            return {key}
        found, fresh = {key}, {key}
        while fresh and len(found) <= MOST_NAMES:
            fresh = {other for each in fresh for other in self.same.get(each, ())} - found
            found |= fresh
        return found

    def about(self, key: str) -> list[Memory]:
        """The records of one, under any of its names."""
        return [memory for each in self.merged(key) for memory in self.own.get(each, ())]

    def spellings(self, key: str) -> set[str]:
        """All names and aliases of one; an alias only if it is nobody else's."""
        members = self.merged(key)
        aliases = {
            alias
            for memory in self.about(key)
            for alias in self.names[memory.id]
            if self.holders(alias) <= members and (alias not in self.own or alias in members)
        }
        return members | aliases

    def called(self, key: str) -> str:
        """The name as it was first written; of merged ones, the one a merge keeps."""
        kept = sorted(each for each in self.merged(key) if each in self.kept)
        if kept:
            return self.kept[kept[0]]
        oldest = min(self.about(key), key=lambda memory: (memory.at, memory.id), default=None)
        return oldest.body["name"] if oldest else key

    def view(self, key: str, asked: str) -> EntityView:
        members, records = self.merged(key), self.about(key)
        records.sort(key=lambda memory: (memory.at, memory.id), reverse=True)
        named = self.called(key) if records or members != {key} else asked
        merged = {memory.body["name"] for memory in records} - {named}
        return EntityView(
            name=named,
            types=_types(records),
            aliases=_aliases(records, self.spellings(key)),
            identifiers=_identifiers(records),
            same_as=tuple(sorted(merged)) if len(members) > 1 else (),
            could_be=tuple(map(self.called, sorted(self.holders(key)))) if not records else (),
            records=tuple(records),
        )


def _names(memory: Memory) -> set[str]:
    """The name and the aliases of an entity record."""
    return {known_as(name) for name in (memory.body["name"], *memory.body.get("aliases", ()))}


def _types(records: Sequence[Memory]) -> tuple[str, ...]:
    """What it was said to be; a mere thing only if nothing better was."""
    types = {str(memory.body["type"]) for memory in records if memory.body.get("type")}
    return tuple(sorted(types - {UNTYPED} or types))


def _aliases(records: Sequence[Memory], spellings: set[str]) -> tuple[str, ...]:
    """Other names, without the addresses, which stand on their own."""
    spelt = {
        alias
        for memory in records
        if "identifier" not in memory.body
        for alias in memory.body.get("aliases", ())
    }
    return tuple(sorted(alias for alias in spelt if known_as(alias) in spellings))


def _identifiers(records: Sequence[Memory]) -> tuple[Identifier, ...]:
    """Each address once; proven, if any record proves it."""
    found: dict[tuple[str, str], bool] = {}
    for memory in records:
        if told := memory.body.get("identifier"):
            address = told["kind"], told["value"]
            found[address] = found.get(address, False) or bool(told["proven"])
    return tuple(
        Identifier(kind=kind, value=value, proven=proven)
        for (kind, value), proven in sorted(found.items())
    )
