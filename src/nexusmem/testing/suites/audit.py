"""Contract of the audit log."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from ...audit.records import AuditEntry
from ...core.access import administrator_grant
from ...core.errors import Conflict, InvalidInput
from ...core.ids import digest
from ...core.protocols.store import Store
from ...core.records import Tombstone
from ..samples import ACME, ADMIN, ALICE, NOON, OTHER, append_events, make_event

DAY = timedelta(days=1)
KEY = b"a key that nobody who edits the database has"


def make_entry(action: str = "share", day: int = 0, **more: Any) -> AuditEntry:
    told: dict[str, Any] = {"actor": "scribe", "at": NOON + day * DAY, **more}
    return AuditEntry(action=action, **told)


def list_actions(store: Store) -> list[str]:
    return [each.action for each in store.audit.find(ADMIN, limit=100)]


def verify_counts(store: Store) -> tuple[int, int, int]:
    """Return the numbers of present, erased and dropped entries of an intact audit log."""
    report = store.audit.verify(ACME)
    assert report.problems == ()
    return report.entries, report.erased, report.dropped


class AuditSuite:
    """Needs a fixture `store` that yields an empty store."""

    def test_entries_are_found_newest_first(self, store: Store) -> None:
        first = make_entry(
            "share", people=("bob", "alice"), place="room:design", detail={"hits": 3}
        )
        store.audit.append(ACME, [first, make_entry("forget", 1)])
        store.audit.append(ACME, [make_entry("share", 2)])

        found = store.audit.find(ADMIN, limit=10)

        assert [each.number for each in found] == [3, 2, 1]
        assert found[-1].entry == make_entry(
            "share", people=("alice", "bob"), place="room:design", detail={"hits": 3}
        )
        assert verify_counts(store) == (3, 0, 0)

    def test_entries_are_filtered_by_action_time_number(self, store: Store) -> None:
        store.audit.append(ACME, [make_entry("share", day) for day in range(4)])
        store.audit.append(ACME, [make_entry("forget", 4)])

        def find_numbers(**asked: Any) -> list[int]:
            return [each.number for each in store.audit.find(ADMIN, limit=3, **asked)]

        assert find_numbers() == [5, 4, 3]
        assert find_numbers(action="forget") == [5]
        assert find_numbers(since=NOON + DAY, until=NOON + 3 * DAY) == [3, 2]
        assert find_numbers(after=0) == [1, 2, 3]
        assert find_numbers(after=3) == [4, 5]

    def test_only_workspace_admin_reads_audit(self, store: Store) -> None:
        store.audit.append(ACME, [make_entry()])

        assert store.audit.find(ALICE.grant(), limit=10) == []
        assert store.audit.find(ADMIN.narrow_to(ALICE.grant().scopes), limit=10) == []
        assert store.audit.find(administrator_grant(OTHER), limit=10) == []
        assert store.list_workspaces() == []  # the workspace has no entry yet

    def test_entry_is_recorded_with_its_write(self, store: Store) -> None:
        with store.with_audit_entry(ACME, make_entry("share")):
            append_events(store, make_event("1"))
            append_events(store, make_event("2"))

        assert list_actions(store) == ["share"]

    def test_entry_is_not_recorded_without_write(self, store: Store) -> None:
        append_events(store, make_event("1"))
        with store.with_audit_entry(ACME, make_entry("share")):
            pass
        with pytest.raises(Conflict), store.with_audit_entry(ACME, make_entry("share")):
            append_events(store, make_event("1", "Something else."))
        append_events(store, make_event("2"))

        assert list_actions(store) == []

    def test_outcome_is_recorded_in_entry(self, store: Store) -> None:
        told = append_events(store, make_event("1"), make_event("2"))
        store.queue.fail(store.queue.claim(None, now=NOON, limit=9), error="no", retry_at=None)

        for which in (told, told[:1], []):
            with store.with_audit_entry(ACME, make_entry("retry"), outcome="retried"):
                store.queue.retry(ACME, which, now=NOON)

        found = store.audit.find(ADMIN, limit=9)
        assert [each.entry.detail["retried"] for each in found if each.entry] == [1, 2]

    def test_write_is_rolled_back_if_entry_is_invalid(self, store: Store) -> None:
        strange = make_entry("share", detail={"when": NOON})

        with pytest.raises(InvalidInput), store.with_audit_entry(ACME, strange):
            append_events(store, make_event("1"))

        assert store.count_records(ADMIN)["events"] == 0
        assert list_actions(store) == []

    def test_disabled_audit_records_nothing(self, store: Store) -> None:
        store.audit.configure(writes=False)

        with store.with_audit_entry(ACME, make_entry()):
            append_events(store, make_event("1"))

        assert list_actions(store) == []

    def test_concurrent_entries_form_one_chain(self, store: Store) -> None:
        def append_with_entry(number: int) -> None:
            with store.with_audit_entry(ACME, make_entry("share", detail={"n": number})):
                append_events(store, make_event(f"{number}"))

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(append_with_entry, range(40)))

        found = store.audit.find(ADMIN, limit=100)
        assert {each.entry.detail["n"] for each in found if each.entry} == {*range(40)}
        assert verify_counts(store) == (40, 0, 0)
        assert store.ledger.verify(ACME).problems == ()

    def test_chain_stays_valid_after_blanking(self, store: Store) -> None:
        store.audit.append(
            ACME,
            [
                make_entry("recall", people=("alice",), detail={"question": "Where is my purse?"}),
                make_entry("recall", people=("bob",), detail={"question": "Is Alice here?"}),
                make_entry("recall", people=("bob",), detail={"question": "Is malice a word?"}),
                make_entry("worker", people=("bob",), place="dm:alice/scribe"),
            ],
        )

        going = store.audit.find_mentions(ACME, ["alice"])

        assert sorted(going) == [1, 2, 4]
        assert store.audit.erase_contents(ACME, list(going)) == 3
        assert store.audit.erase_contents(ACME, list(going)) == 0
        assert [each.number for each in store.audit.find(ADMIN, limit=9) if each.is_erased] == [
            4,
            2,
            1,
        ]
        assert store.audit.find_mentions(ACME, ["alice"]) == {}
        store.audit.append(ACME, [make_entry()])
        assert verify_counts(store) == (5, 3, 0)

    def test_late_entry_of_forgotten_user_is_blank(self, store: Store) -> None:
        stone = Tombstone(kind="user", digest=digest("user", "alice"), at=NOON + DAY)
        store.eraser.erase(ACME, events=[], memories=[], tombstones=[stone])

        late, again = make_entry(people=("alice",)), make_entry(day=2, people=("alice",))
        store.audit.append(ACME, [late, make_entry(people=("bob",)), again])

        found = store.audit.find(ADMIN, limit=9)
        assert [each.is_erased for each in found] == [False, False, True]
        assert verify_counts(store) == (3, 1, 0)

    def test_retention_drops_days_and_keeps_chain_valid(self, store: Store) -> None:
        for day in range(4):
            store.audit.append(ACME, [make_entry("recall", day), make_entry("recall", day)])
        store.audit.append(OTHER, [make_entry("recall")])
        now = NOON + 4 * DAY

        assert store.audit.apply_retention(ACME, before=(NOON + 2 * DAY).date(), now=now) == 4
        assert store.audit.apply_retention(ACME, before=(NOON + 2 * DAY).date(), now=now) == 0
        assert verify_counts(store) == (5, 0, 4)
        assert store.audit.apply_retention(ACME, before=now.date(), now=now + DAY) == 4
        assert verify_counts(store) == (2, 0, 8)
        assert list_actions(store) == ["retention", "retention"]
        assert (
            store.audit.apply_retention(ACME, before=(now + 2 * DAY).date(), now=now + 3 * DAY) == 2
        )
        assert verify_counts(store) == (1, 0, 10)
        assert store.audit.verify(OTHER).entries == 1

    def test_anchor_must_match_chain(self, store: Store) -> None:
        store.audit.append(ACME, [make_entry(), make_entry()])
        anchor = store.audit.verify(ACME).head
        store.audit.append(ACME, [make_entry()])
        of_another = anchor[:-1] + ("0" if anchor[-1] != "0" else "1")

        assert store.audit.verify(ACME, anchor=anchor).problems == ()
        assert store.audit.verify(ACME, anchor=of_another).problems
        assert store.audit.verify(ACME, anchor="9" + anchor).problems
        with pytest.raises(InvalidInput):
            store.audit.verify(ACME, anchor="the newest")

    def test_links_are_sealed_once_key_is_set(self, store: Store) -> None:
        store.audit.append(ACME, [make_entry(), make_entry()])
        store.audit.configure(writes=True, key=KEY)
        not_yet = store.audit.verify(ACME)
        store.audit.append(ACME, [make_entry()])

        report = store.audit.verify(ACME)
        store.audit.configure(writes=True, key=b"another one")
        other = store.audit.verify(ACME)

        assert not_yet.problems
        assert (report.sealed, report.problems) == (1, ())
        assert other.problems

    @pytest.mark.parametrize(
        "strange",
        [
            lambda: make_entry("Two words"),
            lambda: make_entry("share", actor=""),
        ],
    )
    def test_invalid_entry_is_rejected(
        self, store: Store, strange: Callable[[], AuditEntry]
    ) -> None:
        with pytest.raises(InvalidInput):
            store.audit.append(ACME, [strange()])
