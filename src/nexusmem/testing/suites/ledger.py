"""Contract of the ledger."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ...core.errors import Conflict, Forgotten, InvalidInput
from ...core.filters import parse_filter
from ...core.protocols.store import Store
from ...core.records import Attachment, Event, EventKind, Progress, Stage, Tombstone, Trust
from ...core.scope import Scope
from ..samples import (
    ACME,
    ADMIN,
    ALICE,
    ALICE_DM,
    LATER,
    NOON,
    OTHER,
    PROJECT,
    append_events,
    make_event,
)

HOUR = timedelta(hours=1)


class LedgerSuite:
    """Needs a fixture `store` that yields an empty store."""

    def test_event_is_returned_unchanged(self, store: Store) -> None:
        told = make_event(
            "msg-1",
            "Größe: 10 µm \N{WHITE SMILING FACE}\n\tsecond line \u2400 \U0001f980",
            role="tool",
            kind=EventKind.TOOL,
            trust=Trust.INTERNAL,
            thread="t 1",
            attachments=(Attachment(name="a.png", url="file:///a.png", size=7),),
            metadata={"a": {"b": [1, 2.5, None, True, "x"]}, "%_'\"": 2**53, "tags": ["t"]},
        )

        (receipt,) = store.ledger.append(ACME, [told], recorded_at=LATER)

        (found,) = store.ledger.get(ADMIN, [receipt.event_id])
        names = told.__dataclass_fields__
        assert found == Event(
            workspace=ACME, recorded_at=LATER, **{name: getattr(told, name) for name in names}
        )
        assert (receipt.scope, receipt.key, receipt.duplicate) == (told.scope, "msg-1", False)
        assert receipt.stage is Stage.DURABLE

    def test_repeated_key_returns_same_event(self, store: Store) -> None:
        first, again = (
            store.ledger.append(ACME, [make_event("1", at=at)], recorded_at=at)[0]
            for at in (NOON, LATER)
        )

        assert again == replace(first, duplicate=True)
        (kept,) = store.ledger.find(ADMIN)
        assert (kept.at, kept.recorded_at) == (NOON, NOON)
        assert store.queue.count_pending(ADMIN) == 1

    def test_scopes_are_sorted_and_readable(self, store: Store) -> None:
        rooms = [Scope.room(str(number)) for number in range(5)]
        told = append_events(store, *(make_event(str(room), scope=room) for room in rooms * 2))
        append_events(store, make_event("dm", scope=ALICE_DM))
        append_events(store, make_event("1", scope=PROJECT), workspace=OTHER)

        found = store.ledger.list_scopes(ADMIN, limit=9)

        numbers = [number for number, _ in found]
        assert numbers == sorted(set(numbers))
        assert {scope for _, scope in found} == {*rooms, ALICE_DM}
        paged: list[tuple[int, Scope]] = []
        after = 0
        while some := store.ledger.list_scopes(ADMIN, after=after, limit=2):
            paged, after = [*paged, *some], some[-1][0]
        assert paged == found
        here = ADMIN.narrow_to([rooms[0], rooms[3], PROJECT])
        assert [scope for _, scope in store.ledger.list_scopes(here, limit=9)] == [
            scope for _, scope in found if scope in (rooms[0], rooms[3])
        ]

        store.eraser.erase(ACME, events=[told[1]], memories=[], tombstones=[])
        left = [scope for _, scope in store.ledger.list_scopes(ADMIN, limit=2)]
        assert rooms[1] not in left
        assert len(left) == 2

    def test_events_after_number_are_in_write_order(self, store: Store) -> None:
        assert store.ledger.events_since(ADMIN, limit=9) == ([], 0)
        append_events(store, make_event("1"))
        _, end = store.ledger.events_since(ADMIN, limit=9)
        append_events(
            store, make_event("2", at=LATER + timedelta(days=9)), make_event("3", at=NOON)
        )
        append_events(store, make_event("4", at=LATER))

        some, middle = store.ledger.events_since(ADMIN, after=end, limit=2)
        rest, last = store.ledger.events_since(ADMIN, after=middle, limit=2)

        assert [each.key for each in (*some, *rest)] == ["2", "3", "4"]
        assert store.ledger.events_since(ADMIN, after=last, limit=9) == ([], last)
        with pytest.raises(InvalidInput, match="administrator"):
            store.ledger.events_since(ALICE.grant(), after=0, limit=9)

    def test_repeated_key_in_batch_is_one_event(self, store: Store) -> None:
        receipts = store.ledger.append(ACME, [make_event("1"), make_event("1")], recorded_at=NOON)

        assert [receipt.duplicate for receipt in receipts] == [False, True]
        assert store.count_records(ADMIN)["events"] == 1

    @pytest.mark.parametrize(
        "changed",
        [{"text": "No tea."}, {"speaker": "bob"}, {"metadata": {"a": 1}}, {"thread": "t"}],
        ids=lambda changed: next(iter(changed)),
    )
    def test_repeated_key_with_other_content_conflicts(
        self, store: Store, changed: dict[str, Any]
    ) -> None:
        append_events(store, make_event("1"))

        with pytest.raises(Conflict):
            append_events(store, make_event("1", **changed))

        assert [kept.text for kept in store.ledger.find(ADMIN)] == [make_event("1").text]

    def test_batch_append_is_atomic(self, store: Store) -> None:
        append_events(store, make_event("1"))

        with pytest.raises(Conflict):
            append_events(
                store, make_event("2"), make_event("1", "something else"), make_event("3")
            )

        assert [kept.key for kept in store.ledger.find(ADMIN)] == ["1"]
        assert store.queue.count_pending(ADMIN) == 1
        assert store.ledger.verify(ACME).events == 1

    def test_conflict_inside_batch_writes_nothing(self, store: Store) -> None:
        with pytest.raises(Conflict):
            append_events(store, make_event("1", "one"), make_event("1", "another"))

        assert store.count_records(ADMIN)["events"] == 0

    def test_keys_are_unique_per_scope(self, store: Store) -> None:
        here, there = append_events(
            store, make_event("1"), make_event("1", "Other.", scope=PROJECT)
        )

        assert here != there
        assert store.ledger.load_keys(ADMIN, [here, there]) == {here: "1", there: "1"}

    def test_keys_are_unique_per_workspace(self, store: Store) -> None:
        append_events(store, make_event("1"))
        (receipt,) = store.ledger.append(OTHER, [make_event("1", "Other.")], recorded_at=NOON)

        assert not receipt.duplicate
        assert [found.text for found in store.ledger.find(ADMIN)] == [make_event("1").text]

    def test_erased_event_is_not_accepted_again(self, store: Store) -> None:
        (id,) = append_events(store, make_event("1"))
        store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])

        with pytest.raises(Forgotten, match=r"the event with key '1' in .* was erased by forget"):
            append_events(store, make_event("2"), make_event("1"))

        assert store.ledger.find(ADMIN) == []

    def test_imported_events_keep_recorded_at(self, store: Store) -> None:
        old = NOON - timedelta(days=365)
        names = make_event("1").__dataclass_fields__
        told = {name: getattr(make_event("1", at=old), name) for name in names}

        append_events(store, Event(workspace=ACME, recorded_at=old, **told), make_event("2"))

        recorded = {found.key: found.recorded_at for found in store.ledger.find(ADMIN)}
        assert recorded == {"1": old, "2": NOON}

    def test_events_are_found_newest_first(self, store: Store) -> None:
        hours = [3, 1, 2, 2, -5, 1]
        events = [make_event(str(key), at=NOON + hour * HOUR) for key, hour in enumerate(hours)]
        for told in events:
            append_events(store, told)

        found = [(found.at, found.id) for found in store.ledger.find(ADMIN)]

        expected = sorted(((told.at, told.id) for told in events), key=lambda pair: pair[1])
        assert found == sorted(expected, key=lambda pair: pair[0], reverse=True)

    def test_time_range_includes_start_excludes_end(self, store: Store) -> None:
        append_events(store, *(make_event(str(hour), at=NOON + hour * HOUR) for hour in range(5)))

        found = store.ledger.find(ADMIN, since=NOON + HOUR, until=NOON + 3 * HOUR)

        assert [each.key for each in found] == ["2", "1"]

    def test_event_limit_applies_after_filter(self, store: Store) -> None:
        append_events(
            store,
            *(make_event(str(n), at=NOON + n * HOUR, metadata={"n": n % 3}) for n in range(9)),
        )

        found = store.ledger.find(ADMIN, where=parse_filter({"metadata.n": 0}), limit=2)

        assert [each.key for each in found] == ["6", "3"]

    def test_events_are_returned_in_requested_order(self, store: Store) -> None:
        one, two, three = append_events(store, make_event("1"), make_event("2"), make_event("3"))

        found = store.ledger.get(ADMIN, [three, "nobody", one, two])

        assert [each.id for each in found] == [three, one, two]

    def test_keys_omits_unknown_events(self, store: Store) -> None:
        (id,) = append_events(store, make_event("a key: with 'quotes' and % signs"))

        assert store.ledger.load_keys(ADMIN, [id, "nobody"]) == {
            id: "a key: with 'quotes' and % signs"
        }

    def test_progress_advances_through_stages(self, store: Store) -> None:
        (id,) = append_events(store, make_event("1"))
        stages = [store.ledger.load_progress(ADMIN, [id, "nobody"])]
        for reached in (Stage.INDEXED, Stage.DERIVED):
            tasks = store.queue.claim(ADMIN, now=NOON, limit=1, leased=True)
            store.queue.finish(tasks, reached=reached, now=NOON)
            stages.append(store.ledger.load_progress(ADMIN, [id, "nobody"]))

        assert stages == [
            {id: Progress(stage=stage)} for stage in (Stage.DURABLE, Stage.INDEXED, Stage.DERIVED)
        ]

    def test_progress_reports_error(self, store: Store) -> None:
        (id,) = append_events(store, make_event("1"))
        for error in ("no network", "still no network"):
            tasks = store.queue.claim(ADMIN, now=NOON, limit=1, failed=True)
            store.queue.fail(tasks, error=error, retry_at=LATER)

        known = store.ledger.load_progress(ADMIN, [id])

        assert known == {id: Progress(stage=Stage.DURABLE, error="still no network", attempts=2)}

    def test_hash_chain_is_valid_from_first_event(self, store: Store) -> None:
        assert store.ledger.verify(ACME).is_intact

        append_events(store, make_event("1"))
        append_events(store, make_event("2"), make_event("3"))
        append_events(store, make_event("1"), workspace=OTHER)

        report = store.ledger.verify(ACME)
        assert (report.is_intact, report.events, report.erased) == (True, 3, 0)
        assert store.ledger.verify(OTHER).events == 1

    def test_hash_chain_stays_valid_after_erasure(self, store: Store) -> None:
        ids = append_events(store, make_event("1"), make_event("2"), make_event("3"))
        stone = Tombstone(kind="event", digest=ids[1], at=NOON)
        store.eraser.erase(ACME, events=[ids[1]], memories=[], tombstones=[stone])
        append_events(store, make_event("4"))

        report = store.ledger.verify(ACME)

        assert (report.is_intact, report.events, report.erased) == (True, 4, 1)

    def test_blank_event_without_tombstone_is_reported(self, store: Store) -> None:
        ids = append_events(store, make_event("1"), make_event("2"), make_event("3"))
        stone = Tombstone(kind="memory", digest=ids[1], at=NOON)
        store.eraser.erase(ACME, events=[ids[1]], memories=[], tombstones=[stone])

        report = store.ledger.verify(ACME)

        assert report.problems == ("event 2 is empty but has no tombstone",)

    def test_extreme_event_times_are_stored(self, store: Store) -> None:
        years = [2, 999, 1969, 2026, 9998]
        append_events(store, *(make_event(str(year), at=NOON.replace(year=year)) for year in years))

        assert [found.at.year for found in store.ledger.find(ADMIN)] == years[::-1]
