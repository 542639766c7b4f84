"""The suite a store must pass.

class TestMyStore(StoreSuite):
    @pytest.fixture
    def store(self, tmp_path):
        store = MyStore(tmp_path)
        yield store
        store.close()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from threading import Thread
from typing import cast

import pytest

from ...audit.chain import AuditLink
from ...core.access import Grant, administrator_grant
from ...core.errors import Conflict, InvalidInput
from ...core.protocols.bulk_copy import BulkCopy, EventCopy, RecordType
from ...core.protocols.store import Store
from ...core.records import MemoryKind, Stage, Tombstone
from ...core.records.memory import Tier
from ...core.records.projections import TierCount
from ...core.records.window import WindowItem, WindowSlot
from ..reference_store.store import ReferenceStore
from ..samples import (
    ACME,
    ADMIN,
    ALICE_DM,
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
from ..samples import unit_vector as direction
from .access import AccessLabelSuite, AccessSuite, LearnedPartitionSuite
from .audit import DAY, AuditSuite, make_entry
from .counters import ModelCostsSuite, QuotasSuite, UsageCountsSuite, model_cost
from .eraser import EraserSuite
from .graph import GraphSuite
from .ledger import LedgerSuite
from .memories import MemoriesSuite
from .queue import BacklogSuite, QueueSuite
from .vectors import VectorsSuite
from .window import WindowSuite


def total_epoch(store: Store, grant: Grant) -> int:
    """Return the epoch over all scopes, including an external window."""
    return store.epoch(grant) + store.window.epoch(grant)


class StoreBasicsSuite:
    """Needs a fixture `store` that yields an empty store."""

    def test_workspaces_lists_written_workspaces(self, store: Store) -> None:
        assert store.list_workspaces() == []

        append_events(store, make_event("1"), workspace=OTHER)
        append_events(store, make_event("1"), workspace=ACME)
        store.ledger.find(ADMIN)

        assert store.list_workspaces() == [ACME, OTHER]

    def test_records_are_counted_by_kind(self, store: Store) -> None:
        memory = add_memory(store, "1")
        store.memories.put(ACME, [make_draft(memory.id, kind=MemoryKind.EPISODE)])
        put_vectors(store, {memory.id: unit_vector(1)})
        add_memory(store, "1", workspace=OTHER)

        assert store.count_records(ADMIN) == {"events": 1, "episode": 1, "passage": 1, "vectors": 1}
        assert store.count_by_kind(ADMIN) == {"episode": 1, "passage": 1}

    def test_records_are_counted_by_tier(self, store: Store) -> None:
        assert store.count_by_tier(ADMIN) == {}
        first, second = add_memory(store, "1", at=NOON), add_memory(store, "2", at=LATER)
        promoted = add_memory(store, "3", at=LATER)
        add_memory(store, "1", workspace=OTHER)
        store.memories.set_state(ACME, [promoted.id], tier=Tier.LONG)

        assert store.count_by_tier(ADMIN) == {
            Tier.SHORT: TierCount(2, first.at, second.at),
            Tier.LONG: TierCount(1, promoted.at, promoted.at),
        }

    def test_snapshot_is_stable_during_writes(self, store: Store) -> None:
        append_events(store, make_event("1"))
        writer = Thread(target=lambda: append_events(store, make_event("2")))

        with store.snapshot():
            before = store.count_records(ADMIN)["events"]
            writer.start()
            writer.join(timeout=0.05)  # the other thread may have to wait until this one is done
            with store.snapshot():  # the same snapshot
                during = store.count_records(ADMIN)["events"]
        writer.join()

        assert (before, during, store.count_records(ADMIN)["events"]) == (1, 1, 2)

    def test_visible_write_changes_epoch(self, store: Store) -> None:
        seen = [total_epoch(store, ADMIN)]
        for write in self._write_calls(store):
            write()
            seen.append(total_epoch(store, ADMIN))

        assert seen == sorted(set(seen))

    def _write_calls(self, store: Store) -> Iterator[Callable[[], object]]:
        yield lambda: append_events(store, make_event("1"))
        (source,) = (told.id for told in store.ledger.find(ADMIN))
        yield lambda: store.memories.put(ACME, [make_draft(source, text="tea")])
        yield lambda: store.memories.put(ACME, [make_draft(source, text="tea, hot")])
        yield lambda: store.memories.put(ACME, [make_draft(source, text="so it is", slot="2")])
        one, two = (memory.id for memory in store.memories.find(ADMIN))
        yield lambda: put_vectors(store, {one: unit_vector(1)})
        yield lambda: store.memories.delete(ACME, [two])
        note = WindowItem(scope=ROOM, slot=WindowSlot.NOTE, key="k", value="tea", at=NOON)
        yield lambda: store.window.put(ACME, [note])
        yield lambda: store.window.put(ACME, [replace(note, value="coffee")])
        yield lambda: store.window.delete(ACME, ROOM, WindowSlot.NOTE, "k")
        yield lambda: store.eraser.erase(ACME, events=[source], memories=[], tombstones=[])

    def test_repeated_write_keeps_epoch(self, store: Store) -> None:
        memory = add_memory(store, "1", "tea")
        put_vectors(store, {memory.id: unit_vector(1)})
        before = total_epoch(store, ADMIN)

        store.ledger.append(
            ACME, [make_event("1", "tea")], recorded_at=NOON
        )  # the record already exists
        store.memories.put(ACME, [make_draft(*memory.sources, text="tea")])
        put_vectors(store, {memory.id: unit_vector(1)})
        for slot in (WindowSlot.SUMMARY, WindowSlot.INJECTED, WindowSlot.CONTEXT):
            item = WindowItem(scope=ROOM, slot=slot, key="k", value="tea", at=NOON)
            store.window.put(ACME, [item])
            store.window.delete(ACME, ROOM, slot)
        store.count_records(ADMIN)
        store.optimize()

        assert total_epoch(store, ADMIN) == before

    def test_invisible_write_keeps_epoch(self, store: Store) -> None:
        told = add_memory(store, "1", "tea")
        before = total_epoch(store, IN_ROOM.grant())

        hidden = add_memory(store, "2", "secret", scope=ALICE_DM)
        put_vectors(store, {hidden.id: unit_vector(1)})
        add_memory(store, "1", "tea", workspace=OTHER)
        mixed = make_draft(*told.sources, *hidden.sources, text="of both", slot="2")
        store.memories.put(ACME, [mixed])
        note = WindowItem(scope=ALICE_DM, slot=WindowSlot.NOTE, key="k", value="tea", at=NOON)
        store.window.put(ACME, [note])
        store.eraser.erase(ACME, events=list(hidden.sources), memories=[], tombstones=[])

        assert total_epoch(store, IN_ROOM.grant()) == before
        assert total_epoch(store, ADMIN.narrow_to([])) == 0

    def test_optimize_changes_no_data(self, store: Store) -> None:
        memory = add_memory(store, "1")
        put_vectors(store, {memory.id: unit_vector(1)})
        before = store.count_records(ADMIN), store.memories.find(ADMIN), store.ledger.find(ADMIN)

        store.optimize()

        assert before == (
            store.count_records(ADMIN),
            store.memories.find(ADMIN),
            store.ledger.find(ADMIN),
        )
        assert store.ledger.verify(ACME).is_intact

    def test_store_files_exist(self, store: Store) -> None:
        add_memory(store, "1")

        assert all(file.is_file() for file in store.list_files())

    def test_close_is_idempotent(self, store: Store) -> None:
        store.close()
        store.close()


class StoreSuite(
    LedgerSuite,
    QueueSuite,
    BacklogSuite,
    QuotasSuite,
    MemoriesSuite,
    VectorsSuite,
    LearnedPartitionSuite,
    EraserSuite,
    GraphSuite,
    AccessLabelSuite,
    AccessSuite,
    ModelCostsSuite,
    UsageCountsSuite,
    AuditSuite,
    WindowSuite,
    StoreBasicsSuite,
):
    """All contracts of `nexusmem.core.protocols` as tests."""

    @pytest.fixture
    def store(self) -> Iterator[Store]:
        """Yield an empty store and close it afterwards."""
        raise NotImplementedError("define a fixture `store` that gives an empty store")


def fill_store(store: Store) -> None:
    """Write one record of each type, including an erased event."""
    first = add_memory(store, "one", "Tea is served at four.")
    add_memory(store, "two", "Coffee is served at five.")
    put_vectors(store, {first.id: direction(1.0, 0.5)})
    (gone,) = append_events(store, make_event("three", "Forget this."))
    stone = Tombstone(kind="event", digest=gone, at=LATER)
    store.eraser.erase(ACME, events=[gone], memories=[], tombstones=[stone])
    append_events(store, make_event("four", "Work is left."))
    store.model_costs.add(ACME, model_cost())
    note = WindowItem(scope=ROOM, slot=WindowSlot.NOTE, key="k", value={"a": 1}, at=NOON)
    store.window.put(ACME, [note])
    store.audit.append(ACME, [make_entry("share"), make_entry("recall", people=("bob",))])
    store.audit.erase_contents(ACME, [2])
    (task, *rest) = store.queue.claim(ADMIN, now=NOON, limit=10)
    store.queue.fail([task], error="away", retry_at=LATER)
    store.queue.finish(rest[:1], reached=Stage.INDEXED, now=NOON)


def bulk_copy_of(store: Store) -> BulkCopy:
    return cast("ReferenceStore", store).bulk_copy


def read_lines(store: Store, record_type: RecordType, *, limit: int = 100) -> list[str]:
    found: list[str] = []
    after = None
    while some := bulk_copy_of(store).read_rows(ADMIN, record_type, after=after, limit=limit):
        assert len(some) <= limit
        found += [each.line for each in some]
        after = some[-1].position
    return found


def copy_all(store: Store, target: Store, *, limit: int = 100) -> int:
    moving = bulk_copy_of(target)
    return sum(
        moving.write_rows(ACME, shelf, read_lines(store, shelf, limit=limit))
        for shelf in RecordType
    )


class BulkCopySuite:
    """Needs a fixture `store` that yields an empty store with a `bulk_copy`."""

    def test_copy_into_store_reads_back_identical(self, store: Store) -> None:
        origin = ReferenceStore()
        fill_store(origin)

        moved = copy_all(origin, store)

        assert moved == sum(bulk_copy_of(origin).count_records(ADMIN).values()) == 15
        assert bulk_copy_of(store).count_records(ADMIN) == bulk_copy_of(origin).count_records(ADMIN)
        for shelf in RecordType:
            assert sorted(read_lines(store, shelf)) == sorted(read_lines(origin, shelf)), shelf
        assert read_lines(store, RecordType.EVENTS) == read_lines(origin, RecordType.EVENTS)
        there, here = (each.ledger.measure_usage(ACME, now=NOON) for each in (origin, store))
        assert replace(here, events_today=there.events_today) == there

    def test_copy_out_of_store_is_equivalent(self, store: Store) -> None:
        fill_store(store)
        other = ReferenceStore()

        copy_all(store, other)

        room = IN_ROOM.grant()
        assert other.ledger.find(room) == store.ledger.find(room)
        assert other.memories.find(room) == store.memories.find(room)
        assert other.memories.search_keywords(
            room, ["tea"], limit=5
        ) == store.memories.search_keywords(room, ["tea"], limit=5)
        assert other.queue.list_pending(room, limit=9) == store.queue.list_pending(room, limit=9)
        assert other.model_costs.list_costs(ACME) == store.model_costs.list_costs(ACME)
        assert other.eraser.list_tombstones(ACME) == store.eraser.list_tombstones(ACME)
        slots = [WindowSlot.NOTE]
        found = other.window.find(room, slots=slots, now=NOON)
        assert found == store.window.find(room, slots=slots, now=NOON)

    def test_copied_records_are_fully_usable(self, store: Store) -> None:
        origin = ReferenceStore()
        fill_store(origin)
        copy_all(origin, store)

        add_memory(store, "five", "Cake is served at six.")
        report = store.ledger.verify(ACME)

        assert (report.events, report.erased, report.problems) == (5, 1, ())
        store.audit.append(ACME, [make_entry()])
        trail = store.audit.verify(ACME)
        assert (trail.entries, trail.erased, trail.problems) == (3, 1, ())
        (hit,) = store.memories.search_keywords(ADMIN, ["cake"], limit=5)
        assert store.memories.load_texts(ADMIN, [hit.id]) == {hit.id: "Cake is served at six."}

    @pytest.mark.parametrize("limit", [1, 2])
    def test_paged_reads_are_complete(self, store: Store, limit: int) -> None:
        fill_store(store)

        for shelf in RecordType:
            assert read_lines(store, shelf, limit=limit) == read_lines(store, shelf), shelf

    def test_bulk_write_is_idempotent(self, store: Store) -> None:
        origin = ReferenceStore()
        fill_store(origin)
        copy_all(origin, store)
        counted = bulk_copy_of(store).count_records(ADMIN)

        again = copy_all(origin, store)

        assert again == 0
        assert bulk_copy_of(store).count_records(ADMIN) == counted

    def test_broken_event_chain_rejects_batch(self, store: Store) -> None:
        origin = ReferenceStore()
        fill_store(origin)
        first, second, *_ = read_lines(origin, RecordType.EVENTS)
        forged = replace(EventCopy.from_line(second), hash=bytes(32)).line

        for wrong in ([second], [first, forged], [first, first, second, second, forged]):
            with pytest.raises(Conflict):
                bulk_copy_of(store).write_rows(ACME, RecordType.EVENTS, wrong)
        assert bulk_copy_of(store).count_records(ADMIN)[RecordType.EVENTS] == 0

    def test_audit_chain_is_copied_after_retention(self, store: Store) -> None:
        origin = ReferenceStore()
        origin.audit.append(ACME, [make_entry(), make_entry("share", 3), make_entry("share", 4)])
        origin.audit.apply_retention(ACME, before=(NOON + DAY).date(), now=NOON + 5 * DAY)
        first, second, third = read_lines(origin, RecordType.AUDIT)

        assert bulk_copy_of(store).write_rows(ACME, RecordType.AUDIT, [first, second]) == 2
        forged = replace(AuditLink.from_line(third), action="forget").line
        with pytest.raises(Conflict):
            bulk_copy_of(store).write_rows(ACME, RecordType.AUDIT, [second, forged])
        assert bulk_copy_of(store).write_rows(ACME, RecordType.AUDIT, [second, third]) == 1

        assert read_lines(store, RecordType.AUDIT) == read_lines(origin, RecordType.AUDIT)
        assert store.audit.verify(ACME) == origin.audit.verify(ACME)
        assert store.audit.verify(ACME).problems == ()
        assert bulk_copy_of(store).list_workspaces() == [ACME]

    def test_event_erased_meanwhile_conflicts(self, store: Store) -> None:
        origin = ReferenceStore()
        (id,) = append_events(origin, make_event("one"))
        copy_all(origin, store)
        origin.eraser.erase(ACME, events=[id], memories=[], tombstones=[])

        with pytest.raises(Conflict):
            bulk_copy_of(store).write_rows(
                ACME, RecordType.EVENTS, read_lines(origin, RecordType.EVENTS)
            )

    def test_memory_changed_meanwhile_conflicts(self, store: Store) -> None:
        origin = ReferenceStore()
        memory = add_memory(origin, "one")
        copy_all(origin, store)
        (line,) = read_lines(origin, RecordType.MEMORIES)
        changed = line.replace(memory.text, "Tea is cold.")

        with pytest.raises(Conflict):
            bulk_copy_of(store).write_rows(ACME, RecordType.MEMORIES, [changed])
        assert read_lines(store, RecordType.MEMORIES) == [line]

    def test_existing_mutable_records_are_kept(self, store: Store) -> None:
        origin = ReferenceStore()
        fill_store(origin)
        copy_all(origin, store)

        for shelf, told, changed in (
            (RecordType.SPENDING, '"calls":1', '"calls":2'),
            (RecordType.WINDOW, '{"a":1}', '{"a":2}'),
            (RecordType.WORK, '"attempts":1', '"attempts":2'),
        ):
            before = read_lines(store, shelf)
            others = [line.replace(told, changed) for line in before]
            assert others != before
            assert bulk_copy_of(store).write_rows(ACME, shelf, others) == 0
            assert read_lines(store, shelf) == before

    def test_bulk_read_needs_admin(self, store: Store) -> None:
        fill_store(store)

        with pytest.raises(InvalidInput):
            bulk_copy_of(store).read_rows(IN_ROOM.grant(), RecordType.EVENTS, limit=1)
        with pytest.raises(InvalidInput):
            bulk_copy_of(store).count_records(IN_ROOM.grant())

    def test_workspaces_are_copied_separately(self, store: Store) -> None:
        fill_store(store)
        add_memory(store, "one", workspace=OTHER)

        assert bulk_copy_of(store).list_workspaces() == [ACME, OTHER]
        assert bulk_copy_of(store).count_records(administrator_grant(OTHER))[RecordType.EVENTS] == 1
        assert len(read_lines(store, RecordType.EVENTS)) == 4

    def test_empty_store_has_nothing_to_copy(self, store: Store) -> None:
        assert bulk_copy_of(store).list_workspaces() == []
        assert set(bulk_copy_of(store).count_records(ADMIN).values()) == {0}
        assert read_lines(store, RecordType.MEMORIES) == []
