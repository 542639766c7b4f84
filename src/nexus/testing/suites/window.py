"""What the window of a place promises."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from ...core.errors import InvalidInput
from ...core.ids import digest
from ...core.protocols import Store
from ...core.records import Tombstone
from ...core.scope import Scope
from ...core.window import IDLE, MOST_KEPT, Slot, WindowItem
from ..samples import ACME, ADMIN, ALICE, BOB, IN_ROOM, NOON, OTHER, ROOM, event, keep, tell

HOUR = timedelta(hours=1)
DM = ALICE.home
EVERY = tuple(Slot)


def item(key: str = "k", value: Any = "v", **more: Any) -> WindowItem:
    told: dict[str, Any] = {"scope": ROOM, "slot": Slot.NOTE, "at": NOON, "by": "scribe", **more}
    return WindowItem(key=key, value=value, **told)


def shown(store: Store, now: datetime = NOON, grant: Any = ADMIN, **more: Any) -> list[Any]:
    """The values that lie there, newest first."""
    wanted = {"slots": EVERY, **more}
    return [each.value for each in store.window.find(grant, now=now, **wanted)]


class WindowSuite:
    """Needs a fixture `store`: an empty one."""

    def test_what_is_put_is_found_as_it_was(self, store: Store) -> None:
        (id,) = tell(store, event("1"))
        full = item(
            value={"deep": [1, 2.5, None, "π"]},
            expires_at=NOON + HOUR,
            rests_on=(id,),
            people=("alice",),
        )

        store.window.put(ACME, [full])

        assert store.window.find(ADMIN, slots=[Slot.NOTE], now=NOON) == [full]

    def test_the_same_key_again_takes_its_place(self, store: Store) -> None:
        store.window.put(ACME, [item("a", 1), item("b", 2), item("a", 3, slot=Slot.GOAL)])

        store.window.put(ACME, [item("a", 4, at=NOON + HOUR)])

        assert shown(store, NOON + HOUR) == [4, 3, 2]
        assert shown(store, NOON + HOUR, key="a") == [4, 3]
        assert shown(store, NOON + HOUR, slots=[Slot.NOTE]) == [4, 2]

    def test_newest_first_and_then_by_key(self, store: Store) -> None:
        late = [item(key, key, at=NOON + HOUR) for key in ("y", "x")]

        store.window.put(ACME, [item("z", "z"), *late, item("w", "w")])

        assert shown(store, NOON + HOUR) == ["x", "y", "w", "z"]

    def test_a_window_is_seen_where_its_place_is_and_nowhere_else(self, store: Store) -> None:
        scopes = [ROOM, DM, BOB.home, Scope.user("alice"), Scope.workspace()]
        store.window.put(ACME, [item(value=str(scope), scope=scope) for scope in scopes])
        store.window.put(OTHER, [item(value="another company")])

        def seen(grant: Any) -> set[str]:
            return set(shown(store, grant=grant))

        assert seen(IN_ROOM.grant()) == {str(ROOM), "user:alice", "workspace"}
        assert seen(ALICE.grant()) == {str(DM), "user:alice", "workspace"}
        assert seen(BOB.grant().within([DM, ROOM])) == set()
        assert seen(ADMIN) == set(map(str, scopes))
        assert seen(ADMIN.within([ROOM])) == {str(ROOM)}

    def test_a_note_is_gone_when_it_expires(self, store: Store) -> None:
        store.window.put(ACME, [item("short", 1, expires_at=NOON + HOUR), item("long", 2)])

        assert shown(store, NOON + HOUR - timedelta(microseconds=1)) == [2, 1]
        assert shown(store, NOON + HOUR) == [2]

    def test_what_says_when_it_expires_outlives_a_silence(self, store: Store) -> None:
        store.window.put(ACME, [item("long", 1, expires_at=NOON + 3 * IDLE), item("plain", 2)])

        assert shown(store, NOON + 2 * IDLE) == [1]

    def test_a_place_where_nothing_happens_is_empty_after_a_day(self, store: Store) -> None:
        store.window.put(ACME, [item("a", 1), item("b", 2, scope=DM)])
        store.window.put(ACME, [item("c", 3, at=NOON + HOUR)])

        assert shown(store, NOON + IDLE) == [3, 1]
        assert shown(store, NOON + IDLE + HOUR) == []
        assert shown(store, NOON + IDLE, idle=IDLE + HOUR) == [3, 1, 2]

    def test_whatever_is_said_there_keeps_it(self, store: Store) -> None:
        store.window.put(ACME, [item("here", 1), item("elsewhere", 2, scope=DM)])

        tell(store, event("1", at=NOON + IDLE - HOUR))

        assert shown(store, NOON + IDLE) == [1]
        assert shown(store, NOON + 2 * IDLE - HOUR) == []

    @pytest.mark.parametrize("what", ["said", "put", "summed up"])
    def test_what_is_over_does_not_come_back(self, store: Store, what: str) -> None:
        store.window.put(ACME, [item("old", 1), item("elsewhere", 2, scope=DM)])
        back = NOON + 2 * IDLE

        if what == "put":
            store.window.put(ACME, [item("new", 3, at=back)])
        else:
            tell(store, event("1", at=back))
        if what == "summed up":  # the time of a summary is the last message's
            end = back + 30 * IDLE
            told = item("so far", 4, slot=Slot.SUMMARY, at=back, expires_at=end)
            store.window.put(ACME, [told])

        assert 1 not in shown(store, back)
        assert 1 not in shown(store, back + HOUR)
        store.window.put(ACME, [item("later", 5, at=back + HOUR)])
        assert 1 not in shown(store, back + HOUR)
        assert 5 in shown(store, back + HOUR)

    @pytest.mark.parametrize("what", ["said", "put", "both"])
    def test_what_nobody_was_silent_about_for_long_stays(self, store: Store, what: str) -> None:
        store.window.put(ACME, [item("old", 1)])
        for day in range(1, 9):
            at = NOON + day * (IDLE - HOUR)
            if what == "said" or (what == "both" and day % 2):
                tell(store, event(str(day), at=at))
            else:
                store.window.put(ACME, [item("again", 2, at=at)])

            assert 1 in shown(store, at + HOUR)
        assert store.window.prune(now=at + HOUR) == 0
        assert shown(store, at + IDLE) == []

    def test_a_silence_is_as_long_as_it_is_said_to_be(self, store: Store) -> None:
        store.window.put(ACME, [item("old", 1)], idle=2 * HOUR)
        tell(store, event("1", at=NOON + HOUR))

        store.window.put(ACME, [item("new", 2, at=NOON + 3 * HOUR)], idle=2 * HOUR)

        assert shown(store, NOON + 3 * HOUR, idle=2 * HOUR) == [2]
        assert shown(store, NOON + 3 * HOUR) == [2]

    def test_a_message_from_the_future_keeps_nothing(self, store: Store) -> None:
        store.window.put(ACME, [item()])

        tell(store, event("1", at=NOON + 9 * IDLE))

        assert shown(store, NOON + IDLE) == []

    @pytest.mark.parametrize("slot", MOST_KEPT)
    def test_only_the_newest_stay(self, store: Store, slot: Slot) -> None:
        most = MOST_KEPT[slot]
        second = timedelta(seconds=1)
        told = [item(str(n), n, slot=slot, at=NOON + n * second) for n in range(most + 3)]
        beside = [item("note", "n"), item("other", "o", slot=slot, scope=DM)]
        store.window.put(ACME, [*beside, *told[:5]])

        store.window.put(ACME, told[5:])

        assert shown(store, NOON + HOUR, slots=[slot])[:-1] == list(range(most + 2, 2, -1))
        assert {"n", "o"} < set(shown(store, NOON + HOUR))

    def test_dropping_takes_out_one_or_all_of_a_slot(self, store: Store) -> None:
        store.window.put(ACME, [item("a", 1), item("b", 2), item("c", 3)])
        store.window.put(ACME, [item("a", 4, scope=DM), item("a", 5, slot=Slot.GOAL)])

        assert store.window.drop(ACME, ROOM, Slot.NOTE, "a") == 1
        assert store.window.drop(ACME, ROOM, Slot.NOTE, "a") == 0
        assert store.window.drop(OTHER, ROOM, Slot.NOTE) == 0
        assert sorted(shown(store)) == [2, 3, 4, 5]
        assert store.window.drop(ACME, ROOM, Slot.NOTE) == 2
        assert sorted(shown(store)) == [4, 5]

    def test_pruning_takes_out_what_nobody_sees(self, store: Store) -> None:
        store.window.put(ACME, [item("gone", 1, expires_at=NOON + HOUR), item("idle", 2, scope=DM)])
        store.window.put(ACME, [item("long", 3, scope=DM, expires_at=NOON + 9 * IDLE)])
        store.window.put(ACME, [item("kept", 4)])
        tell(store, event("1", at=NOON + IDLE - HOUR))

        store.window.put(OTHER, [item("over", 5, expires_at=NOON + HOUR)])

        assert store.window.prune_in([OTHER], now=NOON) == [0]
        assert store.window.prune_in([ACME, OTHER], now=NOON + HOUR) == [1, 1]
        assert store.window.prune(now=NOON + IDLE) == 1
        assert store.window.prune(now=NOON + IDLE) == 0
        assert sorted(shown(store, NOON + IDLE)) == [3, 4]
        assert sorted(shown(store, NOON)) == [3, 4]

    def test_what_rests_on_the_erased_goes_with_it(self, store: Store) -> None:
        one, other = keep(store, "1", "the child"), keep(store, "2", "the sibling")
        resting = [
            item("on the event", 1, slot=Slot.SUMMARY, rests_on=one.sources),
            item("on the memory", 2, slot=Slot.CONTEXT, scope=DM, rests_on=(one.id, other.id)),
            item("on others", 3, slot=Slot.INJECTED, rests_on=(other.id,)),
        ]
        store.window.put(ACME, resting)

        erased = store.eraser.erase(ACME, events=one.sources, memories=[], tombstones=[])

        assert erased.window == 2
        assert shown(store) == [3]

    def test_nothing_is_put_that_rests_on_the_erased(self, store: Store) -> None:
        memory = keep(store, "1")
        stone = Tombstone(kind="memory", digest="m", at=NOON)
        store.eraser.erase(ACME, events=memory.sources, memories=[], tombstones=[stone])

        store.window.put(ACME, [item("a", 1, rests_on=memory.sources), item("b", 2)])
        store.window.put(ACME, [item("c", 3, rests_on=("m",)), item("d", 4, rests_on=("?",))])

        assert sorted(shown(store)) == [2, 4]

    def test_a_forgotten_person_takes_along_what_is_theirs(self, store: Store) -> None:
        theirs = [
            item("own place", 1, scope=DM),
            item("own note", 2, by="alice"),
            item("about them", 3, slot=Slot.CONTEXT, people=("alice", "bob")),
        ]
        store.window.put(ACME, [*theirs, item("not theirs", 4, people=("bob",))])
        stone = Tombstone(kind="user", digest=digest("user", "alice"), at=NOON)

        tied = store.window.tied_to(ACME, [stone.digest])
        store.eraser.erase(ACME, events=[], memories=[], tombstones=[stone])

        assert sorted(each.value for each in tied) == [1, 2, 3]  # type: ignore[type-var]
        assert shown(store) == [4]

    def test_a_forgotten_place_takes_its_window_along(self, store: Store) -> None:
        store.window.put(ACME, [item("here", 1), item("there", 2, scope=DM)])
        stone = Tombstone(kind="scope", digest=digest("scope", str(ROOM)), at=NOON)

        store.eraser.erase(ACME, events=[], memories=[], tombstones=[stone])

        assert shown(store) == [2]

    @pytest.mark.parametrize("slot", Slot)
    def test_what_comes_after_its_person_was_forgotten_is_not_kept(
        self, store: Store, slot: Slot
    ) -> None:
        """A context is kept when nobody waits, maybe by another process."""
        stone = Tombstone(kind="user", digest=digest("user", "alice"), at=NOON)
        store.eraser.erase(ACME, events=[], memories=[], tombstones=[stone])
        before, after = NOON - HOUR, NOON + HOUR

        def put(at: datetime) -> None:
            theirs = [
                item("own place", 1, scope=DM, slot=slot, at=at),
                item("own", 2, by="alice", slot=slot, at=at),
                item("about them", 3, people=("alice", "bob"), slot=slot, at=at),
                item("not theirs", 4, people=("bob",), slot=slot, at=at),
            ]
            store.window.put(ACME, theirs)

        put(before)
        summed_up = slot is Slot.SUMMARY  # it has the time of the last message, and rests on it
        assert sorted(shown(store)) == ([1, 2, 3, 4] if summed_up else [4])
        put(NOON)
        assert sorted(shown(store)) == ([1, 2, 3, 4] if summed_up else [4])
        put(after)  # they are back
        assert sorted(shown(store, after)) == [1, 2, 3, 4]

    def test_what_comes_after_its_place_was_forgotten_is_not_kept(self, store: Store) -> None:
        stone = Tombstone(kind="scope", digest=digest("scope", str(ROOM)), at=NOON)
        store.eraser.erase(ACME, events=[], memories=[], tombstones=[stone])

        store.window.put(ACME, [item("late", 1), item("new", 2, at=NOON + HOUR)])
        store.window.put(ACME, [item("there", 3, scope=DM)])

        assert sorted(shown(store, NOON + HOUR)) == [2, 3]

    def test_thoughts_do_not_outlive_what_was_said_beside_them(self, store: Store) -> None:
        """They may say it again in other words, and nobody knows which ones."""
        (id,) = tell(store, event("1"))
        thought = item("t", 1, slot=Slot.THOUGHT)
        store.window.put(ACME, [thought, replace(thought, scope=DM, value=2), item("note", 3)])

        assert len(store.window.tied_to(ACME, [id])) == 1
        store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])

        assert sorted(shown(store)) == [2, 3]

    def test_erasing_stays_inside_its_workspace(self, store: Store) -> None:
        (id,) = tell(store, event("1"))
        store.window.put(ACME, [item(rests_on=(id,))])
        stone = Tombstone(kind="scope", digest=digest("scope", str(ROOM)), at=NOON)

        store.eraser.erase(OTHER, events=[id], memories=[], tombstones=[stone])

        assert shown(store) == ["v"]

    def test_no_file_holds_what_was_erased(self, store: Store) -> None:
        said = "the heron nests in the \N{GREEK SMALL LETTER PI} tower"
        (id,) = tell(store, event("1", "something else"))
        store.window.put(ACME, [item(value={"lines": [said]}, rests_on=(id,))])

        store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])

        assert sum(store.eraser.residue(ACME, [said.encode()]).values()) == 0
        for file in store.files():
            assert said.encode() not in file.read_bytes()

    @pytest.mark.parametrize("value", [float("nan"), {"a": "\0"}, {1: 2}, object()])
    def test_what_is_no_json_is_refused(self, store: Store, value: Any) -> None:
        with pytest.raises(InvalidInput):
            store.window.put(ACME, [item("good", 1), item("bad", value)])

        assert shown(store) == []

    def test_nobody_changes_what_is_kept_from_outside(self, store: Store) -> None:
        value = {"list": [1]}
        store.window.put(ACME, [item(value=value)])
        value["list"].append(2)

        (found,) = shown(store)
        found["list"].append(3)

        assert shown(store) == [{"list": [1]}]

    def test_a_window_alone_makes_no_workspace(self, store: Store) -> None:
        store.window.put(ACME, [item()])

        assert store.workspaces() == []
        assert store.count(ADMIN)["events"] == 0
