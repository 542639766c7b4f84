"""What a ledger promises."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ...core.errors import Conflict, Forgotten, InvalidInput
from ...core.filters import parse_filter
from ...core.protocols import Store
from ...core.records import Attachment, Event, EventKind, Progress, Stage, Tombstone, Trust
from ...core.scope import Scope
from ..samples import ACME, ADMIN, ALICE, ALICE_DM, LATER, NOON, OTHER, PROJECT, event, tell

HOUR = timedelta(hours=1)


class LedgerSuite:
    """Needs a fixture `store`: an empty one."""

    def test_an_event_comes_back_as_it_was_told(self, store: Store) -> None:
        told = event(
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
        assert (receipt.scope, receipt.key, receipt.repeated) == (told.scope, "msg-1", False)
        assert receipt.stage is Stage.DURABLE

    def test_the_same_key_again_is_the_same_event(self, store: Store) -> None:
        first, again = (
            store.ledger.append(ACME, [event("1", at=at)], recorded_at=at)[0]
            for at in (NOON, LATER)
        )

        assert again == replace(first, repeated=True)
        (kept,) = store.ledger.find(ADMIN)
        assert (kept.at, kept.recorded_at) == (NOON, NOON)
        assert store.queue.pending(ADMIN) == 1

    def test_scopes_come_in_an_order_and_only_those_that_may_be_read(self, store: Store) -> None:
        rooms = [Scope.room(str(number)) for number in range(5)]
        told = tell(store, *(event(str(room), scope=room) for room in rooms * 2))
        tell(store, event("dm", scope=ALICE_DM))
        tell(store, event("1", scope=PROJECT), workspace=OTHER)

        found = store.ledger.scopes(ADMIN, limit=9)

        numbers = [number for number, _ in found]
        assert numbers == sorted(set(numbers))
        assert {scope for _, scope in found} == {*rooms, ALICE_DM}
        paged: list[tuple[int, Scope]] = []
        after = 0
        while some := store.ledger.scopes(ADMIN, after=after, limit=2):
            paged, after = [*paged, *some], some[-1][0]
        assert paged == found
        here = ADMIN.within([rooms[0], rooms[3], PROJECT])
        assert [scope for _, scope in store.ledger.scopes(here, limit=9)] == [
            scope for _, scope in found if scope in (rooms[0], rooms[3])
        ]

        store.eraser.erase(ACME, events=[told[1]], memories=[], tombstones=[])
        left = [scope for _, scope in store.ledger.scopes(ADMIN, limit=2)]
        assert rooms[1] not in left
        assert len(left) == 2

    def test_what_was_written_after_a_number_comes_in_the_order_of_writing(
        self, store: Store
    ) -> None:
        assert store.ledger.written(ADMIN, limit=9) == ([], 0)
        tell(store, event("1"))
        _, end = store.ledger.written(ADMIN, limit=9)
        tell(store, event("2", at=LATER + timedelta(days=9)), event("3", at=NOON))
        tell(store, event("4", at=LATER))

        some, middle = store.ledger.written(ADMIN, after=end, limit=2)
        rest, last = store.ledger.written(ADMIN, after=middle, limit=2)

        assert [each.key for each in (*some, *rest)] == ["2", "3", "4"]
        assert store.ledger.written(ADMIN, after=last, limit=9) == ([], last)
        with pytest.raises(InvalidInput, match="administrator"):
            store.ledger.written(ALICE.grant(), after=0, limit=9)

    def test_the_same_key_twice_in_one_batch_is_one_event(self, store: Store) -> None:
        receipts = store.ledger.append(ACME, [event("1"), event("1")], recorded_at=NOON)

        assert [receipt.repeated for receipt in receipts] == [False, True]
        assert store.count(ADMIN)["events"] == 1

    @pytest.mark.parametrize(
        "changed",
        [{"text": "No tea."}, {"speaker": "bob"}, {"metadata": {"a": 1}}, {"thread": "t"}],
        ids=lambda changed: next(iter(changed)),
    )
    def test_the_same_key_with_other_content_is_a_conflict(
        self, store: Store, changed: dict[str, Any]
    ) -> None:
        tell(store, event("1"))

        with pytest.raises(Conflict):
            tell(store, event("1", **changed))

        assert [kept.text for kept in store.ledger.find(ADMIN)] == [event("1").text]

    def test_a_batch_is_written_whole_or_not_at_all(self, store: Store) -> None:
        tell(store, event("1"))

        with pytest.raises(Conflict):
            tell(store, event("2"), event("1", "something else"), event("3"))

        assert [kept.key for kept in store.ledger.find(ADMIN)] == ["1"]
        assert store.queue.pending(ADMIN) == 1
        assert store.ledger.verify(ACME).events == 1

    def test_a_conflict_inside_a_batch_writes_nothing(self, store: Store) -> None:
        with pytest.raises(Conflict):
            tell(store, event("1", "one"), event("1", "another"))

        assert store.count(ADMIN)["events"] == 0

    def test_a_key_means_something_in_its_scope_only(self, store: Store) -> None:
        here, there = tell(store, event("1"), event("1", "Other.", scope=PROJECT))

        assert here != there
        assert store.ledger.keys(ADMIN, [here, there]) == {here: "1", there: "1"}

    def test_workspaces_do_not_share_keys(self, store: Store) -> None:
        tell(store, event("1"))
        (receipt,) = store.ledger.append(OTHER, [event("1", "Other.")], recorded_at=NOON)

        assert not receipt.repeated
        assert [found.text for found in store.ledger.find(ADMIN)] == [event("1").text]

    def test_what_was_erased_is_not_taken_in_again(self, store: Store) -> None:
        (id,) = tell(store, event("1"))
        store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])

        with pytest.raises(Forgotten):
            tell(store, event("2"), event("1"))

        assert store.ledger.find(ADMIN) == []

    def test_imported_history_keeps_its_own_time_of_recording(self, store: Store) -> None:
        old = NOON - timedelta(days=365)
        names = event("1").__dataclass_fields__
        told = {name: getattr(event("1", at=old), name) for name in names}

        tell(store, Event(workspace=ACME, recorded_at=old, **told), event("2"))

        recorded = {found.key: found.recorded_at for found in store.ledger.find(ADMIN)}
        assert recorded == {"1": old, "2": NOON}

    def test_events_are_found_newest_first_whenever_they_were_written(self, store: Store) -> None:
        hours = [3, 1, 2, 2, -5, 1]
        events = [event(str(key), at=NOON + hour * HOUR) for key, hour in enumerate(hours)]
        for told in events:
            tell(store, told)

        found = [(found.at, found.id) for found in store.ledger.find(ADMIN)]

        expected = sorted(((told.at, told.id) for told in events), key=lambda pair: pair[1])
        assert found == sorted(expected, key=lambda pair: pair[0], reverse=True)

    def test_a_stretch_of_time_holds_its_beginning_and_not_its_end(self, store: Store) -> None:
        tell(store, *(event(str(hour), at=NOON + hour * HOUR) for hour in range(5)))

        found = store.ledger.find(ADMIN, since=NOON + HOUR, until=NOON + 3 * HOUR)

        assert [each.key for each in found] == ["2", "1"]

    def test_a_limit_counts_what_passed_the_filter(self, store: Store) -> None:
        tell(store, *(event(str(n), at=NOON + n * HOUR, metadata={"n": n % 3}) for n in range(9)))

        found = store.ledger.find(ADMIN, where=parse_filter({"metadata.n": 0}), limit=2)

        assert [each.key for each in found] == ["6", "3"]

    def test_events_come_in_the_order_asked(self, store: Store) -> None:
        one, two, three = tell(store, event("1"), event("2"), event("3"))

        found = store.ledger.get(ADMIN, [three, "nobody", one, two])

        assert [each.id for each in found] == [three, one, two]

    def test_keys_of_unknown_events_are_left_out(self, store: Store) -> None:
        (id,) = tell(store, event("a key: with 'quotes' and % signs"))

        assert store.ledger.keys(ADMIN, [id, "nobody"]) == {id: "a key: with 'quotes' and % signs"}

    def test_progress_goes_from_durable_over_indexed_to_derived(self, store: Store) -> None:
        (id,) = tell(store, event("1"))
        stages = [store.ledger.progress(ADMIN, [id, "nobody"])]
        for reached in (Stage.INDEXED, Stage.DERIVED):
            tasks = store.queue.claim(ADMIN, now=NOON, limit=1, leased=True)
            store.queue.finish(tasks, reached=reached, now=NOON)
            stages.append(store.ledger.progress(ADMIN, [id, "nobody"]))

        assert stages == [
            {id: Progress(stage=stage)} for stage in (Stage.DURABLE, Stage.INDEXED, Stage.DERIVED)
        ]

    def test_progress_says_why_an_event_is_stuck(self, store: Store) -> None:
        (id,) = tell(store, event("1"))
        for error in ("no network", "still no network"):
            tasks = store.queue.claim(ADMIN, now=NOON, limit=1, failed=True)
            store.queue.fail(tasks, error=error, retry_at=LATER)

        known = store.ledger.progress(ADMIN, [id])

        assert known == {id: Progress(stage=Stage.DURABLE, stuck="still no network", attempts=2)}

    def test_a_chain_is_sound_from_the_first_event_on(self, store: Store) -> None:
        assert store.ledger.verify(ACME).sound

        tell(store, event("1"))
        tell(store, event("2"), event("3"))
        tell(store, event("1"), workspace=OTHER)

        report = store.ledger.verify(ACME)
        assert (report.sound, report.events, report.erased) == (True, 3, 0)
        assert store.ledger.verify(OTHER).events == 1

    def test_a_chain_stays_sound_when_something_is_erased(self, store: Store) -> None:
        ids = tell(store, event("1"), event("2"), event("3"))
        stone = Tombstone(kind="event", digest=ids[1], at=NOON)
        store.eraser.erase(ACME, events=[ids[1]], memories=[], tombstones=[stone])
        tell(store, event("4"))

        report = store.ledger.verify(ACME)

        assert (report.sound, report.events, report.erased) == (True, 4, 1)

    def test_an_event_that_is_empty_without_a_tombstone_was_emptied(self, store: Store) -> None:
        ids = tell(store, event("1"), event("2"), event("3"))
        stone = Tombstone(kind="memory", digest=ids[1], at=NOON)
        store.eraser.erase(ACME, events=[ids[1]], memories=[], tombstones=[stone])

        report = store.ledger.verify(ACME)

        assert report.problems == ("event 2 is empty, but nobody forgot it",)

    def test_events_of_any_time_are_kept(self, store: Store) -> None:
        years = [2, 999, 1969, 2026, 9998]
        tell(store, *(event(str(year), at=NOON.replace(year=year)) for year in years))

        assert [found.at.year for found in store.ledger.find(ADMIN)] == years[::-1]
