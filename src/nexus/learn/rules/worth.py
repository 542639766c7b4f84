"""What is worth keeping: not politeness, and not what is said of nobody in particular."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .clauses import Clause
from .lexicon import (
    CONDITIONS,
    DETERMINERS,
    GENERAL,
    JUDGEMENTS,
    OWN,
    POLITE_NOW,
    POLITE_STATES,
    POLITE_VERBS,
    STOP_WORDS,
    VAGUE,
)
from .tokens import Token

INTRODUCING = frozenset("to how that when what".split())
ENOUGH = 4  # words with content in an opinion
SHORTEST = 2  # words with content that a statement needs


def says_something(clause: Clause) -> bool:
    """Whether a clause is worth a statement of its own."""
    words = clause.words[clause.rest : clause.end]
    if clause.kind in ("it", "you") or clause.link in CONDITIONS:
        return False
    now = clause.tense != "past" and not clause.perfect
    if clause.lemma in POLITE_VERBS or (now and clause.lemma in POLITE_NOW):
        return False
    if clause.lemma == "be" and words and words[0].low in POLITE_STATES:
        return content(words) > SHORTEST + 1
    if clause.negated and not clause.first_person:
        return False
    if clause.kind == "noun" and _is_general(clause):
        return False
    return content(words) + (clause.lemma not in STOP_WORDS) >= SHORTEST


def is_judgement(clause: Clause) -> bool:
    following = clause.words[clause.rest : clause.rest + 4]
    return clause.kind == "noun" and any(word.low in JUDGEMENTS for word in following)


def is_opinion(clause: Clause) -> bool:
    """It is great to have friends: the "it" stands for what follows, so nothing is missing."""
    if clause.kind != "it" or clause.lemma != "be" or content(clause.words[clause.rest :]) < ENOUGH:
        return False
    following = clause.words[clause.rest : clause.rest + 5]
    for judged, then in pairwise(following):
        if judged.low in JUDGEMENTS:
            return then.low in INTRODUCING or (then.low.endswith("ing") and len(then.low) > 4)
    return False


def _is_general(clause: Clause) -> bool:
    """Kids need sleep; a lot has happened: of nobody here, and of nothing that is known."""
    first, *others = clause.words[slice(*clause.subject)]
    if first.low in VAGUE or (others and others[0].low in VAGUE):
        return True
    if first.low in DETERMINERS or any(word.low in OWN for word in clause.words):
        return False
    phrase = bool(others) and not others[-1].text[:1].isupper()
    return phrase or first.low.endswith(("ing", "s")) or first.low in GENERAL


def content(words: Sequence[Token]) -> int:
    return sum(
        word.kind in ("word", "number", "name") and word.low not in STOP_WORDS for word in words
    )
