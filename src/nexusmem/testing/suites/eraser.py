"""Contract of the eraser."""

from __future__ import annotations

from datetime import datetime

from ...core.ids import digest
from ...core.protocols.store import Store
from ...core.records import ErasureCounts, Memory, MemoryKind, Tombstone
from ...text.terms import extract_terms
from ..samples import (
    ACME,
    ADMIN,
    BOB_DM,
    LATER,
    NOON,
    OTHER,
    PROJECT,
    ROOM,
    TEST_PROFILE,
    add_memory,
    append_events,
    make_draft,
    make_event,
    put_vectors,
    unit_vector,
)


def _make_tombstone(kind: str, value: object, *, at: datetime = NOON) -> Tombstone:
    return Tombstone(kind=kind, digest=digest(kind, str(value)), at=at)


def derivation_tree(store: Store) -> dict[str, Memory]:
    """Store a tree: child and sibling derive from events, grandchild from child, mixed from
    both.
    """
    child, sibling = add_memory(store, "1", "the child"), add_memory(store, "2", "the sibling")
    grandchild, mixed = store.memories.put(
        ACME,
        [
            make_draft(child.id, text="the grandchild"),
            make_draft(child.id, sibling.id, text="the mixed one"),
        ],
    )
    return {"child": child, "sibling": sibling, "grandchild": grandchild, "mixed": mixed}


