"""Rules for calendar dates: 2023-05-07, May 7th, summer 2022, the 90s, Q3, Christmas."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime

from .. import interval
from ..grammar import GrammarRule, ParseState
from ..interval import DAY, Date, Recurrence, TimeInterval, midnight, unit_around
from ..span import DatePrecision as Unit
from ..tokens import KINDS, GrammarNode

CENTURY = 100
MAX_YEARS_AHEAD = 20  # '45 means 1945 while 2045 is further ahead than this
VERB_WORDS = frozenset("be have not also well still never".split())
MEASURES = frozenset(
    """words people users dollars euros pounds points items lines tokens files rows pages steps
    miles km kilometers metres meters feet characters bytes cases copies votes calories requests
    times others places countries cities""".split()
)
MONTH_KINDS = [KINDS[kind] for kind in ("month", "name", "maybe")]
MIN_BARE_DAY = 4  # "the 1st" and "the 2nd" are more often places in a list
MAX_LISTED_DAYS = 4
NAMES_OF_KINGS = frozenset(
    """henry louis edward george charles james william john philip leo pius paul benedict gregory
    elizabeth""".split()
)  # Louis the Fourteenth
LIST_MARKS = [KINDS[kind] for kind in ("and", "or", "comma", "dash", "to")]
TOPIC_VERBS = frozenset(
    """agree agreed focus focused depend depends based work worked decide decided settle settled
    vote voted rely""".split()
)  # "we agreed on the second"
DUE_WORDS = frozenset("due deadline payable".split())
DAY_KINDS = [KINDS[kind] for kind in ("number", "ordinal", "nth")]
MONTHS_PER_YEAR = 12
UBUNTU_RELEASE = (4, 0)  # month and parity of the day: 22.04 is more often a release
VERBS_OF_FEASTS = frozenset("is was it's isn't".split())
SENTENCE_STARTS = [KINDS[kind] for kind in ("begin", "stop")]
SURELY_BEFORE_DOTTED = [KINDS[kind] for kind in ("on", "the", "weekday", "short")]
BEFORE_DOTTED = [
    *SENTENCE_STARTS,
    *SURELY_BEFORE_DOTTED,
    *(
        KINDS[kind]
        for kind in "open comma dash for by to until since before after from between and".split()
    ),
]
PREPOSITIONS = [
    KINDS[kind] for kind in "on by before after until since from to over for around".split()
]
# Days from Easter Sunday, by weekday.
WEEKDAYS_OF_FEASTS = {
    interval.every_easter(): {4: -2, 5: -1, 6: 0, 0: 1, 1: 2},
    interval.every_easter(49): {6: 49, 0: 50, 1: 51},
}
HOLY_DAYS = {
    ("ash", 2): -46,
    ("palm", 6): -7,
    ("maundy", 3): -3,
    ("good", 4): -2,
    ("whit", 6): 49,
    ("whit", 0): 50,
}
RECURRENCES: dict[str, Callable[..., Recurrence]] = {
    KINDS["weekday"]: interval.every_weekday,
    KINDS["short"]: interval.every_weekday,
    KINDS["season"]: interval.every_season,
    KINDS["month"]: interval.every_month,
    KINDS["name"]: interval.every_month,
    KINDS["maybe"]: interval.every_month,
    KINDS["quarter"]: interval.every_quarter,
    KINDS["feast"]: lambda feast: feast,
}


def parse_iso(state: ParseState, node: GrammarNode) -> TimeInterval:
    if len(node.value) == len("2023-05"):
        return unit_around(datetime.fromisoformat(f"{node.value}-01"), Unit.MONTH)
    at = datetime.fromisoformat(node.value.upper().replace(",", "."))
    if at.tzinfo:
        at = at.astimezone(state.zone).replace(tzinfo=None)
    return unit_around(at, Unit.MINUTE if ":" in node.value else Unit.DAY)


def parse_numeric(_: ParseState, node: GrammarNode) -> TimeInterval:
    """Parse 7/5/2023 as July 5th, unless that is impossible, and 7.5.2023 as 7 May."""
    first, second, third = (int(part) for part in re.split(r"[/.-]", node.value))
    if first > CENTURY:
        return unit_around(midnight(first, second, third), Unit.DAY)
    year = third if third > CENTURY else third + (1900 if third >= 70 else 2000)
    month, day = (second, first) if "." in node.value or first > 12 else (first, second)
    return unit_around(midnight(year, month, day), Unit.DAY)


def parse_slashed(_: ParseState, node: GrammarNode) -> Recurrence | None:
    month, day = (int(part) for part in node.value.split("/"))
    return interval.every_year_on(month, day) if month <= 12 else None


def parse_short_year(state: ParseState, node: GrammarNode) -> int:
    latest = state.at.year + MAX_YEARS_AHEAD
    return int(latest - (latest - node.value) % CENTURY)


def parse_decade(state: ParseState, *nodes: GrammarNode) -> TimeInterval | None:
    """Parse "the 90s" as the latest ones that have begun; "the 1800s" are a century."""
    year = nodes[-1].value
    if year < CENTURY:
        year = state.at.year - (state.at.year - year) % CENTURY
    return unit_around(midnight(year), Unit.DECADE) if year >= 2000 or year % CENTURY else None


def parse_day(_: ParseState, *nodes: GrammarNode | None) -> Recurrence:
    """Parse "May 7" and "the 7th of May"."""
    month, (number,) = _month_and_days(nodes)
    return interval.every_year_on(month, number)


def parse_day_range(_: ParseState, *nodes: GrammarNode | None) -> Recurrence | None:
    """Parse "May 3-5" and "the 3rd to the 5th of May"."""
    month, (first, last) = _month_and_days(nodes)
    end = interval.every_year_on(month, last)
    if first >= last:
        return None

    def extend_to_end(start: TimeInterval) -> TimeInterval | None:
        until = end.first_after(start.since)
        return until and TimeInterval(start.since, until.until, Unit.DAY)

    return interval.every_year_on(month, first).map(extend_to_end, Unit.DAY)


def _month_and_days(nodes: Sequence[GrammarNode | None]) -> tuple[int, list[int]]:
    present = [node for node in nodes if node]
    (month,) = (node.value for node in present if node.kind in MONTH_KINDS)
    return month, [node.value for node in present if node.kind in DAY_KINDS]


def parse_recurrence(_: ParseState, node: GrammarNode) -> Recurrence:
    """Return a weekly or yearly date as a recurrence, to be resolved later."""
    return RECURRENCES[node.kind](node.value)


def parse_recurrence_alone(state: ParseState, node: GrammarNode) -> Recurrence | None:
    """Parse "in spring" but not "in spring water", "after April" but not "after April called"."""
    return parse_recurrence(state, node) if state.ends_noun_phrase(node) else None


def parse_recurrence_of_year(state: ParseState, node: GrammarNode) -> Recurrence | None:
    """Parse "May last year"."""
    unit = state.tokens[node.last + 2].value
    return parse_recurrence(state, node) if unit is Unit.YEAR else None


def parse_month_not_verb(state: ParseState, node: GrammarNode) -> Recurrence | None:
    return None if state.next_token(node).value in VERB_WORDS else parse_recurrence(state, node)


def parse_day_of_month(state: ParseState, *nodes: GrammarNode) -> Recurrence | None:
    """Parse "on the 5th" but not "on the 5th floor"."""
    return interval.every_month_on(nodes[-1].value) if state.ends_noun_phrase(nodes[-1]) else None


def parse_bare_day(state: ParseState, node: GrammarNode) -> Recurrence | None:
    """Parse "the fourteenth" and "payday (15th)" but not "the 14th place"."""
    before = state.tokens[node.first - 2]
    if before.value in NAMES_OF_KINGS or before.kind == KINDS["in"]:  # in the 4th (quarter)
        return None
    if node.value < MIN_BARE_DAY and before.value not in DUE_WORDS:
        return None
    last = _last_of_list(state, node)
    return parse_day_of_month(state, node) if state.ends_noun_phrase(last) else None


def _last_of_list(state: ParseState, node: GrammarNode) -> GrammarNode:
    """Return the last ordinal of "the 16th and 17th centuries"."""
    for _ in range(MAX_LISTED_DAYS):
        if state.next_token(node).kind not in LIST_MARKS:
            break
        following = state.tokens[node.last + 2]
        if following.kind != KINDS["ordinal"]:
            break
        node = following
    return node


def parse_day_in_words(state: ParseState, node: GrammarNode) -> Recurrence | None:
    """Parse "on the first." but not "we agreed on the first."."""
    verb = state.tokens[max(0, node.first - 3)]
    return None if verb.value in TOPIC_VERBS else interval.every_month_on(node.value)


def parse_day_of_named_month(state: ParseState, node: GrammarNode) -> Recurrence | None:
    """Parse "the first of next month"."""
    unit = state.tokens[node.last + 3].value
    return interval.every_month_on(node.value) if unit is Unit.MONTH else None


def parse_dotted(state: ParseState, node: GrammarNode) -> Recurrence | None:
    """Parse "due 23.02." as 23 February, but not "Python 3.10." or "runs on 22.04"."""
    day, month = (int(part) for part in node.value.rstrip(".").split("."))
    before = state.tokens[node.first - 1]
    if before.kind not in BEFORE_DOTTED and before.value not in DUE_WORDS:
        return None
    is_sure = before.kind in SURELY_BEFORE_DOTTED or before.value in DUE_WORDS
    has_zero = "0" in (node.value[0], node.value.partition(".")[2][0])
    if node.value.endswith("."):
        is_date = is_sure or has_zero or day > MONTHS_PER_YEAR
    else:
        is_date = is_sure and has_zero and (month, day % 2) != UBUNTU_RELEASE
    return interval.every_year_on(month, day) if is_date else None


def parse_feast_day(_: ParseState, feast: GrammarNode, weekday: GrammarNode) -> Recurrence | None:
    """Parse "Easter Monday"."""
    days = WEEKDAYS_OF_FEASTS.get(feast.value, {}).get(weekday.value)
    return None if days is None else interval.every_easter(days)


def parse_holy_day(state: ParseState, name: GrammarNode, weekday: GrammarNode) -> Recurrence | None:
    """Parse "Good Friday", and "good friday" after a preposition."""
    word, is_title = name.value
    days = HOLY_DAYS.get((word, weekday.value))
    is_named = is_title or state.tokens[name.first - 1].kind in PREPOSITIONS
    return interval.every_easter(days) if is_named and days is not None else None


def parse_bare_feast(state: ParseState, node: GrammarNode) -> Recurrence | None:
    """Parse "Christmas was quiet" and "when is Easter?", but not "merry Christmas"."""
    before = state.tokens[node.first - 1]
    if before.kind in SENTENCE_STARTS or before.value in VERBS_OF_FEASTS:
        return parse_recurrence_alone(state, node)
    return None


def parse_holiday(_: ParseState, feast: GrammarNode, which: GrammarNode) -> Recurrence | None:
    """Parse "Christmas Eve", "Valentine's Day" and "Easter weekend"."""
    named: Recurrence = feast.value
    if which.value in (Unit.WEEKEND, Unit.WEEK):
        return named.map(lambda day: unit_around(day.since, which.value), which.value)
    if which.kind == KINDS["eve"]:
        return named.map(lambda day: unit_around(day.since - DAY, Unit.DAY), Unit.DAY)
    return named if which.value is Unit.DAY else None


def parse_new_year(
    _: ParseState, __: GrammarNode, unit: GrammarNode, which: GrammarNode
) -> Recurrence | None:
    if unit.value is not Unit.YEAR:
        return None
    if which.kind == KINDS["eve"]:
        return interval.every_year_on(12, 31)
    return interval.every_year_on(1, 1) if which.value is Unit.DAY else None


def parse_new_year_alone(state: ParseState, _: GrammarNode, unit: GrammarNode) -> Recurrence | None:
    """Parse "after New Year" but not "for New Year cards"."""
    if unit.value is not Unit.YEAR or not state.ends_noun_phrase(unit):
        return None
    return interval.every_year_on(1, 1)


def parse_in_year(
    _: ParseState, date: GrammarNode, __: GrammarNode | None, year: GrammarNode
) -> TimeInterval | None:
    named: Date = date.value
    if not isinstance(named, Recurrence) or named.period is not Unit.YEAR:
        return None
    return named.in_year(year.value)


def parse_year(state: ParseState, node: GrammarNode) -> TimeInterval | None:
    """Parse "in 2000" but not "in 2000 words"."""
    if state.next_token(node).value in MEASURES:
        return None
    return unit_around(midnight(node.value), Unit.YEAR)


def parse_named_year(
    _: ParseState, __: GrammarNode | None, unit: GrammarNode, node: GrammarNode
) -> TimeInterval | None:
    return unit_around(midnight(node.value), Unit.YEAR) if unit.value is Unit.YEAR else None


def parse_weekday_date(_: ParseState, *nodes: GrammarNode) -> Date | None:
    """Parse "Sunday, May 7"; the date alone decides."""
    named: Date = nodes[-1].value
    weekly = isinstance(named, Recurrence) and named.period is Unit.WEEK
    return named if named.precision is Unit.DAY and not weekly else None


RULES = [
    GrammarRule("moment", "date", parse_iso),
    GrammarRule("numeric", "date", parse_numeric),
    GrammarRule("<on|{since} slashed", "date", parse_slashed),
    GrammarRule("<date <{to} slashed", "date", parse_slashed),
    GrammarRule("dotted", "date", parse_dotted),
    GrammarRule("<in|of|{since}|season|month|name|feast short_year", "year", parse_short_year),
    GrammarRule("the decade", "date", parse_decade),
    GrammarRule("<early decade", "date", parse_decade),
    GrammarRule("<early <dash decade", "date", parse_decade),
    GrammarRule(
        "decade", "date", lambda r, node: parse_decade(r, node) if node.value > CENTURY else None
    ),
    # days of a month
    GrammarRule("{month} {day} {to} the? {day}", "date", parse_day_range),
    GrammarRule("the? {day} {to} the? {day} of? {month}", "date", parse_day_range),
    GrammarRule("{month} the? {day}", "date", parse_day),
    GrammarRule("<on|{since} maybe the? number", "date", parse_day),
    GrammarRule("maybe the? ordinal", "date", parse_day),
    GrammarRule("maybe the? number >year", "date", parse_day),
    GrammarRule("maybe the? number >comma >year", "date", parse_day),
    GrammarRule("the? {day} of? {month}", "date", parse_day),
    GrammarRule("the? {day} of? maybe >year", "date", parse_day),
    GrammarRule("the? {day}|nth of {any_month}", "date", parse_day),
    GrammarRule("weekday comma? the? ordinal", "date", parse_day_of_month),
    GrammarRule("<on|for|around|between|{since} <the ordinal", "date", parse_day_of_month),
    GrammarRule("<date <and|or|{to} <the ordinal", "date", parse_day_of_month),
    GrammarRule("<unit|part <of <the ordinal", "date", parse_day_of_month),
    GrammarRule("<the ordinal >!of|unit|units|working", "date", parse_bare_day),
    GrammarRule("<open ordinal >close", "date", parse_bare_day),
    GrammarRule("<the ordinal|nth >of >last|this|next|the >unit", "date", parse_day_of_named_month),
    GrammarRule("<on|by|until <the nth >stop|finish|close|at", "date", parse_day_in_words),
    # holidays
    GrammarRule("new unit eve|unit", "date", parse_new_year),
    GrammarRule("<on|at|for|around|over|between|{since} new unit", "date", parse_new_year_alone),
    GrammarRule("<{since} <the new unit", "date", parse_new_year_alone),
    GrammarRule("feast eve|unit", "date", parse_holiday),
    GrammarRule("feast weekday", "date", parse_feast_day),
    GrammarRule("<!a holy weekday", "date", parse_holy_day),
    # yearly dates, where the context shows that it is a date
    GrammarRule(
        "<!last|this|next|past|coming|following|that|every month", "date", parse_recurrence
    ),
    GrammarRule("{again}|maybe >year", "date", parse_recurrence),
    GrammarRule("{again}|maybe >comma|of >year", "date", parse_recurrence),
    GrammarRule("{again}|maybe >last|this|next >unit", "date", parse_recurrence_of_year),
    GrammarRule("<in|during|early|deadline name|quarter", "date", parse_recurrence),
    GrammarRule("<early <dash name|quarter|season", "date", parse_recurrence),
    GrammarRule("<of|between|around|{since} name|quarter", "date", parse_recurrence_alone),
    GrammarRule("<date <and|or|to|dash name|quarter", "date", parse_recurrence_alone),
    GrammarRule("<in|during|early|since|until|of maybe", "date", parse_month_not_verb),
    GrammarRule("<in|during|over|early|{since} season", "date", parse_recurrence_alone),
    GrammarRule("<in|during|over|for|{since} <the season", "date", parse_recurrence_alone),
    GrammarRule("<edge <of season", "date", parse_recurrence_alone),
    GrammarRule("<edge <of <the season", "date", parse_recurrence_alone),
    GrammarRule(
        "<on|at|for|over|during|between|around|to|{since} feast", "date", parse_recurrence_alone
    ),
    GrammarRule("<date <and|or feast", "date", parse_recurrence_alone),
    GrammarRule("<date <and|to new unit", "date", parse_new_year_alone),
    GrammarRule("feast >part", "date", parse_recurrence),
    GrammarRule("<unit <of feast", "date", parse_recurrence_alone),
    GrammarRule("feast", "date", parse_bare_feast),
    GrammarRule("<date short_year", "year", parse_short_year),
    GrammarRule("date comma|of|in? year", "date", parse_in_year),
    # years
    GrammarRule("the? unit year", "date", parse_named_year),
    GrammarRule("<in|of|during|between|around|early|{since} year", "date", parse_year),
    GrammarRule("<early <dash year", "date", parse_year),
    GrammarRule("<date <and|to|dash year", "date", parse_year),
    GrammarRule("<open year >close", "date", parse_year),
    GrammarRule("<begin year >stop|finish", "date", parse_year),
    GrammarRule("{weekday} comma? the? date", "date", parse_weekday_date),
]
