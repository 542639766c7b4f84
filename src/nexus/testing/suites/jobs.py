"""What the jobs of workspaces promise."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from ...core.access import administrator_grant
from ...core.errors import InvalidInput
from ...core.jobs import JobState, Priority, Recurring
from ...core.leases import LEASE
from ...core.protocols import Store
from ...core.records import Stage
from ..samples import ACME, ADMIN, ALICE, LATER, NOON, OTHER, event, tell
from .planting import DAILY, DAY, HOUR, HOURLY, PlantingSuite, asked, done, learn, names, state


class JobsSuite(PlantingSuite):
    """Needs a fixture `store`: an empty one."""

    def test_asking_twice_is_asking_once(self, store: Store) -> None:
        assert store.jobs.schedule(ACME, [asked("share", "a"), asked("share", "b")]) == 2
        sooner = asked("share", "a", NOON - HOUR, priority=Priority.SOON)
        assert store.jobs.schedule(ACME, [sooner, asked("share", "b", LATER)]) == 0

        due = store.jobs.claim(now=NOON, limit=9)

        assert [(job.name, job.key) for job in due] == [("share", "a"), ("share", "b")]

    def test_what_is_more_urgent_comes_first_and_then_what_waited_longest(
        self, store: Store
    ) -> None:
        store.jobs.schedule(
            ACME,
            [
                asked("late", due_at=NOON - HOUR, priority=Priority.LATER),
                asked("usual", due_at=NOON),
                asked("zealous", due_at=NOON - 2 * HOUR),
                asked("soon", due_at=NOON, priority=Priority.SOON),
            ],
        )

        assert names(store.jobs.claim(now=NOON, limit=2)) == ["soon", "zealous"]
        assert names(store.jobs.claim(now=NOON, limit=3)) == ["usual", "late"]

    def test_only_some_names_can_be_claimed(self, store: Store) -> None:
        store.jobs.schedule(ACME, [asked("one"), asked("two")])

        assert names(store.jobs.claim(now=NOON, limit=9, names=["two", "three"])) == ["two"]
        assert store.jobs.claim(now=NOON, limit=9, names=[]) == []

    def test_a_job_goes_to_one_of_those_who_ask_at_once(self, store: Store) -> None:
        workers = 4
        store.jobs.schedule(ACME, [asked("share", str(n)) for n in range(10 * workers)])
        together = Barrier(workers)

        def claimed(_worker: int) -> list[str]:
            together.wait(timeout=30)
            return [job.key for job in store.jobs.claim(now=NOON, limit=10)]

        with ThreadPoolExecutor(workers) as pool:
            found = [key for theirs in pool.map(claimed, range(workers)) for key in theirs]
        found += [job.key for job in store.jobs.claim(now=NOON, limit=99)]

        assert len(found) == len(set(found)) == 10 * workers

    def test_work_that_nobody_ended_is_taken_by_another(self, store: Store) -> None:
        store.jobs.schedule(ACME, [asked("share")])
        (first,) = store.jobs.claim(now=NOON, limit=9)

        assert store.jobs.claim(now=NOON, limit=9) == []
        (second,) = store.jobs.claim(now=NOON + LEASE, limit=9)

        assert (second.attempts, second.fence > first.fence) == (1, True)
        assert store.jobs.keep([first], now=NOON) == []
        assert store.jobs.fail([first], error="late", retry_at=NOON) == 0
        assert store.jobs.finish([done(first)], now=NOON) == 0
        assert store.jobs.keep([second], now=NOON + LEASE) == [second]
        assert store.jobs.finish([done(second)], now=NOON) == 1

    def test_a_lease_can_be_renewed(self, store: Store) -> None:
        store.jobs.schedule(ACME, [asked("share")])
        jobs = store.jobs.claim(now=NOON, limit=9)

        assert store.jobs.keep(jobs, now=NOON + LEASE / 2) == jobs
        assert store.jobs.claim(now=NOON + LEASE, limit=9) == []
        assert len(store.jobs.claim(now=NOON + 2 * LEASE, limit=9)) == 1

    def test_a_job_goes_on_where_it_was(self, store: Store) -> None:
        tell(store, event("1"))
        store.jobs.plant([DAILY], now=NOON)
        (job,) = store.jobs.claim(now=LATER, limit=9)
        assert job.cursor is None
        first = done(job, seconds=1.5, counts={"seen": 2}, cursor={"after": "x"})
        store.jobs.finish([first], now=LATER)

        (again,) = store.jobs.claim(now=LATER, limit=9)
        assert again.cursor == {"after": "x"}
        store.jobs.finish([done(again, seconds=0.5, counts={"seen": 3, "new": 1})], now=LATER)

        found = state(store, "decay")
        assert (found.last_run_at, found.due_at) == (LATER, LATER + DAY)
        assert (found.last_seconds, found.last_counts) == (2.0, {"seen": 5, "new": 1})

    def test_a_new_run_counts_anew(self, store: Store) -> None:
        tell(store, event("1"))
        store.jobs.plant([DAILY], now=NOON)
        for day in range(1, 3):
            (job,) = store.jobs.claim(now=NOON + day * DAY, limit=9)
            store.jobs.finish([done(job, counts={"seen": day})], now=NOON + day * DAY)

        assert state(store, "decay").last_counts == {"seen": 2}

    def test_how_far_a_job_has_come_is_no_count(self, store: Store) -> None:
        tell(store, event("1"))
        store.jobs.plant([DAILY], now=NOON)
        (job,) = store.jobs.claim(now=LATER, limit=9)
        first = done(job, counts={"seen": 2}, cursor=7, mark=7)
        store.jobs.finish([first], now=LATER)
        (again,) = store.jobs.claim(now=LATER, limit=9)
        last = done(again, counts={"seen": 3}, mark=12)

        store.jobs.finish([last], now=LATER)

        found = state(store, "decay")
        assert last.counts == found.last_counts == {"seen": 5}
        assert found.mark == 12

    def test_what_waits_for_news_is_due_only_after_some(self, store: Store) -> None:
        tell(store, event("1"))
        store.jobs.plant([HOURLY], now=NOON)
        (job,) = store.jobs.claim(now=LATER, limit=9)
        store.jobs.finish([done(job)], now=LATER)
        assert state(store, "patterns").due_at is None

        store.queue.finish(
            store.queue.claim(None, now=LATER, limit=9), reached=Stage.DERIVED, now=LATER
        )

        assert state(store, "patterns").due_at == LATER + HOUR

    def test_news_that_come_meanwhile_are_not_lost(self, store: Store) -> None:
        tell(store, event("1"))
        store.jobs.plant([HOURLY], now=NOON)
        (job,) = store.jobs.claim(now=LATER, limit=9)
        store.queue.finish(
            store.queue.claim(None, now=LATER, limit=9), reached=Stage.DERIVED, now=LATER
        )

        store.jobs.finish([done(job)], now=LATER)

        assert state(store, "patterns").due_at == LATER + HOUR

    def test_a_job_can_say_when_there_will_be_more(self, store: Store) -> None:
        tell(store, event("1"))
        store.jobs.plant([HOURLY], now=NOON)
        (job,) = store.jobs.claim(now=LATER, limit=9)

        store.jobs.finish([done(job, again_at=LATER + 5 * HOUR)], now=LATER)

        assert state(store, "patterns").due_at == LATER + 5 * HOUR

    def test_news_come_before_what_a_job_expects(self, store: Store) -> None:
        tell(store, event("1"))
        store.jobs.plant([HOURLY], now=NOON)
        (job,) = store.jobs.claim(now=LATER, limit=9)
        store.jobs.finish([done(job, again_at=LATER + 99 * HOUR)], now=LATER)

        learn(store, now=LATER)

        assert state(store, "patterns").due_at == LATER + HOUR

    def test_news_hasten_neither_a_lease_nor_another_try(self, store: Store) -> None:
        tell(store, event("1"))
        often = Recurring(name="patterns", every=LEASE / 2)
        store.jobs.plant([often], now=NOON)
        (job,) = store.jobs.claim(now=LATER, limit=9)
        learn(store, now=LATER)
        assert state(store, "patterns").due_at == LATER + LEASE

        store.jobs.fail([job], error="away", retry_at=LATER + 5 * HOUR)
        tell(store, event("2"))
        learn(store, now=LATER)

        assert state(store, "patterns").due_at == LATER + 5 * HOUR

    def test_what_was_asked_for_under_a_key_is_gone_when_it_is_done(self, store: Store) -> None:
        store.jobs.schedule(ACME, [asked("share", "a"), asked("reembed")])
        jobs = store.jobs.claim(now=NOON, limit=9)

        assert store.jobs.finish([done(job) for job in jobs], now=NOON) == 2

        assert [(each.name, each.due_at) for each in store.jobs.listed(ADMIN)] == [
            ("reembed", None)
        ]

    def test_what_is_asked_for_meanwhile_is_done_again(self, store: Store) -> None:
        store.jobs.schedule(ACME, [asked("share", "a")])
        (job,) = store.jobs.claim(now=NOON, limit=9)
        store.jobs.schedule(ACME, [asked("share", "a")])
        assert store.jobs.claim(now=NOON, limit=9) == []

        store.jobs.finish([done(job)], now=NOON)

        assert names(store.jobs.claim(now=NOON, limit=9)) == ["share"]

    def test_what_failed_waits_for_its_next_try(self, store: Store) -> None:
        store.jobs.schedule(ACME, [asked("share")])
        jobs = store.jobs.claim(now=NOON, limit=9)

        assert store.jobs.fail(jobs, error="no network", retry_at=NOON + HOUR) == 1

        assert store.jobs.claim(now=NOON, limit=9) == []
        found = state(store, "share")
        assert (found.attempts, found.error, found.dead) == (1, "no network", False)
        assert names(store.jobs.claim(now=NOON + HOUR, limit=9)) == ["share"]

    def test_a_dead_letter_is_seen_and_waits_for_somebody(self, store: Store) -> None:
        store.jobs.schedule(ACME, [asked("share"), asked("reembed")])
        jobs = store.jobs.claim(now=NOON, limit=9)
        store.jobs.fail(jobs, error="poison", retry_at=None)

        assert store.jobs.claim(now=LATER, limit=9) == []
        found = state(store, "share")
        assert (found.dead, found.due_at, found.error) == (True, None, "poison")

        assert store.queue.retry(ACME, ["share", "nobody"], now=LATER) == 1
        (job,) = store.jobs.claim(now=LATER, limit=9)
        assert (job.name, job.attempts) == ("share", 0)
        assert store.queue.retry(ACME, None, now=LATER) == 1  # what somebody is at is left alone
        assert store.queue.retry(OTHER, None, now=LATER) == 0

    def test_one_can_be_taken_at_once(self, store: Store) -> None:
        tell(store, event("1"))
        store.jobs.plant([DAILY], now=NOON)

        job = store.jobs.take(ACME, "decay", now=NOON)

        assert job is not None
        assert store.jobs.take(ACME, "decay", now=NOON) is None  # somebody is at it
        assert store.jobs.take(ACME, "nothing", now=NOON) is None
        assert store.jobs.take(OTHER, "decay", now=NOON) is None
        assert state(store, "decay").running
        assert store.jobs.finish([done(job)], now=NOON) == 1

    def test_its_administrator_sees_how_they_stand(self, store: Store) -> None:
        tell(store, event("1"))
        store.jobs.plant([HOURLY], now=NOON)

        assert store.jobs.listed(ADMIN) == [
            JobState(
                name="patterns",
                key="",
                every=HOUR,
                on_news=True,
                priority=Priority.USUAL,
                due_at=NOON + HOUR,
                running=False,
                attempts=0,
                error=None,
                dead=False,
                last_run_at=None,
                last_seconds=0.0,
                last_counts={},
            )
        ]
        assert state(store, "patterns").lag(NOON + 3 * HOUR) == 2 * HOUR
        assert store.jobs.listed(administrator_grant(OTHER)) == []
        with pytest.raises(InvalidInput):
            store.jobs.listed(ALICE.grant())

    def test_an_erasure_takes_out_what_errors_quote(self, store: Store) -> None:
        (id,) = tell(store, event("1"))
        store.jobs.schedule(ACME, [asked("share")])
        jobs = store.jobs.claim(now=NOON, limit=9)
        store.jobs.fail(jobs, error="cannot read 'Tea is served'", retry_at=LATER)

        store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])

        assert "Tea" not in (state(store, "share").error or "")
