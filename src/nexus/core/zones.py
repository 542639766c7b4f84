"""Where something was said, as far as it is known: how far its clocks are from UTC.

Every time is kept in UTC. An event that was told with an offset remembers it, because today is a
day somewhere: at half past midnight in Helsinki it is still yesterday in UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta, timezone

from .canonical import EARLIEST, LATEST
from .records import NewEvent

UTC_OFFSET = "utc_offset"  # in the metadata of an event: "+02:00"
SPELT = re.compile(r"([+-])([0-2]\d):([0-5]\d)")
MINUTE, MIDNIGHT = timedelta(minutes=1), time()


def offset_of(at: datetime | None) -> str | None:
    """As it is written; None, if nothing is known, or the clocks are those of UTC."""
    minutes = round((at.utcoffset() or timedelta()) / MINUTE) if isinstance(at, datetime) else 0
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}" if minutes else None


def said_at(event: NewEvent) -> datetime:
    """When it was said, on the clocks of where it was said."""
    told = event.metadata.get(UTC_OFFSET)
    spelt = SPELT.fullmatch(told) if isinstance(told, str) else None
    if spelt is None or int(spelt[2]) >= 24:
        return event.at
    offset = timedelta(hours=int(spelt[2]), minutes=int(spelt[3]))
    zone = timezone(-offset if spelt[1] == "-" else offset)
    try:
        return event.at.astimezone(zone)
    except OverflowError:  # the first or the last day of all
        return event.at


def kept_times(
    since: datetime | None, until: datetime | None
) -> tuple[datetime | None, datetime | None]:
    """A stretch of time as it is kept.

    Whole days are those of the calendar, which has them everywhere; a time of day is the moment it
    was there.
    """
    known = [at for at in (since, until) if at is not None and EARLIEST < at < LATEST]
    days = all(at.time() == MIDNIGHT for at in known)

    def kept(at: datetime | None) -> datetime | None:
        if at is None:
            return None
        return at.replace(tzinfo=UTC) if days and at in known else at.astimezone(UTC)

    return kept(since), kept(until)
