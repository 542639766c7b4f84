"""What comes again and again: Friday, May, 7 May, summer, Christmas, 8am.

Without a year a date names one occurrence of many; which one depends on the words around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from functools import cache

from .span import Precision as Unit
from .stretch import DAY, INSTANT, START, Stretch, midnight, nth_weekday, season, shift, whole

REACH = 8  # cycles to look around: 29 February comes after eight years where a century is skipped


class Tense(Enum):
    PAST = "past"
    FUTURE = "future"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Cycle:
    """`place` finds the occurrence in the cycle that starts at a moment, if there is one."""

    every: Unit
    precision: Unit
    place: Callable[[datetime], Stretch | None]
    today: bool = True  # whether today may be meant: on a Friday nobody calls today "Friday"
    notice: timedelta = timedelta(0)  # how far ahead "next" looks

    def map(self, change: Callable[[Stretch], Stretch | None], precision: Unit) -> Cycle:
        def place(start: datetime) -> Stretch | None:
            named = self.place(start)
            return named and change(named)

        return replace(self, place=place, precision=precision)

    def in_year(self, year: int) -> Stretch | None:
        return self.place(midnight(year))

    def settle(self, at: datetime, tense: Tense) -> Stretch | None:
        """The occurrence meant: the latest, the coming one, or without a tense the nearest."""
        if tense is Tense.PAST:
            return self._latest(at)
        if tense is Tense.FUTURE:
            return self._coming(at)
        if around := self.around(at):
            return around
        sides = [side for side in (self._latest(at), self._coming(at)) if side]
        return min(sides, key=lambda side: max(at - side.until, side.since - at), default=None)

    def _latest(self, at: datetime) -> Stretch | None:
        end = at if self.today else START[Unit.DAY](at) - INSTANT
        return next((found for found in self._back(at) if found.since <= end), None)

    def _coming(self, at: datetime) -> Stretch | None:
        if not self.today:
            return self.after(START[Unit.DAY](at) + DAY)
        return next((found for found in self._on(at) if found.until > at), None)

    def around(self, at: datetime) -> Stretch | None:
        return next((found for found in self._places(at, (0, -1)) if found.holds(at)), None)

    def last(self, at: datetime, times: int = 1) -> Stretch | None:
        """The latest that is over, or the one so many times before."""
        over = (found for found in self._back(at) if found.until <= at)
        return next((found for n, found in enumerate(over, start=1) if n == times), None)

    def next(self, at: datetime) -> Stretch | None:
        return self.after(START[Unit.DAY](at) + max(self.notice, DAY))

    def after(self, at: datetime) -> Stretch | None:
        return next((found for found in self._on(at) if found.since >= at), None)

    def this(self, at: datetime, tense: Tense) -> Stretch | None:
        """The one going on; else the tense decides; else the one in this week or year."""
        if around := self.around(at):
            return around
        return self.place(START[self.every](at)) if tense is Tense.NONE else self.settle(at, tense)

    def _back(self, at: datetime) -> Iterator[Stretch]:
        return self._places(at, range(0, -REACH - 1, -1))

    def _on(self, at: datetime) -> Iterator[Stretch]:
        return self._places(at, range(-1, REACH + 1))

    def _places(self, at: datetime, numbers: Iterable[int]) -> Iterator[Stretch]:
        start = START[self.every](at)
        for number in numbers:
            try:
                found = self.place(shift(start, self.every, number))
            except (ValueError, OverflowError):  # no 29 February in that year, no year 10000
                continue
            if found:
                yield found


Date = Cycle | Stretch  # any one of many, or the one


@cache
def weekday(number: int) -> Cycle:
    def place(monday: datetime) -> Stretch:
        return whole(monday + number * DAY, Unit.DAY)

    # A day less than four days off is "this Friday", so "next Friday" is the one after it.
    return Cycle(Unit.WEEK, Unit.DAY, place, today=False, notice=4 * DAY)


@cache
def weekend() -> Cycle:
    return Cycle(Unit.WEEK, Unit.WEEKEND, lambda monday: whole(monday, Unit.WEEKEND))


@cache
def month(number: int) -> Cycle:
    return Cycle(Unit.YEAR, Unit.MONTH, lambda year: whole(year.replace(month=number), Unit.MONTH))


@cache
def quarter(number: int) -> Cycle:
    def place(year: datetime) -> Stretch:
        return whole(year.replace(month=3 * number - 2), Unit.QUARTER)

    return Cycle(Unit.YEAR, Unit.QUARTER, place)


@cache
def seasonal(name: str) -> Cycle:
    return Cycle(Unit.YEAR, Unit.SEASON, lambda year: season(year.year, name))


@cache
def yearly(month: int, day: int) -> Cycle:
    midnight(2000, month, day)  # a leap year: refuses 30 February at once

    def place(year: datetime) -> Stretch:
        return whole(year.replace(month=month, day=day), Unit.DAY)

    return Cycle(Unit.YEAR, Unit.DAY, place)


@cache
def monthly(day: int) -> Cycle:
    return Cycle(Unit.MONTH, Unit.DAY, lambda month: whole(month.replace(day=day), Unit.DAY))


@cache
def thanksgiving() -> Cycle:
    def place(year: datetime) -> Stretch:
        return nth_weekday(whole(year.replace(month=11), Unit.MONTH), 3, 4)

    return Cycle(Unit.YEAR, Unit.DAY, place)
