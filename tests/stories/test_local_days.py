"""Local days: dates in messages use the speaker's UTC offset."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from tests.stories.conftest import Team

from nexusmem.core.records import Memory
from nexusmem.core.records.memory import drop_copies

HELSINKI = timezone(timedelta(hours=2))
NEW_YORK = timezone(timedelta(hours=-5))
EARLY = datetime(2026, 3, 2, 0, 30, tzinfo=HELSINKI)  # a Monday; in UTC it is Sunday, 22:30
LATE = datetime(2026, 3, 1, 20, 0, tzinfo=NEW_YORK)  # a Sunday; in UTC it is Monday, 1:00


def day(number: int) -> datetime:
    return datetime(2026, 3, number, tzinfo=UTC)


def learned(team: Team, text: str, at: datetime, kind: str, **told: object) -> Memory:
    team.room.observe("alice", text, at=at, key="k", **told)
    team.workspace.flush()
    found = drop_copies(team.room._parts.store.memories.find(team.workspace.admin_grant))
    (memory,) = [each for each in found if each.kind.value == kind]
    return memory


@pytest.mark.requirement("B6")
@pytest.mark.parametrize(
    ("at", "tomorrow"),
    [
        (EARLY, 3),
        (LATE, 2),
        (EARLY.astimezone(UTC), 2),  # without an offset, the day is that of UTC
        (LATE.astimezone(UTC), 3),
    ],
    ids=["Helsinki", "New York", "UTC on Sunday", "UTC on Monday"],
)
def test_tomorrow_uses_the_speakers_offset(team: Team, at: datetime, tomorrow: int) -> None:
    fact = learned(team, "I will fly to Oslo tomorrow.", at, "fact")

    assert fact.valid_from == day(tomorrow)
    assert fact.at == at
    assert fact.text == "I will fly to Oslo tomorrow."


@pytest.mark.requirement("A6")
def test_due_dates_use_the_speakers_day(team: Team) -> None:
    promise = learned(team, "I will call the painter by tomorrow.", EARLY, "landmark")

    assert promise.body["due"] == "2026-03-04T00:00:00.000000Z"


@pytest.mark.requirement("B6")
def test_time_of_day_is_a_local_time(team: Team) -> None:
    fact = learned(team, "I will fly to Oslo tomorrow at 9:15 am.", LATE, "fact")

    assert fact.valid_from == datetime(2026, 3, 2, 9, 15, tzinfo=NEW_YORK)
    assert fact.valid_from.utcoffset() == timedelta(0)
    assert fact.text == "I will fly to Oslo tomorrow at 9:15 am."


def test_offset_may_be_missing_on_redelivery(team: Team) -> None:
    text = "I will fly to Oslo tomorrow."
    utc = EARLY.astimezone(UTC)
    fact = learned(team, text, utc, "fact", metadata={"utc_offset": "+02:00"})

    again = team.room.observe("alice", text, at=utc, key="k")

    assert fact.valid_from == day(3)
    assert again.duplicate


@pytest.mark.parametrize("offset", ["+99:00", "somewhere", 7, None, "+2"])
def test_invalid_offset_is_ignored(team: Team, offset: object) -> None:
    text = "I will fly to Oslo tomorrow."
    utc = EARLY.astimezone(UTC)

    fact = learned(team, text, utc, "fact", metadata={"utc_offset": offset})

    assert fact.valid_from == day(2)


def test_indexed_text_names_the_speakers_day(team: Team) -> None:
    passage = learned(team, "The paint is dry.", EARLY, "passage")

    assert passage.at == EARLY
    assert "Monday 02 March 2026" in (passage.indexed_text or "")
