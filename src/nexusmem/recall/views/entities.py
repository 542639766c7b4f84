"""Entity views: all entity records of one name that the viewer may read, combined.

Records are joined by normalized name. An alias resolves to its owner, unless it is itself a name or
several entities have it: a user cannot take over another identity by claiming an alias. Only a
merge that a person accepted or a channel proved makes two names one entity. Lookups of facts also
join a first name with the full name of the only person who has it (`find_full_name`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

from ...core.access import Grant
from ...core.derive import first_name, name_part_key, normalize_name
from ...core.filters import Condition, Op
from ...core.protocols.store import Store
from ...core.records import Json, Memory, MemoryKind
from ...core.records.facts import is_sure
from ...core.records.links import ReviewDecision
from ...core.records.memory import drop_copies
from ...text.identifiers import format_identifier, possible_identifiers
from ...text.predicates import PERSON_PREDICATES

MAX_ROUNDS = 4  # lookups: name → alias → merge → alias
MAX_NAMES = 100  # names of one entity
MAX_RECORDS = 2_000  # records read per lookup
MAX_FACTS = 100
FACTS_READ_PER_SHOWN = 4  # some of the newest facts may be unsure and are not shown
MAX_PERSON_WORDS = 3
UNKNOWN_TYPE, PERSON_TYPE = "thing", "person"
ENTITY_KINDS, FACT_KINDS = (MemoryKind.ENTITY,), (MemoryKind.FACT,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identifier:
    """An address of an entity, either proven by a channel or only claimed."""

    kind: str  # email, phone, handle or username
    value: str  # normalized
    proven: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityView:
    """A person or thing, built from the records that the viewer may read."""

    name: str
    types: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    identifiers: tuple[Identifier, ...] = ()
    same_as: tuple[str, ...] = ()  # other names, joined by merges
    could_be: tuple[str, ...] = ()  # owners of this alias, if it has several
    facts: tuple[Memory, ...] = ()  # sure ones (`core.records.facts.is_sure`), newest first
    records: tuple[Memory, ...] = ()  # the entity records of this view, newest first
    description: str | None = None  # the newest one that was stated
    properties: Mapping[str, Json] = field(default_factory=dict)  # the newest value of each key


def get_entity(
    store: Store,
    grant: Grant,
    name: str,
    *,
    now: datetime | None = None,
    limit: int = MAX_FACTS,
) -> EntityView | None:
    """Return the entity of this name with at most `limit` facts, or None if nothing is visible.

    Facts that are not sure at the time `now` (None: when they were said) are left out.
    """
    with store.snapshot():
        index = _load_entity_index(store, grant, name)
        facts = _load_facts(store, grant, index, name, limit=FACTS_READ_PER_SHOWN * limit)
    if not facts and not index.records:
        return None
    sure = [fact for fact in drop_copies(facts) if is_sure(fact, now or fact.at)]
    view = index.build_view(index.resolve_key(_lookup_key(name)), name)
    return replace(view, facts=tuple(sure[:limit]))


def has_entity(store: Store, grant: Grant, name: str) -> bool:
    """Return whether `get_entity` finds something, without reading facts if there are records."""
    with store.snapshot():
        index = _load_entity_index(store, grant, name)
        return bool(
            index.records or _load_facts(store, grant, index, name, limit=FACTS_READ_PER_SHOWN)
        )


def _load_facts(
    store: Store, grant: Grant, index: _EntityIndex, name: str, *, limit: int
) -> list[Memory]:
    """Return the newest facts about an entity of the index, under all its spellings."""
    spellings = index.find_spellings(index.resolve_key(_lookup_key(name)))
    return store.memories.find_by_name(grant, sorted(spellings), kinds=FACT_KINDS, limit=limit)


@dataclass(frozen=True, slots=True)
class EntityViews:
    """All visible entities, and the entity that each spelling means."""

    by_key: Mapping[str, EntityView]  # key of the entity → its view without facts
    keys: Mapping[str, str]  # name → key of its entity
    index: _EntityIndex

    def find_key(self, name: str) -> str:
        """Return the key of the entity that a name means; unknown names are their own key."""
        resolved = self.index.resolve_key(_lookup_key(name))
        return self.keys.get(resolved, resolved)


def load_entity_views(store: Store, grant: Grant) -> EntityViews:
    """Return every visible entity without its facts, sorted by key."""
    index = _EntityIndex()
    index.add(load_entity_records(store, grant))
    by_key: dict[str, EntityView] = {}
    keys: dict[str, str] = {}
    for key in sorted(index.records_by_name):
        if key not in keys:
            keys |= dict.fromkeys(index.find_merged(key), key)
            by_key[key] = index.build_view(key, index.display_name(key))
    return EntityViews(by_key, keys, index)


def list_entities(
    store: Store, grant: Grant, *, type: str | None = None, limit: int = MAX_FACTS
) -> list[EntityView]:
    """Return the visible entities sorted by name, without their facts."""
    views = {
        view.name: view
        for view in load_entity_views(store, grant).by_key.values()
        if type is None or type in view.types
    }
    return [views[name] for name in sorted(views)][:limit]


def find_spellings(
    store: Store, grant: Grant, name: str, as_of: datetime | None = None
) -> frozenset[str]:
    """Return every visible spelling of the named entity, normalized.

    With `as_of`, only records and merges up to that time are used.
    """
    index = _load_entity_index(store, grant, name, as_of=as_of)
    return frozenset(index.find_spellings(index.resolve_key(_lookup_key(name))))


def find_person_names(
    store: Store, grant: Grant, name: str, as_of: datetime | None = None
) -> frozenset[str]:
    """Return the spellings of an entity, and the first or full name of a person."""
    spellings = find_spellings(store, grant, name, as_of)
    return spellings | find_full_name(store, grant, name, as_of)


def find_full_name(
    store: Store, grant: Grant, name: str, as_of: datetime | None = None
) -> frozenset[str]:
    """Return the first name and the spellings of the full name of a person, or nothing.

    "Sarah" and "Sarah Eklund" are one person if only one visible person has that first name, in
    the same scopes. Learning links later mentions of "Sarah" itself: a "Sarah" that it introduced
    after "Sarah Eklund", such as "my cousin Sarah", is another person.
    """
    key = _lookup_key(name)
    words = key.split()
    if not words or len(words) > MAX_PERSON_WORDS:
        return frozenset()
    part = words[0]

    def find_records(name: str, *more: MemoryKind) -> list[Memory]:
        kinds = (*ENTITY_KINDS, *FACT_KINDS, *more)
        found = store.memories.find_by_name(grant, [name], kinds=kinds, limit=MAX_RECORDS)
        return [each for each in found if as_of is None or each.recorded_at <= as_of]

    introduced = find_records(name_part_key(part))
    full = _select_full_name(part, introduced)
    if full is None or (len(words) > 1 and key != full):
        return frozenset()
    records = find_records(part, MemoryKind.REVIEW)
    scopes, since = {each.scope for each in introduced}, min(each.at for each in introduced)
    is_apart = any(
        each.kind is not MemoryKind.REVIEW and each.scope not in scopes for each in records
    )
    if is_apart or not all(_may_be_first_name(part, full, since, each) for each in records):
        return frozenset()
    return find_spellings(store, grant, full, as_of) | {part}


def _select_full_name(part: str, records: Iterable[Memory]) -> str | None:
    """Return the full name of the only person with this first name, or None."""
    persons: set[str] = set()
    full_names: set[str] = set()
    for memory in records:
        names = {
            normalize_name(each)
            for each in _stated_names(memory)
            if isinstance(each, str) and first_name(each) == part
        }
        if memory.kind is MemoryKind.ENTITY:
            is_person = PERSON_TYPE in _entity_types([memory])
        else:
            is_subject = normalize_name(memory.body["subject"]) in names
            is_person = is_subject and memory.body["predicate"].upper() in PERSON_PREDICATES
        full_names |= names
        persons |= names if is_person else set()
    return next(iter(full_names)) if len(full_names) == 1 and full_names == persons else None


def _may_be_first_name(part: str, full: str, since: datetime, memory: Memory) -> bool:
    """Return False if a record tells that the first name means somebody or something else.

    This is another entity of that name, the id of a speaker, or a rejected merge.
    """
    if memory.kind is MemoryKind.REVIEW:
        is_rejected = memory.body.get("decision") == ReviewDecision.REJECT
        return not is_rejected or {*map(normalize_name, memory.body["names"])} != {part, full}
    if memory.kind is MemoryKind.ENTITY:
        name = normalize_name(memory.body["name"])
        if name != part:
            return name == full
        is_person = not {*_entity_types([memory])} - {PERSON_TYPE, UNKNOWN_TYPE}
        return is_person and memory.at <= since
    return memory.speaker is None or normalize_name(memory.speaker) != part


def _stated_names(memory: Memory) -> tuple[object, ...]:
    body = memory.body
    if memory.kind is MemoryKind.ENTITY:
        return (body["name"], *body.get("aliases", ()))
    return (body["subject"], body.get("object"))


class EntityNames(NamedTuple):
    """The names of one entity."""

    name: str
    aliases: tuple[str, ...]
    spellings: frozenset[str]  # all names and aliases, normalized


def resolve_names(store: Store, grant: Grant, names: Sequence[str]) -> list[EntityNames]:
    """Resolve several names with one lookup; the result has the same order."""
    index = _load_entity_index(store, grant, *names)
    resolved: list[EntityNames] = []
    for name in names:
        member = index.resolve_key(_lookup_key(name))
        records, spellings = index.get_records(member), index.find_spellings(member)
        exists = records or member in index.merge_links
        display = index.display_name(member) if exists else name
        aliases = _entity_aliases(records, spellings)
        resolved.append(EntityNames(display, aliases, frozenset(spellings)))
    return resolved


def load_entity_records(store: Store, grant: Grant) -> list[Memory]:
    """Return every entity record that the viewer may read, newest first."""
    return store.memories.find(grant, where=Condition("kind", Op.EQ, MemoryKind.ENTITY))


def _lookup_key(name: str) -> str:
    """Return the normalized form of a name or an address."""
    identifiers = [format_identifier(kind, value) for kind, value in possible_identifiers(name)]
    return normalize_name(identifiers[0] if identifiers else name)


def _load_entity_index(
    store: Store, grant: Grant, *seeds: str, as_of: datetime | None = None
) -> _EntityIndex:
    """Load the records of these names, of their aliases and of merged names."""
    index = _EntityIndex()
    loaded: set[str] = set()
    names = {_lookup_key(name) for name in seeds}
    for _ in range(MAX_ROUNDS):
        new = sorted(names - loaded)[:MAX_NAMES]
        if not new:
            break
        loaded.update(new)
        records = store.memories.find_by_name(grant, new, kinds=ENTITY_KINDS, limit=MAX_RECORDS)
        index.add(each for each in records if as_of is None or each.recorded_at <= as_of)
        names = set().union(*index.names_by_record.values())
    return index


class _EntityIndex:
    """Entity records by normalized name, with aliases and merges."""

    def __init__(self) -> None:
        self.records: dict[str, Memory] = {}
        self.names_by_record: dict[str, set[str]] = {}  # record id → names
        self.records_by_name: defaultdict[str, list[Memory]] = defaultdict(list)  # name → records
        self.owners_by_alias: defaultdict[str, set[str]] = defaultdict(set)  # alias → names
        self.proven_owners: defaultdict[str, set[str]] = defaultdict(set)  # address → names
        self.merge_links: defaultdict[str, set[str]] = defaultdict(set)  # name ↔ name of merges
        self.preferred_names: dict[str, str] = {}  # name → display name that a merge chose

    def add(self, memories: Iterable[Memory]) -> None:
        """Index these records; records that are already indexed are skipped."""
        for memory in memories:
            if memory.id in self.records:
                continue
            self.records[memory.id] = memory
            names = self.names_by_record[memory.id] = _record_names(memory)
            key = normalize_name(memory.body["name"])
            aliases = names - {key}
            if memory.body.get("same_as"):
                self.preferred_names[key] = memory.body["name"]
                for alias in aliases:
                    self.merge_links[key].add(alias)
                    self.merge_links[alias].add(key)
            else:
                self.records_by_name[key].append(memory)
                proven = memory.body.get("identifier", {}).get("proven", False)
                for alias in aliases:
                    self.owners_by_alias[alias].add(key)
                    if proven:
                        self.proven_owners[alias].add(key)

    def resolve_key(self, key: str) -> str:
        """Return the name that a spelling refers to.

        That is the spelling itself if it is a name, else its owner if the alias has exactly one.
        """
        owners = self.find_owners(key)
        if key in self.records_by_name or key in self.merge_links or len(owners) != 1:
            return key
        return next(iter(owners))

    def find_owners(self, alias: str) -> set[str]:
        """Return the names that have proven the alias, else the names that claim it."""
        return self.proven_owners.get(alias) or self.owners_by_alias.get(alias, set())

    def find_merged(self, key: str) -> set[str]:
        """Return this name and all names that merges joined with it."""
        if key not in self.merge_links:
            return {key}
        merged, new = {key}, {key}
        while new and len(merged) <= MAX_NAMES:
            new = {other for each in new for other in self.merge_links.get(each, ())} - merged
            merged |= new
        return merged

    def get_records(self, key: str) -> list[Memory]:
        """Return the records of an entity under all its merged names."""
        return [
            memory
            for each in self.find_merged(key)
            for memory in self.records_by_name.get(each, ())
        ]

    def find_spellings(self, key: str) -> set[str]:
        """Return all names of an entity, and the aliases that no other entity has."""
        members = self.find_merged(key)
        aliases = {
            alias
            for memory in self.get_records(key)
            for alias in self.names_by_record[memory.id]
            if self.find_owners(alias) <= members
            and (alias not in self.records_by_name or alias in members)
        }
        return members | aliases

    def display_name(self, key: str) -> str:
        """Return the name that a merge chose, else the spelling of the oldest record."""
        preferred = sorted(each for each in self.find_merged(key) if each in self.preferred_names)
        if preferred:
            return self.preferred_names[preferred[0]]
        oldest = min(self.get_records(key), key=lambda memory: (memory.at, memory.id), default=None)
        return oldest.body["name"] if oldest else key

    def build_view(self, key: str, fallback_name: str) -> EntityView:
        """Build the view of an entity, without its facts."""
        members, records = self.find_merged(key), self.get_records(key)
        records.sort(key=lambda memory: (memory.at, memory.recorded_at, memory.id), reverse=True)
        name = self.display_name(key) if records or members != {key} else fallback_name
        merged = {memory.body["name"] for memory in records} - {name}
        return EntityView(
            name=name,
            types=_entity_types(records),
            aliases=_entity_aliases(records, self.find_spellings(key)),
            identifiers=_collect_identifiers(records),
            same_as=tuple(sorted(merged)) if len(members) > 1 else (),
            could_be=tuple(map(self.display_name, sorted(self.find_owners(key))))
            if not records
            else (),
            records=tuple(records),
            description=next(
                filter(None, (each.body.get("description") for each in records)), None
            ),
            properties=_merge_properties(records),
        )


def _record_names(memory: Memory) -> set[str]:
    """Return the normalized name and aliases of an entity record."""
    return {normalize_name(name) for name in (memory.body["name"], *memory.body.get("aliases", ()))}


def _entity_types(records: Sequence[Memory]) -> tuple[str, ...]:
    """Return the types of the records, sorted; guesses and UNKNOWN_TYPE if there is no other."""
    typed = [memory.body for memory in records if memory.body.get("type")]
    sure = {str(body["type"]) for body in typed if not body.get("guess")} - {UNKNOWN_TYPE}
    return tuple(sorted(sure or {str(body["type"]) for body in typed}))


def _entity_aliases(records: Sequence[Memory], spellings: set[str]) -> tuple[str, ...]:
    """Return the aliases among these spellings; addresses are listed as identifiers instead."""
    aliases = {
        alias
        for memory in records
        if "identifier" not in memory.body
        for alias in memory.body.get("aliases", ())
    }
    return tuple(sorted(alias for alias in aliases if normalize_name(alias) in spellings))


def _merge_properties(newest_first: Sequence[Memory]) -> dict[str, Json]:
    """Return the newest value of each property; a newest value of None removes the property."""
    merged: dict[str, Json] = {}
    for memory in reversed(newest_first):
        merged |= memory.body.get("properties") or {}
    return {key: merged[key] for key in sorted(merged) if merged[key] is not None}


def _collect_identifiers(records: Sequence[Memory]) -> tuple[Identifier, ...]:
    """Return each address once; it is proven if any record proves it."""
    proven_by_address: dict[tuple[str, str], bool] = {}
    for memory in records:
        if identifier := memory.body.get("identifier"):
            address = identifier["kind"], identifier["value"]
            is_proven = proven_by_address.get(address, False) or bool(identifier["proven"])
            proven_by_address[address] = is_proven
    return tuple(
        Identifier(kind=kind, value=value, proven=proven)
        for (kind, value), proven in sorted(proven_by_address.items())
    )
