"""Clause segmentation: subject, verb and rest of each clause of a sentence.

This is not a parser of English. A subject is a pronoun or the noun phrase that starts the clause.
The verb group follows, and the rest extends to the next clause. Text that does not fit yields no
clause and no fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from .coreference import Speakers, join_tokens
from .lexicon import (
    ADVERBS,
    CONDITIONS,
    COORDINATORS,
    DEMONSTRATIVES,
    DETERMINERS,
    HEDGES,
    KIN,
    LINKS,
    NEGATIVE_SUBJECTS,
    PETS,
    PRONOUNS,
)
from .results import Category
from .subjects import find_opening, find_subject, is_finite_after_noun
from .tokens import NAME_WORD, SENTENCE_STOPS, Token, is_abbreviation
from .verbs import is_finite, parse_verb_group

BREAKS = frozenset(";:—–()[]") | {"--"}
JOINS = COORDINATORS | LINKS
LINK_WORDS = JOINS | {"that"}
PAUSES = BREAKS | {",", "-", "…"}
ENDS = SENTENCE_STOPS | BREAKS
MAY_END = JOINS | {"so", ","}
CONTINUATIONS = JOINS | ADVERBS | {","}
REPORTING_VERBS = frozenset(
    """say tell mention claim think believe feel hear know hope guess wish imagine suppose wonder
    promise swear guarantee decide realize mean bet learn find assume pretend notice remember write
    announce conclude agree explain admit figure""".split()
)


class Clause(NamedTuple):
    """`words[subject[0]:subject[1]]` is the subject, `words[verb]` the verb,
    `words[rest:end]` the rest.
    """

    words: Sequence[Token]
    begin: int
    subject: tuple[int, int]
    verb: int
    rest: int
    end: int
    lemma: str
    kind: str  # the pronoun, "noun", or "" for an omitted "I"
    link: str = ""  # relation to the previous clause
    modal: str = ""
    tense: str = "present"  # past, present or future
    negated: bool = False
    progressive: bool = False
    perfect: bool = False
    passive: bool = False
    habitual: bool = False
    hedged: bool = False

    @property
    def is_first_person(self) -> bool:
        return self.kind in ("i", "we", "")


def parse_clauses(words: Sequence[Token]) -> list[Clause]:
    """Return the clauses of one sentence, in order."""
    found: list[Clause] = []
    place, link = find_opening(words), ""
    while place < len(words):
        clause = _parse_clause(words, place, link)
        if clause is None:
            following = _next_break(words, place)
            if following >= len(words):
                break
            place, link = following, ""
            continue
        found.append(clause)
        place, link = _skip_link(words, clause.end)
    return found


def _skip_link(words: Sequence[Token], position: int) -> tuple[int, str]:
    """Skip the conjunction between two clauses and return it."""
    link = ""
    while position < len(words):
        word = words[position]
        if word.lower in LINK_WORDS:
            link = link if link in CONDITIONS else word.lower
        elif word.text in PAUSES:
            link = link or word.text
        else:
            break
        position += 1
    return position, link


def _next_break(words: Sequence[Token], position: int) -> int:
    for at in range(position, len(words)):
        text = words[at].text
        if text in PAUSES:
            if text in BREAKS or (text == "-" and _has_space_before(words, at)):
                return at + 1
            if text == "," and at + 1 < len(words):
                return at + 1
        elif at > position and words[at].lower in COORDINATORS:
            return at + 1
    return len(words)


def _parse_clause(words: Sequence[Token], position: int, link: str) -> Clause | None:
    subject = find_subject(words, position)
    if subject is None:
        return None
    first, last, kind, begins_with = subject
    verbs = parse_verb_group(words, last, pronoun=kind != "noun")
    if verbs is None:
        return None
    rest = verbs.verb + 1
    who = words[first].lower
    return Clause(
        words=words,
        begin=position,
        subject=(first, last),
        rest=rest,
        verb=verbs.verb,
        end=_find_end(words, rest, verbs.lemma, begins_with or link),
        lemma=verbs.lemma,
        kind=kind,
        link=begins_with or link,
        modal=verbs.modal,
        tense=verbs.tense,
        negated=verbs.negated or who in NEGATIVE_SUBJECTS or who == "no",
        progressive=verbs.progressive,
        perfect=verbs.perfect,
        passive=verbs.passive,
        habitual=verbs.habitual,
        hedged=verbs.hedged or not HEDGES.isdisjoint([word.lower for word in words[position:last]]),
    )


# -- end of a clause


def _find_end(words: Sequence[Token], rest: int, lemma: str, link: str) -> int:
    """Return the end of a clause: a punctuation mark, or the start of another subject and
    verb.
    """
    reporting, linked = lemma in REPORTING_VERBS, link in LINKS
    for at in range(rest, len(words)):
        _, _, _, low, kind = words[at]
        if kind == "mark" and _is_end(words, at):
            return at
        if low in MAY_END:
            if _starts_clause(words, at):
                return at
        elif low == "case" and words[at - 1].lower == "in" and _starts_clause(words, at + 1):
            return at - 1
        elif reporting and at <= rest + 2 and _starts_complement(words, at):
            return at
        elif linked and low in ("i", "we") and is_finite(words, at + 1):
            return at  # Since we talked I finally picked up a book
    return len(words)


def _is_end(words: Sequence[Token], at: int) -> bool:
    text = words[at].text
    if text == ".":
        return not is_abbreviation(words, at)
    return text in ENDS or (text == "-" and _has_space_before(words, at))


def _has_space_before(words: Sequence[Token], at: int) -> bool:
    return at > 0 and words[at - 1].end < words[at].start


def _starts_complement(words: Sequence[Token], at: int) -> bool:
    """Return whether a complement begins here: "said (that) she lives"."""
    if words[at].lower == "that" and at + 2 < len(words):
        at += 1
    elif words[at].lower not in PRONOUNS and not words[at].text[:1].isupper():
        return False
    if words[at].lower in PRONOUNS:
        return words[at].lower != "it" and is_finite(words, at + 1)
    return any(
        is_finite_after_noun(words, at, place) for place in range(at + 1, min(at + 5, len(words)))
    )


def _starts_clause(words: Sequence[Token], at: int) -> bool:
    """Return whether a clause with its own verb follows a comma or conjunction."""
    joins = 0
    while at < len(words) and joins < 4 and words[at].lower in CONTINUATIONS:
        at, joins = at + 1, joins + 1
    if at >= len(words):
        return False
    word = words[at]
    if word.lower in PRONOUNS or word.lower in DEMONSTRATIVES:
        return is_finite(words, at + 1)
    nominal = word.lower in DETERMINERS or word.text[:1].isupper()
    if not nominal or (words[at - 1].text == "," and not word.text[:1].isupper()):
        return False
    return any(
        is_finite_after_noun(words, at, place) for place in range(at + 1, min(at + 5, len(words)))
    )


class RelationDraft(NamedTuple):
    """A relation without sentence, time and certainty."""

    subject: str
    relation: str
    object: str
    type: str | None
    category: Category
    aspect: str | None = None
    negated: bool = False
    inferred: bool = False  # mentioned in passing: "my brother Tom is a pilot"
    exclusive: bool = False  # nothing else is extracted from the clause


NAME = rf"{NAME_WORD}(?:\s+{NAME_WORD}){{0,2}}"
IS_KIN_OF = re.compile(rf"(?:(?P<my>my)|(?P<owner>{NAME})['’]s)\s+(?:\w+\s+)?(?P<kin>\w+)[.!\s]*")
KIN_OF_MINE = re.compile(r"(?:a|an|one)\s+(?:\w+\s+)?(?P<kin>\w+) of mine")
FAVOURITE = re.compile(r"(?:favou?rite)\s+(?P<aspect>[\w\s]{2,40})", re.IGNORECASE)
PLAIN_NAME = re.compile(rf"(?P<name>{NAME})[.!\s]*")
HAS_KIN = re.compile(
    r"(?P<object>(?:an?|one|two|three|four|five|six|\d+|\w+)\s+(?:\w+\s+){0,2}?(?P<kin>[\w-]+)\b.*)",
    re.IGNORECASE,
)
CALLED = re.compile(rf"\b(?:called|named)\s+(?P<name>{NAME})")

# noun → relation, category, and whether the fact is about the possessor
ATTRIBUTES = {
    "birthday": ("BORN_ON", Category.TEMPORAL, True),
    "anniversary": ("ANNIVERSARY_ON", Category.TEMPORAL, True),
    "salary": ("HAS_COMPENSATION", Category.FINANCIAL, True),
    "income": ("HAS_COMPENSATION", Category.FINANCIAL, True),
    "account": ("HAS_ACCOUNT_NUMBER", Category.FINANCIAL, True),
    "deadline": ("SCHEDULED_FOR", Category.TEMPORAL, False),
    "rent": ("COSTS", Category.FINANCIAL, False),
    "budget": ("HAS_BUDGET", Category.FINANCIAL, False),
}
KIN_CATEGORY = Category.SOCIAL
TAIL = re.compile(
    r"^(?:on|at|in)\s+|,?\s+(?:and )?not\s.*$|(?:\s+(?:now|these days|nowadays))?[.!\s]*$"
)


def read_copula(
    clause: Clause, rest: str, subject: str, speakers: Speakers
) -> Iterator[RelationDraft]:
    """Return relations that depend on the words around the verb, in addition to the table."""
    if clause.kind == "noun":
        yield from _read_apposition(clause, speakers)
    if clause.lemma == "have" and clause.kind != "it":
        yield from _read_has_kin(rest, subject, negated=clause.negated)
    if clause.lemma == "be" and clause.kind == "noun":
        said = join_tokens(clause.words[slice(*clause.subject)])
        yield from _read_favourite(said, rest, subject, clause)
        yield from _read_attribute(said, rest, subject, clause)
        yield from _read_kin_name(said, rest, speakers, clause)
        yield from _read_is_kin(rest, subject, speakers, clause)


def _read_apposition(clause: Clause, speakers: Speakers) -> Iterator[RelationDraft]:
    """Yield the relation of an apposition: in "my brother Tom is a pilot", Tom is a brother."""
    phrase = clause.words[slice(*clause.subject)]
    if len(phrase) >= 3 and phrase[0].lower == "my":
        for kin, name in pairwise(phrase[1:]):
            if kin.lower in KIN and name.text[:1].isupper() and name.kind == "word":
                rest = join_tokens(phrase[list(phrase).index(name) :])
                yield RelationDraft(
                    speakers.speaker,
                    KIN[kin.lower],
                    rest,
                    "person",
                    KIN_CATEGORY,
                    aspect=kin.lower,
                    inferred=True,
                )
                return


def _read_has_kin(rest: str, subject: str, *, negated: bool) -> Iterator[RelationDraft]:
    match = HAS_KIN.match(rest)
    if match is None:
        return
    relation = KIN.get(match["kin"].lower())
    if relation in (None, "KNOWS", "REPORTS_TO"):
        return
    called = CALLED.search(rest)
    who = called["name"] if called else match["object"].strip(" .!,")
    yield RelationDraft(
        subject, str(relation), who, "person", KIN_CATEGORY, negated=negated, exclusive=True
    )


def _read_favourite(
    phrase: str, rest: str, subject: str, clause: Clause
) -> Iterator[RelationDraft]:
    match = FAVOURITE.search(phrase)
    if match is None:
        return
    owner = re.split(r"['’]s\s+favou?rite", subject)[0]
    value = TAIL.sub("", rest)
    yield RelationDraft(
        owner,
        "PREFERS",
        value,
        None,
        Category.PREFERENCES,
        match["aspect"].lower(),
        clause.negated,
        exclusive=True,
    )


def _read_attribute(
    phrase: str, rest: str, subject: str, clause: Clause
) -> Iterator[RelationDraft]:
    for noun, (relation, category, owned) in ATTRIBUTES.items():
        if not re.search(rf"\b{noun}\b", phrase.lower()):
            continue
        owner = re.split(r"['’]s\s", subject)
        about = "'s ".join(owner[:-1]) if owned and len(owner) > 1 else subject
        value = TAIL.sub("", rest)
        if value:
            yield RelationDraft(
                about, relation, value, None, category, None, clause.negated, exclusive=True
            )
        return


def _read_kin_name(
    phrase: str, rest: str, speakers: Speakers, clause: Clause
) -> Iterator[RelationDraft]:
    """Yield the named relative or pet: "my best friend is Chloe", "my dog's name is Rusty"."""
    plain = re.sub(r"['’]s name$", "", phrase)
    head = plain.rsplit(None, 1)[-1].lower()
    name = PLAIN_NAME.fullmatch(rest)
    if name is None or not phrase.lower().startswith("my ") or clause.negated:
        return
    if head in KIN:
        yield RelationDraft(
            speakers.speaker, KIN[head], name["name"], "person", KIN_CATEGORY, head, exclusive=True
        )
    elif head in PETS:
        yield RelationDraft(
            speakers.speaker,
            "HAS_PET",
            name["name"],
            "pet",
            Category.PERSONAL,
            head,
            exclusive=True,
        )


def _read_is_kin(
    rest: str, subject: str, speakers: Speakers, clause: Clause
) -> Iterator[RelationDraft]:
    """Yield the relation of a predicate: "Jenny is my sister", "Diego is a friend of mine"."""
    match = IS_KIN_OF.fullmatch(rest) or KIN_OF_MINE.match(rest)
    if match is None:
        return
    found = match.groupdict()
    owner = found.get("owner") or speakers.speaker
    kin = match["kin"].lower()
    if kin in KIN:
        yield RelationDraft(
            owner, KIN[kin], subject, "person", KIN_CATEGORY, kin, clause.negated, exclusive=True
        )
    elif kin in PETS:
        yield RelationDraft(
            owner, "HAS_PET", subject, "pet", Category.PERSONAL, kin, clause.negated, exclusive=True
        )
