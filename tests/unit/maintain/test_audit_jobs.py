"""Audit log of background jobs, retention and history."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.conftest import Clock, Open

from nexusmem.audit.chain import apply_retention, list_history
from nexusmem.audit.records import AuditEntry
from nexusmem.core.records import EventKind
from nexusmem.testing.reference_store.store import ReferenceStore
from nexusmem.testing.samples import ACME, ADMIN, ALICE, NOON, add_memory, append_events, make_event
from nexusmem.testing.suites.audit import DAY, make_entry


@pytest.mark.requirement("E26", "E28")
def test_retention_job_drops_expired_days() -> None:
    store = ReferenceStore()
    store.audit.append(ACME, [make_entry("share", day) for day in range(10)])
    now = NOON + 10 * DAY

    kept = apply_retention(store, ACME, now=now, retention_days=0)
    dropped = apply_retention(store, ACME, now=now, retention_days=4)

    assert (kept.counts, dropped.counts) == ({"dropped": 0}, {"dropped": 6})
    report = store.audit.verify(ACME)
    assert (report.entries, report.dropped, report.problems) == (5, 6, ())


@pytest.mark.requirement("E26", "E27", "E28")
def test_archiving_job_is_recorded_with_its_threshold(open_nexus: Open, clock: Clock) -> None:
    nexus = open_nexus()
    workspace = nexus.workspace("acme")
    workspace.room("design").observe("alice", "The kettle in the kitchen is broken again.")
    workspace.flush()
    clock.advance(days=2_000)

    counts = workspace.run_job("decay")

    (entry,) = [each.entry for each in workspace.audit(action="archive") if each.entry]
    assert counts["archived"] == entry.detail["memories"] > 0
    assert (entry.actor, entry.detail["archive_below"]) == ("worker", 0.3)
    workspace.run_job("audit_partitions")
    assert workspace.verify_audit().is_intact


def test_history_filter_finds_entries_behind_many_others() -> None:
    store = ReferenceStore()
    calls = make_event("call", kind=EventKind.TOOL, role="tool", at=NOON)
    append_events(store, calls, *(make_event(str(n), at=NOON + n * DAY) for n in range(1, 9)))
    store.audit.append(ACME, [make_entry("share", 1)])

    (call,) = list_history(store, ADMIN, action=EventKind.TOOL.value, limit=3)
    (share,) = list_history(store, ADMIN, action="share", limit=3)

    assert (call.at, share.action) == (NOON, "share")


def test_history_shows_events_without_text() -> None:
    store = ReferenceStore()
    append_events(store, make_event("1", at=NOON), make_event("2", at=NOON + 2 * DAY))
    add_memory(store, "3", at=NOON - DAY)
    store.audit.append(ACME, [make_entry("share", 1)])

    found = list_history(store, ADMIN, limit=3)
    narrowed = list_history(
        store, ADMIN, action="message", since=NOON + timedelta(hours=1), limit=3
    )

    assert [each.action for each in found] == ["message", "share", "message"]
    assert [each.at for each in narrowed] == [NOON + 2 * DAY]
    assert all(isinstance(each.entry, AuditEntry) for each in found)
    assert "Tea" not in str(found)
    assert list_history(store, ALICE.grant(), limit=3) == []
