"""Habits read from the ledger: inferred, careful with small numbers, and never stacked up."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from nexus.core.records import Memory
from nexus.core.scope import Scope
from nexus.learn import patterns as module
from nexus.learn.patterns import (
    CHANNEL,
    FREQUENCY,
    HOURS,
    habits,
    learn_patterns,
    patterns_after,
)
from nexus.stores.inprocess import InProcessStore
from nexus.testing.samples import ACME, ADMIN, ALICE, ALICE_DM, IN_ROOM, ROOM, event

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
NOW = MONDAY + timedelta(days=363)


class Diary:
    """Messages of several weeks."""

    def __init__(self) -> None:
        self.store = InProcessStore()
        self.told = 0

    def write(self, *, days: Sequence[int], hour: int = 9, **more: Any) -> None:
        for day in days:
            self.told += 1
            at = MONDAY + timedelta(days=day, hours=hour, minutes=self.told % 60)
            told = event(f"{self.told}", at=at, **more)
            self.store.ledger.append(ACME, [told], recorded_at=at)

    def learn(self) -> int:
        return learn_patterns(self.store, ACME, NOW)

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
        HOURS: "09:00-11:00 UTC",
        CHANNEL: "telegram",
        FREQUENCY: "on about 5 days a week",
    }
    for memory in diary.known():
        assert memory.fact.subject == "alice"
        assert memory.fact.category == "behavioural"
        assert not memory.fact.stated
        assert memory.learned
        assert memory.fact.subject in memory.text
        assert 0.3 <= memory.confidence <= 0.70


@pytest.mark.requirement("B13")
def test_habits_are_worked_out_anew_and_never_stacked_up(diary: Diary) -> None:
    diary.write(days=range(20), hour=9)
    diary.learn()
    first = diary.known()
    assert diary.learn() == 0
    assert diary.known() == first

    diary.write(days=range(20, 300), hour=21)
    assert diary.learn() == len(first)
    assert len(diary.known()) == len(first)
    assert diary.values()[HOURS] == "21:00-22:00 UTC"


def test_what_a_crash_left_behind_is_cleared_away(diary: Diary) -> None:
    diary.write(days=range(20), hour=9)
    diary.learn()
    old = diary.known()
    diary.write(days=[20], hour=9)
    drafts = [each for each in old if each.fact.predicate == HOURS]
    assert drafts
    diary.learn()

    assert len(diary.known()) == len(old)
    assert not {each.id for each in old} & {each.id for each in diary.known()}


def test_a_habit_that_is_given_up_goes(diary: Diary) -> None:
    diary.write(days=range(20), hour=9)
    diary.learn()
    assert HOURS in diary.values()
    for hour in range(24):
        diary.write(days=range(30, 45), hour=hour)
    diary.learn()

    assert HOURS not in diary.values()


@pytest.mark.requirement("B13")
def test_habits_rest_on_one_scope_and_are_read_only_there(diary: Diary) -> None:
    diary.write(days=range(20), hour=9)
    diary.write(days=range(20), hour=23, scope=ALICE_DM)
    diary.write(days=range(20), hour=4, scope=Scope.room("secret"))
    diary.learn()

    assert diary.values(IN_ROOM.grant())[HOURS] == "09:00-10:00 UTC"
    assert diary.values(ALICE.grant())[HOURS] == "23:00-00:00 UTC"
    assert all(len(each.label) == 1 for each in diary.known())


def test_a_habit_rests_on_the_newest_messages_and_on_no_more_than_it_needs(diary: Diary) -> None:
    diary.write(days=range(300), hour=9)
    diary.learn()

    (hours,) = [each for each in diary.known() if each.fact.predicate == HOURS]
    assert len(hours.sources) == 200
    sources = diary.store.ledger.get(ADMIN, hours.sources)
    assert min(each.at for each in sources) > MONDAY + timedelta(days=99)


def test_erasing_a_message_takes_the_habits_that_rest_on_it(diary: Diary) -> None:
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
def test_little_is_no_habit(diary: Diary, days: list[int], role: str) -> None:
    diary.write(days=days, role=role)

    assert diary.learn() == 0


def test_a_few_observations_are_trusted_less_than_many(diary: Diary) -> None:
    diary.write(days=range(5), scope=ROOM)
    diary.write(days=range(60), scope=ALICE_DM)
    diary.learn()

    few, many = (
        next(each.confidence for each in diary.known() if (each.scope, each.slot) == (scope, slot))
        for scope in (ROOM, ALICE_DM)
        for slot in [f"pattern:{HOURS}:alice"]
    )
    assert few < many + 0.01
    assert many == 0.70


def test_hours_go_past_midnight(diary: Diary) -> None:
    diary.write(days=range(10), hour=23)
    diary.write(days=range(10), hour=0)
    diary.learn()

    assert diary.values()[HOURS] == "23:00-01:00 UTC"


def test_two_spellings_are_one_person(diary: Diary) -> None:
    diary.write(days=range(0, 10, 2), speaker="Alice")
    diary.write(days=range(10, 16, 2), speaker="alice")
    diary.learn()

    assert {each.fact.subject for each in diary.known()} == {"alice"}


def test_channels_that_share_the_days_are_no_preference(diary: Diary) -> None:
    diary.write(days=range(10), metadata={"channel": "email"})
    diary.write(days=range(10), metadata={"source": "telegram"}, hour=10)
    diary.learn()

    assert CHANNEL not in diary.values()


def test_what_lies_in_the_future_is_no_habit_yet(diary: Diary) -> None:
    diary.write(days=range(400, 420))

    assert diary.learn() == 0


def test_whoever_was_silent_for_long_keeps_what_is_known(diary: Diary) -> None:
    diary.write(days=range(10))
    diary.learn()
    known = diary.known()
    assert known

    assert learn_patterns(diary.store, ACME, NOW + timedelta(days=100)) == 0
    assert diary.known() == known


def test_nothing_said_is_nothing_usual() -> None:
    assert habits("alice", []) == []


@pytest.mark.requirement("B13", "E24")
def test_many_scopes_are_done_a_few_at_a_time(
    diary: Diary, monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms = [Scope.room(str(number)) for number in range(5)]
    for room in rooms:
        diary.write(days=range(10), scope=room)
    monkeypatch.setattr(module, "SCOPES_AT_ONCE", 2)

    first = patterns_after(diary.store, ACME, NOW, 0)
    assert {scope for memory in diary.known() for scope in memory.label} == set(rooms[:2])
    assert first.last is not None
    second = patterns_after(diary.store, ACME, NOW, first.last)
    assert second.last is not None
    third = patterns_after(diary.store, ACME, NOW, second.last)

    assert (first.changed, second.changed, third.changed) == (2, 2, 1)
    assert third.last is None
    assert diary.learn() == 0
