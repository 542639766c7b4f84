"""Rules that read a question: whether it is small talk, and which names it may contain."""

from __future__ import annotations

import re

from ..text.terms import STOP_WORDS, WORD

CAPITALIZED_NAME = re.compile(r"\b[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,2}")


SMALL_TALK = frozenset(
    """hi hello hey yo thanks thank thx ok okay yes yep yeah no nope sure great nice cool good
    morning afternoon evening night bye goodbye cheers perfect awesome lol haha welcome continue
    go ahead please much well fine right got it sounds""".split()
)


def is_small_talk(question: str) -> bool:
    """Return True if the question has no word to search for."""
    words = [word.casefold() for word in WORD.findall(question)]
    return all(word in SMALL_TALK or word in STOP_WORDS for word in words) and (
        "?" not in question or not words
    )


def capitalized_names(question: str) -> list[str]:
    """Return the runs of capitalized words that may be names, without stop words."""
    return [
        name for name in CAPITALIZED_NAME.findall(question) if name.casefold() not in STOP_WORDS
    ]


def match_text(match: re.Match[str]) -> str:
    """Return the matched words in lower case, separated by single spaces."""
    return " ".join(match[0].split()).casefold()
