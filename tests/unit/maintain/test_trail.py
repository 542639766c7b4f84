"""What jobs do is in the trail, and the days of the trail are a job's."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.conftest import Clock, Open

from nexus.core.audit import Entry
from nexus.core.records import EventKind
from nexus.maintain.trail import happened, keep_days
from nexus.stores.inprocess import InProcessStore
from nexus.testing.samples import ACME, ADMIN, ALICE, NOON, event, keep, tell
from nexus.testing.suites.audit import DAY, done


@pytest.mark.requirement("E26", "E28")
def test_days_that_are_over_are_dropped_by_the_job() -> None:
    store = InProcessStore()
    store.audit.append(ACME, [done("share", day) for day in range(10)])
    now = NOON + 10 * DAY

    kept = keep_days(store, ACME, now=now, retention_days=0)
    dropped = keep_days(store, ACME, now=now, retention_days=4)

    assert (kept.counts, dropped.counts) == ({"dropped": 0}, {"dropped": 6})
    report = store.audit.verify(ACME)
    assert (report.entries, report.dropped, report.problems) == (5, 6, ())


@pytest.mark.requirement("E26", "E27", "E28")
def test_what_a_job_archives_is_recorded_with_its_threshold(open_nexus: Open, clock: Clock) -> None:
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
    assert workspace.verify_audit().sound


def test_what_is_asked_for_is_found_however_much_else_was_told_since() -> None:
    store = InProcessStore()
    calls = event("call", kind=EventKind.TOOL, role="tool", at=NOON)
    tell(store, calls, *(event(str(n), at=NOON + n * DAY) for n in range(1, 9)))
    store.audit.append(ACME, [done("share", 1)])

    (call,) = happened(store, ADMIN, action=EventKind.TOOL.value, limit=3)
    (share,) = happened(store, ADMIN, action="share", limit=3)

    assert (call.at, share.action) == (NOON, "share")


def test_events_stand_between_entries_without_their_words() -> None:
    store = InProcessStore()
    tell(store, event("1", at=NOON), event("2", at=NOON + 2 * DAY))
    keep(store, "3", at=NOON - DAY)
    store.audit.append(ACME, [done("share", 1)])

    found = happened(store, ADMIN, limit=3)
    narrowed = happened(store, ADMIN, action="message", since=NOON + timedelta(hours=1), limit=3)

    assert [each.action for each in found] == ["message", "share", "message"]
    assert [each.at for each in narrowed] == [NOON + 2 * DAY]
    assert all(isinstance(each.entry, Entry) for each in found)
    assert "Tea" not in str(found)
    assert happened(store, ALICE.grant(), limit=3) == []
