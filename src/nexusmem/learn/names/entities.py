"""Entity records: drafts for new names, types, aliases and addresses.

An entity is the union of its records; a query builds it from the records that the viewer may read.

A text proves no address. Only the channel proves the author: the application that observes a
message puts the verified address into the event's metadata, which no message text can reach:
`{"identity": {"email": "sarah@example.com"}}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...core.derive import normalize_name
from ...core.ids import MAX_ID_LENGTH, digest
from ...core.records import Draft, Event, EventKind, Fact, Memory, MemoryKind, Tier, Trust
from ...core.records.entities import ENTITY, StatedEntity, check_entity
from ...text.identifiers import (
    KINDS,
    format_identifier,
    normalize_identifier,
    possible_identifiers,
)
from ...text.secrets import redact_secrets
from ..extract.fact_drafts import RULES, SourceLookup, no_sources
from ..extract.passages import event_tags
from ..rules.results import Entity, ExtractionResult, Identity
from .name_directory import UNTYPED, IdentifierClaim, NameDirectory
from .resolve import PERSON, NameCandidate, merge_review, propose_merge

IDENTITY = "identity"  # event metadata: addresses of the speaker that the channel verified
AGENT = "agent"


def entity_drafts(
    event: Event,
    extracted: ExtractionResult,
    directory: NameDirectory,
    find_sources: SourceLookup = no_sources,
) -> Iterator[Draft]:
    """Yield records of names, types, aliases and addresses that the directory lacks.

    The directory grows with each record. `find_sources` returns the earlier events of a name;
    a record is erased with them.
    """
    for record in _make_drafts(event, extracted, directory):
        draft = add_name_sources(record, find_sources)
        directory.add_records([draft])
        yield draft


def add_name_sources(draft: Draft, find_sources: SourceLookup) -> Draft:
    """Return the draft with the earlier events of its names as further sources."""
    body = draft.body
    names = body["names"] if draft.kind is MemoryKind.REVIEW else [body["name"], *body["aliases"]]
    sources = dict.fromkeys([*draft.sources, *find_sources(names, "")])
    return replace(draft, sources=tuple(sources))


def _make_drafts(
    event: Event, extracted: ExtractionResult, directory: NameDirectory
) -> Iterator[Draft]:
    for identity in extracted.identities:
        yield from _identity_drafts(event, identity, directory)
    aliases = {normalize_name(each.value) for each in extracted.identities if each.kind == "name"}
    for entity in extracted.entities:
        if (
            normalize_name(entity.name) not in aliases
            or normalize_name(entity.name) in directory.entries
        ):
            yield from _introduce_name(event, entity, directory)
    yield from _channel_identity_drafts(event, directory)


def fact_name_drafts(event: Event, fact: Fact, directory: NameDirectory) -> Iterator[Draft]:
    """Yield a record for the subject of a stated fact, if its name is new.

    The record makes the entity listed, and found by a part of its name.
    """
    if not fact.exact:  # the subject of an exact value is a scope
        entity = Entity(name=fact.subject, type=UNTYPED)
        for draft in _introduce_name(event, entity, directory):
            directory.add_records([draft])
            yield draft


def _introduce_name(event: Event, entity: Entity, directory: NameDirectory) -> Iterator[Draft]:
    """Yield a record for a new name, or for a new type of a known name."""
    name, type = entity.name, entity.type
    key = normalize_name(name)
    if not is_name(name) and key != normalize_name(event.speaker):
        return
    if type == PERSON and event.role == "assistant" and name == event.speaker:
        type = AGENT
    entry = directory.entries.get(key)
    if entry and PERSON in entry.types:
        return  # a person who is visited is no place
    if entry is None or (type != UNTYPED and type not in entry.types and not entity.is_guess):
        if entry is None and key in directory.alias_owners:
            return  # an alias of another entity
        known_name = entry.name if entry else name
        if entity.is_guess:
            text = f"{known_name} was mentioned."
            yield _entity_record(event, known_name, text, type=type, guess=True)
            return
        yield _entity_record(event, known_name, f"{known_name} is a {type}.", type=type)


def is_name(name: str) -> bool:
    """Return whether the text is a name, not an address or a description ("Bob's sister")."""
    is_description = "'s " in name or "’s " in name or "@" in name
    return (
        bool(normalize_name(name))
        and len(name) <= MAX_ID_LENGTH
        and not is_description
        and not name.islower()
    )


def _identity_drafts(event: Event, identity: Identity, directory: NameDirectory) -> Iterator[Draft]:
    """Yield alias or address records of an identity statement; they are never proven."""
    if identity.kind == "kin":
        yield from _alias_drafts(event, identity.value, identity.owner, directory)
    elif identity.kind == "name":
        yield from _alias_drafts(event, identity.owner, identity.value, directory)
    elif value := normalize_identifier(identity.kind, identity.value):
        yield from _address_drafts(event, identity.owner, (identity.kind, value), directory)


def stated_entity_drafts(event: Event, directory: NameDirectory) -> Iterator[Draft]:
    """Yield the records of a stated entity: its own, then one for each new alias or address.

    An alias that is the name of another entity becomes a merge review, as in a message.
    """
    entity = check_entity(event.metadata[ENTITY])
    if entry := directory.entries.get(normalize_name(entity.name)):
        entity = replace(entity, name=entry.name)
    own = _stated_record(event, entity)
    directory.add_records([own])
    yield own
    for alias in entity.aliases:
        for draft in _stated_alias_drafts(event, entity, alias, directory):
            directory.add_records([draft])
            yield draft


def _stated_record(event: Event, entity: StatedEntity) -> Draft:
    seen = redact_secrets(entity.text)
    record = _build_entity_draft(
        event,
        entity.text,
        {
            "name": entity.name,
            "aliases": [],
            "type": entity.type or UNTYPED,
            "description": entity.description,
            "properties": dict(entity.properties),
        },
        digest("stated", normalize_name(entity.name)),
        (event.id,),
    )
    return replace(
        record,
        indexed_text=None if seen == entity.text else seen,
        source=ENTITY,
        tier=Tier.LONG,
        learned=False,
        tags=event_tags(event),
        metadata={name: value for name, value in event.metadata.items() if name != ENTITY},
    )


def _stated_alias_drafts(
    event: Event, entity: StatedEntity, alias: str, directory: NameDirectory
) -> Iterator[Draft]:
    if addresses := possible_identifiers(alias):
        yield from _address_drafts(event, entity.name, addresses[0], directory)
    else:
        type = entity.type or UNTYPED
        yield from _alias_drafts(event, entity.name, alias, directory, type=type)


def _alias_drafts(
    event: Event, name: str, alias: str, directory: NameDirectory, *, type: str = PERSON
) -> Iterator[Draft]:
    key, other = normalize_name(name), normalize_name(alias)
    if key == other or max(len(name), len(alias)) > MAX_ID_LENGTH:
        return
    taken = directory.entries.get(other)
    if taken:  # a statement cannot take over the name of another entity
        why = NameCandidate(
            name=taken.name, confidence=0.8, reason="said to be so called", sources=taken.sources
        )
        review = propose_merge(event, directory, name, why)
        yield from [review] if review else ()
    elif key not in directory.alias_owners.get(other, ()):
        known_name = directory.entries[key].name if key in directory.entries else name
        text = f"{known_name} is also known as {alias}."
        yield _entity_record(event, known_name, text, type=type, aliases=[alias])


def _address_drafts(
    event: Event, name: str, address: tuple[str, str], directory: NameDirectory
) -> Iterator[Draft]:
    key = normalize_name(name)
    claims = directory.identifiers.get(address, {})
    if key not in claims:
        yield _identifier_record(event, name, address, proven=False)
    for other in list(claims):
        if other != key:
            yield from _propose_shared_address(event, name, other, address, directory)


def _propose_shared_address(
    event: Event, name: str, other: str, address: tuple[str, str], directory: NameDirectory
) -> Iterator[Draft]:
    """Yield a merge review for two entities with one unproven address."""
    claim = directory.identifiers[address][other]
    why = NameCandidate(
        name=directory.entries[other].name,
        confidence=0.8 if claim.proven else 0.6,
        reason=f"both are said to have the {address[0]} {address[1]}",
        sources=claim.sources,
    )
    review = propose_merge(event, directory, name, why)
    yield from [review] if review else ()


def _channel_identity_drafts(event: Event, directory: NameDirectory) -> Iterator[Draft]:
    """Yield records of the addresses that the channel verified."""
    verified = event.metadata.get(IDENTITY)
    direct = event.trust is Trust.DIRECT and event.role == "user"
    if not isinstance(verified, Mapping) or not direct or event.kind is not EventKind.MESSAGE:
        return
    for kind in KINDS:
        value = verified.get(kind)
        normalized = normalize_identifier(kind, value) if isinstance(value, str) else None
        if normalized:
            yield from _proof_drafts(event, (kind, normalized), directory)


def _proof_drafts(
    event: Event, address: tuple[str, str], directory: NameDirectory
) -> Iterator[Draft]:
    key = normalize_name(event.speaker)
    claims = dict(directory.identifiers.get(address, {}))
    if key in claims and claims[key].proven:
        return
    yield _identifier_record(event, event.speaker, address, proven=True)
    for other, claim in claims.items():
        pair = frozenset({key, other})
        if other == key or pair in directory.confirmed_merges:
            continue
        if claim.proven and pair not in directory.rejected_merges:
            yield from _merge_drafts(event, other, address, claim, directory)
        else:
            yield from _propose_shared_address(event, event.speaker, other, address, directory)


def _merge_drafts(
    event: Event,
    other: str,
    address: tuple[str, str],
    claim: IdentifierClaim,
    directory: NameDirectory,
) -> Iterator[Draft]:
    """Yield the merge of two entities with one proven address, and a review that can undo it."""
    name = directory.entries[other].name
    reason = f"both have proven the {address[0]} {address[1]}"
    why = NameCandidate(name=name, confidence=1.0, reason=reason, sources=claim.sources)
    yield merge_review(event, (name, event.speaker), why, automatic=True)
    yield same_as_draft(event, (name, event.speaker), (event.id, *claim.sources))


def same_as_draft(
    origin: Event | Memory, names: tuple[str, str], sources: tuple[str, ...]
) -> Draft:
    """Return the record that merges two entities; the first name becomes the main name."""
    main, other = names
    slot = digest("same_as", *sorted(map(normalize_name, names)))
    body = {"name": main, "aliases": [other], "same_as": True}
    return _build_entity_draft(origin, f"{other} is the same as {main}.", body, slot, sources)


def _identifier_record(event: Event, name: str, address: tuple[str, str], *, proven: bool) -> Draft:
    kind, value = address
    identifier = {"kind": kind, "value": value, "proven": proven}
    alias = format_identifier(kind, value)
    text = f"{name} has the {kind} {value}."
    return _entity_record(event, name, text, type=PERSON, aliases=[alias], identifier=identifier)


def _entity_record(event: Event, name: str, text: str, **attributes: Any) -> Draft:
    body = {"name": name, "aliases": [], **attributes}
    identifier = attributes.get("identifier", {})
    parts = (attributes["type"], *attributes.get("aliases", ()), *map(str, identifier.values()))
    return _build_entity_draft(
        event, text, body, digest("entity", normalize_name(name), *parts), (event.id,)
    )


def _build_entity_draft(
    origin: Event | Memory, text: str, body: dict[str, Any], slot: str, sources: tuple[str, ...]
) -> Draft:
    return Draft(
        scope=origin.scope,
        kind=MemoryKind.ENTITY,
        text=text,
        sources=tuple(dict.fromkeys(sources)),
        slot=slot,
        indexed_text="",
        speaker=origin.speaker,
        role=origin.role,
        source=RULES,
        thread=origin.thread,
        learned=True,
        metadata={"made_by": [RULES]},
        body=body,
    )
