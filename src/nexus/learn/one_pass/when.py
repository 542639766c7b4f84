"""Times as a model gives them: the words that were said, and what it takes them for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any

from ...core.canonical import EARLIEST, LATEST, clean_time
from ...core.dates import DateSpan, Relation, dates_in
from ...core.errors import InvalidInput
from ...core.zones import kept_times, said_at
from .turns import Turn
from .unfit import Unfit

LONGEST_WORDS = 200
OPEN_END = (Relation.SINCE, Relation.AFTER)
OPEN_START = (Relation.UNTIL, Relation.BEFORE)


@dataclass(frozen=True, slots=True)
class When:
    """A stretch of time; None where it is open."""

    since: datetime | None
    until: datetime | None


def when(told: Mapping[str, Any] | None, turns: Sequence[Turn], *, ahead: bool = False) -> When:
    """What the words mean, if we can read them; otherwise what the model makes of them.

    `ahead`: it is yet to come. Of "on Friday" without a verb we would not know.
    """
    if told is None:
        return When(None, None)
    given = _given(told)  # checked in any case: who gets a date wrong may have read wrong
    span = next(_spans(told["words"], turns), None)
    said_at = turns[-1].event.at
    if span is None or (ahead and span.until <= said_at and _later(given, said_at)):
        return given
    since = None if span.relation in OPEN_START else span.since
    until = None if span.relation in OPEN_END else span.until
    return When(*map(_within, kept_times(since, until)))


def _later(given: When, at: datetime) -> bool:
    end = given.until or given.since
    return end is not None and end > at


def _spans(words: str, turns: Sequence[Turn]) -> Iterator[DateSpan]:
    """Dates of the turns in which these words stand, and then of the words alone."""
    small = " ".join(words.casefold().split())
    if not small or len(small) > LONGEST_WORDS:
        return
    for turn in turns:
        for span in _dates(turn.text, said_at(turn.event)):
            said = " ".join(span.text.casefold().split())
            if said in small or small in said:
                yield span
    for turn in turns:
        found = dates_in(words, said_at(turn.event))
        if len(found) == 1:
            yield found[0]


@lru_cache(maxsize=32)  # every dated item of a turn asks
def _dates(text: str, at: datetime) -> list[DateSpan]:
    return dates_in(text, at)


def _given(told: Mapping[str, Any]) -> When:
    since = _time(told["from"], last=False)
    until = _time(told["to"], last=True)
    if since and until and since > until:
        raise Unfit("a time that ends before it begins")
    return When(since, until)


def _time(text: str | None, *, last: bool) -> datetime | None:
    """A day or a moment in ISO 8601; of the last day its end is meant."""
    if text is None or not text.strip():
        return None
    try:
        if len(text) <= len("2026-01-31"):
            day = date.fromisoformat(text) + timedelta(days=1 if last else 0)
            return clean_time(datetime(day.year, day.month, day.day, tzinfo=UTC))
        return clean_time(datetime.fromisoformat(text))
    except (ValueError, OverflowError, InvalidInput):
        raise Unfit("no date, or one out of range") from None


def _within(at: datetime | None) -> datetime | None:
    """Where the calendar ends, time is open."""
    return at if at is not None and EARLIEST < at < LATEST else None
