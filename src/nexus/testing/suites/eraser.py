"""What an eraser promises."""

from __future__ import annotations

from datetime import datetime

from ...core.ids import digest
from ...core.protocols import Store
from ...core.records import Erased, Memory, MemoryKind, Tombstone
from ...core.text import terms
from ..samples import (
    ACME,
    ADMIN,
    BOB_DM,
    LATER,
    NOON,
    OTHER,
    PROJECT,
    ROOM,
    SPACE,
    draft,
    event,
    keep,
    point,
    tell,
    towards,
)


def _stone(kind: str, what: object, *, at: datetime = NOON) -> Tombstone:
    return Tombstone(kind=kind, digest=digest(kind, str(what)), at=at)


def family(store: Store) -> dict[str, Memory]:
    """child and sibling rest on events, grandchild on child, mixed on child and sibling."""
    child, sibling = keep(store, "1", "the child"), keep(store, "2", "the sibling")
    grandchild, mixed = store.memories.put(
        ACME,
        [draft(child.id, text="the grandchild"), draft(child.id, sibling.id, text="the mixed one")],
    )
    return {"child": child, "sibling": sibling, "grandchild": grandchild, "mixed": mixed}


class EraserSuite:
    """Needs a fixture `store`: an empty one."""

    def test_everything_derived_is_known_at_any_depth(self, store: Store) -> None:
        kin = family(store)

        def derived(*ids: str) -> set[str]:
            return {memory.text for memory in store.eraser.derived(ACME, ids)}

        assert derived(*kin["child"].sources) == {"the child", "the grandchild", "the mixed one"}
        assert derived(kin["child"].id) == {"the grandchild", "the mixed one"}
        assert derived(*kin["sibling"].sources) == {"the sibling", "the mixed one"}
        assert derived("nobody") == set()

    def test_what_was_shared_goes_with_its_source(self, store: Store) -> None:
        source, copy = keep(store, "1", "the source"), keep(store, "2", "the copy")
        (act,) = tell(store, event("3", "the act"))
        body = {"relation": "promoted_from", "members": [source.id], "copy": copy.sources[0]}
        link = draft(act, source.id, kind=MemoryKind.LINK, body=body, indexed_text="", learned=True)
        store.memories.put(ACME, [link])

        erased = store.eraser.erase(ACME, events=source.sources, memories=[], tombstones=[])

        assert (erased.events, erased.memories) == (3, 3)
        assert store.ledger.find(ADMIN) == [] == store.memories.find(ADMIN)

    def test_provenance_ends_at_the_wall(self, store: Store) -> None:
        kin = family(store)

        assert store.eraser.derived(OTHER, kin["child"].sources) == []

    def test_erased_events_are_nowhere(self, store: Store) -> None:
        ids = tell(store, event("1", "the secret"), event("2", "the rest"))

        stone = Tombstone(kind="event", digest=ids[0], at=NOON)
        erased = store.eraser.erase(ACME, events=ids[:1], memories=[], tombstones=[stone])

        assert erased == Erased(events=1, queued=1)
        assert [found.text for found in store.ledger.find(ADMIN)] == ["the rest"]
        assert store.ledger.get(ADMIN, ids[:1]) == []
        assert store.ledger.keys(ADMIN, ids[:1]) == {}
        assert store.ledger.progress(ADMIN, ids[:1]) == {}
        assert store.queue.pending(ADMIN) == 1
        assert store.count(ADMIN)["events"] == 1
        assert store.ledger.verify(ACME).sound

    def test_erased_memories_are_nowhere(self, store: Store) -> None:
        kin = family(store)
        point(store, {memory.id: towards(1) for memory in kin.values()})
        gone = [kin["grandchild"].id, kin["mixed"].id]

        erased = store.eraser.erase(ACME, events=[], memories=[*gone, "nobody"], tombstones=[])

        words = len(set(terms("the grandchild"))) + len(set(terms("the mixed one")))
        assert erased == Erased(memories=2, vectors=2, keywords=words, links=3)
        assert store.memories.get(ADMIN, gone) == []
        assert len(store.memories.find(ADMIN)) == 2
        assert len(store.memories.matching(ADMIN, terms("the"), limit=9)) == 2
        assert len(store.vectors.nearest(ADMIN, SPACE, towards(1), limit=9)) == 2
        assert store.vectors.get(ADMIN, SPACE, gone) == {}

    def test_what_rests_on_the_erased_goes_with_it(self, store: Store) -> None:
        kin = family(store)

        erased = store.eraser.erase(ACME, events=kin["child"].sources, memories=[], tombstones=[])

        assert (erased.events, erased.memories) == (1, 3)
        assert store.memories.find(ADMIN) == [kin["sibling"]]

    def test_erasing_what_is_not_there_erases_nothing(self, store: Store) -> None:
        (id,) = tell(store, event("1"))
        store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])

        again = store.eraser.erase(ACME, events=[id, "nobody"], memories=["x"], tombstones=[])

        assert again == Erased()

    def test_nothing_is_derived_from_what_was_erased(self, store: Store) -> None:
        kin = family(store)
        store.eraser.erase(
            ACME, events=kin["child"].sources, memories=[kin["child"].id], tombstones=[]
        )

        assert store.memories.put(ACME, [draft(*kin["child"].sources)]) == []
        assert store.memories.put(ACME, [draft(kin["child"].id, kin["sibling"].id)]) == []

    def test_what_was_erased_is_known_to_be_gone(self, store: Store) -> None:
        kin = family(store)
        (event,) = kin["child"].sources
        stone = Tombstone(kind="memory", digest=kin["grandchild"].id, at=NOON)

        store.eraser.erase(ACME, events=[event], memories=[stone.digest], tombstones=[stone])

        assert store.eraser.gone(ACME, ["nobody", event])
        assert store.eraser.gone(ACME, [stone.digest])
        assert not store.eraser.gone(ACME, [*kin["sibling"].sources, "nobody"])
        assert not store.eraser.gone(ACME, [])
        assert not store.eraser.gone(OTHER, [event])

    def test_a_person_is_gone_for_what_was_before(self, store: Store) -> None:
        stones = [Tombstone(kind=kind, digest=kind, at=NOON) for kind in ("user", "scope")]

        store.eraser.erase(ACME, events=[], memories=[], tombstones=stones)

        for stone in stones:
            assert store.eraser.gone(ACME, ["nobody", stone.digest], since=NOON)
            assert not store.eraser.gone(ACME, [stone.digest], since=LATER)
            assert not store.eraser.gone(ACME, [stone.digest])
            assert not store.eraser.gone(OTHER, [stone.digest], since=NOON)

    def test_tombstones_are_kept_once_and_per_workspace(self, store: Store) -> None:
        early, late = (Tombstone(kind="user", digest="d1", at=at) for at in (NOON, LATER))
        other = Tombstone(kind="event", digest="d1", at=NOON)
        for stones in ([early, other], [late], [early]):
            store.eraser.erase(ACME, events=[], memories=[], tombstones=stones)

        assert store.eraser.tombstones(ACME) == [other, late]
        assert store.eraser.tombstones(OTHER) == []

    def test_a_drawer_has_its_tombstone_and_its_owners(self, store: Store) -> None:
        bobs, room, other = _stone("user", "bob"), _stone("scope", ROOM), _stone("user", "carol")
        (id,) = tell(store, event("1"))
        told = Tombstone(kind="event", digest=id, at=NOON)
        store.eraser.erase(ACME, events=[id], memories=[], tombstones=[bobs, room, other, told])

        assert store.eraser.stones(ACME, [BOB_DM, ROOM, PROJECT]) == {bobs, room}
        assert store.eraser.stones(ACME, [PROJECT]) == set()
        assert store.eraser.stones(OTHER, [BOB_DM, ROOM]) == set()

    def test_nothing_is_made_for_whom_was_forgotten_since_it_was_begun(self, store: Store) -> None:
        (source,) = tell(store, event("1"))
        body = {"reach": ["room:design", "user:bob"]}
        dossier = draft(source, kind=MemoryKind.DOSSIER, body=body)
        others = draft(source)
        begun = store.eraser.stones(ACME, [ROOM, BOB_DM])
        for at in (NOON, LATER):  # forgotten, back, and forgotten again
            stone = _stone("user", "bob", at=at)
            store.eraser.erase(ACME, events=[], memories=[], tombstones=[stone])

            kept = store.memories.put(ACME, [dossier, others], stones=begun)

            assert [memory.kind for memory in kept] == [MemoryKind.PASSAGE]
            assert store.memories.find(ADMIN) == kept
            begun = store.eraser.stones(ACME, [ROOM, BOB_DM])
        assert len(store.memories.put(ACME, [dossier], stones=begun)) == 1

    def test_erasing_stays_inside_its_workspace(self, store: Store) -> None:
        memory = keep(store, "1")
        keep(store, "1", workspace=OTHER)

        store.eraser.erase(OTHER, events=memory.sources, memories=[memory.id], tombstones=[])

        assert store.memories.find(ADMIN) == [memory]
        assert len(store.ledger.find(ADMIN)) == 1

    def test_no_file_holds_what_was_erased(self, store: Store) -> None:
        said = "the heron nests in the \N{GREEK SMALL LETTER PI} tower"
        memory, stays = keep(store, "1", said), keep(store, "2", "everybody knows this sentence")
        point(store, {memory.id: towards(1, 2, 3), stays.id: towards(1)})

        store.eraser.erase(ACME, events=memory.sources, memories=[memory.id], tombstones=[])

        pieces = [said.encode(), stays.text.encode(), towards(1, 2, 3).tobytes()]
        assert sum(store.eraser.residue(ACME, pieces).values()) == 0
        for file in store.files():
            assert said.encode() not in file.read_bytes()
            assert towards(1, 2, 3).tobytes() not in file.read_bytes()
