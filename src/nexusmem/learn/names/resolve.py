"""Name resolution: link names in a message to known entities of the scope.

A wrong link mixes two people permanently, while a reviewer can add a missing link. So a name is
linked only if one candidate is clearly best; otherwise it stays unchanged and a review proposes
candidates. Names, types and context decide, and every lookup stays inside one scope.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from ...core.derive import normalize_name
from ...core.ids import digest
from ...core.records import Draft, Event, MemoryKind
from ...text.gazetteer import is_first_name
from ...text.identifiers import possible_identifiers
from ...text.nicknames import first_name_variants
from ...text.terms import STOP_WORDS, extract_terms
from ..extract.event_context import MAX_COMPARED_CHARS, EventContext
from ..extract.fact_drafts import RULES
from ..rules.lexicon import KIN_SPELLINGS
from ..rules.results import Entity, ExtractionResult, Statement, TextSpan
from ..rules.verbs import VERB_FORMS
from .name_directory import UNTYPED, NameDirectory, core_words, strip_title

PERSON, PLACE = "person", "place"
RECENT_MESSAGES = 6  # preceding messages that count as context
MIN_SCORE = 2.0  # of a candidate, in shared context terms
MIN_SCORE_RATIO = 2.0  # of the best score to the second best
MAX_PROPOSED = 3
MAX_PERSON_WORDS = 3
MAX_SCORED = 8  # entities with one name part; above it, only those recently named in full
CONFIDENCE_BY_METHOD = {
    "speaker": 1.0,
    "exact": 0.97,
    "alias": 0.95,
    "identifier": 0.95,
    "form": 0.93,
}
PART_CONFIDENCE, CONTEXT_CONFIDENCE = 0.9, 0.85
NICKNAME_CONFIDENCE = 0.6  # of a review for "Bob Hale" and "Robert Hale"
# Weights of shared terms in the message, in recent messages, of a full name, and of the cosine
CURRENT_WEIGHT, RECENT_WEIGHT, FULL_NAME_WEIGHT, SIMILARITY_WEIGHT = 2.0, 0.25, 3.0, 2.0

VERB_WEIGHT = 0.5
COMMON_WORDS = """
    like love live work go come get have make do say tell think know want need see look take
    give use feel try ask help start stop meet join move call visit leave plan enjoy hope find keep
    let put bring show talk play day week month year today yesterday tomorrow morning evening night
    time thing people person man woman friend new old good great nice bad big little last next first
    monday tuesday wednesday thursday friday saturday sunday january february march april may june
    july august september october november december very really still also today back lot"""

PLACE_PREPOSITIONS = (
    r"\b(?:in|at|near|across|through|around|via|from|into|(?:travel\w*|trip|went|goes?|going|gone"
    r"|fly|flies|flew|flying|mov\w+|driv\w+|drove|back|return\w*|relocat\w*|way|sail\w*)\s+to)"
)

# A text and other texts → their calibrated cosines.
SimilarityFunction = Callable[[str, Sequence[str]], Sequence[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NameCandidate:
    """An entity that a name may mean, with its confidence."""

    name: str
    confidence: float
    reason: str
    sources: tuple[str, ...]  # the events that introduced the entity


@dataclass(frozen=True, slots=True, kw_only=True)
class NameResolution:
    """The entity that a name means; `method` is "new" if no known entity is certain."""

    name: str
    confidence: float
    method: str  # speaker, exact, alias, identifier, form, part, context or new
    candidates: tuple[NameCandidate, ...] = ()  # proposed in reviews
    name_sources: tuple[str, ...] = ()  # earlier events that introduced the linked name

    @property
    def is_linked(self) -> bool:
        return self.method != "new"


def resolve_name(
    name: str,
    type: str,
    context: EventContext,
    directory: NameDirectory,
    similarity: SimilarityFunction | None = None,
) -> NameResolution:
    """Return the entity that a name means in this event."""
    key = normalize_name(name)
    if type == PLACE and not _is_used_as_place(name, context.event.text):
        type = _type_if_visited(key, directory)
    if key == normalize_name(context.event.speaker):
        return NameResolution(name=context.event.speaker, confidence=1.0, method="speaker")
    if key in directory.entries and not _is_same_kind(key, type, directory):
        # a company with the name of a person
        return NameResolution(name=name, confidence=1.0, method="new")
    matches = _find_matches(key, type, context, directory)
    if not matches:
        likely = tuple(_similar_candidates(key, type, directory))
        return NameResolution(name=name, confidence=1.0, method="new", candidates=likely)
    present = key in matches and any(normalize_name(each.speaker) == key for each in context.recent)
    if present or len(matches) == 1 or directory.are_merged(matches):
        only = key if key in matches else min(matches)
        return _resolve_single(name, type, (only, matches[only]), context, directory)
    return _resolve_by_context(
        name, key, _score_by_context(sorted(matches), context, directory, similarity), directory
    )


def _find_matches(
    key: str, type: str, context: EventContext, directory: NameDirectory
) -> dict[str, str]:
    """Return candidate names with the method of the match.

    A weaker method is used only if a stronger one has no match; name parts are always added.
    """
    matches: dict[str, str] = {}
    if key in directory.entries:
        matches[key] = "exact"
    else:
        matches |= dict.fromkeys(directory.alias_owners.get(key, ()), "alias")
        matches |= dict.fromkeys(_address_owners(key, directory), "identifier")
    words = strip_title(key)
    if not matches:
        matches |= dict.fromkeys(_find_same_form(key, words, directory), "form")
    if len(words) == 1 and type in (PERSON, UNTYPED) and words[0] not in STOP_WORDS:
        people: Collection[str] = directory.names_by_part.get(words[0], ())
        if len(people) > MAX_SCORED:
            people = _recent_full_names(words[0], context, directory)
        alone = type == UNTYPED and words[0] == key
        matches |= {
            each: "part"
            for each in people
            if each not in matches
            and _can_be_person(each, directory)
            and not (alone and _is_last_name(key, each))
        }
    return {
        each: method
        for each, method in matches.items()
        if method == "exact" or directory.entries[each].can_be(type)
    }


def _is_last_name(key: str, full: str) -> bool:
    """Return whether `key` is the last word of a full name; companies have family names, too."""
    return full.rpartition(" ")[2] == key


def _is_same_kind(key: str, type: str, directory: NameDirectory) -> bool:
    """Return whether the type fits the entry: persons and other types are never mixed."""
    types = directory.entries[key].types
    return type == UNTYPED or not types or (type == PERSON) == (PERSON in types) or type in types


def _address_owners(key: str, directory: NameDirectory) -> list[str]:
    """Return the owners of an address: proven owners, or else those with a claim."""
    claims = {
        owner: claim.proven
        for address in possible_identifiers(key)
        for owner, claim in directory.identifiers.get(address, {}).items()
    }
    proven = [owner for owner, is_proven in claims.items() if is_proven]
    return proven or list(claims)


def _find_same_form(key: str, words: list[str], directory: NameDirectory) -> list[str]:
    """Return other forms of a name that is no person: "Acme" for "Acme Inc."."""
    form = " ".join(core_words(words))
    same = {form, *directory.names_by_core.get(form, ())} - {key}
    return [
        each
        for each in same
        if each in directory.entries and PERSON not in directory.entries[each].types
    ]


def _can_be_person(key: str, directory: NameDirectory) -> bool:
    """Return whether an entry is a person, or untyped with only capitalized words."""
    entry = directory.entries[key]
    if PERSON in entry.types:
        return True
    words = entry.name.split()
    return (
        not entry.types and len(words) <= MAX_PERSON_WORDS and all(w[:1].isupper() for w in words)
    )


def _resolve_single(
    name: str,
    type: str,
    candidate: tuple[str, str],
    context: EventContext,
    directory: NameDirectory,
) -> NameResolution:
    """Resolve a name with one candidate; a part of a name needs further evidence."""
    other, method = candidate
    entry = directory.entries[other]
    if method == "exact":
        return NameResolution(name=name, confidence=CONFIDENCE_BY_METHOD[method], method=method)
    if method != "part":
        return NameResolution(
            name=entry.name,
            confidence=CONFIDENCE_BY_METHOD[method],
            method=method,
            name_sources=entry.sources,
        )
    if _is_partial_match(name, type, other, context, directory):
        return NameResolution(
            name=entry.name, confidence=PART_CONFIDENCE, method=method, name_sources=entry.sources
        )
    if PERSON not in (type, *entry.types):
        # two things that share a word
        return NameResolution(name=name, confidence=1.0, method="new")
    return _make_unresolved(name, {other: 1.0}, directory)


def _resolve_by_context(
    name: str, key: str, scores: dict[str, float], directory: NameDirectory
) -> NameResolution:
    """Resolve a name to the candidate with a clearly higher context score, if there is one."""
    best, next_best = sorted(scores, key=lambda each: (-scores[each], each))[:2]
    if scores[best] < MIN_SCORE or scores[best] < MIN_SCORE_RATIO * scores[next_best]:
        return _make_unresolved(
            name, {each: scores[each] for each in scores if each != key}, directory
        )
    entry = directory.entries[best]
    if best == key:
        return NameResolution(name=name, confidence=CONTEXT_CONFIDENCE, method="context")
    return NameResolution(
        name=entry.name, confidence=CONTEXT_CONFIDENCE, method="context", name_sources=entry.sources
    )


def _make_unresolved(
    name: str, scores: Mapping[str, float], directory: NameDirectory
) -> NameResolution:
    """Return a new name with candidates for review."""
    total = sum(scores.values()) + len(scores)
    ordered = sorted(scores, key=lambda each: (-scores[each], each))[:MAX_PROPOSED]
    candidates = tuple(
        NameCandidate(
            name=directory.entries[each].name,
            confidence=round(0.8 * (scores[each] + 1) / total, 2),
            reason="part of the name",
            sources=directory.entries[each].sources,
        )
        for each in ordered
    )
    return NameResolution(name=name, confidence=1.0, method="new", candidates=candidates)


def _similar_candidates(key: str, type: str, directory: NameDirectory) -> Iterator[NameCandidate]:
    """Yield entities that an unknown name may mean, for review only."""
    words = strip_title(key)
    if len(words) > 1 and type in (PERSON, UNTYPED):
        for part in dict.fromkeys((words[0], words[-1])):
            entry = directory.entries.get(part)
            if entry and entry.can_be(PERSON) and PERSON in (type, *entry.types):
                yield NameCandidate(
                    name=entry.name,
                    confidence=0.6,
                    reason="the same name in full",
                    sources=entry.sources,
                )
    if type in (PERSON, UNTYPED):
        yield from _nickname_candidates(words, type, directory)
    for near in sorted(directory.similar_names(key))[:MAX_PROPOSED]:
        if directory.entries[near].can_be(type):
            yield NameCandidate(
                name=directory.entries[near].name,
                confidence=0.7,
                reason="spelt alike",
                sources=directory.entries[near].sources,
            )


def _nickname_candidates(
    words: Sequence[str], type: str, directory: NameDirectory
) -> Iterator[NameCandidate]:
    """Yield people whose first name is a variant: "Robert Hale" for "Bob Hale" or "Bob"."""
    first, *rest = words
    variants = [" ".join([each, *rest]) for each in sorted(first_name_variants(first))]
    full_names = {
        full
        for variant in variants
        for full in directory.names_by_part.get(variant, ())
        if full.startswith(f"{variant} ")
    }
    found = [each for each in (*variants, *sorted(full_names)) if each in directory.entries]
    for each in found[:MAX_PROPOSED]:
        entry = directory.entries[each]
        if entry.can_be(PERSON) and PERSON in (type, *entry.types):
            first_word = entry.name.split()[0]
            yield NameCandidate(
                name=entry.name,
                confidence=NICKNAME_CONFIDENCE if rest else NICKNAME_CONFIDENCE / 2,
                reason=f"{first.title()} and {first_word.title()} can be one first name",
                sources=entry.sources,
            )


def _is_partial_match(
    name: str, type: str, other: str, context: EventContext, directory: NameDirectory
) -> bool:
    """Return whether a part of a name means the only entity that has it.

    A person's name does, unless the text introduces a person: "my cousin Sarah", "another Sarah".
    Then a fact must mention the cousin. An untyped name needs shared context terms.
    """
    alone = " " not in normalize_name(name)  # without a title
    if type == UNTYPED and alone and other.rsplit(maxsplit=1)[-1] == normalize_name(name):
        return False  # a company can have a family name
    if type == UNTYPED and _is_used_as_place(name, context.event.text):
        return False
    introduction = _find_introduction(name, context.event.text)
    if introduction is not None:
        return bool(_text_terms(introduction) & _terms_about(other, directory))
    return type == PERSON or _score_by_context([other], context, directory, None)[other] >= 1


def _type_if_visited(key: str, directory: NameDirectory) -> str:
    """Return PERSON for a known person or a first name, else PLACE: people are visited, too."""
    person = key in directory.entries and PERSON in directory.entries[key].types
    return PERSON if person or is_first_name(key) else PLACE


def _is_used_as_place(name: str, text: str) -> bool:
    """Return whether the text uses the name as a place: "in Jordan", "flew to Austin"."""
    return re.search(rf"{PLACE_PREPOSITIONS}\s+{re.escape(name)}\b", text) is not None


def _find_introduction(name: str, text: str) -> str | None:
    """Return the words that introduce the name ("my cousin Sarah"); None without them."""
    match = re.search(
        r"\b(?:(?i:my|our|your|his|her|their|another|other|different|new|an?)|[A-Z]\w*['’]s)"
        rf"((?: [a-z][\w-]*){{0,3}}),? {re.escape(name)}\b|\b{re.escape(name)} from ([A-Za-z]\w+)",
        text,
    )
    return None if match is None else match.group(1) or match.group(2) or ""


def _score_by_context(
    keys: Sequence[str],
    context: EventContext,
    directory: NameDirectory,
    similarity: SimilarityFunction | None,
) -> dict[str, float]:
    """Return the weight of context terms that each candidate shares and no other does."""
    now = _significant_terms(context.terms)
    recent = (
        _significant_terms(frozenset[str]().union(*context.recent_terms[-RECENT_MESSAGES:])) - now
    )
    text = _recent_text(context)
    about = {key: _terms_about(key, directory) | _terms_near_name(key, context) for key in keys}
    named = [key for key in keys if " " in key and key in text]
    scores = {}
    for key in keys:
        others = set().union(*(about[other] for other in keys if other != key))
        own = about[key] - others
        scores[key] = CURRENT_WEIGHT * _terms_weight(own & now) + RECENT_WEIGHT * _terms_weight(
            own & recent
        )
        scores[key] += FULL_NAME_WEIGHT * (named == [key])
    if similarity is not None:
        near = similarity(
            context.event.text[:MAX_COMPARED_CHARS],
            [" ".join(directory.fact_texts(key)) or key for key in keys],
        )
        scores = {
            key: scores[key] + SIMILARITY_WEIGHT * one for key, one in zip(keys, near, strict=True)
        }
    return scores


def _recent_full_names(part: str, context: EventContext, directory: NameDirectory) -> set[str]:
    """Return the entities with this name part that recent messages name in full."""
    words = re.findall(r"[\w'’-]+", _recent_text(context))
    positions = [index for index, word in enumerate(words) if word == part]
    runs = (" ".join(words[start:end]) for at in positions for start, end in _spans_around(at))
    return {run for run in runs if run in directory.names_by_part[part]}


def _spans_around(position: int) -> list[tuple[int, int]]:
    return [
        (position, position + 2),
        (position, position + 3),
        (max(0, position - 1), position + 1),
    ]


def _recent_text(context: EventContext) -> str:
    """Return the normalized text of the event and the recent messages."""
    events = (*context.recent[-RECENT_MESSAGES:], context.event)
    texts = (each.text[:MAX_COMPARED_CHARS] for each in events)
    return normalize_name(" ".join(texts).replace(":", " "))


def _terms_near_name(key: str, context: EventContext) -> set[str]:
    """Return the terms of recent messages that contain the full name."""
    if " " not in key:
        return set()
    before = zip(context.recent, context.recent_terms, strict=True)
    terms = [each_terms for each, each_terms in before if key in each.text.casefold()]
    return (
        _significant_terms(frozenset[str]().union(*terms)) - set(extract_terms(key))
        if terms
        else set()
    )


def _terms_about(key: str, directory: NameDirectory) -> set[str]:
    names = {key, *directory.entries[key].aliases}
    about = set().union(*(directory.fact_terms(name) for name in names))
    return about - {word for name in names for word in extract_terms(name)}


def _text_terms(text: str) -> set[str]:
    """Return the terms of a text without common words."""
    return _significant_terms(extract_terms(text))


def _significant_terms(all_terms: Iterable[str]) -> set[str]:
    return {term for term in all_terms if len(term) > 1} - _common_terms()


def _terms_weight(shared: Collection[str]) -> float:
    """Return the weight of shared terms; verbs identify a person less than other words."""
    verbs = _verb_terms()
    return sum(VERB_WEIGHT if term in verbs else 1.0 for term in shared)


@lru_cache(maxsize=1)
def _common_terms() -> frozenset[str]:
    return frozenset(extract_terms(COMMON_WORDS)) | STOP_WORDS


@lru_cache(maxsize=1)
def _verb_terms() -> frozenset[str]:
    return frozenset(extract_terms(" ".join(VERB_FORMS)))


ADDRESS = re.compile(r"[\w.+-]*@[\w-]+(?:\.[\w-]+)*")
MAX_SEARCHED_CHARS = 10_000  # of a message, for addresses
IN_MESSAGE_CONFIDENCE = 0.95  # "Sarah Chen called. Sarah is fine."


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedExtraction:
    """An extraction with resolved names.

    `links` maps each name of the text to its resolution. `reviews` are drafts that ask a person
    about uncertain names.
    """

    extracted: ExtractionResult
    reviews: tuple[Draft, ...] = ()
    links: Mapping[str, NameResolution] = field(default_factory=dict)

    def find_name_sources(self, *names: str | None) -> tuple[str, ...]:
        """Return the earlier events that introduced these resolved names.

        Memories with such a name have them as sources and are erased with them.
        """
        links = (link for link in self.links.values() if link.name in names)
        return tuple(dict.fromkeys(id for link in links for id in link.name_sources))


def resolve_names(
    extracted: ExtractionResult,
    directory: NameDirectory,
    context: EventContext,
    similarity: SimilarityFunction | None = None,
) -> ResolvedExtraction:
    """Resolve all names of a message in its facts, landmarks, identities and entities."""
    directory.advance_to(context.event)
    extracted = _add_address_mentions(extracted, directory, context.event.text)
    types = {
        entity.name: UNTYPED if entity.is_guess else entity.type for entity in extracted.entities
    }
    links: dict[str, NameResolution] = {}
    here = _aliases_in_message(extracted, directory)
    for name in _names_to_resolve(extracted, directory, types):
        type = types.get(name, UNTYPED)
        if relative := _find_relative(normalize_name(name), directory, here):
            links[name] = relative
            continue
        links[name] = here.get(normalize_name(name)) or resolve_name(
            name, type, context, directory, similarity
        )
        if not links[name].is_linked and (full := _find_full_name(name, type, extracted.entities)):
            links[name] = NameResolution(name=full, confidence=IN_MESSAGE_CONFIDENCE, method="part")
    renamed = {name: link.name for name, link in links.items() if link.name != name}
    reviews = tuple(
        review
        for name, link in links.items()
        for candidate in link.candidates
        if (review := propose_merge(context.event, directory, name, candidate))
    )
    changed = _rename_extraction(extracted, renamed) if renamed else extracted
    return ResolvedExtraction(extracted=changed, reviews=reviews, links=links)


def _add_address_mentions(
    extracted: ExtractionResult, directory: NameDirectory, text: str
) -> ExtractionResult:
    """Add a person entity for each known address in the text."""
    if "@" not in text or not directory.identifiers:
        return extracted
    names = {entity.name for entity in extracted.entities}
    added = [
        Entity(name=match.group(), type=PERSON, mentions=(TextSpan(match.start(), match.end()),))
        for match in ADDRESS.finditer(text[:MAX_SEARCHED_CHARS])
        if match.group() not in names
        and any(each in directory.identifiers for each in possible_identifiers(match.group()))
    ]
    return replace(extracted, entities=(*extracted.entities, *added)) if added else extracted


def _names_to_resolve(
    extracted: ExtractionResult, directory: NameDirectory, types: Mapping[str, str]
) -> Iterator[str]:
    """Yield entity names, and other subjects, objects and owners that the directory knows."""
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
            if (
                (key := normalize_name(name)) in directory.alias_owners
                or key in directory.entries
                or "@" in name
                or "'s " in name
            ):
                yield name


def _find_relative(
    key: str, directory: NameDirectory, here: Mapping[str, NameResolution]
) -> NameResolution | None:
    """Return the relative that an earlier message called by another word: "Bob's mom"."""
    if key in here or key in directory.alias_owners:
        return None
    others = list(_kin_spellings(key))
    for other in others:
        owners = directory.alias_owners.get(other, ())
        if link := here.get(other):
            return link
        if len(owners) == 1:
            entry = directory.entries[min(owners)]
            return NameResolution(
                name=entry.name, confidence=0.95, method="alias", name_sources=entry.sources
            )
    if not others or directory.fact_texts(key):
        return None
    known = [other for other in others if directory.fact_texts(other)]
    if len(known) != 1:
        return None
    return NameResolution(name=known[0], confidence=0.95, method="alias")


def _kin_spellings(key: str) -> Iterator[str]:
    """Yield the other names of a relative: "bob's mother" for "bob's mom"."""
    owner, mark, word = key.rpartition("'s ")
    for words in KIN_SPELLINGS:
        if mark and word in words:
            yield from (f"{owner}{mark}{each}" for each in sorted(words - {word}))


def _aliases_in_message(
    extracted: ExtractionResult, directory: NameDirectory
) -> dict[str, NameResolution]:
    """Return the aliases that this message introduces, with their entities."""
    aliases: dict[str, NameResolution] = {}
    for identity in extracted.identities:
        key = normalize_name(identity.value)
        if (
            identity.kind == "name"
            and key not in directory.entries
            and key not in directory.alias_owners
        ):
            aliases[key] = NameResolution(name=identity.owner, confidence=0.95, method="alias")
        elif identity.kind == "kin":
            aliases[normalize_name(identity.owner)] = NameResolution(
                name=identity.value, confidence=0.95, method="alias"
            )
    return aliases


def _find_full_name(name: str, type: str, entities: Iterable[Entity]) -> str | None:
    """Return the only longer name in the message that begins or ends with this name."""
    if type not in (PERSON, UNTYPED) or len(strip_title(normalize_name(name))) != 1:
        return None
    part = strip_title(normalize_name(name))[0]
    longer = []
    for entity in entities:
        words = strip_title(normalize_name(entity.name))
        fits = len(words) > 1 and part in (words[0], words[-1])
        if fits and PERSON in (type, entity.type) and entity.type in (PERSON, UNTYPED):
            longer.append(entity.name)
    return longer[0] if len(longer) == 1 else None


def propose_merge(
    event: Event, directory: NameDirectory, name: str, candidate: NameCandidate
) -> Draft | None:
    """Return a review that asks whether two names mean one entity; None if it exists already."""
    pair = frozenset({normalize_name(name), normalize_name(candidate.name)})
    if len(pair) < 2 or pair in directory.proposed_merges or pair in directory.confirmed_merges:
        return None
    directory.proposed_merges.add(pair)
    fuller = len(name.split()) > len(candidate.name.split())
    names = (name, candidate.name) if fuller else (candidate.name, name)
    return merge_review(event, names, candidate)


def merge_review(
    event: Event, names: tuple[str, str], candidate: NameCandidate, *, automatic: bool = False
) -> Draft:
    """Return a merge review; `names` are the main name and the other one."""
    main, other = names
    text = f"{other} may be the same as {main}: {candidate.reason}."
    return Draft(
        scope=event.scope,
        kind=MemoryKind.REVIEW,
        text=f"{other} is the same as {main}: {candidate.reason}." if automatic else text,
        sources=tuple(dict.fromkeys((event.id, *candidate.sources))),
        slot=digest("merge", *sorted(map(normalize_name, names))),
        indexed_text="",
        confidence=candidate.confidence,
        speaker=event.speaker,
        role=event.role,
        source=RULES,
        thread=event.thread,
        learned=True,
        metadata={"made_by": [RULES]},
        body={
            "what": "merge",
            "names": [main, other],
            "confidence": candidate.confidence,
            "because": candidate.reason,
            "automatic": automatic,
        },
    )


def _rename_extraction(extracted: ExtractionResult, names: Mapping[str, str]) -> ExtractionResult:
    merged: dict[str, Entity] = {}
    for entity in extracted.entities:
        name = names.get(entity.name, entity.name)
        first = merged.get(name, replace(entity, mentions=()))
        merged[name] = replace(first, name=name, mentions=first.mentions + entity.mentions)
    return replace(
        extracted,
        entities=tuple(merged.values()),
        facts=tuple(_rename_in_fact(fact, names) for fact in extracted.facts),
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


def _rename_in_fact(fact: Statement, names: Mapping[str, str]) -> Statement:
    subject = names.get(fact.subject, fact.subject)
    object = names.get(fact.object, fact.object) if fact.object else fact.object
    if subject == fact.subject and object == fact.object:
        return fact
    return replace(fact, subject=subject, object=object)
