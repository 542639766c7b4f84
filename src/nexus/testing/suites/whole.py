"""What a store promises beyond its parts."""

from __future__ import annotations

from threading import Thread

from ...core.protocols import Store
from ...core.records import MemoryKind
from ..samples import ACME, ADMIN, OTHER, draft, event, keep, point, tell, towards


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
