"""Entity mentions of a message, with their positions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...text.dates import DateSpan
from .coreference import FEMALE_NAMES, MALE_NAMES, Speakers, join_tokens
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
    word_set,
)
from .relations import PERSON_RELATIONS
from .results import Entity, Statement, TextSpan
from .tokens import PERSON_TITLES, SENTENCE_STOPS, TITLES, Token, is_abbreviation
from .verbs import VERB_FORMS

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
    | word_set(
        """monday tuesday wednesday thursday friday saturday sunday january february march april may
    june july august september october november december i'm ok todo decision correction me
    her him us them let nothing nobody everyone everybody someone something anything none
    good english christmas"""
    )
)
COMPANY_WORDS = word_set(
    "inc ltd gmbh labs corp llc university college institute bank company foundation"
)
PLACE_WORDS = word_set(
    "street city park river lake mountain mountains island beach village county valley road"
)
EVENT_WORDS = word_set(
    "conference summit festival marathon tournament workshop meetup concert wedding"
)
NAME_PARTICLES = frozenset("of de van von & the".split())
BEFORE_CAPITALS = SENTENCE_STOPS | frozenset('"“:-')
TYPE_BY_LAST_WORD = {
    **dict.fromkeys(EVENT_WORDS, "event"),
    **dict.fromkeys(PLACE_WORDS, "place"),
    **dict.fromkeys(COMPANY_WORDS, "company"),
}
MAX_NAME_WORDS = 5
TYPE_BY_WORD_BEFORE = {  # a word before a name that gives its type
    **dict.fromkeys(word_set("cat dog puppy kitten parrot hamster horse rabbit pony"), "pet"),
    **dict.fromkeys(word_set("project"), "project"),
    **dict.fromkeys(word_set("company startup firm"), "company"),
    **dict.fromkeys(word_set("city town village"), "place"),
    **dict.fromkeys(word_set("conference festival"), "event"),
}
FILE_NAME = re.compile(
    r"\b[\w-]+(?:\.[\w-]+)*\.(?:pdf|md|docx?|xlsx?|csv|txt|pptx?)\b", re.IGNORECASE
)
CAPITALIZED_NAME = re.compile(r"[A-Z][\w.'’&-]*(?: (?:of |de |van |von )?[A-Z][\w.'’&-]*)*")


def find_entities(
    all_words: Sequence[Token],
    facts: Sequence[Statement],
    speakers: Speakers,
    dates: Sequence[DateSpan] = (),
) -> list[Entity]:
    """Return names in order. Types come from their facts, otherwise from their words."""
    said: dict[str, list[TextSpan]] = {}
    called: dict[str, str] = {}
    for first, last in _find_names(all_words, speakers):
        if any(span.start <= all_words[first].start < span.end for span in dates):
            continue  # Mon, Mar 2: days and months
        name = join_tokens(all_words[first:last])
        said.setdefault(name, []).append(TextSpan(all_words[first].start, all_words[last - 1].end))
        if first and (kind := _type_hint(all_words[first - 1].lower, speakers)):
            called[name] = kind  # our cat Luna
    types = {**called, **dict(_types_from_facts(facts, speakers))}
    for name in types:
        said.setdefault(name, [])
    return [
        Entity(
            name=name, type=types.get(name) or _guess_type(name, speakers), mentions=tuple(spans)
        )
        for name, spans in said.items()
    ]


def _find_names(all_words: Sequence[Token], speakers: Speakers) -> list[tuple[int, int]]:
    """Return runs of capitalized words. At a sentence start only known names count."""
    found: list[tuple[int, int]] = []
    end, known = 0, speakers.known_names
    for at, (_, _, text, low, kind) in enumerate(all_words):
        if kind == "word" and text == low and low not in known:
            continue  # most of them
        capital = text[0].isupper() or low in known or "." in low
        if at < end or not capital or not _is_name(all_words, at, speakers):
            continue
        end = at + 1
        while (
            end < len(all_words) and end - at < MAX_NAME_WORDS and _continues_name(all_words, end)
        ):
            end += 1
        while end > at + 1 and all_words[end - 1].lower in NAME_PARTICLES:
            end -= 1
        found.append((at, end))
    return found


def _is_name(all_words: Sequence[Token], at: int, speakers: Speakers) -> bool:
    word = all_words[at]
    if word.lower in speakers.known_names:
        return word.kind == "word"
    if word.kind != "word" or not word.text[:1].isupper() or word.lower in NEVER_NAMES:
        return False
    if len(word.text) < 2 or word.lower in TITLES:
        return _is_initial_or_title(all_words, at + 1)
    return (
        not _starts_sentence(all_words, at)
        or word.lower in FEMALE_NAMES
        or word.lower in MALE_NAMES
        or (
            word.lower not in VERB_FORMS
            and word.lower not in KIN
            and word.text[1:] != word.text[1:].lower()
        )
    )


def _is_initial_or_title(all_words: Sequence[Token], stop: int) -> bool:
    """Return whether a title or an initial ends here: "Dr. Lee", "J. Lee", but not "U.S."."""
    if stop >= len(all_words) or not is_abbreviation(all_words, stop):
        return False
    return all_words[stop + 1].start > all_words[stop].end


def _starts_sentence(all_words: Sequence[Token], at: int) -> bool:
    """Return whether a sentence, line or quotation starts here, where every word is
    capitalized.
    """
    before = all_words[at - 1] if at else None
    return before is None or before.kind == "gap" or before.text in BEFORE_CAPITALS


def _continues_name(all_words: Sequence[Token], at: int) -> bool:
    word, before = all_words[at], all_words[at - 1]
    if word.text == "." and is_abbreviation(all_words, at):
        return all_words[at + 1].text[:1].isupper()
    if word.start - before.end != 1:
        return False
    if word.kind == "word" and word.text[:1].isupper():
        return word.lower not in NEVER_NAMES
    following = all_words[at + 1] if at + 1 < len(all_words) else None
    return word.lower in NAME_PARTICLES and following is not None and following.text[:1].isupper()


def _types_from_facts(facts: Sequence[Statement], speakers: Speakers) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = [(speakers.speaker, "person")] if facts else []
    for fact in facts:
        named = CAPITALIZED_NAME.match(fact.object or "")
        if named:
            found.append((named.group(), OBJECT_TYPES.get(fact.predicate, "thing")))
        if fact.subject == speakers.project:
            found.append((fact.subject, "project"))
        elif fact.predicate in PERSON_RELATIONS:
            found.append((fact.subject, "person"))
    return found


OBJECT_TYPES = {
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


PERSON_WORDS = PERSON_TITLES | FEMALE_NAMES | MALE_NAMES


def find_files(text: str) -> Iterator[Entity]:
    """Return documents named by their file name."""
    found: dict[str, list[TextSpan]] = {}
    for match in FILE_NAME.finditer(text) if "." in text else ():
        found.setdefault(match.group(), []).append(TextSpan(*match.span()))
    for name, spans in found.items():
        yield Entity(name=name, type="document", mentions=tuple(spans))


def _type_hint(word: str, speakers: Speakers) -> str | None:
    """Return the type given by the word before or at the end of a name."""
    return speakers.types.get(word) or TYPE_BY_WORD_BEFORE.get(word)


def _guess_type(name: str, speakers: Speakers) -> str:
    parts = name.lower().split()
    if parts[-1] in speakers.types:
        return speakers.types[parts[-1]]
    if name == speakers.project:
        return "project"
    if parts[0].rstrip(".") in PERSON_WORDS or name in (speakers.speaker, speakers.addressee):
        return "person"
    return TYPE_BY_LAST_WORD.get(parts[-1], "thing")
