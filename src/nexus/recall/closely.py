"""A closer look at the best candidates: what only their texts tell. Read in English.

A question that asks when, how many, or for the name of something is answered by a text that holds
a time, a number, a name. Whoever is asked about tells of themselves in the first person; a text
that turns to the other one asks or cheers more often than it tells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ..core.text import words_in
from .features import Numbers, standing

NAMES = (
    "wording",  # worded like the question, compared piece by piece
    "time",  # it holds what the question asks for
    "number",
    "name",
    "oneself",  # whom the question is about tells of themselves
    "address",  # it turns to somebody
)

WANTS = {
    "time": re.compile(
        r"\bwhen\b|\b(?:what|which) (?:date|day|week|month|season|year|time)\b"
        r"|\bhow (?:long|often|recently)\b",
        re.IGNORECASE,
    ),
    "number": re.compile(
        r"\bhow (?:many|much|long|old|often|far|tall)\b|\bwhat (?:number|amount|percentage)\b",
        re.IGNORECASE,
    ),
    "name": re.compile(
        r"\b(?:who|whom|whose|where|which|names?|title)\b"
        r"|\bwhat (?:book|movie|film|song|game|place|city|country|state|company|band|type|kind)\b",
        re.IGNORECASE,
    ),
}
# Looked up among a text's words: a pattern of so many takes three times as long.
TIMES = frozenset(
    """
    yesterday today tonight tomorrow ago recently since last next past week weeks weekend weekends
    month months year years morning night january february march april june july august september
    october november december monday tuesday wednesday thursday friday saturday sunday
    mondays tuesdays wednesdays thursdays fridays saturdays sundays
    """.split()
)
NUMBERS = frozenset(
    """
    one two three four five six seven eight nine ten eleven twelve dozen once twice first second
    third couple few several
    """.split()
)
YEAR = re.compile(r"\b(?:19|20)\d\d\b")
DIGIT = re.compile(r"\d")
# In a sentence, or quoted. What it begins with comes first: so most places are passed over at once.
NAME = re.compile(r"[A-Z\"“](?:(?<=[a-z,;:\"'] [A-Z])[a-z]|(?<=[\"“])\w)")
FIRST_PERSON = re.compile(r"\b(?:I|i|[Mm]e|[Mm]y|[Mm]ine|[Ww]e|[Uu]s|[Oo]urs?)\b")
SECOND_PERSON = re.compile(r"\b[Yy]ou(?:rs?)?\b")


def look(
    question: str, texts: Sequence[str], closeness: Sequence[float], of_the_asked: Sequence[bool]
) -> Numbers:
    """One row a text, one column a name; `of_the_asked`: said by whom the question is about."""
    columns = np.zeros((len(texts), len(NAMES)))
    columns[:, 0] = standing(closeness)
    for number, (sort, wants) in enumerate(WANTS.items(), start=1):
        if wants.search(question):
            columns[:, number] = list(map(HOLDS[sort], texts))
    if any(of_the_asked):
        columns[:, -2] = list(map(_of_oneself, texts, of_the_asked))
    columns[:, -1] = list(map(_addresses, texts))
    return columns


def _holds_a_time(text: str) -> bool:
    return not TIMES.isdisjoint(words_in(text)) or _holds_a_year(text)


def _holds_a_year(text: str) -> bool:
    """Most texts hold no such digits, and to see that takes no time."""
    return ("19" in text or "20" in text) and YEAR.search(text) is not None


def _holds_a_number(text: str) -> bool:
    return not NUMBERS.isdisjoint(words_in(text)) or DIGIT.search(text) is not None


def _holds_a_name(text: str) -> bool:
    return NAME.search(text) is not None


def _of_oneself(text: str, of_the_asked: bool) -> bool:
    return of_the_asked and FIRST_PERSON.search(text) is not None


def _addresses(text: str) -> bool:
    """As with years, most hold no such letters."""
    return ("you" in text or "You" in text) and SECOND_PERSON.search(text) is not None


HOLDS = {"time": _holds_a_time, "number": _holds_a_number, "name": _holds_a_name}
