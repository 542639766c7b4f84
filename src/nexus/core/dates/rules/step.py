"""Dates a step from now, and pieces of them: last week, next March, the first Monday of June."""

from __future__ import annotations

from .. import cycle
from ..cycle import Cycle, Date
from ..grammar import Claim, Reading, Rule
from ..span import Precision as Unit
from ..span import Relation
from ..stretch import (
    COARSENESS,
    DAY,
    LAST,
    START,
    THIRDS,
    Length,
    Stretch,
    half,
    nth,
    nth_weekday,
    part,
    shift,
    third,
    whole,
)
from ..tokens import Node
from ..words import KINDS
from .calendar import AGAIN

END = 2  # the last of three thirds
# "Last day" and "next minute" are no dates.
NOT_STEPPED = (Unit.MINUTE, Unit.HOUR, Unit.PART_OF_DAY, Unit.DAY)
STEPS = {
    KINDS["last"]: -1,
    KINDS["past"]: -1,
    KINDS["this"]: 0,
    KINDS["next"]: 1,
    KINDS["coming"]: 1,
}


def step(reading: Reading, *nodes: Node) -> Stretch | None:
    """Last Friday, this summer, next March."""
    word, named = nodes[-2:]
    again = AGAIN[named.kind](named.value)
    if word.kind == KINDS["this"]:
        return again.this(reading.at, reading.tense(named))
    if word.kind == KINDS["next"]:
        return again.next(reading.at)
    if word.kind == KINDS["coming"]:
        return again.after(reading.today + DAY)
    return again.last(reading.at)


def step_unit(reading: Reading, word: Node, unit: Node) -> Stretch | None:
    """Last week, this month, next year: the calendar's."""
    if unit.value in NOT_STEPPED:
        return None
    if unit.value is Unit.WEEKEND and word.kind == KINDS["this"]:
        return cycle.weekend().this(reading.at, reading.tense(unit))
    return whole(shift(START[unit.value](reading.at), unit.value, STEPS[word.kind]), unit.value)


def rolling(reading: Reading, *nodes: Node) -> Stretch | None:
    """The past week, the next three days: up to now or from now on; but a weekend is a weekend."""
    word, long = nodes[-2:]
    if long.value is Unit.WEEKEND:
        return step_unit(reading, word, long)
    one = long.kind == KINDS["unit"]
    length: Length = Length.exactly(1, long.value) if one else long.value
    return length.up_to(reading.at, STEPS[word.kind])


def two_steps(
    reading: Reading, _: Node | None, named: Node, side: Node, __: Node
) -> Stretch | None:
    """The week before last, the Friday after next."""
    by = -1 if side.kind == KINDS["before"] else 1
    if named.kind == KINDS["unit"]:
        if named.value in NOT_STEPPED:
            return None
        return whole(shift(START[named.value](reading.at), named.value, 2 * by), named.value)
    if named.kind == KINDS["part"]:
        return part(whole(reading.today - 2 * DAY, Unit.DAY), named.value)
    again = AGAIN[named.kind](named.value)
    first = again.last(reading.at) if by < 0 else again.next(reading.at)
    return first and whole(first.since + by * 7 * DAY, Unit.DAY)


def nth_of(_: Reading, __: Node | None, which: Node, unit: Node, *rest: Node) -> Date | None:
    """The second half, week or Friday of a longer time."""
    number = LAST if which.kind == KINDS["last"] else which.value
    of: Date = rest[-1].value
    finest = unit.value if unit.kind == KINDS["unit"] else Unit.DAY
    if COARSENESS[finest] >= COARSENESS[of.precision]:  # last year in May
        return None
    if unit.kind == KINDS["half"]:
        return of.map(lambda named: half(named, number), Unit.WEEK)
    if unit.kind == KINDS["unit"]:
        return of.map(lambda named: nth(named, unit.value, number), unit.value)
    return of.map(lambda named: nth_weekday(named, unit.value, number), Unit.DAY)


def nth_length_of(_: Reading, __: Node | None, which: Node, long: Node, *rest: Node) -> Date | None:
    """The first two weeks, the last three days of June."""
    length: Length = long.value
    of: Date = rest[-1].value
    if which.kind == KINDS["last"]:
        return of.map(lambda named: length.within(named.until, -1), length.unit)
    if which.value != 1:
        return None
    return of.map(lambda named: length.within(named.since, 1), length.unit)


def before_the_end(reading: Reading, *nodes: Node) -> Claim | None:
    """Before the end of the year: until it."""
    *_, edge, __, ___, of = nodes
    if edge.value != END:
        return None
    named = whole(reading.at, of.value) if of.kind == KINDS["unit"] else reading.settle(of)
    return Claim(None, named.until, named.precision, Relation.UNTIL) if named else None


def third_of(_: Reading, __: Node | None, which: Node, *rest: Node) -> Date | None:
    of: Date = rest[-1].value
    if of.precision not in THIRDS:
        return None
    return of.map(lambda named: third(named, which.value), Unit.WEEK)


def third_of_unit(reading: Reading, _: Node | None, which: Node, *rest: Node) -> Stretch | None:
    """The end of the month: of this one."""
    unit = rest[-1].value
    return third(whole(reading.at, unit), which.value) if unit in THIRDS else None


def rest_of(reading: Reading, which: Node, date: Node) -> Stretch | None:
    """Earlier this week: up to today; later this year: from today on."""
    named = date.value
    if isinstance(named, Cycle) or not named.holds(reading.at):
        return None
    if which.kind == KINDS["earlier"]:
        return Stretch(named.since, min(named.until, reading.today + DAY), named.precision)
    return Stretch(max(named.since, reading.today), named.until, named.precision)


def other_day(reading: Reading, _: Node, __: Node, unit: Node) -> Stretch | None:
    if unit.value not in (Unit.DAY, "night"):
        return None
    return Stretch(reading.today - 7 * DAY, reading.today, Unit.DAY, vague=True)


def part_of_today(reading: Reading, word: Node, named: Node) -> Stretch:
    return part(whole(reading.today + STEPS[word.kind] * DAY, Unit.DAY), named.value)


NTH = Rule("the? nth|last unit|{weekday}|half of|in the? date", "date", nth_of)

RULES = [
    Rule("today", "date", lambda r, node: whole(r.today + node.value * DAY, Unit.DAY)),
    Rule("tonight", "date", lambda r, _: part(whole(r.at, Unit.DAY), "night")),
    Rule("this|last part", "date", part_of_today),
    NTH,
    Rule("the? unit|part|{weekday} before last", "date", two_steps),
    Rule("the? unit|{weekday} after next", "date", two_steps),
    Rule("the? this? last|past|next|coming length >!of", "date", rolling),
    Rule("the|this? past unit >!of", "date", rolling),
    Rule("the|this last unit >!of", "date", rolling),
    Rule("<in|over|during|within|for the next|coming unit", "date", rolling),
    Rule("last|this|next|coming unit >!of", "date", step_unit),
    Rule("the? this? last|past|coming {again} >!of", "date", step),
    Rule("next|this {again}", "date", step),
    Rule("last|next maybe >!other", "date", step),
    NTH,  # again, for the first day of last month
    Rule("the? nth|last length of the? date", "date", nth_length_of),
    Rule("before the? edge of the? date|unit", "found", before_the_end),
    Rule("the? early dash? date", "date", third_of),
    Rule("the? edge of the? date", "date", third_of),
    Rule("the? edge of the? unit", "date", third_of_unit),
    Rule("earlier|later date", "date", rest_of),
    Rule("the another unit|part", "date", other_day),
]
