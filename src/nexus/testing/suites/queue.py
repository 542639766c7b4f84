"""What an outbox promises."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest

from ...core.access import administrator_grant
from ...core.errors import LeaseLost
from ...core.leases import LEASE, LOST, Lease
from ...core.protocols import Store
from ...core.queue import Backlog
from ...core.records import Spent, Stage, Task, Waiting
from ...core.scope import Scope
from ..samples import (
    ACME,
    ADMIN,
    ALICE,
    ALICE_DM,
    LATER,
    NOON,
    OTHER,
    ROOM,
    draft,
    event,
    tell,
)

SECOND = timedelta(seconds=1)
SPENT = Spent(
    at=NOON, purpose="learn", model="m", calls=1, input_tokens=1, output_tokens=1, cost=1.0
)


def keys(tasks: list[Task]) -> list[str]:
    return [task.event.key for task in tasks]


def leases(tasks: list[Task]) -> list[Lease]:
    return [task.lease for task in tasks if task.lease]


def waiting(event_id: str, scope: Scope = ROOM, **more: Any) -> Waiting:
    """Work as it is when an event was just told."""
    fresh: dict[str, Any] = {"step": Stage.INDEXED, "attempts": 0, "error": None, "due_at": NOON}
    return Waiting(event_id=event_id, scope=scope, **{**fresh, **more})


class QueueSuite:
    """Needs a fixture `store`: an empty one."""

    def test_every_event_brings_its_work_along(self, store: Store) -> None:
        tell(store, event("1"), event("2"))

        tasks = store.queue.claim(ADMIN, now=NOON, limit=9)

        assert keys(tasks) == ["1", "2"]
        assert {(task.step, task.attempts) for task in tasks} == {(Stage.INDEXED, 0)}
        assert tasks[0].event == store.ledger.get(ADMIN, [tasks[0].event.id])[0]

    def test_what_is_leased_is_left_alone_for_a_while(self, store: Store) -> None:
        tell(store, event("1"), event("2", scope=ALICE_DM))

        assert keys(store.queue.claim(None, now=NOON, limit=1)) == ["1"]
        assert keys(store.queue.claim(None, now=NOON, limit=9)) == ["2"]
        assert keys(store.queue.claim(None, now=NOON, limit=9)) == []
        assert keys(store.queue.claim(None, now=LATER, limit=9)) == ["1", "2"]

    def test_work_goes_to_one_of_those_who_ask_at_once(self, store: Store) -> None:
        workers = 4
        places = [Scope.room(str(number)) for number in range(10 * workers)]
        tell(store, *(event(str(place), scope=place) for place in places))
        together = Barrier(workers)

        def claimed(_worker: int) -> list[str]:
            together.wait(timeout=30)
            return keys(store.queue.claim(None, now=NOON, limit=10))

        with ThreadPoolExecutor(workers) as pool:
            found = [key for theirs in pool.map(claimed, range(workers)) for key in theirs]
        found += keys(store.queue.claim(None, now=NOON, limit=99))

        assert len(found) == len(set(found)) == 10 * workers

    def test_somebody_who_waits_also_takes_what_is_leased(self, store: Store) -> None:
        tell(store, event("1"))
        store.queue.claim(None, now=NOON, limit=9)

        assert keys(store.queue.claim(ADMIN, now=NOON, limit=9, leased=True)) == ["1"]

    def test_somebody_who_waits_keeps_nobody_else_from_it(self, store: Store) -> None:
        tell(store, event("1"))
        store.queue.claim(ADMIN, now=NOON, limit=9, leased=True)

        assert keys(store.queue.claim(None, now=NOON, limit=9)) == ["1"]

    def test_each_workspace_has_its_turn(self, store: Store) -> None:
        tell(store, *(event(str(n), scope=Scope.room(f"room {n}")) for n in range(9)))
        tell(store, event("a"), workspace=OTHER)

        first = store.queue.claim(None, now=NOON, limit=4)
        tell(store, event("b", scope=ALICE_DM), workspace=OTHER)
        second = store.queue.claim(None, now=NOON, limit=1)

        assert keys(first) == ["0", "1", "a"]
        assert keys(second) == ["2"]
        assert keys(store.queue.claim(None, now=NOON, limit=1)) == ["b"]

    def test_a_place_is_learned_in_order_by_one_at_a_time(self, store: Store) -> None:
        tell(store, event("1"), event("2"), event("dm", scope=ALICE_DM))

        first = store.queue.claim(None, now=NOON, limit=1)

        assert keys(first) == ["1"]
        assert keys(store.queue.claim(None, now=NOON, limit=9)) == ["dm"]
        assert keys(store.queue.claim(ADMIN, now=NOON, limit=9)) == []
        store.queue.finish(first, reached=Stage.INDEXED, now=NOON)
        second = store.queue.claim(None, now=NOON, limit=9, step=Stage.INDEXED)
        assert keys(second) == ["2"]
        onward = store.queue.claim(None, now=NOON, limit=9)
        assert keys(onward) == ["1"], "another step of the place is another work"

    def test_what_failed_holds_nobody_up(self, store: Store) -> None:
        tell(store, event("1"), event("2"))
        first = store.queue.claim(None, now=NOON, limit=1)
        store.queue.fail(first, error="poison", retry_at=LATER)

        assert keys(store.queue.claim(None, now=NOON, limit=9)) == ["2"]

    def test_history_that_is_brought_along_waits_for_what_is_said_now(self, store: Store) -> None:
        tell(store, event("old"), workspace=OTHER)
        (old,) = store.ledger.find(administrator_grant(OTHER))
        store.ledger.append(ACME, [old], recorded_at=NOON)
        tell(store, event("new", scope=ALICE_DM))

        assert keys(store.queue.claim(ADMIN, now=NOON, limit=9, leased=True)) == ["new", "old"]

    def test_a_dead_letter_is_seen_and_waits_for_somebody(self, store: Store) -> None:
        tell(store, event("1"))
        tasks = store.queue.claim(None, now=NOON, limit=9)
        store.queue.fail(tasks, error="poison", retry_at=None)

        (seen,) = store.queue.waiting(ADMIN, limit=9)
        assert (seen.dead, seen.error, seen.attempts) == (True, "poison", 1)
        assert store.queue.claim(None, now=LATER, limit=9) == []
        waits: dict[str, Any] = {"leased": True, "failed": True}
        assert store.queue.claim(ADMIN, now=LATER, limit=9, **waits) == []

        assert store.queue.retry(ACME, None, now=LATER) == 1
        (again,) = store.queue.claim(None, now=LATER, limit=9)
        assert (again.attempts, again.error) == (0, "poison")

    def test_work_that_nobody_ended_is_taken_by_another(self, store: Store) -> None:
        (id,) = tell(store, event("1"))
        first = store.queue.claim(None, now=NOON, limit=9)
        assert store.queue.renew(first, now=NOON + LEASE / 2) == first
        assert store.queue.claim(None, now=NOON + LEASE, limit=9) == []

        second = store.queue.claim(None, now=NOON + 2 * LEASE, limit=9)

        assert [(task.attempts, task.error) for task in second] == [(1, LOST)]
        assert store.queue.renew(first, now=NOON) == []
        store.queue.fail(first, error="too late", retry_at=LATER)
        store.queue.finish(first, reached=Stage.DERIVED, now=NOON)
        assert store.queue.renew(second, now=NOON) == second
        assert store.ledger.progress(ADMIN, [id])[id].stuck == LOST

    def test_who_lost_a_lease_writes_nothing(self, store: Store) -> None:
        (id,) = tell(store, event("1"))
        first = store.queue.claim(None, now=NOON, limit=9)
        with store.holding(leases(first)):
            store.memories.put(ACME, [draft(id)])
        second = store.queue.claim(None, now=NOON + LEASE, limit=9)

        with store.holding(leases(first)):
            for write in (
                lambda: store.memories.put(ACME, [draft(id, text="Late.", slot="late")]),
                lambda: store.ledger.append(ACME, [event("late")], recorded_at=NOON),
                lambda: store.ledger.append(OTHER, [event("late")], recorded_at=NOON),
                lambda: store.queue.finish(first, reached=Stage.DERIVED, now=NOON),
                lambda: store.accounts.add(ACME, SPENT),
                lambda: store.eraser.erase(ACME, events=[id], memories=[], tombstones=[]),
            ):
                with pytest.raises(LeaseLost):
                    write()

        assert [memory.slot for memory in store.memories.find(ADMIN)] == [""]
        assert keys(second) == ["1"]
        assert store.workspaces() == [ACME]
        with store.holding(leases(second)):
            store.memories.put(ACME, [draft(id, text="In time.", slot="new")])
            store.queue.finish(second, reached=Stage.DERIVED, now=NOON)
            store.memories.put(ACME, [draft(id, text="After it.", slot="after")])
        assert len(store.memories.find(ADMIN)) == 3

    def test_who_holds_a_lease_hinders_nobody(self, store: Store) -> None:
        tell(store, event("1"))
        first = store.queue.claim(None, now=NOON, limit=9)
        store.queue.claim(None, now=NOON + LEASE, limit=9)

        with store.holding(leases(first)), ThreadPoolExecutor(1) as pool:
            told = pool.submit(tell, store, event("2")).result(timeout=30)

        assert len(told) == 1

    def test_work_that_is_not_due_waits(self, store: Store) -> None:
        store.ledger.append(ACME, [event("1")], recorded_at=LATER)

        assert store.queue.claim(None, now=NOON, limit=9) == []
        assert store.queue.pending(ADMIN) == 1

    def test_a_grant_takes_its_own_work_only(self, store: Store) -> None:
        tell(store, event("room"), event("dm", scope=ALICE_DM))

        assert keys(store.queue.claim(ALICE.grant(), now=NOON, limit=9)) == ["dm"]
        assert store.queue.pending(ALICE.grant()) == 1

    def test_what_failed_waits_for_its_next_try(self, store: Store) -> None:
        tell(store, event("1"))
        tasks = store.queue.claim(None, now=NOON, limit=9)
        store.queue.fail(tasks, error="no network", retry_at=NOON + SECOND)

        assert store.queue.claim(None, now=NOON, limit=9) == []
        (again,) = store.queue.claim(None, now=NOON + SECOND, limit=9)
        assert again.attempts == 1

    def test_somebody_who_waits_also_takes_what_failed(self, store: Store) -> None:
        tell(store, event("1"))
        tasks = store.queue.claim(None, now=NOON, limit=9)
        store.queue.fail(tasks, error="no network", retry_at=LATER)

        assert keys(store.queue.claim(ADMIN, now=NOON, limit=9, failed=True)) == ["1"]

    def test_a_finished_step_leads_to_the_next_and_then_out(self, store: Store) -> None:
        tell(store, event("1"))
        first = store.queue.claim(None, now=NOON, limit=9)
        store.queue.fail(first, error="no network", retry_at=NOON)
        store.queue.finish(first, reached=Stage.INDEXED, now=NOON)

        (second,) = store.queue.claim(None, now=NOON, limit=9)
        assert (second.step, second.attempts) == (Stage.DERIVED, 0)
        store.queue.finish([second], reached=Stage.DERIVED, now=NOON)

        assert store.queue.claim(ADMIN, now=LATER, limit=9, leased=True, failed=True) == []
        assert store.queue.pending(ADMIN) == 0

    def test_work_of_one_step_can_be_asked_for(self, store: Store) -> None:
        tell(store, event("1"), event("2"), event("3"))
        first = store.queue.claim(None, now=NOON, limit=1)
        store.queue.finish(first, reached=Stage.INDEXED, now=NOON)

        waits: dict[str, Any] = {"now": NOON, "leased": True}
        derived = store.queue.claim(ADMIN, limit=9, step=Stage.DERIVED, **waits)
        indexed = store.queue.claim(ADMIN, limit=1, step=Stage.INDEXED, **waits)
        assert (keys(derived), keys(indexed)) == (["1"], ["2"])
        assert len(store.queue.claim(ADMIN, limit=9, **waits)) == 3
        assert keys(store.queue.claim(None, now=NOON, limit=9, step=Stage.DERIVED)) == ["1"]

    def test_what_waits_can_be_looked_at(self, store: Store) -> None:
        one, two, three = tell(store, event("1"), event("2", scope=ALICE_DM), event("3"))
        tasks = store.queue.claim(None, now=NOON, limit=9)
        store.queue.fail(tasks[1:2], error="no network", retry_at=NOON - SECOND)
        store.queue.finish(tasks[2:], reached=Stage.INDEXED, now=LATER)

        assert store.queue.waiting(ADMIN, limit=9) == [
            waiting(two, ALICE_DM, attempts=1, error="no network", due_at=NOON - SECOND),
            waiting(three, step=Stage.DERIVED, due_at=LATER),
            waiting(one),
        ]
        assert [each.event_id for each in store.queue.waiting(ADMIN, limit=2)] == [two, three]
        assert [each.event_id for each in store.queue.waiting(ALICE.grant(), limit=9)] == [two]

    def test_what_waits_is_in_order(self, store: Store) -> None:
        ids = tell(store, *(event(str(n)) for n in range(6)))
        tasks = store.queue.claim(None, now=NOON, limit=9)
        for n, task in enumerate(tasks[:4]):
            store.queue.fail([task], error="away", retry_at=NOON + (n // 2) * SECOND)

        found = [each.event_id for each in store.queue.waiting(ADMIN, limit=9)]

        assert found == [*sorted(ids[2:4]), *sorted(ids[:2]), *sorted(ids[4:])]

    def test_what_failed_can_be_made_due_at_once(self, store: Store) -> None:
        one, two, three = tell(store, event("1"), event("2"), event("3", scope=ALICE_DM))
        tell(store, event("1"), workspace=OTHER)
        tasks = store.queue.claim(None, now=NOON, limit=9)
        failed = [task for task in tasks if task.event.key != "3"]
        store.queue.fail(failed, error="no network", retry_at=LATER)

        assert store.queue.retry(ACME, [one, three, "nobody"], now=NOON) == 1
        assert store.queue.retry(ACME, [], now=NOON) == 0
        assert keys(store.queue.claim(None, now=NOON, limit=9)) == ["1"]

        assert store.queue.retry(ACME, None, now=NOON) == 2
        again = store.queue.claim(None, now=NOON, limit=9)
        assert [(task.event.id, task.attempts) for task in again] == [(one, 1), (two, 1)]
        seen = {each.event_id: each for each in store.queue.waiting(ADMIN, limit=9)}
        assert (seen[two].error, seen[two].due_at) == ("no network", NOON)
        assert seen[three].error is None

    def test_one_who_comes_late_finishes_nothing(self, store: Store) -> None:
        (id,) = tell(store, event("1"))
        old = store.queue.claim(None, now=NOON, limit=9)
        store.queue.finish(old, reached=Stage.INDEXED, now=NOON)

        store.queue.finish(old, reached=Stage.DERIVED, now=NOON)
        store.queue.fail(old, error="too late", retry_at=LATER)

        assert store.ledger.progress(ADMIN, [id])[id].stage is Stage.INDEXED
        assert store.ledger.progress(ADMIN, [id])[id].stuck is None

    def test_work_of_an_erased_event_is_gone(self, store: Store) -> None:
        (id,) = tell(store, event("1"))
        tasks = store.queue.claim(None, now=NOON, limit=9)
        store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])

        store.queue.fail(tasks, error="no network", retry_at=NOON)
        store.queue.finish(tasks, reached=Stage.INDEXED, now=NOON)

        assert store.queue.claim(None, now=LATER, limit=9) == []
        assert store.queue.requeue(ACME, [id], now=NOON) == 0

    def test_requeued_events_start_again(self, store: Store) -> None:
        one, two = tell(store, event("1"), event("2"))
        tasks = store.queue.claim(None, now=NOON, limit=9)
        store.queue.fail(tasks[:1], error="no network", retry_at=LATER)
        store.queue.finish(tasks[1:], reached=Stage.DERIVED, now=NOON)

        assert store.queue.requeue(ACME, [one, two, "nobody"], now=NOON) == 2

        again = store.queue.claim(None, now=NOON, limit=9)
        assert [(task.event.key, task.step, task.attempts) for task in again] == [
            ("1", Stage.INDEXED, 0),
            ("2", Stage.INDEXED, 0),
        ]
        assert store.queue.requeue(OTHER, [one], now=NOON) == 0


class BacklogSuite:
    """Needs a fixture `store`: an empty one."""

    def test_nothing_is_left_where_nothing_was_written(self, store: Store) -> None:
        assert store.queue.backlog(ADMIN) == Backlog()

    def test_what_waits_is_as_old_as_when_it_was_asked_for(self, store: Store) -> None:
        tell(store, event("1"))
        store.ledger.append(ACME, [event("2")], recorded_at=LATER)

        assert store.queue.backlog(ADMIN) == Backlog(waiting=2, since=NOON)

    def test_what_failed_is_as_old_as_its_event_and_what_is_dead_has_no_age(
        self, store: Store
    ) -> None:
        tell(store, event("1"), event("2"))
        one, two = store.queue.claim(ADMIN, now=NOON, limit=2)

        store.queue.fail([one], error="away", retry_at=LATER)
        store.queue.fail([two], error="hopeless", retry_at=None)

        assert store.queue.backlog(ADMIN) == Backlog(waiting=2, failed=1, dead=1, since=NOON)
        store.queue.fail([one], error="hopeless", retry_at=None)
        assert store.queue.backlog(ADMIN) == Backlog(waiting=2, dead=2)
