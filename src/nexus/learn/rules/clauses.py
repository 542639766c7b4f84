"""From a sentence to its clauses: who, does, what.

No parser of English: subjects are pronouns, or the noun phrase a clause begins with; the verb group
follows; the rest reaches to where the next clause begins. What this cannot read yields no clause,
and so no fact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .lexicon import (
    ADVERBS,
    CONDITIONS,
    COORDINATORS,
    DETERMINERS,
    HEDGES,
    LINKS,
    NOBODY,
    POINTING,
    PRONOUNS,
)
from .subjects import is_finite_after_noun, opening, subject_at
from .tokens import STOPS, Token, is_shortened
from .verb_groups import is_finite, verb_group

BREAKS = frozenset(";:—–()[]") | {"--"}
JOINS = COORDINATORS | LINKS
LINKING = JOINS | {"that"}
PAUSES = BREAKS | {",", "-", "…"}
ENDS = STOPS | BREAKS
MAY_END = JOINS | {"so", ","}
GOING_ON = JOINS | ADVERBS | {","}
REPORTING = frozenset(
    """say tell mention claim think believe feel hear know hope guess wish imagine suppose wonder
    promise swear guarantee decide realize mean bet learn find assume pretend notice remember write
    announce conclude agree explain admit figure""".split()
)


class Clause(NamedTuple):
    """`words[subject[0]:subject[1]]` is who, `words[verb]` does, `words[rest:end]` is what."""

    words: Sequence[Token]
    begin: int
    subject: tuple[int, int]
    verb: int
    rest: int
    end: int
    lemma: str
    kind: str  # the pronoun, "noun", or "" where the speaker left out the "I"
    link: str = ""  # how it hangs on the clause before
    modal: str = ""
    tense: str = "present"  # past, present or future
    negated: bool = False
    progressive: bool = False
    perfect: bool = False
    passive: bool = False
    habitual: bool = False
    hedged: bool = False

    @property
    def first_person(self) -> bool:
        return self.kind in ("i", "we", "")


def clauses(words: Sequence[Token]) -> list[Clause]:
    """The clauses of one sentence, in order."""
    found: list[Clause] = []
    place, link = opening(words), ""
    while place < len(words):
        clause = _clause(words, place, link)
        if clause is None:
            following = _next_break(words, place)
            if following >= len(words):
                break
            place, link = following, ""
            continue
        found.append(clause)
        place, link = _linked(words, clause.end)
    return found


def _linked(words: Sequence[Token], place: int) -> tuple[int, str]:
    """Past what joins two clauses, and what it was."""
    link = ""
    while place < len(words):
        word = words[place]
        if word.low in LINKING:
            link = link if link in CONDITIONS else word.low
        elif word.text in PAUSES:
            link = link or word.text
        else:
            break
        place += 1
    return place, link


def _next_break(words: Sequence[Token], place: int) -> int:
    for at in range(place, len(words)):
        text = words[at].text
        if text in PAUSES:
            if text in BREAKS or (text == "-" and _spaced(words, at)):
                return at + 1
            if text == "," and at + 1 < len(words):
                return at + 1
        elif at > place and words[at].low in COORDINATORS:
            return at + 1
    return len(words)


def _clause(words: Sequence[Token], place: int, link: str) -> Clause | None:
    subject = subject_at(words, place)
    if subject is None:
        return None
    first, last, kind, begins_with = subject
    verbs = verb_group(words, last, pronoun=kind != "noun")
    if verbs is None:
        return None
    rest = verbs.verb + 1
    who = words[first].low
    return Clause(
        words=words,
        begin=place,
        subject=(first, last),
        rest=rest,
        verb=verbs.verb,
        end=_end(words, rest, verbs.lemma, begins_with or link),
        lemma=verbs.lemma,
        kind=kind,
        link=begins_with or link,
        modal=verbs.modal,
        tense=verbs.tense,
        negated=verbs.negated or who in NOBODY or who == "no",
        progressive=verbs.progressive,
        perfect=verbs.perfect,
        passive=verbs.passive,
        habitual=verbs.habitual,
        hedged=verbs.hedged or not HEDGES.isdisjoint([word.low for word in words[place:last]]),
    )


# -- the end


def _end(words: Sequence[Token], rest: int, lemma: str, link: str) -> int:
    """Where the clause stops: at a mark, or where another subject and verb begin."""
    reporting, linked = lemma in REPORTING, link in LINKS
    for at in range(rest, len(words)):
        _, _, _, low, kind = words[at]
        if kind == "mark" and _is_end(words, at):
            return at
        if low in MAY_END:
            if _starts_clause(words, at):
                return at
        elif low == "case" and words[at - 1].low == "in" and _starts_clause(words, at + 1):
            return at - 1
        elif reporting and at <= rest + 2 and _complement(words, at):
            return at
        elif linked and low in ("i", "we") and is_finite(words, at + 1):
            return at  # Since we talked I finally picked up a book
    return len(words)


def _is_end(words: Sequence[Token], at: int) -> bool:
    text = words[at].text
    if text == ".":
        return not is_shortened(words, at)
    return text in ENDS or (text == "-" and _spaced(words, at))


def _spaced(words: Sequence[Token], at: int) -> bool:
    return at > 0 and words[at - 1].end < words[at].start


def _complement(words: Sequence[Token], at: int) -> bool:
    """said (that) she lives; decided that releases happen."""
    if words[at].low == "that" and at + 2 < len(words):
        at += 1
    elif words[at].low not in PRONOUNS and not words[at].text[:1].isupper():
        return False
    if words[at].low in PRONOUNS:
        return words[at].low != "it" and is_finite(words, at + 1)
    return any(
        is_finite_after_noun(words, at, place) for place in range(at + 1, min(at + 5, len(words)))
    )


def _starts_clause(words: Sequence[Token], at: int) -> bool:
    """Whether after a comma or joining word somebody does something."""
    joins = 0
    while at < len(words) and joins < 4 and words[at].low in GOING_ON:
        at, joins = at + 1, joins + 1
    if at >= len(words):
        return False
    word = words[at]
    if word.low in PRONOUNS or word.low in POINTING:
        return is_finite(words, at + 1)
    nominal = word.low in DETERMINERS or word.text[:1].isupper()
    if not nominal or (words[at - 1].text == "," and not word.text[:1].isupper()):
        return False
    return any(
        is_finite_after_noun(words, at, place) for place in range(at + 1, min(at + 5, len(words)))
    )
