"""Dates as the calendar has them: 2023-05-07, May 7th, summer 2022, the 90s, Q3, Christmas."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime

from .. import cycle
from ..cycle import Cycle, Date
from ..grammar import Reading, Rule
from ..span import Precision as Unit
from ..stretch import DAY, Stretch, midnight, whole
from ..tokens import Node
from ..words import KINDS

CENTURY = 100
SOON = 20  # '45 is 1945 until 2045 is less than so many years ahead
VERBAL = frozenset("be have not also well still never".split())
MEASURES = frozenset(
    """words people users dollars euros pounds points items lines tokens files rows pages steps
    miles km kilometers metres meters feet characters bytes cases copies votes calories requests
    times others places countries cities""".split()
)
MONTH_KINDS = [KINDS[kind] for kind in ("month", "name", "maybe")]
DAY_KINDS = [KINDS[kind] for kind in ("number", "ordinal", "nth")]
AGAIN: dict[str, Callable[..., Cycle]] = {
    KINDS["weekday"]: cycle.weekday,
    KINDS["short"]: cycle.weekday,
    KINDS["season"]: cycle.seasonal,
    KINDS["month"]: cycle.month,
    KINDS["name"]: cycle.month,
    KINDS["maybe"]: cycle.month,
    KINDS["quarter"]: cycle.quarter,
    KINDS["feast"]: lambda feast: feast,
}


def moment(reading: Reading, node: Node) -> Stretch:
    if len(node.value) == len("2023-05"):
        return whole(datetime.fromisoformat(f"{node.value}-01"), Unit.MONTH)
    at = datetime.fromisoformat(node.value.upper().replace(",", "."))
    if at.tzinfo:
        at = at.astimezone(reading.zone).replace(tzinfo=None)
    return whole(at, Unit.MINUTE if ":" in node.value else Unit.DAY)


def numeric(_: Reading, node: Node) -> Stretch:
    """7/5/2023 is July 5th unless that is impossible; 7.5.2023 is written with the day first."""
    first, second, third = (int(part) for part in re.split(r"[/.-]", node.value))
    if first > CENTURY:
        return whole(midnight(first, second, third), Unit.DAY)
    year = third if third > CENTURY else third + (1900 if third >= 70 else 2000)
    month, day = (second, first) if "." in node.value or first > 12 else (first, second)
    return whole(midnight(year, month, day), Unit.DAY)


def slashed(_: Reading, node: Node) -> Cycle | None:
    month, day = (int(part) for part in node.value.split("/"))
    return cycle.yearly(month, day) if month <= 12 else None


def full_year(reading: Reading, node: Node) -> int:
    latest = reading.at.year + SOON
    return int(latest - (latest - node.value) % CENTURY)


def decade(reading: Reading, *nodes: Node) -> Stretch | None:
    """The 90s: the latest that have begun. The 1800s are a century."""
    year = nodes[-1].value
    if year < CENTURY:
        year = reading.at.year - (reading.at.year - year) % CENTURY
    return whole(midnight(year), Unit.DECADE) if year >= 2000 or year % CENTURY else None


def day(_: Reading, *nodes: Node | None) -> Cycle:
    """May 7, the 7th of May."""
    month, (number,) = _month_and_days(nodes)
    return cycle.yearly(month, number)


def days(_: Reading, *nodes: Node | None) -> Cycle | None:
    """May 3-5, the 3rd to the 5th of May."""
    month, (first, last) = _month_and_days(nodes)
    end = cycle.yearly(month, last)
    if first >= last:
        return None

    def extend(start: Stretch) -> Stretch | None:
        until = end.after(start.since)
        return until and Stretch(start.since, until.until, Unit.DAY)

    return cycle.yearly(month, first).map(extend, Unit.DAY)


def _month_and_days(nodes: Sequence[Node | None]) -> tuple[int, list[int]]:
    there = [node for node in nodes if node]
    (month,) = (node.value for node in there if node.kind in MONTH_KINDS)
    return month, [node.value for node in there if node.kind in DAY_KINDS]


def again(_: Reading, node: Node) -> Cycle:
    """What comes every week or year, not yet settled on one."""
    return AGAIN[node.kind](node.value)


def again_alone(reading: Reading, node: Node) -> Cycle | None:
    """In spring, but not in spring water; after April, but not after April called."""
    return again(reading, node) if reading.goes_on(node) else None


def of_a_year(reading: Reading, node: Node) -> Cycle | None:
    """May last year."""
    unit = reading.tokens[node.last + 2].value
    return again(reading, node) if unit is Unit.YEAR else None


def not_a_verb(reading: Reading, node: Node) -> Cycle | None:
    return None if reading.after(node).value in VERBAL else again(reading, node)


def day_of_month(reading: Reading, *nodes: Node) -> Cycle | None:
    """On the 5th, but not on the 5th floor."""
    return cycle.monthly(nodes[-1].value) if reading.goes_on(nodes[-1]) else None


def feast_day(_: Reading, feast: Node, which: Node) -> Cycle | None:
    """Christmas Eve, Valentine's Day."""
    named: Cycle = feast.value
    if which.kind == KINDS["eve"]:
        return named.map(lambda day: whole(day.since - DAY, Unit.DAY), Unit.DAY)
    return named if which.value is Unit.DAY else None


