"""Stretches of calendar time, in the wall time of whoever speaks (naive on purpose).

What cannot be (30 February, the year 10000) raises ValueError or OverflowError; the grammar turns
both into silence.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from .span import Precision as Unit

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
INSTANT = timedelta(microseconds=1)


def midnight(year: int, month: int = 1, day: int = 1) -> datetime:
    return datetime(year, month, day)  # noqa: DTZ001  wall time


IN_TIME = {
    Unit.MINUTE: timedelta(minutes=1),
    Unit.HOUR: HOUR,
    Unit.PART_OF_DAY: DAY,
    Unit.DAY: DAY,
    Unit.WEEKEND: 7 * DAY,
    Unit.WEEK: 7 * DAY,
}
IN_MONTHS = {Unit.MONTH: 1, Unit.QUARTER: 3, Unit.SEASON: 3, Unit.YEAR: 12, Unit.DECADE: 120}

START: dict[Unit, Callable[[datetime], datetime]] = {
    Unit.MINUTE: lambda at: at.replace(second=0, microsecond=0),
    Unit.HOUR: lambda at: at.replace(minute=0, second=0, microsecond=0),
    Unit.DAY: lambda at: midnight(at.year, at.month, at.day),
    Unit.WEEKEND: lambda at: START[Unit.DAY](at) + (5 - at.weekday()) * DAY,
    Unit.WEEK: lambda at: START[Unit.DAY](at) - at.weekday() * DAY,
    Unit.MONTH: lambda at: midnight(at.year, at.month),
    Unit.QUARTER: lambda at: midnight(at.year, (at.month - 1) // 3 * 3 + 1),
    Unit.YEAR: lambda at: midnight(at.year),
    Unit.DECADE: lambda at: midnight(at.year // 10 * 10),
}

# Northern and meteorological: whole months, as people count them. Winter ends in the next year.
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
PARTS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 30)}

# Where "mid" and "late" begin: a unit and how many of it have passed.
THIRDS = {
    Unit.WEEK: (Unit.DAY, 2, 4),
    Unit.MONTH: (Unit.DAY, 10, 20),
    Unit.QUARTER: (Unit.MONTH, 1, 2),
    Unit.SEASON: (Unit.MONTH, 1, 2),
    Unit.YEAR: (Unit.MONTH, 4, 8),
    Unit.DECADE: (Unit.YEAR, 4, 7),
}
HALVES = {Unit.MONTH: (Unit.DAY, 15), Unit.YEAR: (Unit.MONTH, 6), Unit.DECADE: (Unit.YEAR, 5)}
LAST = -1
COARSENESS = {precision: place for place, precision in enumerate(Unit)}


@dataclass(frozen=True, slots=True)
class Stretch:
    """Half-open: `since` ≤ t < `until`."""

    since: datetime
    until: datetime
    precision: Unit
    vague: bool = False

    @property
    def last(self) -> datetime:
        return self.until - INSTANT

    def map(self, change: Callable[[Stretch], Stretch | None], precision: Unit) -> Stretch | None:
        """As `Cycle.map`: rules need not ask which of the two a date is."""
        del precision
        return change(self)

    def holds(self, at: datetime) -> bool:
        return self.since <= at < self.until

    def blurred(self) -> Stretch:
        return replace(self, vague=True)


def shift(at: datetime, unit: Unit, times: int) -> datetime:
    """The same day so many units on; the 31st becomes the last of a shorter month."""
    if unit in IN_TIME:
        return at + times * IN_TIME[unit]
    year, month = divmod(at.year * 12 + at.month - 1 + times * IN_MONTHS[unit], 12)
    return at.replace(year=year, month=month + 1, day=min(at.day, monthrange(year, month + 1)[1]))


def whole(at: datetime, unit: Unit) -> Stretch:
    """The calendar unit around a moment."""
    since = START[unit](at)
    until = since + 2 * DAY if unit is Unit.WEEKEND else shift(since, unit, 1)
    return Stretch(since, until, unit)


def season(year: int, name: str) -> Stretch:
    since = midnight(year, SEASONS[name])
    return Stretch(since, shift(since, Unit.MONTH, 3), Unit.SEASON)


def part(day: Stretch, name: str) -> Stretch:
    """The morning, evening… of the day a stretch begins on."""
    start = START[Unit.DAY](day.since)
    first, end = PARTS[name]
    return Stretch(start + first * HOUR, start + end * HOUR, Unit.PART_OF_DAY, day.vague)


def third(of: Stretch, which: int) -> Stretch:
    """The early (0), middle (1) or late (2) part."""
    unit, *cuts = THIRDS[of.precision]
    edges = [of.since, *(shift(of.since, unit, cut) for cut in cuts), of.until]
    precision = Unit.WEEK if of.precision is Unit.MONTH else unit
    return Stretch(edges[which], edges[which + 1], precision, of.vague)


def half(of: Stretch, which: int) -> Stretch | None:
    if of.precision not in HALVES or which not in (1, 2, LAST):
        return None
    middle = shift(of.since, *HALVES[of.precision])
    edges = (of.since, middle) if which == 1 else (middle, of.until)
    return Stretch(*edges, HALVES[of.precision][0], of.vague)


def nth(of: Stretch, unit: Unit, which: int) -> Stretch | None:
    """The second week of a month, the last month of a year: None if it does not lie inside."""
    if unit is Unit.WEEK:  # of a month: its days 1 to 7, not the week of the calendar
        since = of.until - 7 * DAY if which == LAST else of.since + (which - 1) * 7 * DAY
        found = Stretch(since, since + 7 * DAY, Unit.WEEK)
    elif unit is Unit.WEEKEND:
        saturday = nth_weekday(replace(of, until=of.until - DAY), 5, which)
        found = Stretch(saturday.since, saturday.since + 2 * DAY, Unit.WEEKEND)
    else:
        found = whole(of.last if which == LAST else shift(of.since, unit, which - 1), unit)
    return found if of.since <= found.since and found.until <= of.until else None


def nth_weekday(of: Stretch, weekday: int, which: int) -> Stretch:
    if which == LAST:
        return whole(of.last - (of.last.weekday() - weekday) % 7 * DAY, Unit.DAY)
    first = of.since + (weekday - of.since.weekday()) % 7 * DAY
    return whole(first + (which - 1) * 7 * DAY, Unit.DAY)


def beside(named: Stretch, unit: Unit, side: int) -> Stretch:
    """The week before (-1) or the day after (+1) a date.

    The week before a Friday is the seven days before it; longer units are the calendar's.
    """
    edge = named.since if side < 0 else named.last
    if unit is Unit.DAY:
        return whole(shift(edge, unit, side), unit)
    if unit is Unit.WEEK:
        since = named.since - 7 * DAY if side < 0 else named.until
        return Stretch(since, since + 7 * DAY, unit)
    if unit is Unit.WEEKEND:
        saturday = beside_weekday(named, 5, side, room=2 * DAY)
        return Stretch(saturday, saturday + 2 * DAY, unit)
    return whole(shift(START[unit](edge), unit, side), unit)


def beside_weekday(named: Stretch, weekday: int, side: int, room: timedelta = DAY) -> datetime:
    """The latest such day that ends by the start of a date, or the first after its end."""
    if side < 0:
        latest = START[Unit.DAY](named.since) - room
        return latest - (latest.weekday() - weekday) % 7 * DAY
    first = START[Unit.DAY](named.last) + DAY
    return first + (weekday - first.weekday()) % 7 * DAY


@dataclass(frozen=True, slots=True)
class Length:
    """So many units; `low` and `high` differ for "a few"."""

    unit: Unit
    count: int
    low: int
    high: int

    @classmethod
    def exactly(cls, count: int, unit: Unit) -> Length:
        return cls(unit, count, count, count)

    def away(self, at: datetime, side: int) -> Stretch:
        """What lies so far before (-1) or after (+1) a moment."""
        ends = [_near(shift(at, self.unit, side * n), self.unit) for n in (self.low, self.high)]
        since, until = min(end.since for end in ends), max(end.until for end in ends)
        return Stretch(since, until, self.unit, self.low != self.high)

    def within(self, edge: datetime, side: int) -> Stretch:
        """So long from a moment on, or up to it."""
        since, until = sorted((edge, shift(edge, self.unit, side * self.count)))
        return Stretch(since, until, self.unit, self.low != self.high)

    def up_to(self, at: datetime, side: int) -> Stretch:
        """The same with today, if it is a matter of days."""
        if self.unit in (Unit.MINUTE, Unit.HOUR):
            return self.within(at, side)
        found = self.within(START[Unit.DAY](at), side)
        return replace(found, until=found.until + DAY)


def _near(at: datetime, unit: Unit) -> Stretch:
    """What "N units ago" claims: the unit around that moment.

    A week is three days either way, since nobody counts Mondays; nights have their own hours.
    """
    if unit is Unit.WEEK:
        since = START[Unit.DAY](at) - 3 * DAY
        return Stretch(since, since + 7 * DAY, unit)
    return part(whole(at, Unit.DAY), "night") if unit is Unit.PART_OF_DAY else whole(at, unit)
