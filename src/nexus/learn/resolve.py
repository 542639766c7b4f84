"""Who is meant by a name: somebody known, or somebody new.

A wrong link mixes two people for good, and a missing one can be mended by a person. So a name is
linked only where one candidate stands out; else it stays as it was said, and a review proposes
who it may be. Nothing but names, types and what was said around decides: every look-up is in what
is known at the same place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..core.derive import known_as
from ..core.identifiers import possible_identifiers
from ..core.text import STOP_WORDS, terms
from .around import LONGEST_COMPARED, Around
from .directory import UNTYPED, Directory, bare, core
from .rules.cast import MEN, WOMEN
from .rules.verbs import FORMS

PERSON, PLACE = "person", "place"
RECENT = 6  # messages before this one that count as its context
ENOUGH = 2.0  # what a candidate must have in common with the context
CLEARER = 2.0  # how many times as much as the next one
MOST_PROPOSED = 3
LONGEST_PERSON = 3  # words
MOST_WEIGHED = 8  # who share a name; of more, those who were named in full a moment ago
SURE = {"speaker": 1.0, "exact": 0.97, "alias": 0.95, "identifier": 0.95, "form": 0.93}
PART, CONTEXT = 0.9, 0.85
NOW, LATELY, FULL_NAME, CLOSENESS = 2.0, 0.25, 3.0, 2.0  # weights of what a context shares

VERB = 0.5
COMMON = """like love live work go come get have make do say tell think know want need see look take
    give use feel try ask help start stop meet join move call visit leave plan enjoy hope find keep
    let put bring show talk play day week month year today yesterday tomorrow morning evening night
    time thing people person man woman friend new old good great nice bad big little last next first
    monday tuesday wednesday thursday friday saturday sunday january february march april may june
    july august september october november december very really still also today back lot"""

PLACING = (
    r"\b(?:in|at|near|across|through|around|via|from|into|(?:travel\w*|trip|went|goes?|going|gone"
    r"|fly|flies|flew|flying|mov\w+|driv\w+|drove|back|return\w*|relocat\w*|way|sail\w*)\s+to)"
)

Similar = Callable[[str, Sequence[str]], Sequence[float]]  # a text and others → cosines


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Somebody a name may mean, and how likely that is."""

    name: str
    confidence: float
    because: str
    sources: tuple[str, ...]  # the events that introduced them


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """Who a name means. `how` is "new" where it means nobody known for certain."""

    name: str
    confidence: float
    how: str  # speaker, exact, alias, identifier, form, part, context or new
    candidates: tuple[Candidate, ...] = ()  # whom to ask a person about
    rests_on: tuple[str, ...] = ()  # the events its name was taken from

    @property
    def linked(self) -> bool:
        return self.how != "new"


def resolve(
    name: str, type: str, around: Around, known: Directory, similar: Similar | None = None
) -> Resolution:
    """Who this name means in this event."""
    key = known_as(name)
    if type == PLACE and not _is_where(name, around.event.text):
        type = _visited(key, known)
    if key == known_as(around.event.speaker):
        return Resolution(name=around.event.speaker, confidence=1.0, how="speaker")
    if key in known.entries and not _same_kind(key, type, known):
        return Resolution(name=name, confidence=1.0, how="new")  # a company that is called Sarah
    found = _fitting(key, type, around, known)
    if not found:
        likely = tuple(_alike(key, type, known))
        return Resolution(name=name, confidence=1.0, how="new", candidates=likely)
    present = key in found and any(known_as(each.speaker) == key for each in around.recent)
    if present or len(found) == 1 or known.united(found):
        only = key if key in found else min(found)
        return _only(name, type, (only, found[only]), around, known)
    return _chosen(name, key, _scores(sorted(found), around, known, similar), known)


def _fitting(key: str, type: str, around: Around, known: Directory) -> dict[str, str]:
    """Whom this spelling can mean, and why: the surest reasons alone, and parts of names."""
    found: dict[str, str] = {}
    if key in known.entries:
        found[key] = "exact"
    else:
        found |= dict.fromkeys(known.owners.get(key, ()), "alias")
        found |= dict.fromkeys(_reached(key, known), "identifier")
    words = bare(key)
    if not found:
        found |= dict.fromkeys(_same_form(key, words, known), "form")
    if len(words) == 1 and type in (PERSON, UNTYPED) and words[0] not in STOP_WORDS:
        people: Collection[str] = known.parts.get(words[0], ())
        if len(people) > MOST_WEIGHED:
            people = _named_lately(words[0], around, known)
        alone = type == UNTYPED and words[0] == key
        found |= {
            each: "part"
            for each in people
            if each not in found and _person(each, known) and not (alone and _family(key, each))
        }
    return {
        each: how
        for each, how in found.items()
        if how == "exact" or known.entries[each].may_be(type)
    }


