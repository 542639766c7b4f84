"""What the trail of an audit promises."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from ...core.access import administrator_grant
from ...core.audit import Entry
from ...core.errors import Conflict, InvalidInput
from ...core.ids import digest
from ...core.protocols import Store
from ...core.records import Tombstone
from ..samples import ACME, ADMIN, ALICE, NOON, OTHER, event, tell

DAY = timedelta(days=1)
KEY = b"a key that nobody who edits the database has"


def done(action: str = "share", day: int = 0, **more: Any) -> Entry:
    told: dict[str, Any] = {"actor": "scribe", "at": NOON + day * DAY, **more}
    return Entry(action=action, **told)


def actions(store: Store) -> list[str]:
    return [each.action for each in store.audit.find(ADMIN, limit=100)]


def checked(store: Store) -> tuple[int, int, int]:
    """How many entries are there, erased and dropped, in a trail without a fault."""
    report = store.audit.verify(ACME)
    assert report.problems == ()
    return report.entries, report.erased, report.dropped


class AuditSuite:
    """Needs a fixture `store`: an empty one."""

    def test_what_was_recorded_is_found_newest_first(self, store: Store) -> None:
        first = done("share", people=("bob", "alice"), place="room:design", detail={"hits": 3})
        store.audit.append(ACME, [first, done("forget", 1)])
        store.audit.append(ACME, [done("share", 2)])

        found = store.audit.find(ADMIN, limit=10)

        assert [each.number for each in found] == [3, 2, 1]
        assert found[-1].entry == done(
            "share", people=("alice", "bob"), place="room:design", detail={"hits": 3}
        )
        assert checked(store) == (3, 0, 0)

    def test_it_is_asked_for_by_action_time_and_number(self, store: Store) -> None:
        store.audit.append(ACME, [done("share", day) for day in range(4)])
        store.audit.append(ACME, [done("forget", 4)])

        def numbers(**asked: Any) -> list[int]:
            return [each.number for each in store.audit.find(ADMIN, limit=3, **asked)]

        assert numbers() == [5, 4, 3]
        assert numbers(action="forget") == [5]
        assert numbers(since=NOON + DAY, until=NOON + 3 * DAY) == [3, 2]
        assert numbers(after=0) == [1, 2, 3]
        assert numbers(after=3) == [4, 5]

    def test_nobody_but_the_administrator_of_the_workspace_reads_it(self, store: Store) -> None:
        store.audit.append(ACME, [done()])

        assert store.audit.find(ALICE.grant(), limit=10) == []
        assert store.audit.find(ADMIN.within(ALICE.grant().scopes), limit=10) == []
        assert store.audit.find(administrator_grant(OTHER), limit=10) == []
        assert store.workspaces() == []  # nothing was told yet

    def test_an_entry_is_recorded_with_what_it_tells_of(self, store: Store) -> None:
        with store.recording(ACME, done("share")):
            tell(store, event("1"))
            tell(store, event("2"))

        assert actions(store) == ["share"]

    def test_nothing_is_recorded_of_what_was_not_done(self, store: Store) -> None:
        tell(store, event("1"))
        with store.recording(ACME, done("share")):
            pass
        with pytest.raises(Conflict), store.recording(ACME, done("share")):
            tell(store, event("1", "Something else."))
        tell(store, event("2"))

        assert actions(store) == []

    def test_what_came_of_it_is_recorded_with_it(self, store: Store) -> None:
        told = tell(store, event("1"), event("2"))
        store.queue.fail(store.queue.claim(None, now=NOON, limit=9), error="no", retry_at=None)

        for which in (told, told[:1], []):
            with store.recording(ACME, done("retry"), outcome="retried"):
                store.queue.retry(ACME, which, now=NOON)

        found = store.audit.find(ADMIN, limit=9)
        assert [each.entry.detail["retried"] for each in found if each.entry] == [1, 2]

    def test_nothing_is_done_that_cannot_be_recorded(self, store: Store) -> None:
        strange = done("share", detail={"when": NOON})

        with pytest.raises(InvalidInput), store.recording(ACME, strange):
            tell(store, event("1"))

        assert store.count(ADMIN)["events"] == 0
        assert actions(store) == []

    def test_a_store_that_was_told_not_to_records_nothing(self, store: Store) -> None:
        store.audit.configure(writes=False)

        with store.recording(ACME, done()):
            tell(store, event("1"))

        assert actions(store) == []

    def test_many_threads_make_one_chain(self, store: Store) -> None:
        def work(number: int) -> None:
            with store.recording(ACME, done("share", detail={"n": number})):
                tell(store, event(f"{number}"))

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(40)))

        found = store.audit.find(ADMIN, limit=100)
        assert {each.entry.detail["n"] for each in found if each.entry} == {*range(40)}
        assert checked(store) == (40, 0, 0)
        assert store.ledger.verify(ACME).problems == ()

    def test_erased_contents_leave_the_chain_whole(self, store: Store) -> None:
        store.audit.append(
            ACME,
            [
                done("recall", people=("alice",), detail={"question": "Where is my purse?"}),
                done("recall", people=("bob",), detail={"question": "Is Alice here?"}),
                done("recall", people=("bob",), detail={"question": "Is malice a word?"}),
                done("worker", people=("bob",), place="dm:alice/scribe"),
            ],
        )

        going = store.audit.naming(ACME, ["alice"])

        assert sorted(going) == [1, 2, 4]
        assert store.audit.blank(ACME, list(going)) == 3
        assert store.audit.blank(ACME, list(going)) == 0
        assert [each.number for each in store.audit.find(ADMIN, limit=9) if each.erased] == [
            4,
            2,
            1,
        ]
        assert store.audit.naming(ACME, ["alice"]) == {}
        store.audit.append(ACME, [done()])
        assert checked(store) == (5, 3, 0)

    def test_what_waited_while_somebody_was_forgotten_comes_without_its_content(
        self, store: Store
    ) -> None:
        stone = Tombstone(kind="user", digest=digest("user", "alice"), at=NOON + DAY)
        store.eraser.erase(ACME, events=[], memories=[], tombstones=[stone])

        late, again = done(people=("alice",)), done(day=2, people=("alice",))
        store.audit.append(ACME, [late, done(people=("bob",)), again])

        found = store.audit.find(ADMIN, limit=9)
        assert [each.erased for each in found] == [False, False, True]
        assert checked(store) == (3, 1, 0)

    def test_whole_days_are_dropped_and_the_rest_still_holds(self, store: Store) -> None:
        for day in range(4):
            store.audit.append(ACME, [done("recall", day), done("recall", day)])
        store.audit.append(OTHER, [done("recall")])
        now = NOON + 4 * DAY

        assert store.audit.retain(ACME, before=(NOON + 2 * DAY).date(), now=now) == 4
        assert store.audit.retain(ACME, before=(NOON + 2 * DAY).date(), now=now) == 0
        assert checked(store) == (5, 0, 4)
        assert store.audit.retain(ACME, before=now.date(), now=now + DAY) == 4
        assert checked(store) == (2, 0, 8)
        assert actions(store) == ["retention", "retention"]
        assert store.audit.retain(ACME, before=(now + 2 * DAY).date(), now=now + 3 * DAY) == 2
        assert checked(store) == (1, 0, 10)
        assert store.audit.verify(OTHER).entries == 1

    def test_an_anchor_kept_elsewhere_must_still_be_there(self, store: Store) -> None:
        store.audit.append(ACME, [done(), done()])
        anchor = store.audit.verify(ACME).head
        store.audit.append(ACME, [done()])
        of_another = anchor[:-1] + ("0" if anchor[-1] != "0" else "1")

        assert store.audit.verify(ACME, anchor=anchor).problems == ()
        assert store.audit.verify(ACME, anchor=of_another).problems
        assert store.audit.verify(ACME, anchor="9" + anchor).problems
        with pytest.raises(InvalidInput):
            store.audit.verify(ACME, anchor="the newest")

    def test_links_are_sealed_from_when_there_is_a_key(self, store: Store) -> None:
        store.audit.append(ACME, [done(), done()])
        store.audit.configure(writes=True, key=KEY)
        not_yet = store.audit.verify(ACME)
        store.audit.append(ACME, [done()])

        report = store.audit.verify(ACME)
        store.audit.configure(writes=True, key=b"another one")
        other = store.audit.verify(ACME)

        assert not_yet.problems
        assert (report.sealed, report.problems) == (1, ())
        assert other.problems

    @pytest.mark.parametrize(
        "strange",
        [
            lambda: done("Two words"),
            lambda: done("share", actor=""),
        ],
    )
    def test_an_entry_says_what_and_by_whom(
        self, store: Store, strange: Callable[[], Entry]
    ) -> None:
        with pytest.raises(InvalidInput):
            store.audit.append(ACME, [strange()])
