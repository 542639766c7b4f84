"""UTC offsets: format, local times and local days."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from nexusmem.core.canonical import EARLIEST, LATEST
from nexusmem.learn.model_pass.answer_times import TimeSpan, resolve_time_span
from nexusmem.learn.model_pass.turns import ExcerptTurn
from nexusmem.testing.samples import make_event
from nexusmem.text.utc_offset import format_utc_offset, local_time, normalize_range

WEST = timezone(timedelta(hours=-8))
NEPAL = timezone(timedelta(hours=5, minutes=45))


@pytest.mark.parametrize(
    ("zone", "spelt"),
    [(WEST, "-08:00"), (NEPAL, "+05:45"), (UTC, None), (None, None)],
    ids=str,
)
def test_offset_round_trips(zone: timezone | None, spelt: str | None) -> None:
    at = datetime(2026, 3, 2, 0, 30, tzinfo=zone)

    told = make_event("1", at=at.replace(tzinfo=zone or UTC).astimezone(UTC))
    known = make_event("1", at=told.at, metadata={"utc_offset": format_utc_offset(at)})

    assert format_utc_offset(at) == spelt
    assert f"{local_time(known):%d %H:%M}" == "02 00:30"
    assert local_time(told) == local_time(known) == told.at


def test_time_of_day_keeps_the_instant_and_days_keep_the_date() -> None:
    evening = datetime(2026, 3, 2, 18, tzinfo=WEST), datetime(2026, 3, 3, tzinfo=WEST)
    day = datetime(2026, 3, 2, tzinfo=WEST), datetime(2026, 3, 3, tzinfo=WEST)

    assert normalize_range(*evening) == evening
    assert all(at and at.tzinfo is UTC for at in normalize_range(*evening))
    assert normalize_range(*day) == (
        datetime(2026, 3, 2, tzinfo=UTC),
        datetime(2026, 3, 3, tzinfo=UTC),
    )
    assert normalize_range(None, day[1]) == (None, datetime(2026, 3, 3, tzinfo=UTC))


@pytest.mark.parametrize("zone", [WEST, NEPAL], ids=str)
def test_open_bounds_stay_open(zone: timezone) -> None:
    friday = datetime(2026, 3, 6, tzinfo=zone)
    until, since = (EARLIEST.astimezone(zone), friday), (friday, LATEST.astimezone(zone))

    assert normalize_range(*until) == (EARLIEST, datetime(2026, 3, 6, tzinfo=UTC))
    assert normalize_range(*since) == (datetime(2026, 3, 6, tzinfo=UTC), LATEST)


def test_dates_of_the_model_use_the_local_time() -> None:
    at = datetime(2026, 3, 2, 0, 30, tzinfo=NEPAL)
    told = make_event(
        "1", "I fly tomorrow.", at=at.astimezone(UTC), metadata={"utc_offset": "+05:45"}
    )
    turn = ExcerptTurn(1, told, told.text, frozenset())  # type: ignore[arg-type]  # as it is read

    found = resolve_time_span("tomorrow", [turn])

    assert found == TimeSpan(datetime(2026, 3, 3, tzinfo=UTC), datetime(2026, 3, 4, tzinfo=UTC))
