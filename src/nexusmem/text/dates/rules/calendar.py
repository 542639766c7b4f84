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
DAY_KINDS = [KINDS[kind] for kind in ("number", "ordinal", "nth")]
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


def parse_holiday(_: ParseState, feast: GrammarNode, which: GrammarNode) -> Recurrence | None:
    """Parse "Christmas Eve" and "Valentine's Day"."""
    named: Recurrence = feast.value
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
    # holidays
    GrammarRule("new unit eve|unit", "date", parse_new_year),
    GrammarRule("feast eve|unit", "date", parse_holiday),
    # yearly dates, where the context shows that it is a date
    GrammarRule(
        "<!last|this|next|past|coming|following|that|every month", "date", parse_recurrence
    ),
    GrammarRule("{again}|maybe >year", "date", parse_recurrence),
    GrammarRule("{again}|maybe >comma|of >year", "date", parse_recurrence),
    GrammarRule("{again}|maybe >last|this|next >unit", "date", parse_recurrence_of_year),
    GrammarRule("<in|during|early name|quarter", "date", parse_recurrence),
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
    GrammarRule("feast >part", "date", parse_recurrence),
    GrammarRule("<unit <of feast", "date", parse_recurrence_alone),
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
