"""Dates away from now or from another date: two days ago, the Friday before 5 May, a week later."""

from __future__ import annotations

from .. import cycle
from ..cycle import Cycle, Date, Tense
from ..grammar import Reading, Rule
from ..span import Precision as Unit
from ..stretch import (
    COARSENESS,
    DAY,
    Length,
    Stretch,
    beside,
    beside_weekday,
    part,
    shift,
    whole,
)
from ..tokens import Node
from ..words import KINDS
from .calendar import AGAIN, again

BEFORE, AFTER = -1, 1
SIDES = {KINDS["before"]: BEFORE, KINDS["after"]: AFTER}
NOT_BESIDE = (Unit.MINUTE, Unit.HOUR, Unit.PART_OF_DAY)


def ago(reading: Reading, how: Node | None, long: Node, _: Node) -> Stretch:
    found: Stretch = long.value.away(reading.at, BEFORE)
    return found.blurred() if how else found


def to_the_day(_: Reading, long: Node, __: Node, day: Node) -> Stretch | None:
    """A week ago today, a year ago last Tuesday."""
    if isinstance(day.value, Cycle) or long.value.unit in NOT_BESIDE:
        return None
    if day.value.precision is not Unit.DAY:
        return None
    return whole(shift(day.value.since, long.value.unit, -long.value.count), Unit.DAY)


def in_length(reading: Reading, _: Node, how: Node | None, long: Node) -> Stretch | None:
    """In two weeks; but they built it in two weeks."""
    if reading.tense(long) is Tense.PAST:
        return None
    found: Stretch = long.value.away(reading.at, AFTER)
    return found.blurred() if how else found


def for_length(reading: Reading, _: Node | None, how: Node | None, long: Node, __: Node) -> Stretch:
    """For two years now: since then."""
    found: Stretch = long.value.up_to(reading.at, BEFORE)
    return found.blurred() if how else found


def from_date(reading: Reading, long: Node, _: Node, __: Node | None, date: Node) -> Stretch | None:
    """A week from Friday, which is a Friday."""
    start = reading.settle(date, Tense.FUTURE)
    if start is None:
        return None
    if long.value.unit in (Unit.DAY, Unit.WEEK):
        return whole(shift(start.since, long.value.unit, long.value.count), Unit.DAY)
    found: Stretch = long.value.away(start.since, AFTER)
    return found


def away_from(reading: Reading, long: Node, side: Node, *rest: Node) -> Stretch | None:
    """Two weeks before 11 August."""
    date = reading.settle(rest[-1])
    if date is None:
        return None
    length: Length = long.value
    to = SIDES[side.kind]
    if length.unit is Unit.WEEKEND:
        first = beside(date, Unit.WEEKEND, to).since
        return whole(first + (length.count - 1) * to * 7 * DAY, Unit.WEEKEND)
    return length.away(date.since if to < 0 else date.last, to)


def event_away(reading: Reading, long: Node, side: Node, *rest: Node) -> Stretch | None:
    """Two days before the launch on 10 April; but of a launch in April it would claim too much."""
    if COARSENESS[rest[-1].value.precision] > COARSENESS[long.value.unit]:
        return None
    return away_from(reading, long, side, *rest)


def next_to(
    reading: Reading, _: Node | None, what: Node, side: Node, *rest: Node
) -> Stretch | None:
    """The week before, the Friday after, the night before a date."""
    date = reading.settle(rest[-1])
    if date is None or what.value in NOT_BESIDE:
        return None
    to = SIDES[side.kind]
    if what.kind == KINDS["part"]:
        return part(beside(date, Unit.DAY, to), what.value)
    if what.kind == KINDS["unit"]:
        return beside(date, what.value, to)
    return whole(beside_weekday(date, what.value, to), Unit.DAY)


def unit_of(_: Reading, __: Node | None, unit: Node, *rest: Node) -> Date | None:
    """The week of 23 August, the night of 30 October, the month of May."""
    named: Date = rest[-1].value
    if unit.kind == KINDS["part"]:
        if named.precision is not Unit.DAY:
            return None
        return named.map(lambda date: part(date, unit.value), Unit.PART_OF_DAY)
    if unit.value in NOT_BESIDE:
        return None
    return named.map(lambda date: whole(date.since, unit.value), unit.value)


def weekend(_: Reading, unit: Node) -> Cycle | None:
    return cycle.weekend() if unit.value is Unit.WEEKEND else None


AWAY = [
    Rule("<before|after weekday", "date", again),
    Rule("length ago date", "date", to_the_day),
    Rule("about|around|over? length ago", "date", ago),
    Rule("for? about|around|over? length now", "date", for_length),
    Rule("length from now", "date", lambda r, long, *_: long.value.away(r.at, AFTER)),
    Rule("length before|after the? date", "date", away_from),
    Rule("length before|after the? other other? other? on|in the? date", "date", event_away),
    Rule("in about|around? length", "date", in_length),
    Rule("within the? length", "date", lambda r, _, __, long: long.value.up_to(r.at, AFTER)),
    Rule("the? unit|part|{weekday} before|after the? date", "date", next_to),
    Rule("the? unit|part of the? date", "date", unit_of),
    Rule("<over|on|during|at <the unit", "date", weekend),
    Rule("weekday", "date", again),
    Rule("<on|between|{since} short", "date", again),
    Rule("short >{to} >{weekday}|date", "date", again),
    Rule("short >part|time|clock", "date", again),
    Rule("short >at >time|clock|number", "date", again),
    Rule("<date <{to} short", "date", again),
    Rule("length from the? date", "date", from_date),
]


def narrowed(reading: Reading, *nodes: Node | None) -> Stretch | None:
    """In May last year, next week on Friday, the 5th of last month: the one in there."""
    first, *_, last = (node for node in nodes if node)
    named = again(reading, last) if last.kind == KINDS["short"] else last.value
    pair = (first.value, named) if isinstance(first.value, Cycle) else (named, first.value)
    return _inside(*pair)


def _inside(named: Date, longer: Date) -> Stretch | None:
    if not isinstance(named, Cycle) or isinstance(longer, Cycle):
        return None
    return named.after(longer.since) if named.every is longer.precision else None


NARROWED = [
    Rule("date of|on|in|at? the? date", "date", narrowed),
    Rule("date on? short", "date", narrowed),
]


def later(reading: Reading, long: Node, _: Node) -> Stretch:
    anchor = reading.anchor()
    found: Stretch = long.value.away(anchor.since if anchor else reading.at, AFTER)
    return found


def following(reading: Reading, _: Node | None, word: Node, what: Node) -> Stretch | None:
    """The next day, the following week: of what was mentioned, not of the moment of speaking."""
    anchor = reading.anchor()
    if anchor is None:
        return None
    if what.kind in AGAIN:
        return AGAIN[what.kind](what.value).after(anchor.until)
    if what.kind == KINDS["part"]:
        return part(beside(anchor, Unit.DAY, AFTER), what.value)
    if word.kind == KINDS["next"] and what.value is not Unit.DAY:
        return None
    return whole(shift(anchor.since, what.value, AFTER), what.value)


def that(reading: Reading, _: Node, named: Node) -> Stretch | None:
    """That autumn: the first since what was just mentioned."""
    anchor = reading.anchor()
    return anchor and AGAIN[named.kind](named.value).after(anchor.since)


ANAPHORA = [
    Rule("length later", "date", later),
    Rule("the? next|following unit|part", "date", following),
    Rule("the following {again}", "date", following),
    Rule("that season|month|name", "date", that),
]
