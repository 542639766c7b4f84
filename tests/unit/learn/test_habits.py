"""Habits from the ledger: inferred, cautious with few observations, never duplicated."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from nexusmem.core.records import Memory
from nexusmem.core.scope import Scope
from nexusmem.learn import habits as module
from nexusmem.learn.habits import (
    CHANNEL_PREDICATE,
    FREQUENCY_PREDICATE,
    HOURS_PREDICATE,
    find_habits,
    refresh_habits,
    refresh_habits_after,
)
from nexusmem.testing.reference_store.store import ReferenceStore
from nexusmem.testing.samples import ACME, ADMIN, ALICE, ALICE_DM, IN_ROOM, ROOM, make_event

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
NOW = MONDAY + timedelta(days=363)


class Diary:
    """Test helper: a store with messages of several weeks."""

    def __init__(self) -> None:
        self.store = ReferenceStore()
        self.told = 0

    def write(self, *, days: Sequence[int], hour: int = 9, **more: Any) -> None:
        for day in days:
            self.told += 1
            at = MONDAY + timedelta(days=day, hours=hour, minutes=self.told % 60)
            told = make_event(f"{self.told}", at=at, **more)
            self.store.ledger.append(ACME, [told], recorded_at=at)

    def learn(self) -> int:
        return refresh_habits(self.store, ACME, NOW)

    def known(self, grant: Any = ADMIN) -> list[Memory]:
        return [each for each in self.store.memories.find(grant) if each.source == "pattern"]

    def values(self, grant: Any = ADMIN) -> dict[str, object]:
        return {each.fact.predicate: each.fact.value for each in self.known(grant)}


@pytest.fixture
def diary() -> Diary:
    return Diary()


@pytest.mark.requirement("B13")
def test_habits_are_inferred_facts_about_a_person(diary: Diary) -> None:
    weekdays = [day for day in range(28) if day % 7 < 5]
    diary.write(days=weekdays, hour=9, metadata={"channel": "telegram"})
    diary.write(days=weekdays[::4], hour=10, metadata={"channel": "telegram"})
    diary.write(days=[3, 10], hour=20, metadata={"channel": "email"})

    assert diary.learn() == 3
    assert diary.values() == {
        HOURS_PREDICATE: "09:00-11:00 UTC",
        CHANNEL_PREDICATE: "telegram",
        FREQUENCY_PREDICATE: "on about 5 days a week",
    }
    for memory in diary.known():
        assert memory.fact.subject == "alice"
        assert memory.fact.category == "behavioural"
        assert not memory.fact.stated
        assert memory.learned
        assert memory.fact.subject in memory.text
        assert 0.3 <= memory.confidence <= 0.70


@pytest.mark.requirement("B13")
def test_habits_are_replaced_not_duplicated(diary: Diary) -> None:
    diary.write(days=range(20), hour=9)
    diary.learn()
    first = diary.known()
    assert diary.learn() == 0
    assert diary.known() == first

    diary.write(days=range(20, 300), hour=21)
    assert diary.learn() == len(first)
    assert len(diary.known()) == len(first)
    assert diary.values()[HOURS_PREDICATE] == "21:00-22:00 UTC"


def test_leftovers_of_a_crash_are_deleted(diary: Diary) -> None:
    diary.write(days=range(20), hour=9)
    diary.learn()
    old = diary.known()
    diary.write(days=[20], hour=9)
    drafts = [each for each in old if each.fact.predicate == HOURS_PREDICATE]
    assert drafts
    diary.learn()

    assert len(diary.known()) == len(old)
    assert not {each.id for each in old} & {each.id for each in diary.known()}


def test_ended_habit_is_deleted(diary: Diary) -> None:
    diary.write(days=range(20), hour=9)
    diary.learn()
    assert HOURS_PREDICATE in diary.values()
    for hour in range(24):
        diary.write(days=range(30, 45), hour=hour)
    diary.learn()

    assert HOURS_PREDICATE not in diary.values()


@pytest.mark.requirement("B13")
def test_habits_belong_to_one_scope(diary: Diary) -> None:
    diary.write(days=range(20), hour=9)
    diary.write(days=range(20), hour=23, scope=ALICE_DM)
    diary.write(days=range(20), hour=4, scope=Scope.room("secret"))
    diary.learn()

    assert diary.values(IN_ROOM.grant())[HOURS_PREDICATE] == "09:00-10:00 UTC"
    assert diary.values(ALICE.grant())[HOURS_PREDICATE] == "23:00-00:00 UTC"
    assert all(len(each.label) == 1 for each in diary.known())


def test_habit_has_the_newest_messages_as_sources(diary: Diary) -> None:
    diary.write(days=range(300), hour=9)
    diary.learn()

    (hours,) = [each for each in diary.known() if each.fact.predicate == HOURS_PREDICATE]
    assert len(hours.sources) == 200
    sources = diary.store.ledger.get(ADMIN, hours.sources)
    assert min(each.at for each in sources) > MONDAY + timedelta(days=99)


def test_erasing_a_message_erases_its_habits(diary: Diary) -> None:
    diary.write(days=range(20), hour=9)
    diary.learn()
    source = diary.known()[0].sources[0]
    diary.store.eraser.erase(ACME, events=[source], memories=[], tombstones=[])

    assert diary.known() == []
    assert diary.learn() > 0


@pytest.mark.parametrize(
    ("days", "role"),
    [
        ([0, 1, 2, 3], "user"),
        ([0] * 50, "user"),
        (list(range(20)), "assistant"),
    ],
    ids=["four days", "one busy day", "the agent"],
)
def test_few_messages_give_no_habit(diary: Diary, days: list[int], role: str) -> None:
    diary.write(days=days, role=role)

    assert diary.learn() == 0


def test_few_observations_have_lower_confidence(diary: Diary) -> None:
    diary.write(days=range(5), scope=ROOM)
    diary.write(days=range(60), scope=ALICE_DM)
    diary.learn()

    few, many = (
        next(each.confidence for each in diary.known() if (each.scope, each.slot) == (scope, slot))
        for scope in (ROOM, ALICE_DM)
        for slot in [f"pattern:{HOURS_PREDICATE}:alice"]
    )
    assert few < many + 0.01
    assert many == 0.70


def test_usual_hours_can_cross_midnight(diary: Diary) -> None:
    diary.write(days=range(10), hour=23)
    diary.write(days=range(10), hour=0)
    diary.learn()

    assert diary.values()[HOURS_PREDICATE] == "23:00-01:00 UTC"


def test_two_spellings_are_one_person(diary: Diary) -> None:
    diary.write(days=range(0, 10, 2), speaker="Alice")
    diary.write(days=range(10, 16, 2), speaker="alice")
    diary.learn()

    assert {each.fact.subject for each in diary.known()} == {"alice"}


def test_equally_used_channels_give_no_preference(diary: Diary) -> None:
    diary.write(days=range(10), metadata={"channel": "email"})
    diary.write(days=range(10), metadata={"source": "telegram"}, hour=10)
    diary.learn()

    assert CHANNEL_PREDICATE not in diary.values()


def test_future_messages_are_ignored(diary: Diary) -> None:
    diary.write(days=range(400, 420))

    assert diary.learn() == 0


def test_silent_person_keeps_the_habits(diary: Diary) -> None:
    diary.write(days=range(10))
    diary.learn()
    known = diary.known()
    assert known

    assert refresh_habits(diary.store, ACME, NOW + timedelta(days=100)) == 0
    assert diary.known() == known


def test_empty_ledger_gives_no_habits() -> None:
    assert find_habits("alice", []) == []


@pytest.mark.requirement("B13", "E24")
def test_scopes_are_processed_in_steps(diary: Diary, monkeypatch: pytest.MonkeyPatch) -> None:
    rooms = [Scope.room(str(number)) for number in range(5)]
    for room in rooms:
        diary.write(days=range(10), scope=room)
    monkeypatch.setattr(module, "SCOPES_PER_STEP", 2)

    first = refresh_habits_after(diary.store, ACME, NOW, 0)
    assert {scope for memory in diary.known() for scope in memory.label} == set(rooms[:2])
    assert first.last is not None
    second = refresh_habits_after(diary.store, ACME, NOW, first.last)
    assert second.last is not None
    third = refresh_habits_after(diary.store, ACME, NOW, second.last)

    assert (first.changed, second.changed, third.changed) == (2, 2, 1)
    assert third.last is None
    assert diary.learn() == 0
