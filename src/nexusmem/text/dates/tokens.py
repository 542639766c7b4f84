"""Tokenizer of the date parser: one regular expression without deep backtracking."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .interval import (
    ClockTime,
    Recurrence,
    every_easter,
    every_season,
    every_thanksgiving,
    every_weekday,
    every_year_on,
)
from .span import DatePrecision as Unit

KIND_NAMES = """
    other stop comma dash open close begin finish
    the a of in on at to and or from between since until by before after during over within for
    last this next past coming following that every another ago later earlier about around now
    starting onwards named zone
    small tens number large year short_year nth ordinal decade vague some half length
    month name maybe weekday short season plural part unit units today tonight feast new eve quarter
    early edge clock time oclock ish moment numeric slashed dotted holy fortnight working worked
    deadline
    date found skip
""".split()
KINDS = {name: chr(0xC0 + index) for index, name in enumerate(KIND_NAMES)}
OTHER = KINDS["other"]

# Token kind → words; the value of the token is the word.
FUNCTION_WORDS = {
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
    "named": "black cyber",  # Black Friday is not just any Friday
    "holy": "good ash palm maundy whit",  # Good Friday
    "zone": "utc gmt est edt cst cdt mst mdt pst pdt cet cest bst",
    "half": "half",
    "new": "new",
    "eve": "eve",
    "oclock": "o'clock oclock",
    "skip": "daily weekly monthly yearly annually nightly weekdays",
    "tonight": "tonight tonite 2nite",
    "ish": "ish",
    "working": "working business",
    "fortnight": "fortnight fortnights",
    "clock": "noon midday midnight",
}

SMALL = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen""".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NTH = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
DAY_ORDINALS = """eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth
    nineteenth twentieth""".split()
DECADES = "twenties thirties forties fifties sixties seventies eighties nineties".split()
VAGUE = {"couple": (2, 2, 3), "few": (3, 2, 5), "several": (5, 3, 7)}  # typical, low, high

MONTHS = """january february march april may june july august september october november
    december""".split()
ALSO_NAMES = {"march", "april", "may", "june", "august"}  # also names of people or other words
DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
SHORT_DAYS = ("mon", "tue tues", "wed weds", "thu thur thurs", "fri", "sat", "sun")

UNITS = {
    Unit.MINUTE: ("minute min", "minutes mins"),
    Unit.HOUR: ("hour hr", "hours hrs"),
    Unit.PART_OF_DAY: ("", "nights"),  # "night" is of kind part
    Unit.DAY: ("day", "days"),
    Unit.WEEKEND: ("weekend wknd wkend", "weekends wknds"),
    Unit.WEEK: ("week wk", "weeks wks"),
    Unit.MONTH: ("month", "months"),
    Unit.QUARTER: ("quarter", "quarters"),
    Unit.YEAR: ("year yr", "years yrs"),
    Unit.DECADE: ("decade", "decades"),
}
SEASONS = ("spring", "summer", "autumn", "fall", "winter")
PARTS = ("morning", "afternoon", "evening", "night")
TODAY = {
    "yesterday": -1,
    "today": 0,
    **dict.fromkeys("tomorrow tmrw tmr tmw tomoz tomorow 2moro 2morrow".split(), 1),
}
THIRDS = ("early", "mid", "late")
EDGES = ("start beginning", "middle", "end close")
ENDS_OF_UNITS = {
    **dict.fromkeys("eod eob cob".split(), Unit.DAY),  # end of day, close of business
    "eow": Unit.WEEK,
    "eom": Unit.MONTH,
    "eoq": Unit.QUARTER,
    "eoy": Unit.YEAR,
}

HOLIDAYS: dict[str, Recurrence] = {
    "christmas": every_year_on(12, 25),
    "xmas": every_year_on(12, 25),
    "halloween": every_year_on(10, 31),
    "valentine's": every_year_on(2, 14),
    "valentines": every_year_on(2, 14),
    "thanksgiving": every_thanksgiving(),
    "easter": every_easter(),
    "ascension": every_easter(39),
    "pentecost": every_easter(49),
    "whitsun": every_easter(49),
}


def _number_words(spellings: Sequence[str], start: int, by: int = 1) -> dict[str, Any]:
    return {
        word: start + by * index for index, words in enumerate(spellings) for word in words.split()
    }


