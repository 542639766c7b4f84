"""Ways of speaking that say nothing of their words: who lives in hope has no address there."""

from __future__ import annotations

import re

from .cast import joined
from .clauses import Clause

# verb → what follows it where the two are an idiom
IDIOMS = {
    lemma: re.compile(pattern)  # small letters: Hope is a village, too
    for lemma, pattern in {
        "hate": r"to (?:say|admit|tell|ask|bother|interrupt|complain|break|nag|disappoint)\b"
        r"|to be (?:that|the)\b",
        "work": r"for (?:a living|peanuts|free|nothing)\b",
        "live": r"in (?:hope|fear|denial|peace|harmony|dread|sin|misery)\b"
        r"|in the (?:moment|past|present)\b|on the edge\b",
        "join": r"(?:here|there)\b",
        "kill": r"(?:me|us)\b",
    }.items()
}
SIGNED = re.compile(r"from my \w+(?: \w+)?[.!\s]*", re.IGNORECASE)


def is_idiom(clause: Clause) -> bool:
    """Whether the words of a clause are not meant as they stand."""
    if clause.lemma == "send" and clause.kind == "":
        return SIGNED.fullmatch(joined(clause.words[clause.rest :])) is not None
    pattern = IDIOMS.get(clause.lemma)
    if pattern is None:
        return False
    return pattern.match(joined(clause.words[clause.rest : clause.end])) is not None
