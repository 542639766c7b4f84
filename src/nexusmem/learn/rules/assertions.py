"""Assertions of a sentence, without questions, conditions, quotes and hearsay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .clauses import Clause
from .lexicon import (
    ADVERBS,
    AUXILIARIES,
    CONDITIONS,
    QUESTIONS,
    SUBJECTS,
    TIME_CONJUNCTIONS,
    word_set,
)
from .results import Certainty
from .tokens import Token

SAYING_VERBS = word_set("say tell mention claim announce explain admit write promise")
THINKING_VERBS = word_set("think believe guess suppose feel hear assume figure bet")
UNREAL_VERBS = word_set("wish imagine suppose wonder pretend doubt dream hope")
WISH_VERBS = word_set("love like prefer rather")  # after "would": a wish
HEARSAY = (
    "according to",
    "rumor has",
    "rumour has",
    "people say",
    "they say",
    "word is",
    "in the film",
)
OPEN_QUOTES, CLOSE_QUOTES = frozenset('"“«„'), frozenset('"”»“')
FIRST_WORDS = 4


class Assertion(NamedTuple):
    clause: Clause
    certainty: Certainty
    reporting_clause: Clause | None = None  # verbs of self-report: "Sarah mentioned she is moving"


def find_assertions(sentence: Sequence[Token], clauses: Sequence[Clause]) -> Iterator[Assertion]:
    """Return the asserted clauses of a sentence, or none for a question."""
    if not clauses or _is_hearsay(sentence):
        return
    quoted = _quote_positions(sentence)
    conditional = any(clause.link in CONDITIONS for clause in clauses)
    for place, clause in enumerate(clauses):
        before = clauses[place - 1] if place else None
        if clause.subject[0] in quoted or clause.verb in quoted:
            continue
        if _is_condition(clause) or (conditional and (clause.modal or clause.tense == "future")):
            continue
        wished = clause.modal == "would" and clause.lemma in WISH_VERBS
        unable = clause.modal == "can" and clause.negated
        if clause.modal and not wished and not unable:
            continue
        told = _make_assertion(clause, before)
        if told is not None:
            yield told


def _is_condition(clause: Clause) -> bool:
    """Return whether a clause is a condition or a future time: "if I miss it", "when I move"."""
    now = clause.tense == "present" and not clause.perfect
    return clause.link in CONDITIONS or (clause.link in TIME_CONJUNCTIONS and now)


def is_question(sentence: Sequence[Token]) -> bool:
    """Return whether it is a question, by its mark or word order: "have you ever been to
    Norway".
    """
    if sentence[-1].text == "?" or (len(sentence) > 1 and sentence[-2].text == "?"):
        return True
    place = 0
    while place < len(sentence) and sentence[place].lower in ADVERBS:
        place += 1
    low = [word.lower for word in sentence[place : place + 3]]
    if len(low) < 3:
        return False
    inverted = low[0] in AUXILIARIES and (
        low[1] in SUBJECTS or (low[1] == "n't" and low[2] in SUBJECTS)
    )
    asks = low[0] in QUESTIONS and low[1] in AUXILIARIES and low[0] != "when"
    return inverted or asks


def _is_hearsay(sentence: Sequence[Token]) -> bool:
    start = " ".join(word.lower for word in sentence[:FIRST_WORDS])
    return start.startswith(HEARSAY) or start.startswith(("it is not true", "it 's not true"))


def _quote_positions(sentence: Sequence[Token]) -> set[int]:
    """Return the positions between quotation marks."""
    inside: set[int] = set()
    if OPEN_QUOTES.isdisjoint([word.text for word in sentence]):
        return inside
    opened = -1
    for place, word in enumerate(sentence):
        if opened < 0 and word.text in OPEN_QUOTES:
            opened = place
        elif opened >= 0 and word.text in CLOSE_QUOTES:
            inside.update(range(opened, place + 1))
            opened = -1
    if opened >= 0:
        inside.update(range(opened, len(sentence)))
    return inside


def _make_assertion(clause: Clause, before: Clause | None) -> Assertion | None:
    """Return the assertion of a clause that may depend on "she said", "I think" or "I wish"."""
    hangs = before is not None and before.end == clause.begin and clause.link in ("", "that")
    hangs = hangs or (before is not None and before.rest >= before.end and clause.link == "that")
    sure = Certainty.UNCERTAIN if clause.hedged else Certainty.EXPLICIT
    if before is None or not hangs:
        return Assertion(
            clause, Certainty.IMPLIED if clause.kind == "" and not clause.hedged else sure
        )
    if before.lemma in UNREAL_VERBS or before.negated or before.modal:
        return None
    if before.lemma in SAYING_VERBS:
        if before.is_first_person:
            return Assertion(clause, Certainty.IMPLIED)
        same = clause.kind in ("he", "she", "they") and before.kind in ("noun", "he", "she", "they")
        return Assertion(clause, Certainty.IMPLIED, before) if same else None
    if before.lemma in THINKING_VERBS:
        return Assertion(clause, Certainty.UNCERTAIN) if before.is_first_person else None
    return Assertion(clause, sure)
