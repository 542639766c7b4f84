"""The words of time: every word the grammar knows, and what kind of word it is.

A kind is one character in the code of a text, so that the grammar can be regular expressions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .cycle import Cycle, seasonal, thanksgiving, weekday, yearly
from .span import Precision as Unit

KIND_NAMES = """
    other stop comma dash open close begin finish
    the a of in on at to and or from between since until by before after during over within for
    last this next past coming following that every another ago later earlier about around now
    starting onwards named zone
    small tens number large year short_year nth ordinal decade vague some half length
    month name maybe weekday short season plural part unit units today tonight feast new eve quarter
    early edge clock time oclock moment numeric slashed
    date found skip
""".split()
KINDS = {name: chr(0xC0 + place) for place, name in enumerate(KIND_NAMES)}
OTHER = KINDS["other"]

# These stand for themselves: their value is the word.
GLUE = {
    "the": "the",
    "a": "a an",
    "of": "of",
    "in": "in",
    "on": "on",
    "at": "at",
    "to": "to through thru",
    "and": "and",
    "or": "or",
    "from": "from",
    "between": "between",
    "since": "since",
    "until": "until till til",
    "by": "by",
    "before": "before",
    "after": "after",
    "during": "during throughout",
    "over": "over",
    "within": "within",
    "for": "for",
    "last": "last previous",
    "this": "this current",
    "next": "next",
    "past": "past",
    "coming": "coming upcoming",
    "following": "following",
    "that": "that",
    "every": "every each",
    "another": "other",
    "ago": "ago back",
    "later": "later",
    "earlier": "earlier",
    "about": "about nearly almost",
    "around": "around roughly approximately circa",
    "now": "now",
    "starting": "starting",
    "onwards": "onwards onward",
    "named": "black cyber ash palm easter",  # Black Friday, Easter Monday: not any of them
    "zone": "utc gmt est edt cst cdt mst mdt pst pdt cet cest bst",
    "half": "half",
    "new": "new",
    "eve": "eve",
    "oclock": "o'clock oclock",
    "skip": "daily weekly monthly yearly annually nightly weekdays",
    "tonight": "tonight",
    "clock": "noon midday midnight",
}

SMALL = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen""".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NTH = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
DECADES = "twenties thirties forties fifties sixties seventies eighties nineties".split()
VAGUE = {"couple": (2, 2, 3), "few": (3, 2, 5), "several": (5, 3, 7)}  # about, least, most

MONTHS = """january february march april may june july august september october november
    december""".split()
ALSO_NAMES = {"march", "april", "may", "june", "august"}  # of people, or other words
DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
SHORT_DAYS = ("mon", "tue tues", "wed", "thu thur thurs", "fri", "sat", "sun")

UNITS = {
    Unit.MINUTE: ("minute min", "minutes mins"),
    Unit.HOUR: ("hour hr", "hours hrs"),
    Unit.PART_OF_DAY: ("", "nights"),  # a night itself is a part of a day
    Unit.DAY: ("day", "days"),
    Unit.WEEKEND: ("weekend", "weekends"),
    Unit.WEEK: ("week wk", "weeks wks"),
    Unit.MONTH: ("month", "months"),
    Unit.QUARTER: ("quarter", "quarters"),
    Unit.YEAR: ("year yr", "years yrs"),
    Unit.DECADE: ("decade", "decades"),
}
SEASONS = ("spring", "summer", "autumn", "fall", "winter")
PARTS = ("morning", "afternoon", "evening", "night")
TODAY = {"yesterday": -1, "today": 0, "tomorrow": 1, "tmrw": 1}
THIRDS = ("early", "mid", "late")
EDGES = ("start beginning", "middle", "end")

FEASTS: dict[str, Cycle] = {
    "christmas": yearly(12, 25),
    "xmas": yearly(12, 25),
    "halloween": yearly(10, 31),
    "valentine's": yearly(2, 14),
    "valentines": yearly(2, 14),
    "thanksgiving": thanksgiving(),
}


def _numbered(spellings: Sequence[str], start: int, by: int = 1) -> dict[str, Any]:
    return {
        word: start + by * place for place, words in enumerate(spellings) for word in words.split()
    }


TABLES: list[tuple[str, dict[str, Any]]] = [
    *((kind, {word: word for word in words.split()}) for kind, words in GLUE.items()),
    ("small", _numbered(SMALL, 0)),
    ("tens", _numbered(TENS, 20, by=10)),
    ("nth", _numbered(NTH, 1)),
    ("decade", _numbered(DECADES, 20, by=10)),
    ("vague", VAGUE),
    ("early", _numbered(THIRDS, 0)),
    ("edge", _numbered(EDGES, 0)),
    ("month", _numbered(MONTHS, 1)),
    ("name", _numbered([name[:3] for name in MONTHS], 1) | {"sept": 9}),
    ("name", {name: number for name, number in _numbered(MONTHS, 1).items() if name in ALSO_NAMES}),
    ("weekday", _numbered(DAYS, 0)),
    ("short", _numbered(SHORT_DAYS, 0)),
    *(("unit", dict.fromkeys(one.split(), unit)) for unit, (one, _) in UNITS.items()),
    *(("units", dict.fromkeys(many.split(), unit)) for unit, (_, many) in UNITS.items()),
    ("season", {name: name for name in SEASONS}),
    ("part", {name: name for name in PARTS}),
    ("plural", {f"{day}s": weekday(number) for number, day in enumerate(DAYS)}),
    ("plural", {f"{name}s": seasonal(name) for name in SEASONS}),
    ("today", TODAY),
    ("feast", FEASTS),
]
LEXICON = {word: (KINDS[kind], value) for kind, table in TABLES for word, value in table.items()}

# Without one of these, or figures, there is no date in a text.
TELLING = frozenset(
    max(re.findall("[a-z]+", word), key=len)
    for kind, table in TABLES
    for word in table
    if kind
    in """decade month name weekday short season plural part unit units today tonight feast
    clock oclock""".split()
)
