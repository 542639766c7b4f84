"""Offsets from UTC: how they are written, and what they make of days and times of day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from nexus.core.canonical import EARLIEST, LATEST
from nexus.core.zones import kept_times, offset_of, said_at
from nexus.learn.one_pass.turns import Turn
from nexus.learn.one_pass.when import When, when
from nexus.testing.samples import event

WEST = timezone(timedelta(hours=-8))
NEPAL = timezone(timedelta(hours=5, minutes=45))


@pytest.mark.parametrize(
    ("zone", "spelt"),
    [(WEST, "-08:00"), (NEPAL, "+05:45"), (UTC, None), (None, None)],
    ids=str,
)
def test_an_offset_is_written_and_read_again(zone: timezone | None, spelt: str | None) -> None:
    at = datetime(2026, 3, 2, 0, 30, tzinfo=zone)

    told = event("1", at=at.replace(tzinfo=zone or UTC).astimezone(UTC))
    known = event("1", at=told.at, metadata={"utc_offset": offset_of(at)})

    assert offset_of(at) == spelt
    assert f"{said_at(known):%d %H:%M}" == "02 00:30"
    assert said_at(told) == said_at(known) == told.at


def test_an_evening_is_the_moment_it_was_there_and_a_day_is_a_day() -> None:
    evening = datetime(2026, 3, 2, 18, tzinfo=WEST), datetime(2026, 3, 3, tzinfo=WEST)
    day = datetime(2026, 3, 2, tzinfo=WEST), datetime(2026, 3, 3, tzinfo=WEST)

    assert kept_times(*evening) == evening
    assert all(at and at.tzinfo is UTC for at in kept_times(*evening))
    assert kept_times(*day) == (datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 3, 3, tzinfo=UTC))
    assert kept_times(None, day[1]) == (None, datetime(2026, 3, 3, tzinfo=UTC))


@pytest.mark.parametrize("zone", [WEST, NEPAL], ids=str)
def test_where_the_calendar_ends_time_stays_open(zone: timezone) -> None:
    friday = datetime(2026, 3, 6, tzinfo=zone)
    until, since = (EARLIEST.astimezone(zone), friday), (friday, LATEST.astimezone(zone))

    assert kept_times(*until) == (EARLIEST, datetime(2026, 3, 6, tzinfo=UTC))
    assert kept_times(*since) == (datetime(2026, 3, 6, tzinfo=UTC), LATEST)


def test_the_words_a_model_found_are_read_where_they_were_said() -> None:
    at = datetime(2026, 3, 2, 0, 30, tzinfo=NEPAL)
    told = event("1", "I fly tomorrow.", at=at.astimezone(UTC), metadata={"utc_offset": "+05:45"})
    turn = Turn(1, told, told.text, frozenset())  # type: ignore[arg-type]  # as it is read

    found = when({"words": "tomorrow", "from": None, "to": None}, [turn])

    assert found == When(datetime(2026, 3, 3, tzinfo=UTC), datetime(2026, 3, 4, tzinfo=UTC))