def _family(key: str, full: str) -> bool:
    """Whether it is the last word of a full name: a company may be called like a family."""
    return full.rpartition(" ")[2] == key


def _same_kind(key: str, type: str, known: Directory) -> bool:
    """Of one name, people and what is no person are told apart; sentences tell no more."""
    types = known.entries[key].types
    return type == UNTYPED or not types or (type == PERSON) == (PERSON in types) or type in types


def _reached(key: str, known: Directory) -> list[str]:
    """Whose address it is: who has proven it, or else who said so."""
    claims = {
        owner: claim.proven
        for address in possible_identifiers(key)
        for owner, claim in known.identifiers.get(address, {}).items()
    }
    proven = [owner for owner, is_proven in claims.items() if is_proven]
    return proven or list(claims)


def _same_form(key: str, words: list[str], known: Directory) -> list[str]:
    """Acme for Acme Inc., Project Atlas for Atlas: of a company or a project, not of a person."""
    form = " ".join(core(words))
    same = {form, *known.forms.get(form, ())} - {key}
    return [
        each for each in same if each in known.entries and PERSON not in known.entries[each].types
    ]


def _person(key: str, known: Directory) -> bool:
    """Whether it can be somebody's full name: a person's, or of words that all are capitalised."""
    entry = known.entries[key]
    if PERSON in entry.types:
        return True
    words = entry.name.split()
    return not entry.types and len(words) <= LONGEST_PERSON and all(w[:1].isupper() for w in words)


def _only(
    name: str, type: str, candidate: tuple[str, str], around: Around, known: Directory
) -> Resolution:
    """One candidate: certain, unless only part of the name was said."""
    other, how = candidate
    entry = known.entries[other]
    if how == "exact":
        return Resolution(name=name, confidence=SURE[how], how=how)
    if how != "part":
        return Resolution(name=entry.name, confidence=SURE[how], how=how, rests_on=entry.sources)
    if _is_meant(name, type, other, around, known):
        return Resolution(name=entry.name, confidence=PART, how=how, rests_on=entry.sources)
    if PERSON not in (type, *entry.types):
        return Resolution(name=name, confidence=1.0, how="new")  # two things that share a word
    return _unclear(name, {other: 1.0}, known)


def _chosen(name: str, key: str, scores: dict[str, float], known: Directory) -> Resolution:
    """Several candidates: the one that has clearly more in common with what is talked about."""
    best, next_best = sorted(scores, key=lambda each: (-scores[each], each))[:2]
    if scores[best] < ENOUGH or scores[best] < CLEARER * scores[next_best]:
        return _unclear(name, {each: scores[each] for each in scores if each != key}, known)
    entry = known.entries[best]
    if best == key:
        return Resolution(name=name, confidence=CONTEXT, how="context")
    return Resolution(name=entry.name, confidence=CONTEXT, how="context", rests_on=entry.sources)


def _unclear(name: str, scores: Mapping[str, float], known: Directory) -> Resolution:
    """Nobody for certain: the name stays as it was said, and a person is asked."""
    whole = sum(scores.values()) + len(scores)
    ordered = sorted(scores, key=lambda each: (-scores[each], each))[:MOST_PROPOSED]
    candidates = tuple(
        Candidate(
            name=known.entries[each].name,
            confidence=round(0.8 * (scores[each] + 1) / whole, 2),
            because="part of the name",
            sources=known.entries[each].sources,
        )
        for each in ordered
    )
    return Resolution(name=name, confidence=1.0, how="new", candidates=candidates)


def _alike(key: str, type: str, known: Directory) -> Iterator[Candidate]:
    """Whom a name nobody has yet may mean all the same; never enough for a link."""
    words = bare(key)
    if len(words) > 1 and type in (PERSON, UNTYPED):
        for part in dict.fromkeys((words[0], words[-1])):
            entry = known.entries.get(part)
            if entry and entry.may_be(PERSON) and PERSON in (type, *entry.types):
                yield Candidate(
                    name=entry.name,
                    confidence=0.6,
                    because="the same name in full",
                    sources=entry.sources,
                )
    for near in sorted(known.near(key))[:MOST_PROPOSED]:
        if known.entries[near].may_be(type):
            yield Candidate(
                name=known.entries[near].name,
                confidence=0.7,
                because="spelt alike",
                sources=known.entries[near].sources,
            )


