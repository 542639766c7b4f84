"""What time it is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Lock

Clock = Callable[[], datetime]
TICK = timedelta(microseconds=1)


class RisingClock:
    """A clock that never gives the same time twice: what is told later is newer."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or partial(datetime.now, UTC)
        self._last = datetime.min.replace(tzinfo=UTC)
        self._lock = Lock()

    def __call__(self) -> datetime:
        with self._lock:
            now = self._clock()
            self._last = now if now > self._last else self._last + TICK
            return self._last


def day_of(at: datetime) -> datetime:
    """The midnight a moment's day began with, in UTC."""
    return at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
