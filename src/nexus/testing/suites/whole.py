"""What a store promises beyond its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from threading import Thread

from ...core.access import Grant
from ...core.protocols import Store
from ...core.records import MemoryKind
from ...core.window import Slot, WindowItem
from ..samples import (
    ACME,
    ADMIN,
    ALICE_DM,
    IN_ROOM,
    NOON,
    OTHER,
    ROOM,
    draft,
    event,
    keep,
    point,
    tell,
    towards,
)


def epoch_of(store: Store, grant: Grant) -> int:
    """Of everything, wherever the window lies."""
    return store.epoch(grant) + store.window.epoch(grant)


class WholeSuite:
    """Needs a fixture `store`: an empty one."""

    def test_workspaces_are_those_that_were_written_to(self, store: Store) -> None:
        assert store.workspaces() == []

        tell(store, event("1"), workspace=OTHER)
        tell(store, event("1"), workspace=ACME)
        store.ledger.find(ADMIN)

        assert store.workspaces() == [ACME, OTHER]

    def test_everything_is_counted_by_kind(self, store: Store) -> None:
        memory = keep(store, "1")
        store.memories.put(ACME, [draft(memory.id, kind=MemoryKind.EPISODE)])
        point(store, {memory.id: towards(1)})
        keep(store, "1", workspace=OTHER)

        assert store.count(ADMIN) == {"events": 1, "episode": 1, "passage": 1, "vectors": 1}
        assert store.kinds(ADMIN) == {"episode": 1, "passage": 1}

    def test_what_is_read_in_one_moment_stands_still(self, store: Store) -> None:
        tell(store, event("1"))
        writer = Thread(target=lambda: tell(store, event("2")))

        with store.moment():
            before = store.count(ADMIN)["events"]
            writer.start()
            writer.join(timeout=0.05)  # it may have to wait until we are done
            with store.moment():  # the same one
                during = store.count(ADMIN)["events"]
        writer.join()

        assert (before, during, store.count(ADMIN)["events"]) == (1, 1, 2)

    def test_every_write_that_may_be_seen_is_a_new_epoch(self, store: Store) -> None:
        seen = [epoch_of(store, ADMIN)]
        for write in self._writes(store):
            write()
            seen.append(epoch_of(store, ADMIN))

        assert seen == sorted(set(seen))

    def _writes(self, store: Store) -> Iterator[Callable[[], object]]:
        yield lambda: tell(store, event("1"))
        (source,) = (told.id for told in store.ledger.find(ADMIN))
        yield lambda: store.memories.put(ACME, [draft(source, text="tea")])
        yield lambda: store.memories.put(ACME, [draft(source, text="tea, hot")])
        yield lambda: store.memories.put(ACME, [draft(source, text="so it is", slot="2")])
        one, two = (memory.id for memory in store.memories.find(ADMIN))
        yield lambda: point(store, {one: towards(1)})
        yield lambda: store.memories.delete(ACME, [two])
        note = WindowItem(scope=ROOM, slot=Slot.NOTE, key="k", value="tea", at=NOON)
        yield lambda: store.window.put(ACME, [note])
        yield lambda: store.window.put(ACME, [replace(note, value="coffee")])
        yield lambda: store.window.drop(ACME, ROOM, Slot.NOTE, "k")
        yield lambda: store.eraser.erase(ACME, events=[source], memories=[], tombstones=[])

    def test_what_is_made_again_at_any_time_is_no_new_epoch(self, store: Store) -> None:
        memory = keep(store, "1", "tea")
        point(store, {memory.id: towards(1)})
        before = epoch_of(store, ADMIN)

        store.ledger.append(ACME, [event("1", "tea")], recorded_at=NOON)  # it is there already
        store.memories.put(ACME, [draft(*memory.sources, text="tea")])
        point(store, {memory.id: towards(1)})
        for slot in (Slot.SUMMARY, Slot.INJECTED, Slot.CONTEXT):
            item = WindowItem(scope=ROOM, slot=slot, key="k", value="tea", at=NOON)
            store.window.put(ACME, [item])
            store.window.drop(ACME, ROOM, slot)
        store.count(ADMIN)
        store.optimize()

        assert epoch_of(store, ADMIN) == before

    def test_what_may_not_be_seen_is_no_new_epoch(self, store: Store) -> None:
        told = keep(store, "1", "tea")
        before = epoch_of(store, IN_ROOM.grant())

        hidden = keep(store, "2", "secret", scope=ALICE_DM)
        point(store, {hidden.id: towards(1)})
        keep(store, "1", "tea", workspace=OTHER)
        mixed = draft(*told.sources, *hidden.sources, text="of both", slot="2")
        store.memories.put(ACME, [mixed])
        note = WindowItem(scope=ALICE_DM, slot=Slot.NOTE, key="k", value="tea", at=NOON)
        store.window.put(ACME, [note])
        store.eraser.erase(ACME, events=list(hidden.sources), memories=[], tombstones=[])

        assert epoch_of(store, IN_ROOM.grant()) == before
        assert epoch_of(store, ADMIN.within([])) == 0

    def test_tidying_up_changes_nothing(self, store: Store) -> None:
        memory = keep(store, "1")
        point(store, {memory.id: towards(1)})
        before = store.count(ADMIN), store.memories.find(ADMIN), store.ledger.find(ADMIN)

        store.optimize()

        assert before == (store.count(ADMIN), store.memories.find(ADMIN), store.ledger.find(ADMIN))
        assert store.ledger.verify(ACME).sound

    def test_its_files_are_there(self, store: Store) -> None:
        keep(store, "1")

        assert all(file.is_file() for file in store.files())

    def test_it_can_be_closed_twice(self, store: Store) -> None:
        store.close()
        store.close()
