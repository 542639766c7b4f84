"""Contracts of the counters: model costs, quotas, usage counts, and the memory state derived
from them.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from ...audit.records import worker_entry
from ...core.access import administrator_grant
from ...core.errors import Conflict, InvalidInput, LeaseLost, QuotaExceeded
from ...core.filters import parse_filter
from ...core.hash_chain import event_content
from ...core.ids import WorkspaceId
from ...core.protocols.jobs import NewJob
from ...core.protocols.store import Store
from ...core.protocols.usage_counts import NewUsage, UsageCount, owner_digest, scope_digest
from ...core.records import Event, MemoryKind, ModelCost, NewEvent, Receipt, Tier, Tombstone
from ...core.scope import Scope
from ...core.strength import KNOWLEDGE_KINDS, SweepExclusion
from ...runtime.quotas import Quota, WorkspaceUsage
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
    add_memory,
    append_events,
    make_draft,
    make_event,
    put_vectors,
    unit_vector,
)

MIDNIGHT = NOON.replace(hour=0)
DAY = timedelta(days=1)


def model_cost(at: datetime = NOON, **more: Any) -> ModelCost:
    """Return the cost record of one model call."""
    one = ModelCost(
        at=at,
        purpose="extract",
        model="small",
        calls=1,
        input_tokens=100,
        output_tokens=10,
        cost=0.25,
    )
    return replace(one, **more)


class ModelCostsSuite:
    """Needs a fixture `store` that yields an empty store."""

    def test_costs_are_summed_per_day(self, store: Store) -> None:
        store.model_costs.add(ACME, model_cost())
        store.model_costs.add(ACME, model_cost(NOON + timedelta(hours=3), calls=2, cost=0.5))

        (day,) = store.model_costs.list_costs(ACME)

        assert day == ModelCost(
            at=MIDNIGHT,
            purpose="extract",
            model="small",
            calls=3,
            input_tokens=200,
            output_tokens=20,
            cost=0.75,
        )

    def test_costs_are_grouped_by_day_purpose_model(self, store: Store) -> None:
        for purpose, model in (("extract", "small"), ("answer", "small"), ("answer", "large")):
            for at in (NOON + DAY, NOON):
                store.model_costs.add(ACME, model_cost(at, purpose=purpose, model=model))

        told = [(each.at, each.purpose, each.model) for each in store.model_costs.list_costs(ACME)]

        kinds = [("answer", "large"), ("answer", "small"), ("extract", "small")]
        assert told == [(at, *kind) for at in (MIDNIGHT, MIDNIGHT + DAY) for kind in kinds]

    def test_since_includes_its_full_day(self, store: Store) -> None:
        for day in range(3):
            store.model_costs.add(ACME, model_cost(NOON + day * DAY))

        last = store.model_costs.list_costs(ACME, since=NOON + DAY + timedelta(hours=11))

        assert [each.at for each in last] == [MIDNIGHT + DAY, MIDNIGHT + 2 * DAY]
        assert store.model_costs.list_costs(ACME, since=NOON + 3 * DAY) == []

    def test_days_are_utc_days(self, store: Store) -> None:
        west = timezone(timedelta(hours=-5))
        evening = datetime(2026, 1, 1, 22, tzinfo=west)  # in UTC it is the 2nd

        store.model_costs.add(ACME, model_cost(evening))

        assert [each.at for each in store.model_costs.list_costs(ACME)] == [MIDNIGHT + DAY]
        assert store.model_costs.list_costs(ACME, since=evening)

    def test_costs_are_separate_per_workspace(self, store: Store) -> None:
        store.model_costs.add(ACME, model_cost())

        assert store.model_costs.list_costs(OTHER) == []
        assert store.list_workspaces() == []  # the workspace has no cost yet

    @pytest.mark.parametrize("what", ["calls", "input_tokens", "output_tokens", "cost"])
    def test_negative_costs_are_rejected(self, store: Store, what: str) -> None:
        with pytest.raises(InvalidInput):
            store.model_costs.add(ACME, model_cost(NOON, **{what: -1}))

        assert store.model_costs.list_costs(ACME) == []

    def test_concurrent_costs_are_all_counted(self, store: Store) -> None:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: store.model_costs.add(ACME, model_cost()), range(80)))

        (day,) = store.model_costs.list_costs(ACME)

        assert (day.calls, day.input_tokens, day.cost) == (80, 8_000, 20.0)


ONE_DAY = timedelta(days=1)


def append_with_quota(
    store: Store, quota: Quota, *events: NewEvent, **more: object
) -> list[Receipt]:
    told = {"recorded_at": NOON, "workspace": ACME, **more}
    return store.ledger.append(told.pop("workspace"), events, quota=quota, **told)  # type: ignore[arg-type]


def total_bytes(store: Store) -> int:
    """Return the number of bytes of the events in the ledger."""
    kept: list[Event] = store.ledger.find(ADMIN)
    return sum(len(event_content(each).encode()) for each in kept)


class QuotasSuite:
    """Needs a fixture `store` that yields an empty store."""

    def test_new_workspace_has_no_usage(self, store: Store) -> None:
        assert store.ledger.measure_usage(ACME, now=NOON) == WorkspaceUsage()

    def test_stored_records_are_counted(self, store: Store) -> None:
        one, _ = append_events(store, make_event("1"), make_event("2", "Größe: 🫖"))
        append_events(store, make_event("1"))  # a duplicate
        store.memories.put(ACME, [make_draft(one)])

        used = store.ledger.measure_usage(ACME, now=NOON)

        assert used == WorkspaceUsage(events_today=2, memories=1, text_bytes=total_bytes(store))
        assert store.ledger.measure_usage(OTHER, now=NOON) == WorkspaceUsage()

    def test_daily_count_resets(self, store: Store) -> None:
        append_events(store, make_event("1"), make_event("2"))
        store.ledger.append(ACME, [make_event("3")], recorded_at=NOON + ONE_DAY)

        used = [
            store.ledger.measure_usage(ACME, now=NOON + days * ONE_DAY).events_today
            for days in range(3)
        ]

        assert used == [1, 1, 0]  # a clock that lags behind does not reopen a past day

    def test_batch_over_daily_quota_is_rejected(self, store: Store) -> None:
        quota = Quota(events_per_day=3)
        append_with_quota(store, quota, make_event("1"), make_event("2"))
        before = store.ledger.verify(ACME), store.epoch(ADMIN), store.queue.count_pending(ADMIN)

        with pytest.raises(QuotaExceeded) as refused:
            append_with_quota(store, quota, make_event("3"), make_event("4"))

        after = store.ledger.verify(ACME), store.epoch(ADMIN), store.queue.count_pending(ADMIN)
        assert after == before
        told = refused.value
        assert (told.quota, told.limit) == ("events_per_day", 3)
        assert told.frees_at == NOON.replace(hour=0) + ONE_DAY
        append_with_quota(store, quota, make_event("3"))
        append_with_quota(store, quota, make_event("4"), recorded_at=NOON + ONE_DAY)
        assert len(store.ledger.find(ADMIN)) == 4

    def test_duplicate_event_needs_no_quota(self, store: Store) -> None:
        quota = Quota(events_per_day=1, max_text_bytes=1_000, max_memories=5)
        append_with_quota(store, quota, make_event("1"))

        (again,) = append_with_quota(store, quota, make_event("1"))

        assert again.duplicate
        with pytest.raises(Conflict):
            append_with_quota(store, quota, make_event("1", "Other words."))

    def test_byte_quota_is_enforced_and_freed_by_erasure(self, store: Store) -> None:
        (id,) = append_events(store, make_event("1"))
        quota = Quota(max_text_bytes=2 * total_bytes(store))
        append_with_quota(store, quota, make_event("2"))

        with pytest.raises(QuotaExceeded, match="erase records") as refused:
            append_with_quota(store, quota, make_event("3", "x"))

        assert refused.value.frees_at is None
        store.eraser.erase(ACME, events=[id, id], memories=[], tombstones=[])
        store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])
        assert store.ledger.measure_usage(ACME, now=NOON).text_bytes == total_bytes(store)
        append_with_quota(store, quota, make_event("3"))

    def test_memory_quota_rejects_events(self, store: Store) -> None:
        quota = Quota(max_memories=2)
        one, two = (
            each.event_id
            for each in append_with_quota(store, quota, make_event("1"), make_event("2"))
        )
        store.memories.put(ACME, [make_draft(one)])
        append_with_quota(store, quota, make_event("3"))
        made = store.memories.put(ACME, [make_draft(two)])

        with pytest.raises(QuotaExceeded, match="2 memories"):
            append_with_quota(store, quota, make_event("4"))

        store.memories.delete(ACME, [made[0].id])
        append_with_quota(store, quota, make_event("4"))

    def test_quotas_are_separate_per_workspace(self, store: Store) -> None:
        quota = Quota(events_per_day=1, max_text_bytes=1_000)
        append_with_quota(store, quota, make_event("1"))

        append_with_quota(store, quota, make_event("1"), workspace=OTHER)

        for workspace in (ACME, OTHER):
            with pytest.raises(QuotaExceeded):
                append_with_quota(store, quota, make_event("2"), workspace=workspace)

    def test_concurrent_appends_respect_quota(self, store: Store) -> None:
        quota = Quota(events_per_day=10)

        def append_one(number: int) -> bool:
            try:
                append_with_quota(store, quota, make_event(str(number)))
            except QuotaExceeded:
                return False
            return True

        with ThreadPoolExecutor(8) as threads:
            written = list(threads.map(append_one, range(24)))

        assert sum(written) == 10 == len(store.ledger.find(ADMIN))
        assert store.ledger.verify(ACME).problems == ()

    def test_quota_error_hides_usage_of_others(self, store: Store) -> None:
        append_with_quota(store, Quota(), *(make_event(str(number)) for number in range(37)))

        with pytest.raises(QuotaExceeded) as refused:
            append_with_quota(store, Quota(events_per_day=20), make_event("x"))

        assert "20" in str(refused.value)
        assert not {"36", "37", "38"} & set(str(refused.value).split())


TWENTY_FOUR_HOURS, SECOND = timedelta(days=1), timedelta(seconds=1)


def make_use(*ids: str, scope: Scope = ROOM, **more: Any) -> NewUsage:
    told: dict[str, Any] = {"conversation": "monday", "at": NOON, **more}
    return NewUsage(scope=scope, ids=ids, **told)


class UsageCountsSuite:
    """Needs a fixture `store` that yields an empty store."""

    def test_uses_are_counted_per_conversation(self, store: Store) -> None:
        tea, milk = add_memory(store, "1"), add_memory(store, "2")

        store.usage_counts.add(ACME, [make_use(tea.id), make_use(tea.id, milk.id, at=LATER)])
        store.usage_counts.add(
            ACME, [make_use(tea.id, conversation="tuesday", at=NOON - TWENTY_FOUR_HOURS)]
        )

        assert store.usage_counts.load_usage(ADMIN, [tea.id, milk.id]) == {
            tea.id: UsageCount(3, 2, LATER),
            milk.id: UsageCount(1, 1, LATER),
        }
        assert store.usage_counts.load_usage(IN_ROOM.grant(), [tea.id]) == {
            tea.id: UsageCount(3, 2, LATER)
        }

    def test_unknown_ids_are_not_counted(self, store: Store) -> None:
        tea = add_memory(store, "1")

        assert store.usage_counts.add(ACME, [make_use(tea.id, "0" * 32, "goal:active")]) == 1
        assert store.usage_counts.add(ACME, []) == 0
        assert store.usage_counts.load_usage(ADMIN, ["0" * 32, "goal:active"]) == {}

    def test_use_counts_only_for_readers_of_its_scope(self, store: Store) -> None:
        profile = add_memory(store, "1", scope=ALICE_PROFILE)

        store.usage_counts.add(ACME, [make_use(profile.id, scope=ALICE_DM)])
        store.usage_counts.add(ACME, [make_use(profile.id, scope=ROOM, at=LATER)])

        assert store.usage_counts.load_usage(ALICE.grant(), [profile.id]) == {
            profile.id: UsageCount(1, 1, NOON)
        }
        assert store.usage_counts.load_usage(IN_ROOM.grant(), [profile.id]) == {
            profile.id: UsageCount(1, 1, LATER)
        }
        assert store.usage_counts.load_usage(BOB.grant(), [profile.id]) == {}

    def test_use_does_not_change_epoch(self, store: Store) -> None:
        tea = add_memory(store, "1")
        before = store.epoch(ADMIN)

        store.usage_counts.add(ACME, [make_use(tea.id)])

        assert store.epoch(ADMIN) == before

    def test_conversation_count_is_capped(self, store: Store) -> None:
        tea = add_memory(store, "1")

        store.usage_counts.add(ACME, [make_use(tea.id, conversation=str(day)) for day in range(40)])

        assert store.usage_counts.load_usage(ADMIN, [tea.id])[tea.id] == UsageCount(40, 16, NOON)

    def test_uses_survive_rederivation(self, store: Store) -> None:
        tea = add_memory(store, "1")
        store.usage_counts.add(ACME, [make_use(tea.id)])

        store.memories.put(ACME, [make_draft(*tea.sources, text="Tea is served at five.")])

        assert store.usage_counts.load_usage(ADMIN, [tea.id]) == {tea.id: UsageCount(1, 1, NOON)}

    def test_erasure_removes_uses(self, store: Store) -> None:
        tea, milk = add_memory(store, "1"), add_memory(store, "2", "Milk comes at five.")
        store.usage_counts.add(ACME, [make_use(tea.id, milk.id)])

        erased = store.eraser.erase(
            ACME, events=list(tea.sources), memories=[tea.id], tombstones=[]
        )
        again = add_memory(store, "3")

        assert erased.uses == 1
        assert store.usage_counts.load_usage(ADMIN, [tea.id, milk.id, again.id]) == {
            milk.id: UsageCount(1, 1, NOON)
        }

    def test_tombstones_remove_uses_of_scopes(self, store: Store) -> None:
        profile = add_memory(store, "1", scope=ALICE_PROFILE)
        store.usage_counts.add(
            ACME, [make_use(profile.id, scope=ALICE_DM), make_use(profile.id, scope=ROOM)]
        )

        for kind, gone in (("user", owner_digest(ALICE_DM)), ("scope", scope_digest(ROOM))):
            stone = Tombstone(kind=kind, digest=str(gone), at=NOON)
            erased = store.eraser.erase(ACME, events=[], memories=[], tombstones=[stone])
            assert erased.uses == 1, kind

        assert store.usage_counts.load_usage(ADMIN, [profile.id]) == {}

    def test_cleanup_removes_uses_of_deleted_memories(self, store: Store) -> None:
        tea, milk = add_memory(store, "1"), add_memory(store, "2")
        store.usage_counts.add(ACME, [make_use(tea.id, milk.id)])
        store.memories.delete(ACME, [tea.id])

        assert store.usage_counts.load_usage(ADMIN, [tea.id]) == {}
        assert store.usage_counts.delete_orphans([ACME], before=NOON) == [0]
        assert store.usage_counts.delete_orphans([OTHER, ACME], before=LATER) == [0, 1]
        assert store.usage_counts.load_usage(ADMIN, [milk.id]) == {milk.id: UsageCount(1, 1, NOON)}

    # Memory state

    def test_set_state_changes_only_state(self, store: Store) -> None:
        tea = add_memory(store, "1")
        put_vectors(store, {tea.id: unit_vector(1)})
        epoch = store.epoch(ADMIN)

        assert store.memories.set_state(ACME, [tea.id, "0" * 32], archived=True) == 1
        assert store.memories.set_state(ACME, [tea.id], archived=True) == 0
        assert store.memories.set_state(ACME, [tea.id], tier=Tier.LONG) == 1

        marked = replace(tea, archived=True, tier=Tier.LONG)
        assert store.memories.get(ADMIN, [tea.id]) == store.memories.find(ADMIN) == [marked]
        assert [hit.id for hit in store.memories.search_keywords(ADMIN, ["tea"], limit=9)] == [
            tea.id
        ]
        assert store.count_records(ADMIN)["vectors"] == 1
        assert store.epoch(ADMIN) > epoch

    def test_state_can_be_filtered(self, store: Store) -> None:
        tea, milk = add_memory(store, "1"), add_memory(store, "2", kind=MemoryKind.FACT, body=FACT)
        store.memories.set_state(ACME, [tea.id], archived=True)
        store.memories.set_state(ACME, [milk.id], tier=Tier.LONG)

        for where, expected in (
            ({"archived": True}, [tea.id]),
            ({"archived": False}, [milk.id]),
            ({"tier": "long"}, [milk.id]),
            ({"tier": "short", "kind": "passage"}, [tea.id]),
        ):
            found = store.memories.find(ADMIN, where=parse_filter(where))
            hits = store.memories.search_keywords(
                ADMIN, ["tea"], where=parse_filter(where), limit=9, learned=True
            )
            assert [m.id for m in found] == [hit.id for hit in hits] == expected, where

    def test_state_survives_rederivation(self, store: Store) -> None:
        tea = add_memory(store, "1")
        store.memories.set_state(ACME, [tea.id], archived=True, tier=Tier.LONG)

        (same,) = store.memories.put(ACME, [make_draft(*tea.sources)])
        (changed,) = store.memories.put(ACME, [make_draft(*tea.sources, text="Tea at five.")])

        assert (same.archived, same.tier) == (changed.archived, changed.tier) == (True, Tier.LONG)
        assert store.memories.get(ADMIN, [tea.id]) == [changed]

    def test_draft_can_raise_tier(self, store: Store) -> None:
        tea = add_memory(store, "1")
        put_vectors(store, {tea.id: unit_vector(1)})

        (longer,) = store.memories.put(ACME, [make_draft(*tea.sources, tier=Tier.LONG)])
        (still,) = store.memories.put(ACME, [make_draft(*tea.sources)])

        assert longer == still == replace(tea, tier=Tier.LONG)
        assert store.memories.get(ADMIN, [tea.id]) == [longer]
        assert store.count_records(ADMIN)["vectors"] == 1

    def test_states_lists_fading_memories(self, store: Store) -> None:
        tea = add_memory(store, "1", salience=0.25, confidence=0.75)
        add_memory(store, "2", kind=MemoryKind.LANDMARK)
        add_memory(store, "3", kind=MemoryKind.FACT, body={**FACT, "exact": True})
        add_memory(store, "4", tier=Tier.LONG)
        store.memories.set_state(ACME, [add_memory(store, "5").id], archived=True)
        store.usage_counts.add(ACME, [make_use(tea.id, at=LATER), make_use(tea.id, scope=ALICE_DM)])

        (state,) = store.memories.list_states(ADMIN, limit=9)

        assert (state.id, state.kind, state.at) == (tea.id, MemoryKind.PASSAGE, NOON)
        assert (state.salience, state.confidence, state.trust) == (0.25, 0.75, tea.trust)
        assert (state.length > 0, state.learned, state.pinned) == (True, False, False)
        assert state.usage == UsageCount(
            1, 1, LATER
        )  # counts of a scope that some readers cannot read are excluded

    def test_states_pages_from_position(self, store: Store) -> None:
        kept = {add_memory(store, str(number)).id for number in range(5)}
        seen: list[str] = []
        after = None

        while page := store.memories.list_states(ADMIN, after=after, limit=2):
            seen += [state.id for state in page]
            after = page[-1].position

        assert len(seen) == 5
        assert set(seen) == kept

    def test_states_finds_used_memories_in_any_state(self, store: Store) -> None:
        tea, milk = add_memory(store, "1"), add_memory(store, "2")
        landmark = add_memory(store, "3", kind=MemoryKind.LANDMARK, learned=True)
        store.memories.set_state(ACME, [milk.id], archived=True, tier=Tier.LONG)
        store.usage_counts.add(ACME, [make_use(tea.id), make_use(milk.id, landmark.id, at=LATER)])

        used = {
            state.id: state for state in store.memories.list_states(ADMIN, limit=9, used_since=NOON)
        }
        lately = store.memories.list_states(ADMIN, limit=9, used_since=LATER)
        first = store.memories.list_states(ADMIN, limit=1, used_since=NOON)
        rest = store.memories.list_states(ADMIN, after=first[0].position, limit=9, used_since=NOON)

        assert used.keys() == {tea.id, milk.id, landmark.id}
        assert {state.id for state in lately} == {milk.id, landmark.id}
        assert (used[milk.id].archived, used[milk.id].tier) == (True, Tier.LONG)
        assert (used[landmark.id].pinned, used[landmark.id].learned) == (True, True)
        assert {state.id for state in (*first, *rest)} == used.keys()

    def test_states_finds_idle_conversations(self, store: Store) -> None:
        old = add_memory(store, "1", thread="tea", at=NOON)
        add_memory(store, "2", thread="milk", at=NOON)
        add_memory(store, "3", thread="milk", at=LATER)

        idle = store.memories.list_states(ADMIN, limit=9, idle_since=LATER)
        later = store.memories.list_states(ADMIN, limit=9, idle_since=LATER + TWENTY_FOUR_HOURS)

        assert [state.id for state in idle] == [old.id]
        assert len(later) == 3

    def test_states_skips_strong_memories(self, store: Store) -> None:
        said, known = MemoryKind.PASSAGE, MemoryKind.FACT
        left_out = SweepExclusion(
            salience=0.5, since=NOON, knowledge_since=NOON - TWENTY_FOUR_HOURS
        )
        young = {kind: add_memory(store, f"{kind} 1", kind=kind, at=NOON).id for kind in MemoryKind}
        older = {
            kind: add_memory(store, f"{kind} 2", kind=kind, at=NOON - TWENTY_FOUR_HOURS).id
            for kind in MemoryKind
        }
        old = {
            kind: add_memory(store, f"{kind} 3", kind=kind, at=NOON - 2 * TWENTY_FOUR_HOURS).id
            for kind in MemoryKind
        }
        worth_less = add_memory(store, "4", salience=0.25, at=NOON).id

        every = {state.id for state in store.memories.list_states(ADMIN, limit=99)}
        looked_at = {s.id for s in store.memories.list_states(ADMIN, limit=99, exclude=left_out)}

        assert {young[said], older[known], old[known], worth_less} <= every
        lasting = {*young.values(), *(older[kind] for kind in KNOWLEDGE_KINDS)}
        assert every - looked_at == every & lasting
        assert every & looked_at == every & {*older.values(), *old.values(), worth_less} - lasting

    def test_states_finds_used_archived_memories(self, store: Store) -> None:
        tea, milk, salt = (add_memory(store, key) for key in "123")
        store.memories.set_state(ACME, [milk.id, salt.id], archived=True)
        store.usage_counts.add(ACME, [make_use(tea.id, milk.id)])

        (found,) = store.memories.list_states(ADMIN, limit=1, used_since=NOON, archived=True)

        assert (found.id, found.archived) == (milk.id, True)

    @pytest.mark.parametrize("wanted", ["fading", "used", "idle"])
    def test_states_many_reads_several_workspaces(self, store: Store, wanted: str) -> None:
        for key in "123":
            add_memory(store, key)
        used = [add_memory(store, key, workspace=OTHER) for key in "45"]
        for workspace, ids in ((ACME, [add_memory(store, "6").id]), (OTHER, [used[0].id])):
            store.usage_counts.add(workspace, [make_use(*ids)])
        asked: dict[str, dict[str, Any]] = {"used": {"used_since": NOON}}
        asked["idle"] = {"idle_since": LATER}
        told = {"limit": 2, **asked.get(wanted, {})}
        places = [(administrator_grant(w), None) for w in (OTHER, WorkspaceId("none"), ACME)]

        found = store.memories.list_states_many(places, **told)
        after = [
            (grant, page[-1].position if page else None)
            for (grant, _), page in zip(places, found, strict=True)
        ]

        alone = [store.memories.list_states(grant, **told) for grant, _ in places]
        assert found == alone
        assert [len(page) for page in found] == ([1, 0, 1] if wanted == "used" else [2, 0, 2])
        assert store.memories.list_states_many(after, **told) == [
            store.memories.list_states(grant, after=place, **told) for grant, place in after
        ]

    def test_set_state_many_is_audited_per_workspace(self, store: Store) -> None:
        tea, milk = add_memory(store, "1"), add_memory(store, "2", workspace=OTHER)
        admins = [ADMIN, administrator_grant(OTHER)]
        epochs = [store.epoch(admin) for admin in admins]
        entries = {w: worker_entry("archive", NOON, place=w.value) for w in (ACME, OTHER)}

        with store.with_audit_entries(entries):
            marked = store.memories.set_state_many(
                {OTHER: [milk.id, tea.id], ACME: [tea.id]}, archived=True
            )
        with store.with_audit_entries(entries):
            again = store.memories.set_state_many({ACME: [tea.id], OTHER: [milk.id]}, archived=True)

        assert (marked, again) == ({ACME: 1, OTHER: 1}, {ACME: 0, OTHER: 0})
        for admin, epoch in zip(admins, epochs, strict=True):
            assert [memory.archived for memory in store.memories.find(admin)] == [True]
            assert store.epoch(admin) > epoch
            found = store.audit.find(admin, limit=9)
            assert [each.entry.detail["place"] for each in found if each.entry] == [
                admin.workspace.value
            ] * 2
            assert store.audit.verify(admin.workspace).problems == ()

    def test_set_state_many_is_atomic_on_lost_lease(self, store: Store) -> None:
        tea, milk = add_memory(store, "1"), add_memory(store, "2", workspace=OTHER)
        for workspace in (ACME, OTHER):
            store.jobs.schedule(workspace, [NewJob(name="decay", due_at=NOON)])
        ours = store.jobs.claim(now=NOON, limit=2)
        late = next(job for job in ours if job.workspace == OTHER)
        store.jobs.fail([late], error="taken away", retry_at=NOON)

        for ids in ({ACME: [tea.id], OTHER: [milk.id]}, {ACME: [tea.id]}):
            with pytest.raises(LeaseLost), store.with_leases([job.lease for job in ours]):
                store.memories.set_state_many(ids, archived=True)
        assert not any(memory.archived for memory in store.memories.find(ADMIN))
        with store.with_leases([job.lease for job in ours if job.workspace == ACME]):
            assert store.memories.set_state_many({ACME: [tea.id]}, archived=True) == {ACME: 1}

    def test_active_conversations_returns_next_end(self, store: Store) -> None:
        hour = timedelta(hours=1)
        add_memory(store, "1", thread="a", at=NOON)
        add_memory(store, "2", thread="a", at=NOON + 3 * hour)
        add_memory(store, "3", thread="b", at=NOON + 2 * hour)
        add_memory(store, "4", thread="c", at=NOON + hour)
        add_memory(store, "5", thread="d", at=NOON + hour, tier=Tier.LONG)
        admins = [administrator_grant(w) for w in (WorkspaceId("none"), ACME, OTHER)]

        def next_ends(since: datetime) -> list[datetime | None]:
            return store.memories.oldest_active_times(admins, since=since)

        assert next_ends(NOON + 2 * hour) == [None, NOON + 2 * hour, None]
        assert next_ends(NOON + 2 * hour + SECOND) == [None, NOON + 3 * hour, None]
        assert next_ends(NOON + 3 * hour + SECOND) == [None, None, None]
        assert store.memories.oldest_active_times([], since=NOON) == []

    def test_states_needs_admin(self, store: Store) -> None:
        add_memory(store, "1")

        with pytest.raises(InvalidInput):
            store.memories.list_states(IN_ROOM.grant(), limit=9)
        with pytest.raises(InvalidInput):
            store.memories.list_states_many([(ADMIN, None), (IN_ROOM.grant(), None)], limit=9)
        with pytest.raises(InvalidInput):
            store.memories.oldest_active_times([ADMIN, IN_ROOM.grant()], since=NOON)


FACT = {"subject": "tea", "predicate": "IS", "value": "hot"}