TABLES: list[tuple[str, dict[str, Any]]] = [
    *((kind, {word: word for word in words.split()}) for kind, words in FUNCTION_WORDS.items()),
    ("small", _number_words(SMALL, 0)),
    ("tens", _number_words(TENS, 20, by=10)),
    ("nth", _number_words(NTH, 1)),
    ("ordinal", _number_words(DAY_ORDINALS, 11) | {"thirtieth": 30}),
    ("decade", _number_words(DECADES, 20, by=10)),
    ("vague", VAGUE),
    ("early", _number_words(THIRDS, 0)),
    ("edge", _number_words(EDGES, 0)),
    ("deadline", ENDS_OF_UNITS),
    ("month", _number_words(MONTHS, 1)),
    ("name", _number_words([name[:3] for name in MONTHS], 1) | {"sept": 9}),
    (
        "name",
        {name: number for name, number in _number_words(MONTHS, 1).items() if name in ALSO_NAMES},
    ),
    ("weekday", _number_words(DAYS, 0)),
    ("short", _number_words(SHORT_DAYS, 0)),
    *(("unit", dict.fromkeys(one.split(), unit)) for unit, (one, _) in UNITS.items()),
    *(("units", dict.fromkeys(many.split(), unit)) for unit, (_, many) in UNITS.items()),
    ("season", {name: name for name in SEASONS}),
    ("part", {name: name for name in PARTS}),
    ("plural", {f"{day}s": every_weekday(number) for number, day in enumerate(DAYS)}),
    ("plural", {f"{name}s": every_season(name) for name in SEASONS}),
    ("today", TODAY),
    ("feast", HOLIDAYS),
]
LEXICON = {word: (KINDS[kind], value) for kind, table in TABLES for word, value in table.items()}

# A text without one of these words, and without figures, contains no date.
DATE_WORDS = frozenset(
    max(re.findall("[a-z]+", word), key=len)
    for kind, table in TABLES
    for word in table
    if kind
    in """nth ordinal decade month name weekday short season plural part unit units today tonight
    feast clock oclock deadline fortnight""".split()
) | {"business"}