def new_year(_: Reading, __: Node, unit: Node, which: Node) -> Cycle | None:
    if unit.value is not Unit.YEAR:
        return None
    if which.kind == KINDS["eve"]:
        return cycle.yearly(12, 31)
    return cycle.yearly(1, 1) if which.value is Unit.DAY else None


def in_year(_: Reading, date: Node, __: Node | None, year: Node) -> Stretch | None:
    named: Date = date.value
    if not isinstance(named, Cycle) or named.every is not Unit.YEAR:
        return None
    return named.in_year(year.value)


def year(reading: Reading, node: Node) -> Stretch | None:
    """In 2000, but not in 2000 words."""
    if reading.after(node).value in MEASURES:
        return None
    return whole(midnight(node.value), Unit.YEAR)


def named_year(_: Reading, __: Node | None, unit: Node, node: Node) -> Stretch | None:
    return whole(midnight(node.value), Unit.YEAR) if unit.value is Unit.YEAR else None


def on_weekday(_: Reading, *nodes: Node) -> Date | None:
    """Sunday, May 7: the date says it all."""
    named: Date = nodes[-1].value
    weekly = isinstance(named, Cycle) and named.every is Unit.WEEK
    return named if named.precision is Unit.DAY and not weekly else None


RULES = [
    Rule("moment", "date", moment),
    Rule("numeric", "date", numeric),
    Rule("<on|{since} slashed", "date", slashed),
    Rule("<date <{to} slashed", "date", slashed),
    Rule("<in|of|{since}|season|month|name|feast short_year", "year", full_year),
    Rule("the decade", "date", decade),
    Rule("<early decade", "date", decade),
    Rule("<early <dash decade", "date", decade),
    Rule("decade", "date", lambda r, node: decade(r, node) if node.value > CENTURY else None),
    # days of a month
    Rule("{month} {day} {to} the? {day}", "date", days),
    Rule("the? {day} {to} the? {day} of? {month}", "date", days),
    Rule("{month} the? {day}", "date", day),
    Rule("<on|{since} maybe the? number", "date", day),
    Rule("maybe the? ordinal", "date", day),
    Rule("maybe the? number >year", "date", day),
    Rule("maybe the? number >comma >year", "date", day),
    Rule("the? {day} of? {month}", "date", day),
    Rule("the? {day} of? maybe >year", "date", day),
    Rule("the? {day}|nth of {any_month}", "date", day),
    Rule("weekday comma? the? ordinal", "date", day_of_month),
    Rule("<on|for|around|between|{since} <the ordinal", "date", day_of_month),
    Rule("<date <and|or|{to} <the ordinal", "date", day_of_month),
    # feasts
    Rule("new unit eve|unit", "date", new_year),
    Rule("feast eve|unit", "date", feast_day),
    # what comes every year, where the words around it say that it is a date
    Rule("<!last|this|next|past|coming|following|that|every month", "date", again),
    Rule("{again}|maybe >year", "date", again),
    Rule("{again}|maybe >comma|of >year", "date", again),
    Rule("{again}|maybe >last|this|next >unit", "date", of_a_year),
    Rule("<in|during|early name|quarter", "date", again),
    Rule("<early <dash name|quarter|season", "date", again),
    Rule("<of|between|around|{since} name|quarter", "date", again_alone),
    Rule("<date <and|or|to|dash name|quarter", "date", again_alone),
    Rule("<in|during|early|since|until|of maybe", "date", not_a_verb),
    Rule("<in|during|over|early|{since} season", "date", again_alone),
    Rule("<in|during|over|for|{since} <the season", "date", again_alone),
    Rule("<edge <of season", "date", again_alone),
    Rule("<edge <of <the season", "date", again_alone),
    Rule("<on|at|for|over|during|between|around|to|{since} feast", "date", again_alone),
    Rule("<date <and|or feast", "date", again_alone),
    Rule("feast >part", "date", again),
    Rule("<unit <of feast", "date", again_alone),
    Rule("<date short_year", "year", full_year),
    Rule("date comma|of|in? year", "date", in_year),
    # years
    Rule("the? unit year", "date", named_year),
    Rule("<in|of|during|between|around|early|{since} year", "date", year),
    Rule("<early <dash year", "date", year),
    Rule("<date <and|to|dash year", "date", year),
    Rule("<open year >close", "date", year),
    Rule("<begin year >stop|finish", "date", year),
    Rule("{weekday} comma? the? date", "date", on_weekday),
]
