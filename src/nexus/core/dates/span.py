"""What is said of a date found in a text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Precision(StrEnum):
    """The unit a date is given in, from the finest to the coarsest."""

    MINUTE = "minute"
    HOUR = "hour"
    PART_OF_DAY = "part of day"
    DAY = "day"
    WEEKEND = "weekend"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    SEASON = "season"
    YEAR = "year"
    DECADE = "decade"


class Relation(StrEnum):
    """Where an event lies, seen from the date that is named."""

    IN = "in"
    AROUND = "around"  # near `since`…`until`, perhaps outside
    BEFORE = "before"  # open start, ends where the named date starts
    AFTER = "after"  # open end, starts where the named date ends
    SINCE = "since"  # from the start of the named date: to today, or open
    UNTIL = "until"  # open start, ends with the named date


@dataclass(frozen=True, slots=True, kw_only=True)
class DateSpan:
    """One date in a text: `text[start:end]` means an event in `since` ≤ t < `until`.

    An open start is `canonical.EARLIEST`, an open end `canonical.LATEST`.
    """

    start: int
    end: int
    text: str
    since: datetime
    until: datetime
    precision: Precision
    relation: Relation
