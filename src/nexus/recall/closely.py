"""A closer look at the best candidates: what only their texts tell. Read in English.

A question that asks when, how many, or for the name of something is answered by a text that holds
a time, a number, a name. Whoever is asked about tells of themselves in the first person; a text
that turns to the other one asks or cheers more often than it tells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

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
TIMES = """
    yesterday today tonight tomorrow ago recently since last next past week weeks weekend weekends
    month months year years morning night january february march april june july august september
    october november december monday tuesday wednesday thursday friday saturday sunday
    mondays tuesdays wednesdays thursdays fridays saturdays sundays
""".split()
NUMBERS = """
    one two three four five six seven eight nine ten eleven twelve dozen once twice first second
    third couple few several
""".split()
HAS = {
    "time": re.compile(rf"\b(?:{'|'.join(TIMES)}|(?:19|20)\d\d)\b", re.IGNORECASE),
    "number": re.compile(rf"\b(?:\d|(?:{'|'.join(NUMBERS)})\b)", re.IGNORECASE),
    "name": re.compile(r"(?<=[a-z,;:\"'] )[A-Z][a-z]|[\"“]\w"),  # in a sentence, or quoted
}
FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|we|us|our|ours)\b", re.IGNORECASE)
SECOND_PERSON = re.compile(r"\b(?:you|your|yours)\b", re.IGNORECASE)


def look(
    question: str, texts: Sequence[str], closeness: Sequence[float], of_the_asked: Sequence[bool]
) -> Numbers:
    """One row a text, one column a name; `of_the_asked`: said by whom the question is about."""
    columns = np.zeros((len(texts), len(NAMES)))
    columns[:, 0] = standing(closeness)
    for number, sort in enumerate(WANTS, start=1):
        if WANTS[sort].search(question):
            columns[:, number] = [HAS[sort].search(text) is not None for text in texts]
    told = zip(of_the_asked, texts, strict=True)
    columns[:, -2] = [asked and FIRST_PERSON.search(text) is not None for asked, text in told]
    columns[:, -1] = [SECOND_PERSON.search(text) is not None for text in texts]
    return columns
