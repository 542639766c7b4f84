"""What a mover promises: records as they are, in every store the same line."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from ...core.access import administrator_grant
from ...core.errors import Conflict, InvalidInput
from ...core.moving import Entry, Mover, Shelf
from ...core.protocols import Store
from ...core.records import Stage, Tombstone
from ...core.trail import Link
from ...core.window import Slot, WindowItem
from ...stores.inprocess import InProcessStore
from ..samples import ACME, ADMIN, IN_ROOM, LATER, NOON, OTHER, ROOM, event, keep, point, tell
from ..samples import towards as direction
from .accounts import bill
from .audit import DAY, done


def fill(store: Store) -> None:
    """One of everything, an erased event among them."""
    first = keep(store, "one", "Tea is served at four.")
    keep(store, "two", "Coffee is served at five.")
    point(store, {first.id: direction(1.0, 0.5)})
    (gone,) = tell(store, event("three", "Forget this."))
    stone = Tombstone(kind="event", digest=gone, at=LATER)
    store.eraser.erase(ACME, events=[gone], memories=[], tombstones=[stone])
    tell(store, event("four", "Work is left."))
    store.accounts.add(ACME, bill())
    note = WindowItem(scope=ROOM, slot=Slot.NOTE, key="k", value={"a": 1}, at=NOON)
    store.window.put(ACME, [note])
    store.audit.append(ACME, [done("share"), done("recall", people=("bob",))])
    store.audit.blank(ACME, [2])
    (task, *rest) = store.queue.claim(ADMIN, now=NOON, limit=10)
    store.queue.fail([task], error="away", retry_at=LATER)
    store.queue.finish(rest[:1], reached=Stage.INDEXED, now=NOON)


def mover_of(store: Store) -> Mover:
    return cast("InProcessStore", store).mover


def lines(store: Store, shelf: Shelf, *, limit: int = 100) -> list[str]:
    found: list[str] = []
    after = None
    while some := mover_of(store).read(ADMIN, shelf, after=after, limit=limit):
        assert len(some) <= limit
        found += [each.line for each in some]
        after = some[-1].place
    return found


def move(store: Store, target: Store, *, limit: int = 100) -> int:
    moving = mover_of(target)
    return sum(moving.write(ACME, shelf, lines(store, shelf, limit=limit)) for shelf in Shelf)


class MovingSuite:
    """Needs a fixture `store`: an empty one that has a `mover`."""

    def test_what_was_moved_here_is_read_here_line_by_line(self, store: Store) -> None:
        origin = InProcessStore()
        fill(origin)

        moved = move(origin, store)

        assert moved == sum(mover_of(origin).count(ADMIN).values()) == 15
        assert mover_of(store).count(ADMIN) == mover_of(origin).count(ADMIN)
        for shelf in Shelf:
            assert sorted(lines(store, shelf)) == sorted(lines(origin, shelf)), shelf
        assert lines(store, Shelf.EVENTS) == lines(origin, Shelf.EVENTS)
        there, here = (each.ledger.used(ACME, now=NOON) for each in (origin, store))
        assert replace(here, events_today=there.events_today) == there

    def test_what_was_kept_here_is_read_elsewhere(self, store: Store) -> None:
        fill(store)
        other = InProcessStore()

        move(store, other)

        room = IN_ROOM.grant()
        assert other.ledger.find(room) == store.ledger.find(room)
        assert other.memories.find(room) == store.memories.find(room)
        assert other.memories.matching(room, ["tea"], limit=5) == store.memories.matching(
            room, ["tea"], limit=5
        )
        assert other.queue.waiting(room, limit=9) == store.queue.waiting(room, limit=9)
        assert other.accounts.spent(ACME) == store.accounts.spent(ACME)
        assert other.eraser.tombstones(ACME) == store.eraser.tombstones(ACME)
        slots = [Slot.NOTE]
        found = other.window.find(room, slots=slots, now=NOON)
        assert found == store.window.find(room, slots=slots, now=NOON)

    def test_a_moved_memory_is_used_like_any_other(self, store: Store) -> None:
        origin = InProcessStore()
        fill(origin)
        move(origin, store)

        keep(store, "five", "Cake is served at six.")
        report = store.ledger.verify(ACME)

        assert (report.events, report.erased, report.problems) == (5, 1, ())
        store.audit.append(ACME, [done()])
        trail = store.audit.verify(ACME)
        assert (trail.entries, trail.erased, trail.problems) == (3, 1, ())
        (hit,) = store.memories.matching(ADMIN, ["cake"], limit=5)
        assert store.memories.texts(ADMIN, [hit.id]) == {hit.id: "Cake is served at six."}

    @pytest.mark.parametrize("limit", [1, 2])
    def test_reading_in_small_steps_misses_nothing(self, store: Store, limit: int) -> None:
        fill(store)

        for shelf in Shelf:
            assert lines(store, shelf, limit=limit) == lines(store, shelf), shelf

    def test_writing_twice_is_writing_once(self, store: Store) -> None:
        origin = InProcessStore()
        fill(origin)
        move(origin, store)
        counted = mover_of(store).count(ADMIN)

        again = move(origin, store)

        assert again == 0
        assert mover_of(store).count(ADMIN) == counted

    def test_an_event_that_does_not_follow_is_refused_with_all_beside_it(
        self, store: Store
    ) -> None:
        origin = InProcessStore()
        fill(origin)
        first, second, *_ = lines(origin, Shelf.EVENTS)
        forged = replace(Entry.of(second), hash=bytes(32)).line

        for wrong in ([second], [first, forged], [first, first, second, second, forged]):
            with pytest.raises(Conflict):
                mover_of(store).write(ACME, Shelf.EVENTS, wrong)
        assert mover_of(store).count(ADMIN)[Shelf.EVENTS] == 0

    def test_a_trail_moves_from_where_it_begins_and_goes_on(self, store: Store) -> None:
        origin = InProcessStore()
        origin.audit.append(ACME, [done(), done("share", 3), done("share", 4)])
        origin.audit.retain(ACME, before=(NOON + DAY).date(), now=NOON + 5 * DAY)
        first, second, third = lines(origin, Shelf.AUDIT)

        assert mover_of(store).write(ACME, Shelf.AUDIT, [first, second]) == 2
        forged = replace(Link.of(third), action="forget").line
        with pytest.raises(Conflict):
            mover_of(store).write(ACME, Shelf.AUDIT, [second, forged])
        assert mover_of(store).write(ACME, Shelf.AUDIT, [second, third]) == 1

        assert lines(store, Shelf.AUDIT) == lines(origin, Shelf.AUDIT)
        assert store.audit.verify(ACME) == origin.audit.verify(ACME)
        assert store.audit.verify(ACME).problems == ()
        assert mover_of(store).workspaces() == [ACME]

    def test_an_event_erased_meanwhile_is_not_the_same_event(self, store: Store) -> None:
        origin = InProcessStore()
        (id,) = tell(origin, event("one"))
        move(origin, store)
        origin.eraser.erase(ACME, events=[id], memories=[], tombstones=[])

        with pytest.raises(Conflict):
            mover_of(store).write(ACME, Shelf.EVENTS, lines(origin, Shelf.EVENTS))

    def test_a_memory_that_changed_meanwhile_is_not_the_same_memory(self, store: Store) -> None:
        origin = InProcessStore()
        memory = keep(origin, "one")
        move(origin, store)
        (line,) = lines(origin, Shelf.MEMORIES)
        changed = line.replace(memory.text, "Tea is cold.")

        with pytest.raises(Conflict):
            mover_of(store).write(ACME, Shelf.MEMORIES, [changed])
        assert lines(store, Shelf.MEMORIES) == [line]

    def test_what_is_there_on_other_shelves_stays(self, store: Store) -> None:
        origin = InProcessStore()
        fill(origin)
        move(origin, store)

        for shelf, told, changed in (
            (Shelf.SPENDING, '"calls":1', '"calls":2'),
            (Shelf.WINDOW, '{"a":1}', '{"a":2}'),
            (Shelf.WORK, '"attempts":1', '"attempts":2'),
        ):
            before = lines(store, shelf)
            others = [line.replace(told, changed) for line in before]
            assert others != before
            assert mover_of(store).write(ACME, shelf, others) == 0
            assert lines(store, shelf) == before

    def test_only_an_administrator_reads_a_whole_workspace(self, store: Store) -> None:
        fill(store)

        with pytest.raises(InvalidInput):
            mover_of(store).read(IN_ROOM.grant(), Shelf.EVENTS, limit=1)
        with pytest.raises(InvalidInput):
            mover_of(store).count(IN_ROOM.grant())

    def test_each_workspace_is_moved_by_itself(self, store: Store) -> None:
        fill(store)
        keep(store, "one", workspace=OTHER)

        assert mover_of(store).workspaces() == [ACME, OTHER]
        assert mover_of(store).count(administrator_grant(OTHER))[Shelf.EVENTS] == 1
        assert len(lines(store, Shelf.EVENTS)) == 4

    def test_an_empty_store_has_nothing_to_move(self, store: Store) -> None:
        assert mover_of(store).workspaces() == []
        assert set(mover_of(store).count(ADMIN).values()) == {0}
        assert lines(store, Shelf.MEMORIES) == []
