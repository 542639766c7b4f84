"""Intervals of calendar time, in local time (deliberately naive).

Impossible dates (30 February, the year 10000) raise ValueError or OverflowError, and the grammar
then ignores the phrase.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from functools import cache, lru_cache

from .span import DatePrecision as Unit

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
INSTANT = timedelta(microseconds=1)


def midnight(year: int, month: int = 1, day: int = 1) -> datetime:
    return datetime(year, month, day)  # noqa: DTZ001


UNIT_TIMEDELTAS = {
    Unit.MINUTE: timedelta(minutes=1),
    Unit.HOUR: HOUR,
    Unit.PART_OF_DAY: DAY,
    Unit.DAY: DAY,
    Unit.WEEKEND: 7 * DAY,
    Unit.WEEK: 7 * DAY,
}
UNIT_MONTHS = {Unit.MONTH: 1, Unit.QUARTER: 3, Unit.SEASON: 3, Unit.YEAR: 12, Unit.DECADE: 120}

UNIT_START: dict[Unit, Callable[[datetime], datetime]] = {
    Unit.MINUTE: lambda at: at.replace(second=0, microsecond=0),
    Unit.HOUR: lambda at: at.replace(minute=0, second=0, microsecond=0),
    Unit.DAY: lambda at: midnight(at.year, at.month, at.day),
    Unit.WEEKEND: lambda at: UNIT_START[Unit.DAY](at) + (5 - at.weekday()) * DAY,
    Unit.WEEK: lambda at: UNIT_START[Unit.DAY](at) - at.weekday() * DAY,
    Unit.MONTH: lambda at: midnight(at.year, at.month),
    Unit.QUARTER: lambda at: midnight(at.year, (at.month - 1) // 3 * 3 + 1),
    Unit.YEAR: lambda at: midnight(at.year),
    Unit.DECADE: lambda at: midnight(at.year // 10 * 10),
}

# Meteorological seasons of the north, in full months. Winter ends in the next year.
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
PART_HOURS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 30)}

# Start of "mid" and "late", as a number of smaller units.
THIRDS = {
    Unit.WEEK: (Unit.DAY, 2, 4),
    Unit.MONTH: (Unit.DAY, 10, 20),
    Unit.QUARTER: (Unit.MONTH, 1, 2),
    Unit.SEASON: (Unit.MONTH, 1, 2),
    Unit.YEAR: (Unit.MONTH, 4, 8),
    Unit.DECADE: (Unit.YEAR, 4, 7),
}
HALVES = {Unit.MONTH: (Unit.DAY, 15), Unit.YEAR: (Unit.MONTH, 6), Unit.DECADE: (Unit.YEAR, 5)}
LAST_INDEX = -1
COARSENESS = {precision: rank for rank, precision in enumerate(Unit)}


@dataclass(frozen=True, slots=True)
class TimeInterval:
    """A half-open interval: `since` ≤ t < `until`."""

    since: datetime
    until: datetime
    precision: Unit
    is_vague: bool = False

    @property
    def last_instant(self) -> datetime:
        return self.until - INSTANT

    def map(
        self, change: Callable[[TimeInterval], TimeInterval | None], precision: Unit
    ) -> TimeInterval | None:
        """Apply `change`, like `Recurrence.map`, so that rules can handle both types alike."""
        del precision
        return change(self)

    def contains(self, at: datetime) -> bool:
        return self.since <= at < self.until

    def as_vague(self) -> TimeInterval:
        return replace(self, is_vague=True)


def shift_by_units(at: datetime, unit: Unit, count: int) -> datetime:
    """Return the same day `count` units later; the 31st becomes the last day of a shorter month."""
    if unit in UNIT_TIMEDELTAS:
        return at + count * UNIT_TIMEDELTAS[unit]
    year, month = divmod(at.year * 12 + at.month - 1 + count * UNIT_MONTHS[unit], 12)
    return at.replace(year=year, month=month + 1, day=min(at.day, monthrange(year, month + 1)[1]))


def unit_around(at: datetime, unit: Unit) -> TimeInterval:
    """Return the calendar unit that contains a time."""
    since = UNIT_START[unit](at)
    until = since + 2 * DAY if unit is Unit.WEEKEND else shift_by_units(since, unit, 1)
    return TimeInterval(since, until, unit)


def season_interval(year: int, name: str) -> TimeInterval:
    since = midnight(year, SEASONS[name])
    return TimeInterval(since, shift_by_units(since, Unit.MONTH, 3), Unit.SEASON)


def part_of_day(day: TimeInterval, name: str) -> TimeInterval:
    """Return the morning, afternoon, evening or night of the first day of an interval."""
    start = UNIT_START[Unit.DAY](day.since)
    first, end = PART_HOURS[name]
    return TimeInterval(start + first * HOUR, start + end * HOUR, Unit.PART_OF_DAY, day.is_vague)


def take_third(interval: TimeInterval, which: int) -> TimeInterval:
    """Return the early (0), middle (1) or late (2) part."""
    unit, *cuts = THIRDS[interval.precision]
    edges = [
        interval.since,
        *(shift_by_units(interval.since, unit, cut) for cut in cuts),
        interval.until,
    ]
    precision = Unit.WEEK if interval.precision is Unit.MONTH else unit
    return TimeInterval(edges[which], edges[which + 1], precision, interval.is_vague)


def take_half(interval: TimeInterval, which: int) -> TimeInterval | None:
    if interval.precision not in HALVES or which not in (1, 2, LAST_INDEX):
        return None
    middle = shift_by_units(interval.since, *HALVES[interval.precision])
    edges = (interval.since, middle) if which == 1 else (middle, interval.until)
    return TimeInterval(*edges, HALVES[interval.precision][0], interval.is_vague)


def take_nth(interval: TimeInterval, unit: Unit, which: int) -> TimeInterval | None:
    """Return the n-th unit of an interval, such as the second week of a month; None if outside."""
    if unit is Unit.WEEK:  # the first week of a month is its days 1 to 7, not a calendar week
        since = (
            interval.until - 7 * DAY
            if which == LAST_INDEX
            else interval.since + (which - 1) * 7 * DAY
        )
        found = TimeInterval(since, since + 7 * DAY, Unit.WEEK)
    elif unit is Unit.WEEKEND:
        saturday = take_nth_weekday(replace(interval, until=interval.until - DAY), 5, which)
        found = TimeInterval(saturday.since, saturday.since + 2 * DAY, Unit.WEEKEND)
    else:
        found = unit_around(
            interval.last_instant
            if which == LAST_INDEX
            else shift_by_units(interval.since, unit, which - 1),
            unit,
        )
    return found if interval.since <= found.since and found.until <= interval.until else None


def take_nth_weekday(interval: TimeInterval, weekday: int, which: int) -> TimeInterval:
    if which == LAST_INDEX:
        return unit_around(
            interval.last_instant - (interval.last_instant.weekday() - weekday) % 7 * DAY, Unit.DAY
        )
    first = interval.since + (weekday - interval.since.weekday()) % 7 * DAY
    return unit_around(first + (which - 1) * 7 * DAY, Unit.DAY)


def adjacent_unit(date: TimeInterval, unit: Unit, side: int) -> TimeInterval:
    """Return the unit before (-1) or after (+1) a date.

    The week before a Friday is the seven days before it; longer units are calendar units.
    """
    edge = date.since if side < 0 else date.last_instant
    if unit is Unit.DAY:
        return unit_around(shift_by_units(edge, unit, side), unit)
    if unit is Unit.WEEK:
        since = date.since - 7 * DAY if side < 0 else date.until
        return TimeInterval(since, since + 7 * DAY, unit)
    if unit is Unit.WEEKEND:
        saturday = adjacent_weekday(date, 5, side, room=2 * DAY)
        return TimeInterval(saturday, saturday + 2 * DAY, unit)
    return unit_around(shift_by_units(UNIT_START[unit](edge), unit, side), unit)


def adjacent_weekday(
    date: TimeInterval, weekday: int, side: int, room: timedelta = DAY
) -> datetime:
    """Return the last such weekday before a date, or the first one after it."""
    if side < 0:
        latest = UNIT_START[Unit.DAY](date.since) - room
        return latest - (latest.weekday() - weekday) % 7 * DAY
    first = UNIT_START[Unit.DAY](date.last_instant) + DAY
    return first + (weekday - first.weekday()) % 7 * DAY


WORKING_DAYS_PER_WEEK = 5


def shift_by_working_days(day: datetime, count: int) -> datetime:
    """Return the n-th day from Monday to Friday after a day, or before it if `count` < 0."""
    # A weekend counts as the Friday before it, or counting back as the Monday after it.
    latest = WORKING_DAYS_PER_WEEK - (count > 0)
    weeks, rest = divmod(min(day.weekday(), latest) + count, WORKING_DAYS_PER_WEEK)
    return UNIT_START[Unit.WEEK](day) + (7 * weeks + rest) * DAY


@dataclass(frozen=True, slots=True)
class WorkingDays:
    """A number of days from Monday to Friday; `low` and `high` differ for "a few"."""

    low: int
    high: int

    def offset_from(self, at: datetime, side: int) -> TimeInterval:
        """Return the day at this distance before (-1) or after (+1) a time."""
        first, last = sorted(
            shift_by_working_days(at, side * count) for count in (self.low, self.high)
        )
        return TimeInterval(first, last + DAY, Unit.DAY, self.low != self.high)


@dataclass(frozen=True, slots=True)
class Duration:
    """A number of units; `low` and `high` differ for phrases like "a few"."""

    unit: Unit
    count: int
    low: int
    high: int

    @classmethod
    def exactly(cls, count: int, unit: Unit) -> Duration:
        return cls(unit, count, count, count)

    def offset_from(self, at: datetime, side: int) -> TimeInterval:
        """Return the interval at this distance before (-1) or after (+1) a time."""
        ends = [
            _interval_around(shift_by_units(at, self.unit, side * n), self.unit)
            for n in (self.low, self.high)
        ]
        since, until = min(end.since for end in ends), max(end.until for end in ends)
        return TimeInterval(since, until, self.unit, self.low != self.high)

    def interval_from(self, edge: datetime, side: int) -> TimeInterval:
        """Return the interval of this length that starts (+1) or ends (-1) at `edge`."""
        since, until = sorted((edge, shift_by_units(edge, self.unit, side * self.count)))
        return TimeInterval(since, until, self.unit, self.low != self.high)

    def interval_through_today(self, at: datetime, side: int) -> TimeInterval:
        """Return the same interval including today, for units of a day or longer."""
        if self.unit in (Unit.MINUTE, Unit.HOUR):
            return self.interval_from(at, side)
        found = self.interval_from(UNIT_START[Unit.DAY](at), side)
        return replace(found, until=found.until + DAY)


def _interval_around(at: datetime, unit: Unit) -> TimeInterval:
    """Return the interval that "N units ago" means: the unit around that time.

    A week extends three days either way, since "two weeks ago" rarely means a calendar week.
    """
    if unit is Unit.WEEK:
        since = UNIT_START[Unit.DAY](at) - 3 * DAY
        return TimeInterval(since, since + 7 * DAY, unit)
    return (
        part_of_day(unit_around(at, Unit.DAY), "night")
        if unit is Unit.PART_OF_DAY
        else unit_around(at, unit)
    )


SEARCH_PERIODS = 8  # 29 February may be eight years away, around a year like 1900


class VerbTense(Enum):
    PAST = "past"
    FUTURE = "future"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A recurring date. `find_occurrence` returns the one in the period starting at a time."""

    period: Unit
    precision: Unit
    find_occurrence: Callable[[datetime], TimeInterval | None]
    may_be_today: bool = True  # False for weekdays: "Friday" on a Friday means another one
    min_notice: timedelta = timedelta(0)  # minimum distance of "next"

    def map(
        self, change: Callable[[TimeInterval], TimeInterval | None], precision: Unit
    ) -> Recurrence:
        def find_occurrence(start: datetime) -> TimeInterval | None:
            named = self.find_occurrence(start)
            return named and change(named)

        return replace(self, find_occurrence=find_occurrence, precision=precision)

    def in_year(self, year: int) -> TimeInterval | None:
        return self.find_occurrence(midnight(year))

    def resolve(self, at: datetime, tense: VerbTense) -> TimeInterval | None:
        """Return the latest (past), the next (future) or the nearest occurrence (no tense)."""
        if tense is VerbTense.PAST:
            return self._latest_occurrence(at)
        if tense is VerbTense.FUTURE:
            return self._next_occurrence(at)
        if around := self.occurrence_at(at):
            return around
        sides = [side for side in (self._latest_occurrence(at), self._next_occurrence(at)) if side]
        return min(sides, key=lambda side: max(at - side.until, side.since - at), default=None)

    def _latest_occurrence(self, at: datetime) -> TimeInterval | None:
        end = at if self.may_be_today else UNIT_START[Unit.DAY](at) - INSTANT
        return next((found for found in self._search_back(at) if found.since <= end), None)

    def _next_occurrence(self, at: datetime) -> TimeInterval | None:
        if not self.may_be_today:
            return self.first_after(UNIT_START[Unit.DAY](at) + DAY)
        return next((found for found in self._search_forward(at) if found.until > at), None)

    def occurrence_at(self, at: datetime) -> TimeInterval | None:
        return next(
            (found for found in self._find_occurrences(at, (0, -1)) if found.contains(at)), None
        )

    def previous(self, at: datetime, count: int = 1) -> TimeInterval | None:
        """Return the `count`-th last occurrence that has ended."""
        ended = (found for found in self._search_back(at) if found.until <= at)
        return next((found for n, found in enumerate(ended, start=1) if n == count), None)

    def next(self, at: datetime) -> TimeInterval | None:
        return self.first_after(UNIT_START[Unit.DAY](at) + max(self.min_notice, DAY))

    def first_after(self, at: datetime) -> TimeInterval | None:
        return next((found for found in self._search_forward(at) if found.since >= at), None)

    def current(self, at: datetime, tense: VerbTense) -> TimeInterval | None:
        """Return the occurrence at `at`, or by tense, or the one in this week or year."""
        if around := self.occurrence_at(at):
            return around
        return (
            self.find_occurrence(UNIT_START[self.period](at))
            if tense is VerbTense.NONE
            else self.resolve(at, tense)
        )

    def _search_back(self, at: datetime) -> Iterator[TimeInterval]:
        return self._find_occurrences(at, range(0, -SEARCH_PERIODS - 1, -1))

    def _search_forward(self, at: datetime) -> Iterator[TimeInterval]:
        return self._find_occurrences(at, range(-1, SEARCH_PERIODS + 1))

    def _find_occurrences(self, at: datetime, numbers: Iterable[int]) -> Iterator[TimeInterval]:
        start = UNIT_START[self.period](at)
        for number in numbers:
            try:
                found = self.find_occurrence(shift_by_units(start, self.period, number))
            except (ValueError, OverflowError):  # no 29 February in that year, no year 10000
                continue
            if found:
                yield found


