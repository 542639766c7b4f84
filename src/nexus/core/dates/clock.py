"""Times of day."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache

from .cycle import Cycle
from .span import Precision as Unit
from .stretch import DAY, HOUR, START, Stretch, whole

FIRST_OF_MORNING = 7  # "at 6" is in the evening, "at 7" in the morning, where nothing tells


@dataclass(frozen=True, slots=True)
class Clock:
    """An hour and perhaps a minute; inexact where it may be before or after noon."""

    hour: int
    minute: int | None = None
    exact: bool = True
    end: Clock | None = None

    @property
    def precision(self) -> Unit:
        return Unit.HOUR if self.minute is None else Unit.MINUTE

    def to(self, end: Clock) -> Clock:
        """From this time to another: "2-4pm" takes its half of the day from the end."""
        if end.exact and not self.exact:
            late = end.hour >= 12 and self.hour % 12 + 12 <= end.hour
            return Clock(self.hour % 12 + 12 * late, self.minute, end=end)
        return replace(self, end=end)

    def on(self, day: Stretch) -> Stretch:
        """This time within a day, a morning, a night; the likelier reading if both fit."""
        start = START[Unit.DAY](day.since)
        moments = [start + days * DAY + time for days in (0, 1) for time in self.times()]
        inside = (at for at in moments if day.since <= at <= day.until)  # midnight ends a day
        since = next(inside, moments[0])
        if self.end is None:
            return replace(whole(since, self.precision), vague=day.vague)
        start = START[Unit.DAY](since)
        ends = [start + days * DAY + time for days in (0, 1) for time in sorted(self.end.times())]
        return Stretch(since, next(at for at in ends if at > since), self.precision, day.vague)

    def times(self) -> list[timedelta]:
        if self.exact:
            return [self._time(self.hour)]
        morning, evening = self._time(self.hour % 12), self._time(self.hour % 12 + 12)
        late = self.hour < FIRST_OF_MORNING or self.hour == 12
        return [evening, morning] if late else [morning, evening]

    def _time(self, hour: int) -> timedelta:
        return hour * HOUR + timedelta(minutes=self.minute or 0)


@lru_cache(maxsize=4_000)
def daily(clock: Clock) -> Cycle:
    return Cycle(Unit.DAY, clock.precision, lambda day: clock.on(whole(day, Unit.DAY)))