class EraserSuite:
    """Needs a fixture `store` that yields an empty store."""

    def test_derived_memories_are_found_at_any_depth(self, store: Store) -> None:
        kin = derivation_tree(store)

        def derive_texts(*ids: str) -> set[str]:
            return {memory.text for memory in store.eraser.list_derived(ACME, ids)}

        assert derive_texts(*kin["child"].sources) == {
            "the child",
            "the grandchild",
            "the mixed one",
        }
        assert derive_texts(kin["child"].id) == {"the grandchild", "the mixed one"}
        assert derive_texts(*kin["sibling"].sources) == {"the sibling", "the mixed one"}
        assert derive_texts("nobody") == set()

    def test_shared_copy_is_erased_with_source(self, store: Store) -> None:
        source, copy = add_memory(store, "1", "the source"), add_memory(store, "2", "the copy")
        (act,) = append_events(store, make_event("3", "the act"))
        body = {"relation": "promoted_from", "members": [source.id], "copy": copy.sources[0]}
        link = make_draft(
            act, source.id, kind=MemoryKind.LINK, body=body, indexed_text="", learned=True
        )
        store.memories.put(ACME, [link])

        erased = store.eraser.erase(ACME, events=source.sources, memories=[], tombstones=[])

        assert (erased.events, erased.memories) == (3, 3)
        assert store.ledger.find(ADMIN) == [] == store.memories.find(ADMIN)

    def test_derived_from_does_not_cross_workspaces(self, store: Store) -> None:
        kin = derivation_tree(store)

        assert store.eraser.list_derived(OTHER, kin["child"].sources) == []

    def test_erased_events_are_unreadable(self, store: Store) -> None:
        ids = append_events(store, make_event("1", "the secret"), make_event("2", "the rest"))

        stone = Tombstone(kind="event", digest=ids[0], at=NOON)
        erased = store.eraser.erase(ACME, events=ids[:1], memories=[], tombstones=[stone])

        assert erased == ErasureCounts(events=1, queued=1)
        assert [found.text for found in store.ledger.find(ADMIN)] == ["the rest"]
        assert store.ledger.get(ADMIN, ids[:1]) == []
        assert store.ledger.load_keys(ADMIN, ids[:1]) == {}
        assert store.ledger.load_progress(ADMIN, ids[:1]) == {}
        assert store.queue.count_pending(ADMIN) == 1
        assert store.count_records(ADMIN)["events"] == 1
        assert store.ledger.verify(ACME).is_intact

    def test_erased_memories_are_unreadable(self, store: Store) -> None:
        kin = derivation_tree(store)
        put_vectors(store, {memory.id: unit_vector(1) for memory in kin.values()})
        gone = [kin["grandchild"].id, kin["mixed"].id]

        erased = store.eraser.erase(ACME, events=[], memories=[*gone, "nobody"], tombstones=[])

        words = len(set(extract_terms("the grandchild"))) + len(set(extract_terms("the mixed one")))
        assert erased == ErasureCounts(memories=2, vectors=2, keywords=words, links=3)
        assert store.memories.get(ADMIN, gone) == []
        assert len(store.memories.find(ADMIN)) == 2
        assert len(store.memories.search_keywords(ADMIN, extract_terms("the"), limit=9)) == 2
        assert len(store.vectors.find_nearest(ADMIN, TEST_PROFILE, unit_vector(1), limit=9)) == 2
        assert store.vectors.get(ADMIN, TEST_PROFILE, gone) == {}

    def test_erasure_cascades_to_derived_memories(self, store: Store) -> None:
        kin = derivation_tree(store)

        erased = store.eraser.erase(ACME, events=kin["child"].sources, memories=[], tombstones=[])

        assert (erased.events, erased.memories) == (1, 3)
        assert store.memories.find(ADMIN) == [kin["sibling"]]

    def test_erasing_unknown_ids_changes_nothing(self, store: Store) -> None:
        (id,) = append_events(store, make_event("1"))
        store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])

        again = store.eraser.erase(ACME, events=[id, "nobody"], memories=["x"], tombstones=[])

        assert again == ErasureCounts()

    def test_erased_source_rejects_new_drafts(self, store: Store) -> None:
        kin = derivation_tree(store)
        store.eraser.erase(
            ACME, events=kin["child"].sources, memories=[kin["child"].id], tombstones=[]
        )

        assert store.memories.put(ACME, [make_draft(*kin["child"].sources)]) == []
        assert store.memories.put(ACME, [make_draft(kin["child"].id, kin["sibling"].id)]) == []

    def test_erased_ids_are_reported_erased(self, store: Store) -> None:
        kin = derivation_tree(store)
        (event,) = kin["child"].sources
        stone = Tombstone(kind="memory", digest=kin["grandchild"].id, at=NOON)

        store.eraser.erase(ACME, events=[event], memories=[stone.digest], tombstones=[stone])

        assert store.eraser.any_erased(ACME, ["nobody", event])
        assert store.eraser.any_erased(ACME, [stone.digest])
        assert not store.eraser.any_erased(ACME, [*kin["sibling"].sources, "nobody"])
        assert not store.eraser.any_erased(ACME, [])
        assert not store.eraser.any_erased(OTHER, [event])

    def test_user_tombstone_covers_earlier_times(self, store: Store) -> None:
        stones = [Tombstone(kind=kind, digest=kind, at=NOON) for kind in ("user", "scope")]

        store.eraser.erase(ACME, events=[], memories=[], tombstones=stones)

        for stone in stones:
            assert store.eraser.any_erased(ACME, ["nobody", stone.digest], since=NOON)
            assert not store.eraser.any_erased(ACME, [stone.digest], since=LATER)
            assert not store.eraser.any_erased(ACME, [stone.digest])
            assert not store.eraser.any_erased(OTHER, [stone.digest], since=NOON)

    def test_tombstones_are_unique_per_workspace(self, store: Store) -> None:
        early, late = (Tombstone(kind="user", digest="d1", at=at) for at in (NOON, LATER))
        other = Tombstone(kind="event", digest="d1", at=NOON)
        for stones in ([early, other], [late], [early]):
            store.eraser.erase(ACME, events=[], memories=[], tombstones=stones)

        assert store.eraser.list_tombstones(ACME) == [other, late]
        assert store.eraser.list_tombstones(OTHER) == []

    def test_scope_tombstones_include_owner(self, store: Store) -> None:
        bobs, room, other = (
            _make_tombstone("user", "bob"),
            _make_tombstone("scope", ROOM),
            _make_tombstone("user", "carol"),
        )
        (id,) = append_events(store, make_event("1"))
        told = Tombstone(kind="event", digest=id, at=NOON)
        store.eraser.erase(ACME, events=[id], memories=[], tombstones=[bobs, room, other, told])

        assert store.eraser.scope_tombstones(ACME, [BOB_DM, ROOM, PROJECT]) == {bobs, room}
        assert store.eraser.scope_tombstones(ACME, [PROJECT]) == set()
        assert store.eraser.scope_tombstones(OTHER, [BOB_DM, ROOM]) == set()

    def test_draft_is_dropped_if_user_was_forgotten_meanwhile(self, store: Store) -> None:
        (source,) = append_events(store, make_event("1"))
        body = {"reach": ["room:design", "user:bob"]}
        dossier = make_draft(source, kind=MemoryKind.DOSSIER, body=body)
        others = make_draft(source)
        begun = store.eraser.scope_tombstones(ACME, [ROOM, BOB_DM])
        for at in (NOON, LATER):  # erased, imported and erased again
            stone = _make_tombstone("user", "bob", at=at)
            store.eraser.erase(ACME, events=[], memories=[], tombstones=[stone])

            kept = store.memories.put(ACME, [dossier, others], tombstones=begun)

            assert [memory.kind for memory in kept] == [MemoryKind.PASSAGE]
            assert store.memories.find(ADMIN) == kept
            begun = store.eraser.scope_tombstones(ACME, [ROOM, BOB_DM])
        assert len(store.memories.put(ACME, [dossier], tombstones=begun)) == 1

    def test_erasure_is_limited_to_workspace(self, store: Store) -> None:
        memory = add_memory(store, "1")
        add_memory(store, "1", workspace=OTHER)

        store.eraser.erase(OTHER, events=memory.sources, memories=[memory.id], tombstones=[])

        assert store.memories.find(ADMIN) == [memory]
        assert len(store.ledger.find(ADMIN)) == 1

    def test_erased_text_is_in_no_file(self, store: Store) -> None:
        said = "the heron nests in the \N{GREEK SMALL LETTER PI} tower"
        memory, stays = (
            add_memory(store, "1", said),
            add_memory(store, "2", "everybody knows this sentence"),
        )
        put_vectors(store, {memory.id: unit_vector(1, 2, 3), stays.id: unit_vector(1)})

        store.eraser.erase(ACME, events=memory.sources, memories=[memory.id], tombstones=[])

        pieces = [said.encode(), stays.text.encode(), unit_vector(1, 2, 3).tobytes()]
        assert sum(store.eraser.find_residue(ACME, pieces).values()) == 0
        for file in store.list_files():
            assert said.encode() not in file.read_bytes()
            assert unit_vector(1, 2, 3).tobytes() not in file.read_bytes()
