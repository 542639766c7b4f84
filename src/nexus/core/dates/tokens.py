"""From text to tokens: one pass of one regular expression, nothing that can backtrack far."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .clock import Clock
from .words import KINDS, LEXICON, OTHER

TOKEN = re.compile(
    r"""
      (?P<word> [^\W\d_]++ (?:['’][^\W\d_]++)*+ (?![\d_]|://) )
    | (?P<link> [A-Za-z]++://\S++ )
    | (?P<money> [$€£¥]\s?[0-9][0-9.,]*+ )
    | (?P<moment> (?<![\w/.-])[0-9]{4}-[0-9]{2}-[0-9]{2}
        (?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,6}+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?
        (?![\w-]) )
    | (?P<year_month> (?<![\w/.-])(?:19|20)[0-9]{2}-(?:0[1-9]|1[0-2])(?![\w-]) )
    | (?P<chain> [0-9]++(?:[-/:.][0-9]++){3,}+ )  # of an address, a telephone, a version
    | (?P<numeric> (?<![\w/.-])(?:
          [0-9]{1,2}/[0-9]{1,2}/(?:[0-9]{4}|[0-9]{2})
        | [0-9]{1,2}-[0-9]{1,2}-[0-9]{4}
        | [0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}
        | [0-9]{4}/[0-9]{1,2}/[0-9]{1,2} ) (?![\w/-]|\.[0-9]) )
    | (?P<clock> [0-9]{1,2}(?:[:.][0-9]{2})?\ ?(?i:[ap]m|[ap]\.m\.?)(?!\w) )
    | (?P<time> (?<![\w.:/-])[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?![\w:]) )
    | (?P<slashed> (?<![\w/.-])[0-9]{1,2}/[0-9]{1,2}(?![\w/%]) )
    | (?P<ordinal> [0-9]{1,2}(?i:st|nd|rd|th)(?!\w) )
    | (?P<decade> (?:['’]?[0-9]0|[0-9]{3}0)s(?!\w) )
    | (?P<short_year> ['’][0-9]{2}(?!\w) )
    | (?P<quarter> [Qq][1-4](?!\w) )
    | (?P<decimal> [0-9]++(?:\.[0-9]++)++ | [0-9]{1,3}(?:,[0-9]{3})++(?![0-9]) | [0-9]++[%°€£] )
    | (?P<digits> [0-9]++(?!\w) )
    | (?P<mixed> \w++ )
    | (?P<mark> [^\w\s]|\n )
    """,
    re.VERBOSE,
)
MARKS = {
    **dict.fromkeys(".!?;\n", KINDS["stop"]),
    **dict.fromkeys("-–—", KINDS["dash"]),
    **dict.fromkeys("([", KINDS["open"]),
    **dict.fromkeys(")]", KINDS["close"]),
    ",": KINDS["comma"],
    "@": KINDS["at"],
    "&": KINDS["and"],
}
VERBS = {"may", "march"}  # in small letters; as months they need more around them
NOT_DAYS = {"mon", "wed", "sat", "sun"}  # in small letters
NEVER_ALONE = {"mon", "sun"}
LONGEST_NUMBER = 9
LONGEST_ABBREVIATION = len("thurs")

SHORT_DAY = KINDS["short"]
MONTH_OR_NAME = KINDS["name"]
ABBREVIATED = {MONTH_OR_NAME, SHORT_DAY, KINDS["weekday"]}
AFTER_A_STOP = {KINDS["begin"], KINDS["stop"]}


@dataclass(slots=True)
class Node:
    """A token, or what the grammar made of several."""

    kind: str
    start: int
    end: int
    value: Any
    first: int  # its first and its last token
    last: int


def tokens(text: str) -> list[Node]:
    """The tokens of a text, between a beginning and a finish."""
    found = [Node(KINDS["begin"], 0, 0, None, 0, 0)]
    abbreviated = False
    for match in TOKEN.finditer(text):
        written, group = match.group(), match.lastgroup
        if group == "word":
            kind, value = _word(written, found[-1].kind)
        elif abbreviated and written == ".":  # "Dec. 12": this point ends no sentence
            abbreviated = False
            continue
        else:
            kind, value = READ[group](written) if group in READ else (OTHER, None)
        place = len(found)
        found.append(Node(kind, match.start(), match.end(), value, place, place))
        abbreviated = kind in ABBREVIATED and len(written) <= LONGEST_ABBREVIATION
    found.append(Node(KINDS["finish"], len(text), len(text), None, len(found), len(found)))
    return found


def _word(written: str, before: str) -> tuple[str, Any]:
    word = written.lower()
    entry = LEXICON.get(word)
    if entry is None:
        word = word.replace("’", "'")
        if not word.isalpha():  # yesterday's
            entry = LEXICON.get(word) or LEXICON.get(word.removesuffix("'s"))
        if entry is None:
            return OTHER, word
    kind, value = entry
    if kind == MONTH_OR_NAME and word in VERBS and not written.istitle():
        return KINDS["maybe"], value
    if kind == SHORT_DAY:
        return _short_day(written, value, before)
    if kind == KINDS["clock"]:
        return kind, Clock(24 if value == "midnight" else 12)
    return entry


def _short_day(written: str, day: int, before: str) -> tuple[str, Any]:
    """Fri within a sentence is a day; "sat" and "sun" are words, and "Sun" may be the sun."""
    word = written.lower()
    if not written.istitle():
        return (OTHER, word) if word in NOT_DAYS else (SHORT_DAY, day)
    alone = word not in NEVER_ALONE and before not in AFTER_A_STOP
    return KINDS["weekday" if alone else "short"], day


def _digits(text: str) -> tuple[str, Any]:
    if len(text) > LONGEST_NUMBER:
        return OTHER, None
    number = int(text)
    if len(text) <= 2:
        return KINDS["number"], number
    return KINDS["year" if len(text) == 4 and 1900 <= number <= 2100 else "large"], number


def _clock(text: str) -> tuple[str, Any]:
    hour, minute = _hour_and_minute(text.lower().rstrip("apm. "))
    if not 1 <= hour <= 12 or (minute or 0) > 59:
        return OTHER, None
    return KINDS["clock"], Clock(hour % 12 + 12 * ("p" in text.lower()), minute)


def _time(text: str) -> tuple[str, Any]:
    hour, minute = _hour_and_minute(text)
    if hour > 23 or minute is None or minute > 59:
        return OTHER, None
    exact = text.startswith("0") or not 1 <= hour <= 12
    return KINDS["time"], Clock(hour, minute, exact)


def _hour_and_minute(text: str) -> tuple[int, int | None]:
    hour, _, minute = text.replace(".", ":").partition(":")
    return int(hour), int(minute[:2]) if minute else None


READ: dict[str | None, Callable[[str], tuple[str, Any]]] = {
    "mark": lambda text: (MARKS.get(text, OTHER), None),
    "digits": _digits,
    "clock": _clock,
    "time": _time,
    "ordinal": lambda text: (KINDS["ordinal"], int(text[:-2])),
    "decade": lambda text: (KINDS["decade"], int(text.strip("'’sS"))),
    "short_year": lambda text: (KINDS["short_year"], int(text[1:])),
    "quarter": lambda text: (KINDS["quarter"], int(text[1:])),
    "moment": lambda text: (KINDS["moment"], text),
    "year_month": lambda text: (KINDS["moment"], text),
    "numeric": lambda text: (KINDS["numeric"], text),
    "slashed": lambda text: (KINDS["slashed"], text),
}
