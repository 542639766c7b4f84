"""Learning is deterministic: independent of batches, order and repetition."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from nexusmem import Nexus, Place
from nexusmem.core.ids import WorkspaceId
from nexusmem.core.records import Memory

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
TALK = (
    ("alice", "My boss, Helen, wants the numbers soon."),
    ("bob", "She lives in Austin."),
    ("carol", "Our lawyer is Sarah Kowalski, she started in May."),
    ("alice", "Let's go with option B."),
    ("bob", "Sarah's email is sarah@example.com."),
    ("carol", "The launch is on Monday."),
    ("carol", "No, I meant Tuesday."),
)


def a_room(name: str = "design") -> Place:
    workspace = Nexus.open(":memory:", background=False).workspace("acme")
    return workspace.room(name, participants=["alice", "bob", "carol"])


def told(room: Place, talk: Sequence[tuple[str, str]] = TALK) -> list[str]:
    receipts = [
        room.observe(speaker, text, at=MONDAY + timedelta(minutes=minute), key=str(minute))
        for minute, (speaker, text) in enumerate(talk)
    ]
    room.flush()
    return [receipt.event_id for receipt in receipts]


def known(room: Place) -> dict[str, Memory]:
    return {memory.id: memory for memory in room._parts.store.memories.find(room.grant)}


def learn_again(room: Place, ids: Sequence[str]) -> None:
    room._parts.store.queue.reset_events(WorkspaceId("acme"), ids, now=room._parts.now())
    room.flush()


@pytest.mark.requirement("X4")
@pytest.mark.parametrize("chosen", [[0], [1], [0, 6], [1, 3], [0, 3, 4], [2, 4, 6], range(7)])
def test_relearning_some_events_changes_nothing(chosen: Sequence[int]) -> None:
    room = a_room()
    ids = told(room)
    before = known(room)

    learn_again(room, [ids[place] for place in chosen])

    assert known(room) == before


def test_single_events_give_the_result_of_one_batch() -> None:
    at_once, one_by_one = a_room(), a_room()
    told(at_once)
    for minute, (speaker, text) in enumerate(TALK):
        at = MONDAY + timedelta(minutes=minute)
        one_by_one.observe(speaker, text, at=at, key=str(minute))
        one_by_one.flush()

    assert known(at_once).keys() == known(one_by_one).keys()


def test_parallel_threads_do_not_hide_context() -> None:
    room = a_room()
    room.observe("alice", "I met Helen yesterday.", at=MONDAY, thread="people")
    for minute in range(1, 40):
        at = MONDAY + timedelta(minutes=minute)
        room.observe("bob", f"build {minute} is green", at=at, thread="builds")
    room.flush()
    room.observe("alice", "She lives in Austin.", at=MONDAY + timedelta(hours=1), thread="people")
    room.flush()

    assert ("Helen", "LIVES_IN", "Austin") in {
        (each.fact.subject, each.fact.predicate, each.fact.object) for each in room.facts()
    }


@pytest.mark.requirement("X1")
@pytest.mark.parametrize(
    "later",
    [
        "Sarah's email is sarah@example.com.",
        "My wife is Sarah.",
        "Sarah lives in Rome.",
        "Sarah is also called Sally.",
    ],
)
def test_no_name_outlives_its_source_message(later: str) -> None:
    room = a_room()
    first, *_ = told(room, [("carol", "Sarah Kowalski joined the legal team."), ("bob", later)])
    assert any("Kowalski" in memory.text for memory in known(room).values())

    left = [memory for memory in known(room).values() if first not in memory.sources]

    assert not [memory for memory in left if "kowalski" in f"{memory.text} {memory.body}".lower()]