TOKEN = re.compile(
    r"""
      (?P<word> [^\W\d_]++ (?:['’][^\W\d_]++)*+ (?![\d_]|://) )
    | (?P<link> [A-Za-z]++://\S++ )
    | (?P<money> [$€£¥]\s?[0-9][0-9.,]*+ )
    | (?P<moment> (?<![\w/.-])[0-9]{4}-[0-9]{2}-[0-9]{2}
        (?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,6}+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?
        (?![\w-]) )
    | (?P<year_month> (?<![\w/.-])(?:19|20)[0-9]{2}-(?:0[1-9]|1[0-2])(?![\w-]) )
    | (?P<chain> [0-9]++(?:[-/:.][0-9]++){3,}+ )  # an address, phone number or version
    | (?P<numeric> (?<![\w/.-])(?:
          [0-9]{1,2}/[0-9]{1,2}/(?:[0-9]{4}|[0-9]{2})
        | [0-9]{1,2}-[0-9]{1,2}-[0-9]{4}
        | [0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}
        | [0-9]{4}/[0-9]{1,2}/[0-9]{1,2} ) (?![\w/-]|\.[0-9]) )
    | (?P<dotted> (?:(?<![\w/.:-])|(?<=\.-))(?:0?[1-9]|[12][0-9]|3[01])\.(?:1[0-2]|0?[1-9])
        (?: \.(?![\w/.]) | (?![\w/.:%°€£-]|,[0-9]|\ ?[ap]\.?m) ) )  # 23.02.
    | (?P<clock> [0-9]{1,2}(?:[:.][0-9]{2})?\ ?(?i:[ap]m|[ap]\.m\.?)(?!\w) )
    | (?P<time> (?<![\w.:/-])[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:ish)?(?![\w:]) )
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
MONTH_VERBS = {"may", "march"}  # in lower case they need a context to be months
NOT_DAYS = {"mon", "wed", "sat", "sun"}  # in lower case
NEVER_ALONE = {"mon", "sun"}
ALWAYS_DAYS = {"tues", "weds", "thur", "thurs", "fri"}  # also in lower case
ONLY_CAPITALS = {"cob"}  # corn on the cob
MAX_NUMBER_DIGITS = 9
MAX_ABBREVIATION_LETTERS = len("thurs")

SHORT_DAY = KINDS["short"]
MONTH_OR_NAME = KINDS["name"]
ABBREVIATED_KINDS = {MONTH_OR_NAME, SHORT_DAY, KINDS["weekday"]}
AFTER_A_STOP = {KINDS["begin"], KINDS["stop"]}


@dataclass(slots=True)
class GrammarNode:
    """A token, or a node that the grammar built from several."""

    kind: str
    start: int
    end: int
    value: Any
    first: int  # index of its first token
    last: int  # index of its last token


def tokenize(text: str) -> list[GrammarNode]:
    """Return the tokens of a text, between a begin and a finish node."""
    nodes = [GrammarNode(KINDS["begin"], 0, 0, None, 0, 0)]
    abbreviated = False
    for match in TOKEN.finditer(text):
        word, group = match.group(), match.lastgroup
        if group == "word":
            kind, value = _classify_word(word, nodes[-1].kind)
        elif abbreviated and word == ".":  # "Dec. 12": not the end of a sentence
            abbreviated = False
            continue
        else:
            kind, value = TOKEN_READERS[group](word) if group in TOKEN_READERS else (OTHER, None)
        index = len(nodes)
        nodes.append(GrammarNode(kind, match.start(), match.end(), value, index, index))
        abbreviated = kind in ABBREVIATED_KINDS and len(word) <= MAX_ABBREVIATION_LETTERS
    nodes.append(GrammarNode(KINDS["finish"], len(text), len(text), None, len(nodes), len(nodes)))
    return nodes


def _classify_word(text: str, before: str) -> tuple[str, Any]:
    word = text.lower()
    entry = LEXICON.get(word)
    if entry is None:
        word = word.replace("’", "'")
        if not word.isalpha():  # yesterday's
            entry = LEXICON.get(word) or LEXICON.get(word.removesuffix("'s"))
    if entry is None or (word in ONLY_CAPITALS and not text.isupper()):
        return OTHER, word
    kind, value = entry
    if kind == MONTH_OR_NAME and word in MONTH_VERBS and not text.istitle():
        return KINDS["maybe"], value
    if kind == SHORT_DAY:
        return _classify_short_day(text, value, before)
    if kind == KINDS["holy"]:
        return kind, (word, text.istitle())
    if kind == KINDS["clock"]:
        return kind, ClockTime(24 if value == "midnight" else 12)
    return entry


def _classify_short_day(text: str, day: int, before: str) -> tuple[str, Any]:
    """Return the kind of a short day name; "sat" and "sun" are words, and "Sun" may be the sun."""
    word = text.lower()
    if word in ALWAYS_DAYS:
        return KINDS["weekday"], day
    if not text.istitle():
        return (OTHER, word) if word in NOT_DAYS else (SHORT_DAY, day)
    alone = word not in NEVER_ALONE and before not in AFTER_A_STOP
    return KINDS["weekday" if alone else "short"], day


def _read_digits(text: str) -> tuple[str, Any]:
    if len(text) > MAX_NUMBER_DIGITS:
        return OTHER, None
    number = int(text)
    if len(text) <= 2:
        return KINDS["number"], number
    return KINDS["year" if len(text) == 4 and 1900 <= number <= 2100 else "large"], number


def _read_clock(text: str) -> tuple[str, Any]:
    hour, minute = _hour_and_minute(text.lower().rstrip("apm. "))
    if not 1 <= hour <= 12 or (minute or 0) > 59:
        return OTHER, None
    return KINDS["clock"], ClockTime(hour % 12 + 12 * ("p" in text.lower()), minute)


def _read_time(text: str) -> tuple[str, Any]:
    hour, minute = _hour_and_minute(text)
    if hour > 23 or minute is None or minute > 59:
        return OTHER, None
    exact = text.startswith("0") or not 1 <= hour <= 12
    return KINDS["time"], ClockTime(hour, minute, exact, is_vague=text.endswith("ish"))


def _read_mixed(text: str) -> tuple[str, Any]:
    """Read "9ish" and "2moro"."""
    word = text.lower()
    hour = word.removesuffix("ish")
    if hour != word and len(hour) <= 2 and hour.isdecimal() and 1 <= int(hour) <= 12:
        return KINDS["time"], ClockTime(int(hour), is_exact=False, is_vague=True)
    return LEXICON.get(word, (OTHER, None))


def _hour_and_minute(text: str) -> tuple[int, int | None]:
    hour, _, minute = text.replace(".", ":").partition(":")
    return int(hour), int(minute[:2]) if minute else None


TOKEN_READERS: dict[str | None, Callable[[str], tuple[str, Any]]] = {
    "mark": lambda text: (MARKS.get(text, OTHER), None),
    "digits": _read_digits,
    "clock": _read_clock,
    "time": _read_time,
    "ordinal": lambda text: (KINDS["ordinal"], int(text[:-2])),
    "decade": lambda text: (KINDS["decade"], int(text.strip("'’sS"))),
    "short_year": lambda text: (KINDS["short_year"], int(text[1:])),
    "quarter": lambda text: (KINDS["quarter"], int(text[1:])),
    "moment": lambda text: (KINDS["moment"], text),
    "year_month": lambda text: (KINDS["moment"], text),
    "numeric": lambda text: (KINDS["numeric"], text),
    "slashed": lambda text: (KINDS["slashed"], text),
    "dotted": lambda text: (KINDS["dotted"], text),
    "mixed": _read_mixed,
}
