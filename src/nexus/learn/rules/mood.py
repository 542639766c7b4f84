"""What a sentence asserts: not its questions, conditions, quotes, or what others claim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .clauses import Clause
from .extracted import Certainty
from .lexicon import ADVERBS, AUXILIARIES, CONDITIONS, QUESTIONS, SUBJECTS, WHENEVER, words
from .tokens import Token

SAYING = words("say tell mention claim announce explain admit write promise")
THINKING = words("think believe guess suppose feel hear assume figure bet")
UNREAL = words("wish imagine suppose wonder pretend doubt dream hope")
WISHED = words("love like prefer rather")  # after "would": what somebody wants
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


class Asserted(NamedTuple):
    clause: Clause
    certainty: Certainty
    teller: Clause | None = None  # who says so of themselves: "Sarah mentioned she is moving"


def asserted(sentence: Sequence[Token], found: Sequence[Clause]) -> Iterator[Asserted]:
    """The clauses of a sentence, if it is no question, that somebody stands up for."""
    if not found or _is_hearsay(sentence):
        return
    quoted = _quoted(sentence)
    conditional = any(clause.link in CONDITIONS for clause in found)
    for place, clause in enumerate(found):
        before = found[place - 1] if place else None
        if clause.subject[0] in quoted or clause.verb in quoted:
            continue
        if _is_condition(clause) or (conditional and (clause.modal or clause.tense == "future")):
            continue
        wished = clause.modal == "would" and clause.lemma in WISHED
        unable = clause.modal == "can" and clause.negated
        if clause.modal and not wished and not unable:
            continue
        told = _told(clause, before)
        if told is not None:
            yield told


def _is_condition(clause: Clause) -> bool:
    """If I miss it; when I move to Rome: said of a case, or of a day that has not come."""
    now = clause.tense == "present" and not clause.perfect
    return clause.link in CONDITIONS or (clause.link in WHENEVER and now)


def is_question(sentence: Sequence[Token]) -> bool:
    """By its mark, or by its order: "have you ever been to Norway"."""
    if sentence[-1].text == "?" or (len(sentence) > 1 and sentence[-2].text == "?"):
        return True
    place = 0
    while place < len(sentence) and sentence[place].low in ADVERBS:
        place += 1
    low = [word.low for word in sentence[place : place + 3]]
    if len(low) < 3:
        return False
    inverted = low[0] in AUXILIARIES and (
        low[1] in SUBJECTS or (low[1] == "n't" and low[2] in SUBJECTS)
    )
    asks = low[0] in QUESTIONS and low[1] in AUXILIARIES and low[0] != "when"
    return inverted or asks


def _is_hearsay(sentence: Sequence[Token]) -> bool:
    start = " ".join(word.low for word in sentence[:FIRST_WORDS])
    return start.startswith(HEARSAY) or start.startswith(("it is not true", "it 's not true"))


def _quoted(sentence: Sequence[Token]) -> set[int]:
    """Places between quotation marks."""
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


def _told(clause: Clause, before: Clause | None) -> Asserted | None:
    """A clause that may hang on "she said", "I think" or "I wish"."""
    hangs = before is not None and before.end == clause.begin and clause.link in ("", "that")
    hangs = hangs or (before is not None and before.rest >= before.end and clause.link == "that")
    sure = Certainty.UNCERTAIN if clause.hedged else Certainty.EXPLICIT
    if before is None or not hangs:
        return Asserted(
            clause, Certainty.IMPLIED if clause.kind == "" and not clause.hedged else sure
        )
    if before.lemma in UNREAL or before.negated or before.modal:
        return None
    if before.lemma in SAYING:
        if before.first_person:
            return Asserted(clause, Certainty.IMPLIED)
        same = clause.kind in ("he", "she", "they") and before.kind in ("noun", "he", "she", "they")
        return Asserted(clause, Certainty.IMPLIED, before) if same else None
    if before.lemma in THINKING:
        return Asserted(clause, Certainty.UNCERTAIN) if before.first_person else None
    return Asserted(clause, sure)
