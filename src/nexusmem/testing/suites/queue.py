"""Contract of the work queue."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest

from ...core.access import administrator_grant
from ...core.errors import LeaseLost
from ...core.protocols.queue import Backlog, BatchWait
from ...core.protocols.store import Store
from ...core.records import ModelCost, PendingTask, Stage, Task
from ...core.scope import Scope
from ...runtime.leases import LEASE_DURATION, LEASE_LOST_ERROR, Lease
from ..samples import (
    ACME,
    ADMIN,
    ALICE,
    ALICE_DM,
    LATER,
    NOON,
    OTHER,
    ROOM,
    append_events,
    make_draft,
    make_event,
)

SECOND = timedelta(seconds=1)
MODEL_COST = ModelCost(
    at=NOON, purpose="learn", model="m", calls=1, input_tokens=1, output_tokens=1, cost=1.0
)


def task_keys(tasks: list[Task]) -> list[str]:
    return [task.event.key for task in tasks]


def task_leases(tasks: list[Task]) -> list[Lease]:
    return [task.lease for task in tasks if task.lease]


def make_waiting(event_id: str, scope: Scope = ROOM, **more: Any) -> PendingTask:
    """Return a task in the state it has right after its event was written."""
    fresh: dict[str, Any] = {"step": Stage.INDEXED, "attempts": 0, "error": None, "due_at": NOON}
    return PendingTask(event_id=event_id, scope=scope, **{**fresh, **more})


class QueueSuite:
    """Needs a fixture `store` that yields an empty store."""

    def test_every_event_creates_task(self, store: Store) -> None:
        append_events(store, make_event("1"), make_event("2"))

        tasks = store.queue.claim(ADMIN, now=NOON, limit=9)

        assert task_keys(tasks) == ["1", "2"]
        assert {(task.step, task.attempts) for task in tasks} == {(Stage.INDEXED, 0)}
        assert tasks[0].event == store.ledger.get(ADMIN, [tasks[0].event.id])[0]

    def test_leased_task_is_not_claimed(self, store: Store) -> None:
        append_events(store, make_event("1"), make_event("2", scope=ALICE_DM))

        assert task_keys(store.queue.claim(None, now=NOON, limit=1)) == ["1"]
        assert task_keys(store.queue.claim(None, now=NOON, limit=9)) == ["2"]
        assert task_keys(store.queue.claim(None, now=NOON, limit=9)) == []
        assert task_keys(store.queue.claim(None, now=LATER, limit=9)) == ["1", "2"]

    def test_concurrent_claims_do_not_share_tasks(self, store: Store) -> None:
        workers = 4
        places = [Scope.room(str(number)) for number in range(10 * workers)]
        append_events(store, *(make_event(str(place), scope=place) for place in places))
        together = Barrier(workers)

        def claim_keys(_worker: int) -> list[str]:
            together.wait(timeout=30)
            return task_keys(store.queue.claim(None, now=NOON, limit=10))

        with ThreadPoolExecutor(workers) as pool:
            found = [key for theirs in pool.map(claim_keys, range(workers)) for key in theirs]
        found += task_keys(store.queue.claim(None, now=NOON, limit=99))

        assert len(found) == len(set(found)) == 10 * workers

    def test_claim_with_leased_returns_leased_tasks(self, store: Store) -> None:
        append_events(store, make_event("1"))
        store.queue.claim(None, now=NOON, limit=9)

        assert task_keys(store.queue.claim(ADMIN, now=NOON, limit=9, leased=True)) == ["1"]

    def test_claim_with_leased_takes_no_lease(self, store: Store) -> None:
        append_events(store, make_event("1"))
        store.queue.claim(ADMIN, now=NOON, limit=9, leased=True)

        assert task_keys(store.queue.claim(None, now=NOON, limit=9)) == ["1"]

    def test_claim_is_fair_between_workspaces(self, store: Store) -> None:
        append_events(store, *(make_event(str(n), scope=Scope.room(f"room {n}")) for n in range(9)))
        append_events(store, make_event("a"), workspace=OTHER)

        first = store.queue.claim(None, now=NOON, limit=4)
        append_events(store, make_event("b", scope=ALICE_DM), workspace=OTHER)
        second = store.queue.claim(None, now=NOON, limit=1)

        assert task_keys(first) == ["0", "1", "a"]
        assert task_keys(second) == ["2"]
        assert task_keys(store.queue.claim(None, now=NOON, limit=1)) == ["b"]

    def test_scope_is_processed_in_order_by_one_worker(self, store: Store) -> None:
        append_events(store, make_event("1"), make_event("2"), make_event("dm", scope=ALICE_DM))

        first = store.queue.claim(None, now=NOON, limit=1)

        assert task_keys(first) == ["1"]
        assert task_keys(store.queue.claim(None, now=NOON, limit=9)) == ["dm"]
        assert task_keys(store.queue.claim(ADMIN, now=NOON, limit=9)) == []
        store.queue.finish(first, reached=Stage.INDEXED, now=NOON)
        second = store.queue.claim(None, now=NOON, limit=9, step=Stage.INDEXED)
        assert task_keys(second) == ["2"]
        onward = store.queue.claim(None, now=NOON, limit=9)
        assert task_keys(onward) == ["1"], "another step of the place is another work"

    def test_failed_task_does_not_block_scope(self, store: Store) -> None:
        append_events(store, make_event("1"), make_event("2"))
        first = store.queue.claim(None, now=NOON, limit=1)
        store.queue.fail(first, error="poison", retry_at=LATER)

        assert task_keys(store.queue.claim(None, now=NOON, limit=9)) == ["2"]

    def test_live_events_come_before_imported_ones(self, store: Store) -> None:
        append_events(store, make_event("old"), workspace=OTHER)
        (old,) = store.ledger.find(administrator_grant(OTHER))
        store.ledger.append(ACME, [old], recorded_at=NOON)
        append_events(store, make_event("new", scope=ALICE_DM))

        assert task_keys(store.queue.claim(ADMIN, now=NOON, limit=9, leased=True)) == ["new", "old"]

    def test_dead_task_is_listed_until_retried(self, store: Store) -> None:
        append_events(store, make_event("1"))
        tasks = store.queue.claim(None, now=NOON, limit=9)
        store.queue.fail(tasks, error="poison", retry_at=None)

        (seen,) = store.queue.list_pending(ADMIN, limit=9)
        assert (seen.is_dead, seen.error, seen.attempts) == (True, "poison", 1)
        assert store.queue.claim(None, now=LATER, limit=9) == []
        waits: dict[str, Any] = {"leased": True, "failed": True}
        assert store.queue.claim(ADMIN, now=LATER, limit=9, **waits) == []

        assert store.queue.retry(ACME, None, now=LATER) == 1
        (again,) = store.queue.claim(None, now=LATER, limit=9)
        assert (again.attempts, again.error) == (0, "poison")

    def test_expired_lease_is_claimed_again(self, store: Store) -> None:
        (id,) = append_events(store, make_event("1"))
        first = store.queue.claim(None, now=NOON, limit=9)
        assert store.queue.renew(first, now=NOON + LEASE_DURATION / 2) == first
        assert store.queue.claim(None, now=NOON + LEASE_DURATION, limit=9) == []

        second = store.queue.claim(None, now=NOON + 2 * LEASE_DURATION, limit=9)

        assert [(task.attempts, task.error) for task in second] == [(1, LEASE_LOST_ERROR)]
        assert store.queue.renew(first, now=NOON) == []
        store.queue.fail(first, error="too late", retry_at=LATER)
        store.queue.finish(first, reached=Stage.DERIVED, now=NOON)
        assert store.queue.renew(second, now=NOON) == second
        assert store.ledger.load_progress(ADMIN, [id])[id].error == LEASE_LOST_ERROR

    def test_lost_lease_blocks_writes(self, store: Store) -> None:
        (id,) = append_events(store, make_event("1"))
        first = store.queue.claim(None, now=NOON, limit=9)
        with store.with_leases(task_leases(first)):
            store.memories.put(ACME, [make_draft(id)])
        second = store.queue.claim(None, now=NOON + LEASE_DURATION, limit=9)

        with store.with_leases(task_leases(first)):
            for write in (
                lambda: store.memories.put(ACME, [make_draft(id, text="Late.", slot="late")]),
                lambda: store.ledger.append(ACME, [make_event("late")], recorded_at=NOON),
                lambda: store.ledger.append(OTHER, [make_event("late")], recorded_at=NOON),
                lambda: store.queue.finish(first, reached=Stage.DERIVED, now=NOON),
                lambda: store.model_costs.add(ACME, MODEL_COST),
                lambda: store.eraser.erase(ACME, events=[id], memories=[], tombstones=[]),
            ):
                with pytest.raises(LeaseLost):
                    write()

        assert [memory.slot for memory in store.memories.find(ADMIN)] == [""]
        assert task_keys(second) == ["1"]
        assert store.list_workspaces() == [ACME]
        with store.with_leases(task_leases(second)):
            store.memories.put(ACME, [make_draft(id, text="In time.", slot="new")])
            store.queue.finish(second, reached=Stage.DERIVED, now=NOON)
            store.memories.put(ACME, [make_draft(id, text="After it.", slot="after")])
        assert len(store.memories.find(ADMIN)) == 3

    def test_lease_check_does_not_affect_other_threads(self, store: Store) -> None:
        append_events(store, make_event("1"))
        first = store.queue.claim(None, now=NOON, limit=9)
        store.queue.claim(None, now=NOON + LEASE_DURATION, limit=9)

        with store.with_leases(task_leases(first)), ThreadPoolExecutor(1) as pool:
            told = pool.submit(append_events, store, make_event("2")).result(timeout=30)

        assert len(told) == 1

    def test_task_is_not_claimed_before_due(self, store: Store) -> None:
        store.ledger.append(ACME, [make_event("1")], recorded_at=LATER)

        assert store.queue.claim(None, now=NOON, limit=9) == []
        assert store.queue.count_pending(ADMIN) == 1

    def test_claim_respects_grant(self, store: Store) -> None:
        append_events(store, make_event("room"), make_event("dm", scope=ALICE_DM))

        assert task_keys(store.queue.claim(ALICE.grant(), now=NOON, limit=9)) == ["dm"]
        assert store.queue.count_pending(ALICE.grant()) == 1

    def test_failed_task_waits_for_retry(self, store: Store) -> None:
        append_events(store, make_event("1"))
        tasks = store.queue.claim(None, now=NOON, limit=9)
        store.queue.fail(tasks, error="no network", retry_at=NOON + SECOND)

        assert store.queue.claim(None, now=NOON, limit=9) == []
        (again,) = store.queue.claim(None, now=NOON + SECOND, limit=9)
        assert again.attempts == 1

    def test_claim_with_failed_returns_failed_tasks(self, store: Store) -> None:
        append_events(store, make_event("1"))
        tasks = store.queue.claim(None, now=NOON, limit=9)
        store.queue.fail(tasks, error="no network", retry_at=LATER)

        assert task_keys(store.queue.claim(ADMIN, now=NOON, limit=9, failed=True)) == ["1"]

    def test_finished_step_advances_then_removes_task(self, store: Store) -> None:
        append_events(store, make_event("1"))
        first = store.queue.claim(None, now=NOON, limit=9)
        store.queue.fail(first, error="no network", retry_at=NOON)
        store.queue.finish(first, reached=Stage.INDEXED, now=NOON)

        (second,) = store.queue.claim(None, now=NOON, limit=9)
        assert (second.step, second.attempts) == (Stage.DERIVED, 0)
        store.queue.finish([second], reached=Stage.DERIVED, now=NOON)

        assert store.queue.claim(ADMIN, now=LATER, limit=9, leased=True, failed=True) == []
        assert store.queue.count_pending(ADMIN) == 0

    def test_next_step_waits_for_a_pause_of_the_scope(self, store: Store) -> None:
        wait = BatchWait(pause=20 * SECOND, enough=9)
        append_events(store, make_event("1"), make_event("2"), make_event("dm", scope=ALICE_DM))
        first = store.queue.claim(None, now=NOON, limit=9)
        for number, task in enumerate(first):
            now = NOON + 15 * number * SECOND
            store.queue.finish([task], reached=Stage.INDEXED, now=now, wait=wait)

        def claim_at(seconds: int) -> list[str]:
            return task_keys(store.queue.claim(None, now=NOON + seconds * SECOND, limit=9))

        assert claim_at(34) == [], "the second task restarted the pause of the first"
        assert claim_at(35) == ["1", "2"]
        assert claim_at(49) == []
        assert claim_at(50) == ["dm"], "another scope has its own pause"

    def test_enough_tasks_of_a_scope_do_not_wait(self, store: Store) -> None:
        wait = BatchWait(pause=20 * SECOND, enough=2)
        append_events(store, make_event("1"), make_event("dm", scope=ALICE_DM), make_event("2"))
        for task in store.queue.claim(None, now=NOON, limit=9):
            store.queue.finish([task], reached=Stage.INDEXED, now=NOON, wait=wait)

        assert task_keys(store.queue.claim(None, now=NOON, limit=9)) == ["1", "2"]

    def test_failed_task_keeps_its_retry_time_while_others_wait(self, store: Store) -> None:
        wait = BatchWait(pause=20 * SECOND, enough=9)
        append_events(store, make_event("1"), make_event("2"))
        first, second = store.queue.claim(None, now=NOON, limit=9)
        store.queue.finish([first], reached=Stage.INDEXED, now=NOON, wait=wait)
        failed = store.queue.claim(None, now=NOON + 20 * SECOND, limit=1, step=Stage.DERIVED)
        store.queue.fail(failed, error="away", retry_at=LATER)
        store.queue.finish([second], reached=Stage.INDEXED, now=NOON, wait=wait)

        due = store.queue.claim(None, now=NOON + 20 * SECOND, limit=9)
        assert task_keys(due) == ["2"]

    def test_claim_with_a_grant_does_not_wait(self, store: Store) -> None:
        wait = BatchWait(pause=20 * SECOND, enough=9)
        append_events(store, make_event("1"))
        first = store.queue.claim(None, now=NOON, limit=9)
        store.queue.finish(first, reached=Stage.INDEXED, now=NOON, wait=wait)

        assert task_keys(store.queue.claim(ADMIN, now=NOON, limit=9)) == ["1"]

    def test_claim_filters_by_step(self, store: Store) -> None:
        append_events(store, make_event("1"), make_event("2"), make_event("3"))
        first = store.queue.claim(None, now=NOON, limit=1)
        store.queue.finish(first, reached=Stage.INDEXED, now=NOON)

        waits: dict[str, Any] = {"now": NOON, "leased": True}
        derived = store.queue.claim(ADMIN, limit=9, step=Stage.DERIVED, **waits)
        indexed = store.queue.claim(ADMIN, limit=1, step=Stage.INDEXED, **waits)
        assert (task_keys(derived), task_keys(indexed)) == (["1"], ["2"])
        assert len(store.queue.claim(ADMIN, limit=9, **waits)) == 3
        assert task_keys(store.queue.claim(None, now=NOON, limit=9, step=Stage.DERIVED)) == ["1"]

    def test_list_pending_shows_task_details(self, store: Store) -> None:
        one, two, three = append_events(
            store, make_event("1"), make_event("2", scope=ALICE_DM), make_event("3")
        )
        tasks = store.queue.claim(None, now=NOON, limit=9)
        store.queue.fail(tasks[1:2], error="no network", retry_at=NOON - SECOND)
        store.queue.finish(tasks[2:], reached=Stage.INDEXED, now=LATER)

        assert store.queue.list_pending(ADMIN, limit=9) == [
            make_waiting(two, ALICE_DM, attempts=1, error="no network", due_at=NOON - SECOND),
            make_waiting(three, step=Stage.DERIVED, due_at=LATER),
            make_waiting(one),
        ]
        assert [each.event_id for each in store.queue.list_pending(ADMIN, limit=2)] == [two, three]
        assert [each.event_id for each in store.queue.list_pending(ALICE.grant(), limit=9)] == [two]

    def test_list_pending_orders_by_due_time(self, store: Store) -> None:
        ids = append_events(store, *(make_event(str(n)) for n in range(6)))
        tasks = store.queue.claim(None, now=NOON, limit=9)
        for n, task in enumerate(tasks[:4]):
            store.queue.fail([task], error="away", retry_at=NOON + (n // 2) * SECOND)

        found = [each.event_id for each in store.queue.list_pending(ADMIN, limit=9)]

        assert found == [*sorted(ids[2:4]), *sorted(ids[:2]), *sorted(ids[4:])]

    def test_retry_makes_failed_tasks_due(self, store: Store) -> None:
        one, two, three = append_events(
            store, make_event("1"), make_event("2"), make_event("3", scope=ALICE_DM)
        )
        append_events(store, make_event("1"), workspace=OTHER)
        tasks = store.queue.claim(None, now=NOON, limit=9)
        failed = [task for task in tasks if task.event.key != "3"]
        store.queue.fail(failed, error="no network", retry_at=LATER)

        assert store.queue.retry(ACME, [one, three, "nobody"], now=NOON) == 1
        assert store.queue.retry(ACME, [], now=NOON) == 0
        assert task_keys(store.queue.claim(None, now=NOON, limit=9)) == ["1"]

        assert store.queue.retry(ACME, None, now=NOON) == 2
        again = store.queue.claim(None, now=NOON, limit=9)
        assert [(task.event.id, task.attempts) for task in again] == [(one, 1), (two, 1)]
        seen = {each.event_id: each for each in store.queue.list_pending(ADMIN, limit=9)}
        assert (seen[two].error, seen[two].due_at) == ("no network", NOON)
        assert seen[three].error is None

    def test_stale_finish_is_ignored(self, store: Store) -> None:
        (id,) = append_events(store, make_event("1"))
        old = store.queue.claim(None, now=NOON, limit=9)
        store.queue.finish(old, reached=Stage.INDEXED, now=NOON)

        store.queue.finish(old, reached=Stage.DERIVED, now=NOON)
        store.queue.fail(old, error="too late", retry_at=LATER)

        assert store.ledger.load_progress(ADMIN, [id])[id].stage is Stage.INDEXED
        assert store.ledger.load_progress(ADMIN, [id])[id].error is None

    def test_erased_event_removes_task(self, store: Store) -> None:
        (id,) = append_events(store, make_event("1"))
        tasks = store.queue.claim(None, now=NOON, limit=9)
        store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])

        store.queue.fail(tasks, error="no network", retry_at=NOON)
        store.queue.finish(tasks, reached=Stage.INDEXED, now=NOON)

        assert store.queue.claim(None, now=LATER, limit=9) == []
        assert store.queue.reset_events(ACME, [id], now=NOON) == 0

    def test_reset_events_restart_from_first_step(self, store: Store) -> None:
        one, two = append_events(store, make_event("1"), make_event("2"))
        tasks = store.queue.claim(None, now=NOON, limit=9)
        store.queue.fail(tasks[:1], error="no network", retry_at=LATER)
        store.queue.finish(tasks[1:], reached=Stage.DERIVED, now=NOON)

        assert store.queue.reset_events(ACME, [one, two, "nobody"], now=NOON) == 2

        again = store.queue.claim(None, now=NOON, limit=9)
        assert [(task.event.key, task.step, task.attempts) for task in again] == [
            ("1", Stage.INDEXED, 0),
            ("2", Stage.INDEXED, 0),
        ]
        assert store.queue.reset_events(OTHER, [one], now=NOON) == 0


class BacklogSuite:
    """Needs a fixture `store` that yields an empty store."""

    def test_empty_store_has_empty_backlog(self, store: Store) -> None:
        assert store.queue.backlog(ADMIN) == Backlog()

    def test_backlog_age_is_oldest_task(self, store: Store) -> None:
        append_events(store, make_event("1"))
        store.ledger.append(ACME, [make_event("2")], recorded_at=LATER)

        assert store.queue.backlog(ADMIN) == Backlog(waiting=2, since=NOON)

    def test_backlog_age_ignores_dead_tasks(self, store: Store) -> None:
        append_events(store, make_event("1"), make_event("2"))
        one, two = store.queue.claim(ADMIN, now=NOON, limit=2)

        store.queue.fail([one], error="away", retry_at=LATER)
        store.queue.fail([two], error="hopeless", retry_at=None)

        assert store.queue.backlog(ADMIN) == Backlog(waiting=2, failed=1, dead=1, since=NOON)
        store.queue.fail([one], error="hopeless", retry_at=None)
        assert store.queue.backlog(ADMIN) == Backlog(waiting=2, dead=2)