def _is_meant(name: str, type: str, other: str, around: Around, known: Directory) -> bool:
    """Whether part of a name means the only one who has it.

    A person, yes, unless somebody is brought up by that name: "my cousin Sarah", "another Sarah".
    Then only one who is known to be a cousin. Of what type nothing tells has to be talked about.
    """
    alone = " " not in known_as(name)  # without a title
    if type == UNTYPED and alone and other.rsplit(maxsplit=1)[-1] == known_as(name):
        return False  # a company may be called like somebody's family
    if type == UNTYPED and _is_where(name, around.event.text):
        return False
    brought_up = _introduction(name, around.event.text)
    if brought_up is not None:
        return bool(_meant(brought_up) & _about(other, known))
    return type == PERSON or _scores([other], around, known, None)[other] >= 1


def _visited(key: str, known: Directory) -> str:
    """What it is that was only said to be visited: people are visited, too."""
    person = key in known.entries and PERSON in known.entries[key].types
    return PERSON if person or key in WOMEN or key in MEN else PLACE


def _is_where(name: str, text: str) -> bool:
    """Whether it is said like a place: "in Jordan", "flew to Austin"."""
    return re.search(rf"{PLACING}\s+{re.escape(name)}\b", text) is not None


def _introduction(name: str, text: str) -> str | None:
    """The words somebody is brought up with, if they are."""
    found = re.search(
        r"\b(?:(?i:my|our|your|his|her|their|another|other|different|new|an?)|[A-Z]\w*['’]s)"
        rf"((?: [a-z][\w-]*){{0,3}}),? {re.escape(name)}\b|\b{re.escape(name)} from ([A-Za-z]\w+)",
        text,
    )
    return None if found is None else found.group(1) or found.group(2) or ""


def _scores(
    keys: Sequence[str], around: Around, known: Directory, similar: Similar | None
) -> dict[str, float]:
    """What each candidate, and no other of them, has in common with what is talked about."""
    now = _telling(around.terms)
    lately = _telling(frozenset[str]().union(*around.terms_before[-RECENT:])) - now
    told = _told(around)
    about = {key: _about(key, known) | _said_with(key, around) for key in keys}
    named = [key for key in keys if " " in key and key in told]
    scores = {}
    for key in keys:
        others = set().union(*(about[other] for other in keys if other != key))
        own = about[key] - others
        scores[key] = NOW * _weight(own & now) + LATELY * _weight(own & lately)
        scores[key] += FULL_NAME * (named == [key])
    if similar is not None:
        near = similar(
            around.event.text[:LONGEST_COMPARED],
            [" ".join(known.said_about(key)) or key for key in keys],
        )
        scores = {key: scores[key] + CLOSENESS * one for key, one in zip(keys, near, strict=True)}
    return scores


def _named_lately(part: str, around: Around, known: Directory) -> set[str]:
    """Of the many who have this name, those who were named in full a moment ago."""
    words = re.findall(r"[\w'’-]+", _told(around))
    places = [place for place, word in enumerate(words) if word == part]
    runs = (" ".join(words[start:end]) for at in places for start, end in _around(at))
    return {run for run in runs if run in known.parts[part]}


def _around(place: int) -> list[tuple[int, int]]:
    return [(place, place + 2), (place, place + 3), (max(0, place - 1), place + 1)]


def _told(around: Around) -> str:
    """What was said here lately, as names are spelt."""
    said = (*around.recent[-RECENT:], around.event)
    texts = (each.text[:LONGEST_COMPARED] for each in said)
    return known_as(" ".join(texts).replace(":", " "))


def _said_with(key: str, around: Around) -> set[str]:
    """What was said a moment ago in the messages that name somebody in full."""
    if " " not in key:
        return set()
    before = zip(around.recent, around.terms_before, strict=True)
    held = [spoken_of for each, spoken_of in before if key in each.text.casefold()]
    return _telling(frozenset[str]().union(*held)) - set(terms(key)) if held else set()


def _about(key: str, known: Directory) -> set[str]:
    names = {key, *known.entries[key].aliases}
    about = set().union(*(known.terms_about(name) for name in names))
    return about - {word for name in names for word in terms(name)}


def _meant(text: str) -> set[str]:
    """What a text speaks of, without the words that stand in every other one."""
    return _telling(terms(text))


def _telling(found: Iterable[str]) -> set[str]:
    return {term for term in found if len(term) > 1} - _common()


def _weight(shared: Collection[str]) -> float:
    """What people do tells less of whom one speaks than what they do it with."""
    verbs = _verbs()
    return sum(VERB if term in verbs else 1.0 for term in shared)


@lru_cache(maxsize=1)
def _common() -> frozenset[str]:
    return frozenset(terms(COMMON)) | STOP_WORDS


@lru_cache(maxsize=1)
def _verbs() -> frozenset[str]:
    return frozenset(terms(" ".join(FORMS)))
