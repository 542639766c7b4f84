"""Clocks and calendar days in UTC."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Lock

Clock = Callable[[], datetime]
TICK = timedelta(microseconds=1)


class MonotonicClock:
    """A clock that never returns the same time twice, so that later events are newer."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or partial(datetime.now, UTC)
        self._last = datetime.min.replace(tzinfo=UTC)
        self._lock = Lock()

    def __call__(self) -> datetime:
        with self._lock:
            now = self._clock()
            self._last = now if now > self._last else self._last + TICK
            return self._last

    def read(self) -> datetime:
        """Return the current time without advancing the clock."""
        with self._lock:
            return max(self._clock(), self._last)


def start_of_day(at: datetime) -> datetime:
    """Return midnight (UTC) of the day of `at`."""
    return at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
