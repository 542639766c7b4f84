"""What is derived is as private as what it rests on, and changes nothing for anybody else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from ...core.access import Grant
from ...core.errors import InvalidInput
from ...core.protocols import Scored, Store
from ...core.records import Memory, MemoryKind, Trust
from ...core.scope import Scope
from ...core.uses import NewUse
from ..reads import Shelf, every_way_shows, fact_of, read_every_way
from ..samples import (
    ACME,
    ADMIN,
    ALICE,
    ALICE_DM,
    ALICE_PROFILE,
    IN_ROOM,
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

EVENT_READS = ("ledger", "queue", "count events", "window")


def derive(store: Store, into: Scope, sources: Sequence[Scope], *, learned: bool = False) -> Memory:
    """A fact about tea in one scope, from an event in each of others."""
    told = [event(f"in {scope}", scope=scope) for scope in sources]
    drafted = draft(*tell(store, *told), scope=into, text="tea", learned=learned, **fact_of("IS"))
    (memory,) = store.memories.put(ACME, [drafted])
    point(store, {memory.id: towards(1)})
    shown = NewUse(place=memory.scope, conversation="", ids=(memory.id,), at=memory.at)
    store.uses.add(ACME, [shown])
    return memory


def readers(store: Store, grant: Grant, memory: Memory) -> set[int]:
    """How often the ways to read show this memory, the only one in the store."""
    shown = read_every_way(store, grant, Shelf(events=AnyName(), memories={memory.id: "it"}))
    could = every_way_shows({"it"}, learned=memory.learned)
    return {
        amount if isinstance(amount, int) else len(amount)
        for way, amount in shown.items()
        if could[way] and not way.startswith(EVENT_READS)
    }


class AnyName(dict[str, str]):
    def __missing__(self, id: str) -> str:
        return id


class LabelSuite:
    """Needs a fixture `store`: an empty one."""

    @pytest.mark.parametrize("learned", [False, True], ids=["told", "learned"])
    def test_what_rests_on_two_scopes_is_read_only_with_both(
        self, store: Store, learned: bool
    ) -> None:
        memory = derive(store, ROOM, [ROOM, ALICE_DM], learned=learned)

        assert memory.label == {ROOM, ALICE_DM}
        assert readers(store, ADMIN.within([ROOM, ALICE_DM]), memory) == {1}
        for grant in (ADMIN.within([ROOM]), ADMIN.within([ALICE_DM]), IN_ROOM.grant()):
            assert readers(store, grant, memory) == {0}

    def test_a_profile_fact_from_a_dm_stays_out_of_the_room(self, store: Store) -> None:
        memory = derive(store, ALICE_PROFILE, [ALICE_DM])

        assert readers(store, ALICE.grant(), memory) == {1}
        assert readers(store, IN_ROOM.grant(), memory) == {0}

    @pytest.mark.parametrize("into", [Scope.workspace(), PROJECT, Scope.agent("scribe")], ids=str)
    def test_promotion_never_widens_the_readers(self, store: Store, into: Scope) -> None:
        memory = derive(store, into, [ALICE_DM])

        assert readers(store, ALICE.grant(), memory) == {1}
        assert readers(store, IN_ROOM.grant(), memory) == {0}

    def test_labels_survive_further_derivation(self, store: Store) -> None:
        first = derive(store, ALICE_PROFILE, [ALICE_DM])
        (second,) = store.memories.put(ACME, [draft(first.id, scope=Scope.workspace(), slot="2")])
        (third,) = store.memories.put(ACME, [draft(second.id, scope=PROJECT, slot="3")])

        assert third.label == {ALICE_DM, ALICE_PROFILE, Scope.workspace(), PROJECT}
        assert store.memories.get(IN_ROOM.grant(), [first.id, second.id, third.id]) == []
        assert store.memories.get(ALICE.grant(), [third.id]) == [third]

    def test_a_dossier_is_read_only_with_all_that_its_maker_could_read(self, store: Store) -> None:
        (source,) = tell(store, event("1"))
        made = draft(source, kind=MemoryKind.DOSSIER, body={"reach": ["room:design", "user:bob"]})
        (memory,) = store.memories.put(ACME, [made])

        assert memory.label == {ROOM, Scope.user("bob")}
        assert store.memories.get(IN_ROOM.grant(), [memory.id]) == [memory]
        assert store.memories.find(ADMIN.within([ROOM])) == []
        with pytest.raises(InvalidInput, match="reach"):
            store.memories.put(ACME, [replace(made, body={"reach": "room:design"})])

    def test_trust_is_that_of_the_least_trusted_source(self, store: Store) -> None:
        direct, outside, model = tell(
            store,
            event("1", trust=Trust.DIRECT),
            event("2", trust=Trust.EXTERNAL),
            event("3", trust=Trust.INFERRED),
        )

        mixed, clean = store.memories.put(ACME, [draft(direct, outside), draft(direct)])
        (deeper,) = store.memories.put(ACME, [draft(mixed.id, model)])

        assert clean.trust is Trust.DIRECT
        assert mixed.trust is Trust.EXTERNAL
        assert deeper.trust is Trust.EXTERNAL

    def test_other_peoples_rows_change_no_score(self, store: Store) -> None:
        sources = tell(store, *(event(str(n)) for n in range(6)))
        drafts = [draft(id, text="tea " * n + "milk") for n, id in enumerate(sources)]
        put = store.memories.put(ACME, drafts)
        point(store, {memory.id: towards(1, n) for n, memory in enumerate(put)})
        before = self._ranked(store, IN_ROOM.grant())

        hidden = tell(store, *(event(f"x{n}", scope=ALICE_DM) for n in range(40)))
        secret = [draft(id, scope=ALICE_DM, text="tea milk sugar " * 9) for id in hidden]
        mixed = [draft(id, sources[0], text="tea") for id in hidden]
        for memory in store.memories.put(ACME, [*secret, *mixed]):
            point(store, {memory.id: towards(1)})

        assert self._ranked(store, IN_ROOM.grant()) == before
        assert len(before[0]) == 5

    def test_other_workspaces_change_no_score(self, store: Store) -> None:
        for n in range(3):
            memory = keep(store, str(n), "tea " * n + "milk")
            point(store, {memory.id: towards(1, n)})
        before = self._ranked(store, ADMIN)

        for n in range(9):
            memory = keep(store, f"x{n}", "tea milk sugar " * 9, workspace=OTHER)
            point(store, {memory.id: towards(1)}, OTHER)

        assert self._ranked(store, ADMIN) == before
        assert len(before[0]) == 2

    def _ranked(self, store: Store, grant: Grant) -> tuple[list[Scored], list[Scored]]:
        return (
            store.memories.matching(grant, ["tea", "sugar"], limit=5),
            store.vectors.nearest(grant, SPACE, towards(1), limit=5),
        )