Date = Recurrence | TimeInterval  # unresolved or resolved


@cache
def every_weekday(number: int) -> Recurrence:
    def find_occurrence(monday: datetime) -> TimeInterval:
        return unit_around(monday + number * DAY, Unit.DAY)

    # A Friday less than four days ahead is "this Friday"; "next Friday" is the one after it.
    return Recurrence(Unit.WEEK, Unit.DAY, find_occurrence, may_be_today=False, min_notice=4 * DAY)


@cache
def every_weekend() -> Recurrence:
    return Recurrence(Unit.WEEK, Unit.WEEKEND, lambda monday: unit_around(monday, Unit.WEEKEND))


@cache
def every_month(number: int) -> Recurrence:
    return Recurrence(
        Unit.YEAR, Unit.MONTH, lambda year: unit_around(year.replace(month=number), Unit.MONTH)
    )


@cache
def every_quarter(number: int) -> Recurrence:
    def find_occurrence(year: datetime) -> TimeInterval:
        return unit_around(year.replace(month=3 * number - 2), Unit.QUARTER)

    return Recurrence(Unit.YEAR, Unit.QUARTER, find_occurrence)


@cache
def every_season(name: str) -> Recurrence:
    return Recurrence(Unit.YEAR, Unit.SEASON, lambda year: season_interval(year.year, name))


