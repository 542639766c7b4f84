"""What is on the table in a place: the ledger's last messages, and what lies beside them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from nexus.compose import window as flow
from nexus.compose.window import window_of
from nexus.core.access import administrator_grant
from nexus.core.errors import InvalidInput
from nexus.core.protocols import Store
from nexus.core.records import Attachment, EventKind
from nexus.core.window import IDLE, Slot, WindowView, summary_bytes
from nexus.learn.immune import digests_of
from nexus.learn.injected import injected_in, injected_item
from nexus.learn.summary import kept_summary
from nexus.stores.inprocess import InProcessStore
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.samples import ACME, ADMIN, ALICE, BOB, IN_ROOM, NOON, ROOM, event, tell

HERE = administrator_grant(ACME).within([ROOM])
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


@pytest.fixture(params=["inprocess", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made = InProcessStore() if request.param == "inprocess" else SqliteStore(tmp_path / "m.db")
    yield made
    made.close()


def talk(store: Store, count: int, start: datetime = NOON, name: str = "ferry") -> list[str]:
    return tell(
        store,
        *(
            event(
                f"{name} {number}",
                f"The {name} number {number} leaves Lisbon at nine.",
                at=start + number * MINUTE,
            )
            for number in range(count)
        ),
    )


def seen(view: WindowView) -> list[str]:
    return [event.key for event in view.events]


@pytest.mark.requirement("A1")
def test_the_last_messages_stand_there_oldest_first_with_all_that_is_known(store: Store) -> None:
    photo = Attachment(name="plan.png", media_type="image/png", size=9)
    tell(
        store,
        event("1", "Look at this", at=NOON, attachments=(photo,), thread="plans"),
        event("2", "I see", at=NOON + MINUTE, speaker="scribe", role="assistant"),
        event("3", "42", at=NOON + 2 * MINUTE, speaker="sum", role="tool", kind=EventKind.TOOL),
        event("doc", "A long document", at=NOON, kind=EventKind.DOCUMENT),
    )

    view = window_of(store, IN_ROOM.grant(), ROOM, NOON + HOUR)

    first, second, third = view.events
    assert (first.speaker, first.at, first.text, first.thread) == (
        "alice",
        NOON,
        "Look at this",
        "plans",
    )
    assert first.attachments == (photo,)
    assert (second.speaker, second.role) == ("scribe", "assistant")
    assert third.kind is EventKind.TOOL
    assert view.fresh


@pytest.mark.requirement("A1", "D2")
def test_only_the_newest_fifty_are_shown(store: Store) -> None:
    talk(store, 70)

    assert seen(window_of(store, HERE, ROOM, NOON + HOUR)) == [f"ferry {n}" for n in range(20, 70)]
    assert seen(window_of(store, HERE, ROOM, NOON + HOUR, 2)) == ["ferry 68", "ferry 69"]


def test_documents_take_nobodys_place(store: Store) -> None:
    talk(store, 5)
    tell(
        store,
        *(event(f"doc {n}", "text", at=NOON + HOUR, kind=EventKind.DOCUMENT) for n in range(30)),
    )

    assert len(window_of(store, HERE, ROOM, NOON + HOUR, 4).events) == 4


@pytest.mark.requirement("A12")
def test_whoever_may_not_be_there_sees_an_empty_place(store: Store) -> None:
    talk(store, 9)
    flow.put_note(store, ACME, ROOM, "key", "value", now=NOON)

    for viewer in (ALICE, BOB):
        view = window_of(store, viewer.grant(), ROOM, NOON + HOUR)
        assert view == window_of(InProcessStore(), viewer.grant(), ROOM, NOON + HOUR)
        assert flow.notes(store, viewer.grant(), ROOM, NOON) == []
    assert kept_summary(store, HERE, NOON) == kept_summary(InProcessStore(), HERE, NOON)


@pytest.mark.requirement("D3")
def test_a_summary_that_fell_behind_is_brought_up_to_date_by_looking(store: Store) -> None:
    talk(store, 4)
    assert window_of(store, HERE, ROOM, NOON + HOUR).summary.upto is None

    talk(store, 6)

    view = window_of(store, HERE, ROOM, NOON + HOUR)
    assert view.summary.upto is not None
    assert "ferry number 5" in view.summary.text
    assert kept_summary(store, HERE, NOON + HOUR) == view.summary


@pytest.mark.requirement("D2", "D4")
def test_after_a_day_of_silence_the_summary_stands_for_what_was_said(store: Store) -> None:
    talk(store, 3)
    flow.put_note(store, ACME, ROOM, "key", "value", now=NOON)

    before = window_of(store, HERE, ROOM, NOON + DAY)
    after = window_of(store, HERE, ROOM, NOON + DAY + HOUR)

    assert (len(before.events), before.fresh) == (3, True)
    assert (after.events, after.notes, after.fresh) == ((), (), False)
    assert "ferry number 0" in after.summary.text
    assert "ferry number 2" in after.summary.text


@pytest.mark.requirement("D4")
def test_whoever_resumes_does_not_replay_what_was_before(store: Store) -> None:
    talk(store, 60)
    resumed = NOON + 5 * DAY
    talk(store, 2, resumed, "barge")

    view = window_of(store, HERE, ROOM, resumed + HOUR)

    assert seen(view) == ["barge 0", "barge 1"]
    assert view.fresh
    assert "ferry number 59" in view.summary.text


def test_the_same_looked_at_twice_is_the_same(store: Store) -> None:
    talk(store, 60)

    once, again = (window_of(store, HERE, ROOM, NOON + HOUR) for _ in range(2))

    assert once == again


def test_as_of_a_time_shows_what_had_been_said(store: Store) -> None:
    talk(store, 20)
    flow.think(store, ACME, ROOM, "Hm.", now=NOON)

    view = window_of(store, HERE, ROOM, NOON + DAY, as_of=NOON + 9 * MINUTE)

    assert seen(view) == [f"ferry {n}" for n in range(10)]
    late = event("late", "A whale was seen at 7.", at=NOON + MINUTE)
    store.ledger.append(ACME, [late], recorded_at=NOON + HOUR)
    assert view == window_of(store, HERE, ROOM, NOON + DAY, as_of=NOON + 9 * MINUTE)
    assert "number 9" in view.summary.text
    assert "number 10" not in view.summary.text
    assert view.thoughts == ()


# Notes, thoughts, the goal


@pytest.mark.requirement("E9")
def test_a_note_lives_as_long_as_it_says(store: Store) -> None:
    flow.put_note(store, ACME, ROOM, "short", "s", now=NOON, ttl=HOUR, by="alice")
    flow.put_note(store, ACME, ROOM, "plain", {"a": [1]}, now=NOON)
    flow.put_note(store, ACME, ROOM, "long", "l", now=NOON, ttl=3 * DAY)

    def keys(now: datetime) -> set[str]:
        return {note.key for note in flow.notes(store, HERE, ROOM, now)}

    assert keys(NOON) == {"short", "plain", "long"}
    assert keys(NOON + HOUR) == {"plain", "long"}
    assert keys(NOON + DAY + HOUR) == {"long"}
    assert flow.drop_note(store, ACME, ROOM, "long")
    assert not flow.drop_note(store, ACME, ROOM, "long")
    assert keys(NOON) == {"short", "plain"}


@pytest.mark.requirement("E9")
def test_thoughts_are_appended_and_the_newest_stay(store: Store) -> None:
    for number in range(55):
        flow.think(store, ACME, ROOM, f"thought {number}", now=NOON + number * MINUTE, by="scribe")

    found = flow.thoughts(store, HERE, ROOM, NOON + HOUR)

    assert [each.text for each in found] == [f"thought {n}" for n in range(5, 55)]
    assert found[0].by == "scribe"
    assert window_of(store, HERE, ROOM, NOON + HOUR).thoughts == tuple(found)


@pytest.mark.requirement("E9")
def test_there_is_one_active_goal(store: Store) -> None:
    assert flow.goal(store, HERE, ROOM, NOON) is None
    flow.set_goal(store, ACME, ROOM, "Paint the ferry.", now=NOON, by="alice")
    flow.set_goal(store, ACME, ROOM, "Sell the ferry.", now=NOON + HOUR, status="done")

    found = flow.goal(store, HERE, ROOM, NOON + HOUR)

    assert found is not None
    assert (found.text, found.status, found.by) == ("Sell the ferry.", "done", None)
    assert window_of(store, HERE, ROOM, NOON + HOUR).goal == found


@pytest.mark.parametrize(
    ("key", "value", "more"),
    [
        ("", "v", {}),
        ("k", float("nan"), {}),
        ("k", "x" * 20_001, {}),
        ("k", "v", {"ttl": timedelta(0)}),
        ("k", "v", {"ttl": timedelta(days=400)}),
        ("k\0", "v", {}),
    ],
)
def test_notes_that_cannot_be_kept_are_refused(
    store: Store, key: str, value: Any, more: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput):
        flow.put_note(store, ACME, ROOM, key, value, now=NOON, **more)


# What a model was given


@pytest.mark.requirement("X6")
def test_a_context_is_explained_where_it_was_composed_and_for_a_day(store: Store) -> None:
    (id,) = talk(store, 1)
    receipt = {"id": "c1", "question": "when?"}
    item = flow.context_item(ROOM, "c1", receipt, rests_on=[id], people=["alice"], now=NOON)

    store.window.put(ACME, [item])

    assert flow.kept_context(store, IN_ROOM.grant(), "c1", NOON) == receipt
    assert flow.kept_context(store, ADMIN, "c1", NOON) == receipt
    assert flow.kept_context(store, ALICE.grant(), "c1", NOON) is None
    assert flow.kept_context(store, ADMIN, "c2", NOON) is None
    assert flow.kept_context(store, ADMIN, "c1", NOON + DAY) is None
    store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])
    assert flow.kept_context(store, ADMIN, "c1", NOON) is None


def test_what_was_injected_is_known_in_its_place_alone(store: Store) -> None:
    (id,) = talk(store, 1)
    shown = "Memory: the ferry leaves Lisbon at nine every day."

    other = "Nothing to do with ferries at all."
    first = injected_item(ROOM, "c1", shown, rests_on=[id], now=NOON)
    second = injected_item(ROOM, "c2", other, rests_on=[], now=NOON + MINUTE)
    store.window.put(ACME, [first])
    store.window.put(ACME, [second])

    known = injected_in(store, ACME, ROOM, now=NOON + MINUTE)
    assert known.holds("the ferry leaves Lisbon at nine every day")
    assert set(known.contexts[0]) == digests_of(shown)
    assert not injected_in(store, ACME, ALICE.home, now=NOON).contexts
    assert not store.window.find(IN_ROOM.grant(), slots=[Slot.INJECTED], now=NOON)
    store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])
    assert not injected_in(store, ACME, ROOM, now=NOON + MINUTE).holds(shown)
    assert len(injected_in(store, ACME, ROOM, now=NOON + MINUTE).contexts) == 1


# When the window is away


@dataclass
class Halved:
    """A store whose windows are kept elsewhere."""

    whole: Any
    window: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.whole, name)


@pytest.mark.requirement("D24")
def test_without_its_window_a_place_still_tells_what_was_said(tmp_path: Path) -> None:
    whole, elsewhere = InProcessStore(), SqliteStore(tmp_path / "window.db")
    talk(whole, 60)
    store: Any = Halved(whole, elsewhere.window)
    good = window_of(whole, HERE, ROOM, NOON + HOUR)
    elsewhere.close()

    view = window_of(store, HERE, ROOM, NOON + HOUR)

    assert view.events == good.events
    assert summary_bytes(view.summary) == summary_bytes(good.summary)
    assert "window" in view.degraded[0]
    assert not good.degraded


@pytest.mark.requirement("D2")
def test_looking_at_a_window_takes_two_thousandths_of_a_second(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.db")
    talk(store, 1_000, NOON - DAY, "barge")
    talk(store, 50)
    for number in range(20):
        flow.put_note(store, ACME, ROOM, f"note {number}", "v" * 100, now=NOON)
    window_of(store, HERE, ROOM, NOON + HOUR)

    took = []
    for _ in range(50):
        started = time.thread_time()  # others may keep the machine busy
        view = window_of(store, HERE, ROOM, NOON + HOUR)
        took.append(time.thread_time() - started)

    assert len(view.events) == 50
    print(f"p50 {1000 * statistics.median(took):.2f} ms")
    assert statistics.median(took) < 0.010  # 2 ms on a machine that does nothing else
    store.close()


def test_slots_with_a_bound_are_the_ones_that_grow() -> None:
    assert set(flow.LYING) == set(Slot) - {Slot.INJECTED, Slot.CONTEXT}
    assert IDLE == DAY
