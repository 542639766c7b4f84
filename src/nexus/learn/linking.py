"""What the rules read in a message, with every name put to whom it means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ..core.derive import known_as
from ..core.identifiers import possible_identifiers
from ..core.ids import digest
from ..core.records import Draft, Event, MemoryKind
from .around import Around
from .directory import UNTYPED, Directory, bare
from .knowledge import RULES
from .resolve import PERSON, Candidate, Resolution, Similar, resolve
from .rules.extracted import Entity, Extracted, Span, Statement

ADDRESS = re.compile(r"[\w.+-]*@[\w-]+(?:\.[\w-]+)*")
LONGEST_SEARCHED = 10_000  # characters of a message in which addresses are looked for
IN_THE_MESSAGE = 0.95  # "Sarah Chen called. Sarah is fine."


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """What was extracted, by the names of those it is about.

    `links` tells of each name as it was said whom it means. `reviews` are drafts to keep:
    questions to a person about names that may mean somebody known.
    """

    extracted: Extracted
    reviews: tuple[Draft, ...] = ()
    links: Mapping[str, Resolution] = field(default_factory=dict)

    def rests_on(self, *names: str | None) -> tuple[str, ...]:
        """The earlier events these names, as they stand in `extracted`, were taken from.

        Whatever carries such a name rests on them, too, and is erased with them.
        """
        taken = (link for link in self.links.values() if link.name in names)
        return tuple(dict.fromkeys(id for link in taken for id in link.rests_on))


def resolved(
    extracted: Extracted, known: Directory, around: Around, similar: Similar | None = None
) -> Resolved:
    """Put every name of a message to whom it means, in facts, landmarks and entities alike."""
    known.until(around.event)
    extracted = _with_addresses(extracted, known, around.event.text)
    types = {entity.name: entity.type for entity in extracted.entities}
    links: dict[str, Resolution] = {}
    here = _names_here(extracted, known)
    for name in _names(extracted, known, types):
        type = types.get(name, UNTYPED)
        links[name] = here.get(known_as(name)) or resolve(name, type, around, known, similar)
        if not links[name].linked and (full := _full_name(name, type, extracted.entities)):
            links[name] = Resolution(name=full, confidence=IN_THE_MESSAGE, how="part")
    renamed = {name: link.name for name, link in links.items() if link.name != name}
    reviews = tuple(
        review
        for name, link in links.items()
        for candidate in link.candidates
        if (review := propose(around.event, known, name, candidate))
    )
    changed = _renamed(extracted, renamed) if renamed else extracted
    return Resolved(extracted=changed, reviews=reviews, links=links)


def _with_addresses(extracted: Extracted, known: Directory, text: str) -> Extracted:
    """An address in the text is a mention of whoever is known to have it."""
    if "@" not in text or not known.identifiers:
        return extracted
    told = {entity.name for entity in extracted.entities}
    found = [
        Entity(name=match.group(), type=PERSON, mentions=(Span(match.start(), match.end()),))
        for match in ADDRESS.finditer(text[:LONGEST_SEARCHED])
        if match.group() not in told
        and any(each in known.identifiers for each in possible_identifiers(match.group()))
    ]
    return replace(extracted, entities=(*extracted.entities, *found)) if found else extracted


def _names(extracted: Extracted, known: Directory, types: Mapping[str, str]) -> Iterator[str]:
    """Names of entities; and of subjects, objects and owners what is somebody's alias."""
    yield from types
    seen = set(types)
    others = [
        *(name for fact in extracted.facts for name in (fact.subject, fact.object)),
        *(landmark.owner for landmark in extracted.landmarks),
        *(identity.owner for identity in extracted.identities),
    ]
    for name in others:
        if name and name not in seen:
            seen.add(name)
            if (key := known_as(name)) in known.owners or key in known.entries or "@" in name:
                yield name


