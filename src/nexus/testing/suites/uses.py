"""What uses promise, and the state of memories that follows from them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from ...core.access import administrator_grant
from ...core.audit import by_worker
from ...core.errors import InvalidInput, LeaseLost
from ...core.filters import parse_filter
from ...core.ids import WorkspaceId
from ...core.jobs import NewJob
from ...core.protocols import Store
from ...core.records import MemoryKind, Tier, Tombstone
from ...core.scope import Scope
from ...core.strength import KNOWLEDGE, Spared
from ...core.uses import NewUse, Use, owner_digest, place_digest
from ..samples import (
    ACME,
    ADMIN,
    ALICE,
    ALICE_DM,
    ALICE_PROFILE,
    BOB,
    IN_ROOM,
    LATER,
    NOON,
    OTHER,
    ROOM,
    draft,
    keep,
    point,
    towards,
)

DAY, SECOND = timedelta(days=1), timedelta(seconds=1)


def shown(*ids: str, place: Scope = ROOM, **more: Any) -> NewUse:
    told: dict[str, Any] = {"conversation": "monday", "at": NOON, **more}
    return NewUse(place=place, ids=ids, **told)


class UsesSuite:
    """Needs a fixture `store`: an empty one."""

    def test_uses_are_counted_with_their_conversations(self, store: Store) -> None:
        tea, milk = keep(store, "1"), keep(store, "2")

        store.uses.add(ACME, [shown(tea.id), shown(tea.id, milk.id, at=LATER)])
        store.uses.add(ACME, [shown(tea.id, conversation="tuesday", at=NOON - DAY)])

        assert store.uses.of(ADMIN, [tea.id, milk.id]) == {
            tea.id: Use(3, 2, LATER),
            milk.id: Use(1, 1, LATER),
        }
        assert store.uses.of(IN_ROOM.grant(), [tea.id]) == {tea.id: Use(3, 2, LATER)}

    def test_what_is_not_there_was_not_used(self, store: Store) -> None:
        tea = keep(store, "1")

        assert store.uses.add(ACME, [shown(tea.id, "0" * 32, "goal:active")]) == 1
        assert store.uses.add(ACME, []) == 0
        assert store.uses.of(ADMIN, ["0" * 32, "goal:active"]) == {}

    def test_a_use_counts_only_for_those_who_may_read_its_place(self, store: Store) -> None:
        profile = keep(store, "1", scope=ALICE_PROFILE)

        store.uses.add(ACME, [shown(profile.id, place=ALICE_DM)])
        store.uses.add(ACME, [shown(profile.id, place=ROOM, at=LATER)])

        assert store.uses.of(ALICE.grant(), [profile.id]) == {profile.id: Use(1, 1, NOON)}
        assert store.uses.of(IN_ROOM.grant(), [profile.id]) == {profile.id: Use(1, 1, LATER)}
        assert store.uses.of(BOB.grant(), [profile.id]) == {}

    def test_using_something_is_no_news(self, store: Store) -> None:
        tea = keep(store, "1")
        before = store.epoch(ADMIN)

        store.uses.add(ACME, [shown(tea.id)])

        assert store.epoch(ADMIN) == before

    def test_many_conversations_are_told_apart_up_to_a_point(self, store: Store) -> None:
        tea = keep(store, "1")

        store.uses.add(ACME, [shown(tea.id, conversation=str(day)) for day in range(40)])

        assert store.uses.of(ADMIN, [tea.id])[tea.id] == Use(40, 16, NOON)

    def test_uses_outlive_what_is_derived_again(self, store: Store) -> None:
        tea = keep(store, "1")
        store.uses.add(ACME, [shown(tea.id)])

        store.memories.put(ACME, [draft(*tea.sources, text="Tea is served at five.")])

        assert store.uses.of(ADMIN, [tea.id]) == {tea.id: Use(1, 1, NOON)}

    def test_what_is_erased_takes_its_uses_along(self, store: Store) -> None:
        tea, milk = keep(store, "1"), keep(store, "2", "Milk comes at five.")
        store.uses.add(ACME, [shown(tea.id, milk.id)])

        erased = store.eraser.erase(
            ACME, events=list(tea.sources), memories=[tea.id], tombstones=[]
        )
        again = keep(store, "3")

        assert erased.uses == 1
        assert store.uses.of(ADMIN, [tea.id, milk.id, again.id]) == {milk.id: Use(1, 1, NOON)}

    def test_a_forgotten_persons_places_are_no_longer_known(self, store: Store) -> None:
        profile = keep(store, "1", scope=ALICE_PROFILE)
        store.uses.add(ACME, [shown(profile.id, place=ALICE_DM), shown(profile.id, place=ROOM)])

        for kind, gone in (("user", owner_digest(ALICE_DM)), ("scope", place_digest(ROOM))):
            stone = Tombstone(kind=kind, digest=str(gone), at=NOON)
            erased = store.eraser.erase(ACME, events=[], memories=[], tombstones=[stone])
            assert erased.uses == 1, kind

        assert store.uses.of(ADMIN, [profile.id]) == {}

    def test_uses_of_what_is_gone_for_good_are_let_go(self, store: Store) -> None:
        tea, milk = keep(store, "1"), keep(store, "2")
        store.uses.add(ACME, [shown(tea.id, milk.id)])
        store.memories.delete(ACME, [tea.id])

        assert store.uses.of(ADMIN, [tea.id]) == {}
        assert store.uses.tidy([ACME], before=NOON) == [0]
        assert store.uses.tidy([OTHER, ACME], before=LATER) == [0, 1]
        assert store.uses.of(ADMIN, [milk.id]) == {milk.id: Use(1, 1, NOON)}

    # The state of a memory

    def test_a_mark_changes_the_state_and_nothing_else(self, store: Store) -> None:
        tea = keep(store, "1")
        point(store, {tea.id: towards(1)})
        epoch = store.epoch(ADMIN)

        assert store.memories.mark(ACME, [tea.id, "0" * 32], archived=True) == 1
        assert store.memories.mark(ACME, [tea.id], archived=True) == 0
        assert store.memories.mark(ACME, [tea.id], tier=Tier.LONG) == 1

        marked = replace(tea, archived=True, tier=Tier.LONG)
        assert store.memories.get(ADMIN, [tea.id]) == store.memories.find(ADMIN) == [marked]
        assert [hit.id for hit in store.memories.matching(ADMIN, ["tea"], limit=9)] == [tea.id]
        assert store.count(ADMIN)["vectors"] == 1
        assert store.epoch(ADMIN) > epoch

    def test_the_state_can_be_asked_for(self, store: Store) -> None:
        tea, milk = keep(store, "1"), keep(store, "2", kind=MemoryKind.FACT, body=FACT)
        store.memories.mark(ACME, [tea.id], archived=True)
        store.memories.mark(ACME, [milk.id], tier=Tier.LONG)

        for where, expected in (
            ({"archived": True}, [tea.id]),
            ({"archived": False}, [milk.id]),
            ({"tier": "long"}, [milk.id]),
            ({"tier": "short", "kind": "passage"}, [tea.id]),
        ):
            found = store.memories.find(ADMIN, where=parse_filter(where))
            hits = store.memories.matching(
                ADMIN, ["tea"], where=parse_filter(where), limit=9, learned=True
            )
            assert [m.id for m in found] == [hit.id for hit in hits] == expected, where

    def test_the_state_is_kept_when_something_is_derived_again(self, store: Store) -> None:
        tea = keep(store, "1")
        store.memories.mark(ACME, [tea.id], archived=True, tier=Tier.LONG)

        (same,) = store.memories.put(ACME, [draft(*tea.sources)])
        (changed,) = store.memories.put(ACME, [draft(*tea.sources, text="Tea at five.")])

        assert (same.archived, same.tier) == (changed.archived, changed.tier) == (True, Tier.LONG)
        assert store.memories.get(ADMIN, [tea.id]) == [changed]

    def test_a_draft_may_keep_something_longer(self, store: Store) -> None:
        tea = keep(store, "1")
        point(store, {tea.id: towards(1)})

        (longer,) = store.memories.put(ACME, [draft(*tea.sources, tier=Tier.LONG)])
        (still,) = store.memories.put(ACME, [draft(*tea.sources)])

        assert longer == still == replace(tea, tier=Tier.LONG)
        assert store.memories.get(ADMIN, [tea.id]) == [longer]
        assert store.count(ADMIN)["vectors"] == 1

    def test_a_sweep_reads_what_fades(self, store: Store) -> None:
        tea = keep(store, "1", salience=0.25, confidence=0.75)
        keep(store, "2", kind=MemoryKind.LANDMARK)
        keep(store, "3", kind=MemoryKind.FACT, body={**FACT, "exact": True})
        keep(store, "4", tier=Tier.LONG)
        store.memories.mark(ACME, [keep(store, "5").id], archived=True)
        store.uses.add(ACME, [shown(tea.id, at=LATER), shown(tea.id, place=ALICE_DM)])

        (state,) = store.memories.states(ADMIN, limit=9)

        assert (state.id, state.kind, state.at) == (tea.id, MemoryKind.PASSAGE, NOON)
        assert (state.salience, state.confidence, state.trust) == (0.25, 0.75, tea.trust)
        assert (state.length > 0, state.learned, state.pinned) == (True, False, False)
        assert state.use == Use(1, 1, LATER)  # nothing of a place that not all readers may read

    def test_a_sweep_goes_on_where_it_stopped(self, store: Store) -> None:
        kept = {keep(store, str(number)).id for number in range(5)}
        seen: list[str] = []
        after = None

        while page := store.memories.states(ADMIN, after=after, limit=2):
            seen += [state.id for state in page]
            after = page[-1].place

        assert len(seen) == 5
        assert set(seen) == kept

    def test_a_sweep_finds_what_was_used_in_any_state(self, store: Store) -> None:
        tea, milk = keep(store, "1"), keep(store, "2")
        landmark = keep(store, "3", kind=MemoryKind.LANDMARK, learned=True)
        store.memories.mark(ACME, [milk.id], archived=True, tier=Tier.LONG)
        store.uses.add(ACME, [shown(tea.id), shown(milk.id, landmark.id, at=LATER)])

        used = {state.id: state for state in store.memories.states(ADMIN, limit=9, used_since=NOON)}
        lately = store.memories.states(ADMIN, limit=9, used_since=LATER)
        first = store.memories.states(ADMIN, limit=1, used_since=NOON)
        rest = store.memories.states(ADMIN, after=first[0].place, limit=9, used_since=NOON)

        assert used.keys() == {tea.id, milk.id, landmark.id}
        assert {state.id for state in lately} == {milk.id, landmark.id}
        assert (used[milk.id].archived, used[milk.id].tier) == (True, Tier.LONG)
        assert (used[landmark.id].pinned, used[landmark.id].learned) == (True, True)
        assert {state.id for state in (*first, *rest)} == used.keys()

    def test_a_conversation_is_idle_when_nobody_has_said_a_word(self, store: Store) -> None:
        old = keep(store, "1", thread="tea", at=NOON)
        keep(store, "2", thread="milk", at=NOON)
        keep(store, "3", thread="milk", at=LATER)

        idle = store.memories.states(ADMIN, limit=9, idle_since=LATER)
        later = store.memories.states(ADMIN, limit=9, idle_since=LATER + DAY)

        assert [state.id for state in idle] == [old.id]
        assert len(later) == 3

    def test_a_sweep_leaves_out_what_cannot_be_weak(self, store: Store) -> None:
        said, known = MemoryKind.PASSAGE, MemoryKind.FACT
        left_out = Spared(salience=0.5, since=NOON, knowledge_since=NOON - DAY)
        young = {kind: keep(store, f"{kind} 1", kind=kind, at=NOON).id for kind in MemoryKind}
        older = {kind: keep(store, f"{kind} 2", kind=kind, at=NOON - DAY).id for kind in MemoryKind}
        old = {
            kind: keep(store, f"{kind} 3", kind=kind, at=NOON - 2 * DAY).id for kind in MemoryKind
        }
        worth_less = keep(store, "4", salience=0.25, at=NOON).id

        every = {state.id for state in store.memories.states(ADMIN, limit=99)}
        looked_at = {s.id for s in store.memories.states(ADMIN, limit=99, without=left_out)}

        assert {young[said], older[known], old[known], worth_less} <= every
        lasting = {*young.values(), *(older[kind] for kind in KNOWLEDGE)}
        assert every - looked_at == every & lasting
        assert every & looked_at == every & {*older.values(), *old.values(), worth_less} - lasting

    def test_a_sweep_finds_what_was_used_and_is_archived(self, store: Store) -> None:
        tea, milk, salt = (keep(store, key) for key in "123")
        store.memories.mark(ACME, [milk.id, salt.id], archived=True)
        store.uses.add(ACME, [shown(tea.id, milk.id)])

        (found,) = store.memories.states(ADMIN, limit=1, used_since=NOON, archived=True)

        assert (found.id, found.archived) == (milk.id, True)

    @pytest.mark.parametrize("wanted", ["fading", "used", "idle"])
    def test_a_sweep_looks_at_several_workspaces_at_once(self, store: Store, wanted: str) -> None:
        for key in "123":
            keep(store, key)
        used = [keep(store, key, workspace=OTHER) for key in "45"]
        for workspace, ids in ((ACME, [keep(store, "6").id]), (OTHER, [used[0].id])):
            store.uses.add(workspace, [shown(*ids)])
        asked: dict[str, dict[str, Any]] = {"used": {"used_since": NOON}}
        asked["idle"] = {"idle_since": LATER}
        told = {"limit": 2, **asked.get(wanted, {})}
        places = [(administrator_grant(w), None) for w in (OTHER, WorkspaceId("none"), ACME)]

        found = store.memories.states_in(places, **told)
        after = [
            (grant, page[-1].place if page else None)
            for (grant, _), page in zip(places, found, strict=True)
        ]

        alone = [store.memories.states(grant, **told) for grant, _ in places]
        assert found == alone
        assert [len(page) for page in found] == ([1, 0, 1] if wanted == "used" else [2, 0, 2])
        assert store.memories.states_in(after, **told) == [
            store.memories.states(grant, after=place, **told) for grant, place in after
        ]

    def test_marks_in_several_workspaces_are_recorded_in_each(self, store: Store) -> None:
        tea, milk = keep(store, "1"), keep(store, "2", workspace=OTHER)
        admins = [ADMIN, administrator_grant(OTHER)]
        epochs = [store.epoch(admin) for admin in admins]
        entries = {w: by_worker("archive", NOON, place=w.value) for w in (ACME, OTHER)}

        with store.recording_in(entries):
            marked = store.memories.mark_in(
                {OTHER: [milk.id, tea.id], ACME: [tea.id]}, archived=True
            )
        with store.recording_in(entries):
            again = store.memories.mark_in({ACME: [tea.id], OTHER: [milk.id]}, archived=True)

        assert (marked, again) == ({ACME: 1, OTHER: 1}, {ACME: 0, OTHER: 0})
        for admin, epoch in zip(admins, epochs, strict=True):
            assert [memory.archived for memory in store.memories.find(admin)] == [True]
            assert store.epoch(admin) > epoch
            found = store.audit.find(admin, limit=9)
            assert [each.entry.detail["place"] for each in found if each.entry] == [
                admin.workspace.value
            ] * 2
            assert store.audit.verify(admin.workspace).problems == ()

    def test_where_one_lease_is_lost_none_is_marked(self, store: Store) -> None:
        tea, milk = keep(store, "1"), keep(store, "2", workspace=OTHER)
        for workspace in (ACME, OTHER):
            store.jobs.schedule(workspace, [NewJob(name="decay", due_at=NOON)])
        ours = store.jobs.claim(now=NOON, limit=2)
        late = next(job for job in ours if job.workspace == OTHER)
        store.jobs.fail([late], error="taken away", retry_at=NOON)

        for ids in ({ACME: [tea.id], OTHER: [milk.id]}, {ACME: [tea.id]}):
            with pytest.raises(LeaseLost), store.holding([job.lease for job in ours]):
                store.memories.mark_in(ids, archived=True)
        assert not any(memory.archived for memory in store.memories.find(ADMIN))
        with store.holding([job.lease for job in ours if job.workspace == ACME]):
            assert store.memories.mark_in({ACME: [tea.id]}, archived=True) == {ACME: 1}

    def test_a_sweep_knows_when_the_next_conversation_is_over(self, store: Store) -> None:
        hour = timedelta(hours=1)
        keep(store, "1", thread="a", at=NOON)
        keep(store, "2", thread="a", at=NOON + 3 * hour)
        keep(store, "3", thread="b", at=NOON + 2 * hour)
        keep(store, "4", thread="c", at=NOON + hour)
        keep(store, "5", thread="d", at=NOON + hour, tier=Tier.LONG)
        admins = [administrator_grant(w) for w in (WorkspaceId("none"), ACME, OTHER)]

        def found(since: datetime) -> list[datetime | None]:
            return store.memories.going_on_in(admins, since=since)

        assert found(NOON + 2 * hour) == [None, NOON + 2 * hour, None]
        assert found(NOON + 2 * hour + SECOND) == [None, NOON + 3 * hour, None]
        assert found(NOON + 3 * hour + SECOND) == [None, None, None]
        assert store.memories.going_on_in([], since=NOON) == []

    def test_only_an_administrator_sweeps(self, store: Store) -> None:
        keep(store, "1")

        with pytest.raises(InvalidInput):
            store.memories.states(IN_ROOM.grant(), limit=9)
        with pytest.raises(InvalidInput):
            store.memories.states_in([(ADMIN, None), (IN_ROOM.grant(), None)], limit=9)
        with pytest.raises(InvalidInput):
            store.memories.going_on_in([ADMIN, IN_ROOM.grant()], since=NOON)


FACT = {"subject": "tea", "predicate": "IS", "value": "hot"}
