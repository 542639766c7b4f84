"""Name lookup: find the entity that a name, a part of a name or a username means.

A reader who writes "Joost" means Joost van Dijk if no other Joost is visible. The lookup stays
inside the grant, so a hidden person makes no name ambiguous. A nickname ("Bob" for Robert Hale) is
only suggested: it may be another person.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from ...core.access import Grant
from ...core.derive import name_part_key, normalize_name
from ...core.protocols.store import Store
from ...core.records import Memory
from ...text.nicknames import first_name_variants
from .entities import ENTITY_KINDS, UNKNOWN_TYPE, get_entity, resolve_names

MAX_RECORDS = 500  # entity records read per name part
MAX_SUGGESTED = 5
MAX_PERSON_WORDS = 5
PERSON = "person"


def resolve_name(store: Store, grant: Grant, name: str, people: Iterable[str]) -> str:
    """Return the name of the entity that `name` means; `name` itself if that is not certain.

    An entity of exactly this name comes first. Then follow a username or handle without its "@",
    "alice's mom" for "mom" if one of the `people` has such an entity, and a part of the name of
    the only person that has it.
    """
    if get_entity(store, grant, name, limit=1):
        return name
    handle = f"@{name}"
    if " " not in name and not name.startswith("@") and get_entity(store, grant, handle, limit=1):
        return handle
    possessives = [f"{person}'s {name}" for person in people]
    existing = [each for each in possessives if get_entity(store, grant, each, limit=1)]
    if existing:
        return existing[0] if len(existing) == 1 else name
    full_names = find_full_names(store, grant, name)
    return full_names[0] if len(full_names) == 1 else name


def find_full_names(store: Store, grant: Grant, part: str) -> list[str]:
    """Return the people whose name begins or ends with these words, each once, sorted."""
    key = normalize_name(part)
    if not key:
        return []
    words = key.split()
    records = _load_records(store, grant, {words[0], words[-1]})
    return _distinct_names(store, grant, _names_with_part(records, key))


def suggest_names(store: Store, grant: Grant, name: str) -> list[str]:
    """Return people that a name may mean but does not certainly: namesakes and nicknames."""
    first, *rest = normalize_name(name).split() or [""]
    variants = first_name_variants(first)
    records = _load_records(store, grant, {*variants, *rest[-1:]}) if variants else []
    others = (" ".join([variant, *rest]) for variant in sorted(variants))
    similar = {full for other in others for full in _names_with_part(records, other, whole=True)}
    found = [*find_full_names(store, grant, name), *_distinct_names(store, grant, similar)]
    return list(dict.fromkeys(found))[:MAX_SUGGESTED]


def _load_records(store: Store, grant: Grant, words: Iterable[str]) -> list[Memory]:
    """Return the entity records with one of these words as name, first or last word."""
    names = sorted({key for word in words for key in (word, name_part_key(word))})
    return store.memories.find_by_name(grant, names, kinds=ENTITY_KINDS, limit=MAX_RECORDS)


def _names_with_part(records: Iterable[Memory], key: str, *, whole: bool = False) -> set[str]:
    """Return the names of people that begin or end with `key`; with `whole`, also `key` itself."""
    return {
        full
        for same_name in _group_by_name(records).values()
        if _may_be_person(same_name)
        for record in same_name
        for full in _full_names(record)
        if _has_part(normalize_name(full), key) or (whole and normalize_name(full) == key)
    }


def _group_by_name(records: Iterable[Memory]) -> dict[str, list[Memory]]:
    groups: defaultdict[str, list[Memory]] = defaultdict(list)
    for record in records:
        if not record.body.get("same_as"):
            groups[normalize_name(record.body["name"])].append(record)
    return groups


def _full_names(record: Memory) -> Iterator[str]:
    yield record.body["name"]
    if "identifier" not in record.body:
        yield from record.body.get("aliases", ())


def _has_part(full: str, part: str) -> bool:
    return full.startswith(f"{part} ") or full.endswith(f" {part}")


def _may_be_person(records: Sequence[Memory]) -> bool:
    """Return whether the records are of a person, or untyped with a name like that of a person."""
    types = {record.body.get("type") for record in records} - {None, UNKNOWN_TYPE}
    if types:
        return PERSON in types
    words = str(records[0].body["name"]).split()
    return len(words) <= MAX_PERSON_WORDS and words[0][:1].isupper() and words[-1][:1].isupper()


def _distinct_names(store: Store, grant: Grant, names: Iterable[str]) -> list[str]:
    """Return the display names of these entities; merged names and aliases count once."""
    wanted = sorted(names)
    return sorted({each.name for each in resolve_names(store, grant, wanted)}) if wanted else []
