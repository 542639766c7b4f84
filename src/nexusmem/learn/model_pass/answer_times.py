"""Times of a model's answer: words of a turn, or dates in ISO 8601, become ranges."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

from ...core.canonical import EARLIEST, LATEST, clean_time
from ...core.errors import InvalidInput
from ...text.dates import DateRelation, DateSpan, find_dates
from ...text.utc_offset import local_time, normalize_range
from .spelling import ItemRejected
from .turns import ExcerptTurn

MAX_TIME_CHARS = 200
DAY, WEEK = timedelta(days=1), timedelta(weeks=1)
OPEN_END_RELATIONS = (DateRelation.SINCE, DateRelation.AFTER)
OPEN_START_RELATIONS = (DateRelation.UNTIL, DateRelation.BEFORE)


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A time range; None means open."""

    since: datetime | None
    until: datetime | None


def resolve_time_span(
    words: str | None, turns: Sequence[ExcerptTurn], *, is_future: bool = False
) -> TimeSpan:
    """Return the range that these words of a turn mean: "last Tuesday", or a date in ISO 8601.

    If the turns have one date, it takes precedence over a date that the model computed.
    `is_future`: "on Friday" is the next Friday.
    """
    if words is None:
        return TimeSpan(None, None)
    given = _parse_iso_range(words)
    span = _find_only_date(turns) if given else next(_find_spans(words, turns), None)
    spoken_at = turns[-1].event.at
    is_over = span is not None and is_future and span.until <= spoken_at
    if span is None or (is_over and given):
        return _drop_own_day(given or TimeSpan(None, None), turns)
    if is_over and span.until - span.since <= DAY:
        span = replace(span, since=span.since + WEEK, until=span.until + WEEK)
    since = None if span.relation in OPEN_START_RELATIONS else span.since
    until = None if span.relation in OPEN_END_RELATIONS else span.until
    found = TimeSpan(*map(_drop_extreme_time, normalize_range(since, until)))
    is_said = any(span.text.casefold() in turn.text.casefold() for turn in turns)
    return found if is_said else _drop_own_day(found, turns)


def _drop_own_day(span: TimeSpan, turns: Sequence[ExcerptTurn]) -> TimeSpan:
    """Return an open range for the day of the turn, which a model copies if no time was said."""
    said_on = {local_time(turn.event).date() for turn in turns}
    is_own = span.since is not None and span.since.date() in said_on
    is_short = span.since and span.until and span.until - span.since <= DAY
    return TimeSpan(None, None) if is_own and is_short else span


def _find_spans(words: str, turns: Sequence[ExcerptTurn]) -> Iterator[DateSpan]:
    """Yield dates of turns that contain these words, then dates of the words alone."""
    quoted = " ".join(words.casefold().split())
    if not quoted or len(quoted) > MAX_TIME_CHARS:
        return
    for turn in turns:
        for span in _dates_in_text(turn.text, local_time(turn.event)):
            found = " ".join(span.text.casefold().split())
            if found in quoted or quoted in found:
                yield span
    for turn in turns:
        dates = find_dates(words, local_time(turn.event))
        if len(dates) == 1:
            yield dates[0]


def _find_only_date(turns: Sequence[ExcerptTurn]) -> DateSpan | None:
    """Return the date in the turns, if there is exactly one."""
    found = [span for turn in turns for span in _dates_in_text(turn.text, local_time(turn.event))]
    return found[0] if len(found) == 1 else None


@lru_cache(maxsize=32)  # called for every dated item of a turn
def _dates_in_text(text: str, at: datetime) -> list[DateSpan]:
    return find_dates(text, at)


ISO_DATE = re.compile(r"(\d{4})(?:-(\d\d?)(?:-(\d\d?))?)?(?:[T ]\d[\d:.]*(?:Z|[+-]\d\d:?\d\d)?)?")
RANGE_MARK = re.compile(r"\s*(?:/|\bto\b|–|—|\.\.)\s*")


def _parse_iso_range(words: str) -> TimeSpan | None:
    """Return the range of a day, month or year, or of two of them; None if it is no date."""
    parts = RANGE_MARK.split(words.strip()[:MAX_TIME_CHARS])
    matches = [ISO_DATE.fullmatch(part.strip()) for part in parts]
    if len(matches) not in {1, 2} or not all(matches):
        return None
    spans = [_parse_iso_date(*match.groups()) for match in matches if match]
    since, until = spans[0][0], spans[-1][1]
    if since >= until:
        raise ItemRejected("time ends before it begins")
    return TimeSpan(since, until)


def _parse_iso_date(year: str, month: str | None, day: str | None) -> tuple[datetime, datetime]:
    """Return the beginning and the end of a day, month or year."""
    try:
        first = date(int(year), int(month or 1), int(day or 1))
        if day:
            after = first + DAY
        elif month:
            after = date(first.year + first.month // 12, first.month % 12 + 1, 1)
        else:
            after = date(first.year + 1, 1, 1)
        start, end = (datetime(d.year, d.month, d.day, tzinfo=UTC) for d in (first, after))
        return clean_time(start), clean_time(end)
    except (ValueError, OverflowError, InvalidInput):
        raise ItemRejected("invalid date") from None


def _drop_extreme_time(at: datetime | None) -> datetime | None:
    """Return None for times at the limits of the calendar."""
    return at if at is not None and EARLIEST < at < LATEST else None
