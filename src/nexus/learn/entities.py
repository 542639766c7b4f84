"""From names and statements about who is who to entity records.

One record for each introduction: a name that is new, a type that is new, an alias, an address. An
entity is the union of its records, taken when somebody asks, inside what they may see.

What a text says about addresses proves nothing. Only the channel proves who writes: the
application that observes a message puts what it has checked into the event's metadata,
`{"identity": {"email": "sarah@example.com"}}`, where no text of any message can come.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..core.derive import known_as
from ..core.identifiers import KINDS, normal_identifier, spelt_identifier
from ..core.ids import LONGEST_ID, digest
from ..core.records import Draft, Event, EventKind, Memory, MemoryKind, Trust
from .directory import UNTYPED, Claim, Directory
from .knowledge import RULES, Grounds, on_nothing_else
from .linking import merge_review, propose
from .resolve import PERSON, Candidate
from .rules.extracted import Extracted, Identity

IDENTITY = "identity"  # metadata in which a channel says whom it knows the speaker to be
AGENT = "agent"


def entity_drafts(
    event: Event, extracted: Extracted, known: Directory, grounds: Grounds = on_nothing_else
) -> Iterator[Draft]:
    """Records of what this event tells about who is who, as far as it was not known.

    `known` grows on the way, so that nothing is told twice. `grounds` tells which earlier events
    names were taken from: a record with such a name rests on them, too, and is erased with them.
    """
    for made in _drafts(event, extracted, known):
        draft = grounded(made, grounds)
        known.with_([draft])
        yield draft


def grounded(draft: Draft, grounds: Grounds) -> Draft:
    """A record or a review, resting also on where its names were taken from."""
    body = draft.body
    names = body["names"] if draft.kind is MemoryKind.REVIEW else [body["name"], *body["aliases"]]
    sources = dict.fromkeys([*draft.sources, *grounds(names, "")])
    return replace(draft, sources=tuple(sources))


def _drafts(event: Event, extracted: Extracted, known: Directory) -> Iterator[Draft]:
    for identity in extracted.identities:
        yield from _stated(event, identity, known)
    aliases = {known_as(each.value) for each in extracted.identities if each.kind == "name"}
    for entity in extracted.entities:
        if known_as(entity.name) not in aliases or known_as(entity.name) in known.entries:
            yield from _introduced(event, entity.name, entity.type, known)
    yield from _proven(event, known)


def _introduced(event: Event, name: str, type: str, known: Directory) -> Iterator[Draft]:
    """A name that is new, or that turns out to be of some type."""
    key = known_as(name)
    if not is_name(name) and key != known_as(event.speaker):
        return
    if type == PERSON and event.role == "assistant" and name == event.speaker:
        type = AGENT
    entry = known.entries.get(key)
    if entry and PERSON in entry.types:
        return  # somebody one visits is no place
    if entry is None or (type != UNTYPED and type not in entry.types):
        if entry is None and key in known.owners:
            return  # somebody's other name
        called = entry.name if entry else name
        yield _record(event, called, f"{called} is a {type}.", type=type)


def is_name(name: str) -> bool:
    """Whether it is a name, and not an address or a way to mean somebody: "Bob's sister"."""
    described = "'s " in name or "’s " in name or "@" in name
    return bool(known_as(name)) and len(name) <= LONGEST_ID and not described and not name.islower()


def _stated(event: Event, identity: Identity, known: Directory) -> Iterator[Draft]:
    """An identity statement, straight to the aliases. It is never a proof."""
    if identity.kind == "kin":
        yield from _alias(event, identity.value, identity.owner, known)
    elif identity.kind == "name":
        yield from _alias(event, identity.owner, identity.value, known)
    elif value := normal_identifier(identity.kind, identity.value):
        yield from _address(event, identity.owner, (identity.kind, value), known)


def _alias(event: Event, name: str, alias: str, known: Directory) -> Iterator[Draft]:
    key, other = known_as(name), known_as(alias)
    if key == other or max(len(name), len(alias)) > LONGEST_ID:
        return
    taken = known.entries.get(other)
    if taken:  # nobody takes another one's name by saying so
        why = Candidate(
            name=taken.name, confidence=0.8, because="said to be so called", sources=taken.sources
        )
        review = propose(event, known, name, why)
        yield from [review] if review else ()
    elif key not in known.owners.get(other, ()):
        called = known.entries[key].name if key in known.entries else name
        text = f"{called} is also known as {alias}."
        yield _record(event, called, text, type=PERSON, aliases=[alias])


def _address(
    event: Event, name: str, address: tuple[str, str], known: Directory
) -> Iterator[Draft]:
    key = known_as(name)
    claims = known.identifiers.get(address, {})
    if key not in claims:
        yield _identifier(event, name, address, proven=False)
    for other in list(claims):
        if other != key:
            yield from _shared(event, name, other, address, known)


def _shared(
    event: Event, name: str, other: str, address: tuple[str, str], known: Directory
) -> Iterator[Draft]:
    """Two who are said to have one address may be one; a person decides."""
    claim = known.identifiers[address][other]
    why = Candidate(
        name=known.entries[other].name,
        confidence=0.8 if claim.proven else 0.6,
        because=f"both are said to have the {address[0]} {address[1]}",
        sources=claim.sources,
    )
    review = propose(event, known, name, why)
    yield from [review] if review else ()


def _proven(event: Event, known: Directory) -> Iterator[Draft]:
    """What the channel has checked about the speaker."""
    told = event.metadata.get(IDENTITY)
    direct = event.trust is Trust.DIRECT and event.role == "user"
    if not isinstance(told, Mapping) or not direct or event.kind is not EventKind.MESSAGE:
        return
    for kind in KINDS:
        value = told.get(kind)
        normal = normal_identifier(kind, value) if isinstance(value, str) else None
        if normal:
            yield from _proof(event, (kind, normal), known)


def _proof(event: Event, address: tuple[str, str], known: Directory) -> Iterator[Draft]:
    key = known_as(event.speaker)
    claims = dict(known.identifiers.get(address, {}))
    if key in claims and claims[key].proven:
        return
    yield _identifier(event, event.speaker, address, proven=True)
    for other, claim in claims.items():
        pair = frozenset({key, other})
        if other == key or pair in known.same:
            continue
        if claim.proven and pair not in known.apart:
            yield from _merged(event, other, address, claim, known)
        else:
            yield from _shared(event, event.speaker, other, address, known)


def _merged(
    event: Event, other: str, address: tuple[str, str], claim: Claim, known: Directory
) -> Iterator[Draft]:
    """The channel has proven one address of both: they are one. A review tells, and can undo it."""
    name = known.entries[other].name
    because = f"both have proven the {address[0]} {address[1]}"
    why = Candidate(name=name, confidence=1.0, because=because, sources=claim.sources)
    yield merge_review(event, (name, event.speaker), why, automatic=True)
    yield same_as(event, (name, event.speaker), (event.id, *claim.sources))


def same_as(origin: Event | Memory, names: tuple[str, str], sources: tuple[str, ...]) -> Draft:
    """The record that makes two one: the name to be known by, and the other."""
    kept, other = names
    slot = digest("same_as", *sorted(map(known_as, names)))
    body = {"name": kept, "aliases": [other], "same_as": True}
    return _draft(origin, f"{other} is the same as {kept}.", body, slot, sources)


def _identifier(event: Event, name: str, address: tuple[str, str], *, proven: bool) -> Draft:
    kind, value = address
    identifier = {"kind": kind, "value": value, "proven": proven}
    spelt = spelt_identifier(kind, value)
    text = f"{name} has the {kind} {value}."
    return _record(event, name, text, type=PERSON, aliases=[spelt], identifier=identifier)


def _record(event: Event, name: str, text: str, **told: Any) -> Draft:
    body = {"name": name, "aliases": [], **told}
    identifier = told.get("identifier", {})
    parts = (told["type"], *told.get("aliases", ()), *map(str, identifier.values()))
    return _draft(event, text, body, digest("entity", known_as(name), *parts), (event.id,))


def _draft(
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