@cache
def every_year_on(month: int, day: int) -> Recurrence:
    midnight(2000, month, day)  # a leap year: raises ValueError for 30 February

    def find_occurrence(year: datetime) -> TimeInterval:
        return unit_around(year.replace(month=month, day=day), Unit.DAY)

    return Recurrence(Unit.YEAR, Unit.DAY, find_occurrence)


@cache
def every_month_on(day: int) -> Recurrence:
    return Recurrence(
        Unit.MONTH, Unit.DAY, lambda month: unit_around(month.replace(day=day), Unit.DAY)
    )


@cache
def every_thanksgiving() -> Recurrence:
    def find_occurrence(year: datetime) -> TimeInterval:
        return take_nth_weekday(unit_around(year.replace(month=11), Unit.MONTH), 3, 4)

    return Recurrence(Unit.YEAR, Unit.DAY, find_occurrence)


@cache
def every_easter(days_after: int = 0) -> Recurrence:
    """Return the western Easter Sunday, or a feast a fixed number of days before or after it."""

    def find_occurrence(year: datetime) -> TimeInterval:
        return unit_around(easter_sunday(year.year) + days_after * DAY, Unit.DAY)

    return Recurrence(Unit.YEAR, Unit.DAY, find_occurrence)


def easter_sunday(year: int) -> datetime:
    """Return the Easter Sunday of a year in the Gregorian calendar (Meeus, Jones and Butcher)."""
    lunar_year = year % 19
    century, year_of_century = divmod(year, 100)
    lunar_shift = (century - (century + 8) // 25 + 1) // 3
    full_moon = (19 * lunar_year + century - century // 4 - lunar_shift + 15) % 30
    to_sunday = (
        32 + 2 * (century % 4) + 2 * (year_of_century // 4) - full_moon - year_of_century % 4
    ) % 7
    late_moons = (lunar_year + 11 * full_moon + 22 * to_sunday) // 451
    month, day = divmod(full_moon + to_sunday - 7 * late_moons + 114, 31)
    return midnight(year, month, day + 1)


FIRST_MORNING_HOUR = 7  # by default, "at 6" is in the evening and "at 7" in the morning


@dataclass(frozen=True, slots=True)
class ClockTime:
    """A time of day; inexact if it may be before or after noon."""

    hour: int
    minute: int | None = None
    is_exact: bool = True
    end: ClockTime | None = None
    is_vague: bool = False  # "9ish"

    @property
    def precision(self) -> Unit:
        return Unit.HOUR if self.minute is None else Unit.MINUTE

    def range_to(self, end: ClockTime) -> ClockTime:
        """Return the range to `end`; in "2-4pm" the start takes am or pm from the end."""
        if end.is_exact and not self.is_exact:
            late = end.hour >= 12 and self.hour % 12 + 12 <= end.hour
            return ClockTime(self.hour % 12 + 12 * late, self.minute, end=end)
        return replace(self, end=end)

    def on_day(self, day: TimeInterval) -> TimeInterval:
        """Return this time within a day or part of a day; the likelier one if two fit."""
        start = UNIT_START[Unit.DAY](day.since)
        moments = [start + days * DAY + time for days in (0, 1) for time in self.possible_times()]
        inside = (at for at in moments if day.since <= at <= day.until)  # midnight ends a day
        since = next(inside, moments[0])
        is_vague = day.is_vague or self.is_vague
        if self.end is None:
            return replace(unit_around(since, self.precision), is_vague=is_vague)
        start = UNIT_START[Unit.DAY](since)
        ends = [
            start + days * DAY + time
            for days in (0, 1)
            for time in sorted(self.end.possible_times())
        ]
        return TimeInterval(since, next(at for at in ends if at > since), self.precision, is_vague)

    def possible_times(self) -> list[timedelta]:
        if self.is_exact:
            return [self._as_timedelta(self.hour)]
        morning, evening = (
            self._as_timedelta(self.hour % 12),
            self._as_timedelta(self.hour % 12 + 12),
        )
        late = self.hour < FIRST_MORNING_HOUR or self.hour == 12
        return [evening, morning] if late else [morning, evening]

    def _as_timedelta(self, hour: int) -> timedelta:
        return hour * HOUR + timedelta(minutes=self.minute or 0)


@lru_cache(maxsize=4_000)
def every_day_at(clock: ClockTime) -> Recurrence:
    return Recurrence(
        Unit.DAY, clock.precision, lambda day: clock.on_day(unit_around(day, Unit.DAY))
    )