def _names_here(extracted: Extracted, known: Directory) -> dict[str, Resolution]:
    """Names this very message gives somebody: they mean that somebody at once."""
    given: dict[str, Resolution] = {}
    for identity in extracted.identities:
        key = known_as(identity.value)
        if identity.kind == "name" and key not in known.entries and key not in known.owners:
            given[key] = Resolution(name=identity.owner, confidence=0.95, how="alias")
        elif identity.kind == "kin":
            given[known_as(identity.owner)] = Resolution(
                name=identity.value, confidence=0.95, how="alias"
            )
    return given


def _full_name(name: str, type: str, entities: Iterable[Entity]) -> str | None:
    """The one longer name of the same message that begins or ends with this one."""
    if type not in (PERSON, UNTYPED) or len(bare(known_as(name))) != 1:
        return None
    part = bare(known_as(name))[0]
    longer = []
    for entity in entities:
        words = bare(known_as(entity.name))
        fits = len(words) > 1 and part in (words[0], words[-1])
        if fits and PERSON in (type, entity.type) and entity.type in (PERSON, UNTYPED):
            longer.append(entity.name)
    return longer[0] if len(longer) == 1 else None


def propose(event: Event, known: Directory, name: str, candidate: Candidate) -> Draft | None:
    """A question to a person: are these two the same? Asked once, whatever the answer was."""
    pair = frozenset({known_as(name), known_as(candidate.name)})
    if len(pair) < 2 or pair in known.proposed or pair in known.same:
        return None
    known.proposed.add(pair)
    fuller = len(name.split()) > len(candidate.name.split())
    names = (name, candidate.name) if fuller else (candidate.name, name)
    return merge_review(event, names, candidate)


def merge_review(
    event: Event, names: tuple[str, str], why: Candidate, *, automatic: bool = False
) -> Draft:
    """`names`: the one to be known by, and the other."""
    kept, other = names
    text = f"{other} may be the same as {kept}: {why.because}."
    return Draft(
        scope=event.scope,
        kind=MemoryKind.REVIEW,
        text=f"{other} is the same as {kept}: {why.because}." if automatic else text,
        sources=tuple(dict.fromkeys((event.id, *why.sources))),
        slot=digest("merge", *sorted(map(known_as, names))),
        indexed_text="",
        confidence=why.confidence,
        speaker=event.speaker,
        role=event.role,
        source=RULES,
        thread=event.thread,
        learned=True,
        metadata={"made_by": [RULES]},
        body={
            "what": "merge",
            "names": [kept, other],
            "confidence": why.confidence,
            "because": why.because,
            "automatic": automatic,
        },
    )


def _renamed(extracted: Extracted, names: Mapping[str, str]) -> Extracted:
    merged: dict[str, Entity] = {}
    for entity in extracted.entities:
        name = names.get(entity.name, entity.name)
        first = merged.get(name, replace(entity, mentions=()))
        merged[name] = replace(first, name=name, mentions=first.mentions + entity.mentions)
    return replace(
        extracted,
        entities=tuple(merged.values()),
        facts=tuple(_renamed_fact(fact, names) for fact in extracted.facts),
        landmarks=tuple(
            replace(each, owner=names.get(each.owner or "", each.owner))
            for each in extracted.landmarks
        ),
        identities=tuple(
            replace(each, value=names.get(each.value, each.value))
            if each.kind == "kin"
            else replace(each, owner=names.get(each.owner, each.owner))
            for each in extracted.identities
        ),
    )


def _renamed_fact(fact: Statement, names: Mapping[str, str]) -> Statement:
    subject = names.get(fact.subject, fact.subject)
    object = names.get(fact.object, fact.object) if fact.object else fact.object
    if subject == fact.subject and object == fact.object:
        return fact
    sentence = fact.sentence
    for short, full in ((fact.subject, subject), (fact.object, object)):
        if short and full and short != full and full.startswith(f"{short} "):
            sentence = re.sub(rf"\b{re.escape(short)}\b", lambda _: full, sentence, count=1)  # noqa: B023
    return replace(fact, subject=subject, object=object, sentence=sentence)
