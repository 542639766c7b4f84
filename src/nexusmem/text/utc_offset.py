"""UTC offset of events: local time and local days.

All times are stored in UTC. An event that was given with an offset keeps the offset in its
metadata, because "today" depends on it. Half past midnight in Helsinki is still the previous day in
UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta, timezone

from ..core.canonical import EARLIEST, LATEST
from ..core.records import NewEvent

UTC_OFFSET = "utc_offset"  # metadata key of an event, with values like "+02:00"
OFFSET_PATTERN = re.compile(r"([+-])([0-2]\d):([0-5]\d)")
MINUTE, MIDNIGHT = timedelta(minutes=1), time()


def format_utc_offset(at: datetime | None) -> str | None:
    """Return the UTC offset like "+02:00"; None if there is none or it is zero."""
    minutes = round((at.utcoffset() or timedelta()) / MINUTE) if isinstance(at, datetime) else 0
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}" if minutes else None


def local_time(event: NewEvent) -> datetime:
    """Return the time of an event with its own UTC offset."""
    value = event.metadata.get(UTC_OFFSET)
    match = OFFSET_PATTERN.fullmatch(value) if isinstance(value, str) else None
    if match is None or int(match[2]) >= 24:
        return event.at
    offset = timedelta(hours=int(match[2]), minutes=int(match[3]))
    zone = timezone(-offset if match[1] == "-" else offset)
    try:
        return event.at.astimezone(zone)
    except OverflowError:  # the first or last representable day
        return event.at


def normalize_range(
    since: datetime | None, until: datetime | None
) -> tuple[datetime | None, datetime | None]:
    """Return a time range for storage.

    A range of complete days becomes the same days in UTC. A time of day becomes the same instant in
    UTC.
    """
    bounds = [at for at in (since, until) if at is not None and EARLIEST < at < LATEST]
    is_days = all(at.time() == MIDNIGHT for at in bounds)

    def to_utc(at: datetime | None) -> datetime | None:
        if at is None:
            return None
        return at.replace(tzinfo=UTC) if is_days and at in bounds else at.astimezone(UTC)

    return to_utc(since), to_utc(until)
