"""Result types of the date parser."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class DatePrecision(StrEnum):
    """Unit of a date, from the finest to the coarsest."""

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


class DateRelation(StrEnum):
    """Relation of the event to the date that the text names."""

    IN = "in"
    AROUND = "around"  # near `since`…`until`, perhaps outside
    BEFORE = "before"  # open start, ends where the named date starts
    AFTER = "after"  # open end, starts where the named date ends
    SINCE = "since"  # from the start of the named date: to today, or open
    UNTIL = "until"  # open start, ends with the named date


@dataclass(frozen=True, slots=True, kw_only=True)
class DateSpan:
    """A date in a text: `text[start:end]` means an event in `since` ≤ t < `until`.

    An open start is `canonical.EARLIEST`, an open end `canonical.LATEST`.
    """

    start: int
    end: int
    text: str
    since: datetime
    until: datetime
    precision: DatePrecision
    relation: DateRelation
