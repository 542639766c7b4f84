"""What a store promises beyond its parts."""

from __future__ import annotations

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
