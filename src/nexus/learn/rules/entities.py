"""Who and what a message names, with where."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...core.dates import DateSpan
from .cast import MEN, WOMEN, Cast, joined
from .extracted import Entity, Span, Statement
from .lexicon import (
    ADVERBS,
    AUXILIARIES,
    COORDINATORS,
    DETERMINERS,
    KIN,
    OPENERS,
    POLITE_STATES,
    PREPOSITIONS,
    QUESTIONS,
    SUBJECTS,
    SUBORDINATORS,
    words,
)
from .relations import ONLY_PEOPLE
from .tokens import OF_PEOPLE, STOPS, TITLES, Token, is_shortened
from .verbs import FORMS

NEVER_NAMES = (
    SUBJECTS
    | OPENERS
    | DETERMINERS
    | PREPOSITIONS
    | ADVERBS
    | COORDINATORS
    | SUBORDINATORS
    | QUESTIONS
    | POLITE_STATES
    | frozenset(AUXILIARIES)
    | words(
        """monday tuesday wednesday thursday friday saturday sunday january february march april may
    june july august september october november december i'm ok todo decision correction me
    her him us them let nothing nobody everyone everybody someone something anything none
    good english christmas"""
    )
)
COMPANIES = words("inc ltd gmbh labs corp llc university college institute bank company foundation")
PLACES = words(
    "street city park river lake mountain mountains island beach village county valley road"
)
EVENTS = words("conference summit festival marathon tournament workshop meetup concert wedding")
INSIDE = frozenset("of de van von & the".split())
BEFORE_CAPITALS = STOPS | frozenset('"“:-')
LAST_WORDS = {
    **dict.fromkeys(EVENTS, "event"),
    **dict.fromkeys(PLACES, "place"),
    **dict.fromkeys(COMPANIES, "company"),
}
LONGEST_NAME = 5
KINDS = {  # a word before a name that says what it is the name of
    **dict.fromkeys(words("cat dog puppy kitten parrot hamster horse rabbit pony"), "pet"),
    **dict.fromkeys(words("project"), "project"),
    **dict.fromkeys(words("company startup firm"), "company"),
    **dict.fromkeys(words("city town village"), "place"),
    **dict.fromkeys(words("conference festival"), "event"),
}
FILE = re.compile(r"\b[\w-]+(?:\.[\w-]+)*\.(?:pdf|md|docx?|xlsx?|csv|txt|pptx?)\b", re.IGNORECASE)
NAMED = re.compile(r"[A-Z][\w.'’&-]*(?: (?:of |de |van |von )?[A-Z][\w.'’&-]*)*")


def entities(
    all_words: Sequence[Token],
    facts: Sequence[Statement],
    cast: Cast,
    dates: Sequence[DateSpan] = (),
) -> list[Entity]:
    """Names in the order they appear; types from the facts they stand in, else from their words."""
    said: dict[str, list[Span]] = {}
    called: dict[str, str] = {}
    for first, last in _names(all_words, cast):
        if any(span.start <= all_words[first].start < span.end for span in dates):
            continue  # Mon, Mar 2: days and months
        name = joined(all_words[first:last])
        said.setdefault(name, []).append(Span(all_words[first].start, all_words[last - 1].end))
        if first and (kind := _kind(all_words[first - 1].low, cast)):
            called[name] = kind  # our cat Luna
    types = {**called, **dict(_types(facts, cast))}
    for name in types:
        said.setdefault(name, [])
    return [
        Entity(name=name, type=types.get(name) or _guess(name, cast), mentions=tuple(spans))
        for name, spans in said.items()
    ]


def _names(all_words: Sequence[Token], cast: Cast) -> list[tuple[int, int]]:
    """Runs of capitalised words; at the start of a sentence only what is known for a name."""
    found: list[tuple[int, int]] = []
    end, known = 0, cast.known
    for at, (_, _, text, low, kind) in enumerate(all_words):
        if kind == "word" and text == low and low not in known:
            continue  # most of them
        capital = text[0].isupper() or low in known or "." in low
        if at < end or not capital or not _is_name(all_words, at, cast):
            continue
        end = at + 1
        while end < len(all_words) and end - at < LONGEST_NAME and _goes_on(all_words, end):
            end += 1
        while end > at + 1 and all_words[end - 1].low in INSIDE:
            end -= 1
        found.append((at, end))
    return found


def _is_name(all_words: Sequence[Token], at: int, cast: Cast) -> bool:
    word = all_words[at]
    if word.low in cast.known:
        return word.kind == "word"
    if word.kind != "word" or not word.text[:1].isupper() or word.low in NEVER_NAMES:
        return False
    if len(word.text) < 2 or word.low in TITLES:
        return _shortens(all_words, at + 1)
    return (
        not _begins(all_words, at)
        or word.low in WOMEN
        or word.low in MEN
        or (
            word.low not in FORMS and word.low not in KIN and word.text[1:] != word.text[1:].lower()
        )
    )


def _shortens(all_words: Sequence[Token], stop: int) -> bool:
    """Dr. Lee, J. Lee; but the letters of "U.S." are no names."""
    if stop >= len(all_words) or not is_shortened(all_words, stop):
        return False
    return all_words[stop + 1].start > all_words[stop].end


def _begins(all_words: Sequence[Token], at: int) -> bool:
    """Whether a sentence, a line or a quotation begins here: there every word has a capital."""
    before = all_words[at - 1] if at else None
    return before is None or before.kind == "gap" or before.text in BEFORE_CAPITALS


def _goes_on(all_words: Sequence[Token], at: int) -> bool:
    word, before = all_words[at], all_words[at - 1]
    if word.text == "." and is_shortened(all_words, at):
        return all_words[at + 1].text[:1].isupper()
    if word.start - before.end != 1:
        return False
    if word.kind == "word" and word.text[:1].isupper():
        return word.low not in NEVER_NAMES
    following = all_words[at + 1] if at + 1 < len(all_words) else None
    return word.low in INSIDE and following is not None and following.text[:1].isupper()


def _types(facts: Sequence[Statement], cast: Cast) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = [(cast.speaker, "person")] if facts else []
    for fact in facts:
        named = NAMED.match(fact.object or "")
        if named:
            found.append((named.group(), TYPES.get(fact.predicate, "thing")))
        if fact.subject == cast.project:
            found.append((fact.subject, "project"))
        elif fact.predicate in ONLY_PEOPLE:
            found.append((fact.subject, "person"))
    return found


TYPES = {
    **dict.fromkeys("WORKS_AT FOUNDED GRADUATED_FROM CUSTOMER_OF LEFT".split(), "company"),
    **dict.fromkeys(
        "LIVES_IN BORN_IN FROM MOVED_TO MOVING_TO GREW_UP_IN VISITED TRAVELS_TO".split(), "place"
    ),
    **dict.fromkeys(
        """KNOWS SPOUSE_OF SIBLING_OF PARENT_OF CHILD_OF FRIEND_OF DATING MET REPORTS_TO
        COLLEAGUE_OF NEIGHBOR_OF RELATIVE_OF""".split(),
        "person",
    ),
    **dict.fromkeys("USES SWITCHED_TO CHOSE".split(), "product"),
    **dict.fromkeys("BUILDING CREATED WORKING_ON CONTRIBUTED_TO LAUNCHED".split(), "project"),
    "HAS_PET": "pet",
    "MEMBER_OF": "group",
    "ATTENDED": "event",
}


PEOPLE = OF_PEOPLE | WOMEN | MEN


def files(text: str) -> Iterator[Entity]:
    """Documents by the name of their file."""
    found: dict[str, list[Span]] = {}
    for match in FILE.finditer(text) if "." in text else ():
        found.setdefault(match.group(), []).append(Span(*match.span()))
    for name, spans in found.items():
        yield Entity(name=name, type="document", mentions=tuple(spans))


def _kind(word: str, cast: Cast) -> str | None:
    """What something is that this word stands before, or ends with."""
    return cast.types.get(word) or KINDS.get(word)


def _guess(name: str, cast: Cast) -> str:
    parts = name.lower().split()
    if parts[-1] in cast.types:
        return cast.types[parts[-1]]
    if name == cast.project:
        return "project"
    if parts[0].rstrip(".") in PEOPLE or name in (cast.speaker, cast.other):
        return "person"
    return LAST_WORDS.get(parts[-1], "thing")
