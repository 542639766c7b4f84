"""Contract of background jobs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Barrier

import pytest

from ...core.access import administrator_grant
from ...core.errors import InvalidInput
from ...core.ids import WorkspaceId
from ...core.protocols.jobs import (
    FinishedStep,
    Job,
    JobState,
    JobStep,
    NewJob,
    Priority,
    RecurringJob,
)
from ...core.protocols.store import Store
from ...core.records import Stage
from ...runtime.leases import LEASE_DURATION
from ..samples import ACME, ADMIN, ALICE, LATER, NOON, OTHER, append_events, make_event

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
DAILY = RecurringJob(name="decay", every=DAY, on_news=False)
HOURLY = RecurringJob(name="patterns", every=HOUR)


def job_names(jobs: list[Job]) -> list[str]:
    return [job.name for job in jobs]


def make_done(job: Job, seconds: float = 0.0, **more: object) -> FinishedStep:
    return FinishedStep(job=job, step=JobStep(**more), seconds=seconds)  # type: ignore[arg-type]


def job_state(store: Store, name: str, workspace: WorkspaceId = ACME) -> JobState:
    listed = store.jobs.list_jobs(administrator_grant(workspace))
    (found,) = [each for each in listed if each.name == name]
    return found


def finish_learning(store: Store, now: datetime) -> None:
    """Mark all events as learned, which counts as new work."""
    tasks = store.queue.claim(None, now=now, limit=9)
    assert tasks
    store.queue.finish(tasks, reached=Stage.DERIVED, now=now)


def new_job(name: str, key: str = "", due_at: datetime = NOON, **more: object) -> NewJob:
    return NewJob(name=name, key=key, due_at=due_at, **more)  # type: ignore[arg-type]


class RecurringJobsSuite:
    """Needs a fixture `store` that yields an empty store."""

    def test_recurring_jobs_exist_in_every_workspace(self, store: Store) -> None:
        append_events(store, make_event("1"))
        append_events(store, make_event("1"), workspace=OTHER)

        assert store.jobs.ensure_recurring([DAILY, HOURLY], now=NOON) == 4
        assert store.jobs.ensure_recurring([DAILY, HOURLY], now=LATER) == 0
        assert store.jobs.claim(now=NOON + HOUR / 2, limit=9) == []
        due = store.jobs.claim(now=NOON + HOUR, limit=9)

        assert [(job.workspace, job.name, job.key) for job in due] == [
            (ACME, "patterns", ""),
            (OTHER, "patterns", ""),
        ]

    def test_new_workspace_gets_recurring_jobs(self, store: Store) -> None:
        append_events(store, make_event("1"))
        store.jobs.ensure_recurring([DAILY], now=NOON)
        append_events(store, make_event("1"), workspace=OTHER)

        assert store.jobs.ensure_recurring([DAILY], now=NOON) == 1
        assert job_state(store, "decay", OTHER).due_at == NOON + DAY

    def test_shorter_interval_applies_immediately(self, store: Store) -> None:
        append_events(store, make_event("1"))
        store.jobs.ensure_recurring([DAILY, HOURLY], now=NOON)
        often = RecurringJob(name="decay", every=HOUR, on_news=False, priority=Priority.LATER)
        assert store.jobs.ensure_recurring([often, HOURLY], now=NOON) == 1

        assert job_state(store, "decay").due_at == NOON + HOUR
        (job,) = store.jobs.claim(now=LATER, limit=9, names=["decay"])
        store.jobs.finish([make_done(job)], now=LATER)

        found = job_state(store, "decay")
        assert (found.due_at, found.priority) == (LATER + HOUR, Priority.LATER)

    def test_longer_interval_applies_from_next_run(self, store: Store) -> None:
        append_events(store, make_event("1"))
        store.jobs.ensure_recurring([DAILY], now=NOON)
        seldom = RecurringJob(name="decay", every=5 * DAY, on_news=False)
        store.jobs.ensure_recurring([seldom], now=NOON)

        assert job_state(store, "decay").due_at == NOON + DAY
        (job,) = store.jobs.claim(now=NOON + DAY, limit=9)
        store.jobs.finish([make_done(job)], now=NOON + DAY)

        assert job_state(store, "decay").due_at == NOON + 6 * DAY

    def test_new_interval_keeps_leased_failed_idle_due_times(self, store: Store) -> None:
        append_events(store, make_event("1"))
        store.jobs.ensure_recurring([HOURLY, DAILY], now=NOON)
        now = NOON + DAY
        taken = {job.name: job for job in store.jobs.claim(now=now, limit=9)}
        sleeps, failed = taken["patterns"], taken["decay"]
        store.jobs.finish([make_done(sleeps)], now=now)
        moment = timedelta(seconds=1)
        store.jobs.ensure_recurring(
            [RecurringJob(name="decay", every=moment, on_news=False)], now=now
        )
        assert job_state(store, "decay").due_at == now + LEASE_DURATION
        store.jobs.fail([failed], error="away", retry_at=now + 5 * HOUR)

        often = [RecurringJob(name=name, every=HOUR / 2) for name in ("patterns", "decay")]
        assert store.jobs.ensure_recurring(often, now=now) == 2

        assert job_state(store, "decay").due_at == now + 5 * HOUR
        assert job_state(store, "patterns").due_at is None

    def test_job_without_interval_runs_only_on_request(self, store: Store) -> None:
        append_events(store, make_event("1"))
        append_events(store, make_event("1"), workspace=OTHER)
        store.jobs.ensure_recurring([DAILY, HOURLY], now=NOON)
        finish_learning(store, now=NOON)
        never = [
            RecurringJob(name=name, every=None, on_news=False) for name in ("decay", "patterns")
        ]
        store.jobs.schedule(ACME, [new_job("share")])

        assert store.jobs.ensure_recurring(never, now=NOON) == 4
        assert store.jobs.ensure_recurring(never, now=NOON) == 0
        append_events(store, make_event("2"))
        finish_learning(store, now=NOON)

        assert job_names(store.jobs.claim(now=NOON + 99 * DAY, limit=9)) == ["share"]
        assert job_state(store, "decay").every is None
        assert job_state(store, "patterns").due_at is None
        store.jobs.schedule(ACME, [new_job("decay")])
        (job,) = store.jobs.claim(now=NOON, limit=9)
        store.jobs.finish([make_done(job)], now=NOON)
        assert (job.name, job_state(store, "decay").due_at) == ("decay", None)
        assert store.jobs.ensure_recurring([DAILY], now=NOON) == 2
        assert job_state(store, "decay").due_at == NOON + DAY

    def test_disabling_running_job_stops_recurrence(self, store: Store) -> None:
        append_events(store, make_event("1"))
        store.jobs.ensure_recurring([DAILY], now=NOON)
        (job,) = store.jobs.claim(now=LATER, limit=9)
        never = RecurringJob(name="decay", every=None, on_news=False)

        assert store.jobs.ensure_recurring([never], now=LATER) == 0
        assert store.jobs.finish([make_done(job)], now=LATER) == 1
        assert store.jobs.ensure_recurring([never], now=LATER + 2 * HOUR) == 1

        assert job_state(store, "decay").due_at is None

    def test_requested_job_can_become_recurring(self, store: Store) -> None:
        store.jobs.schedule(ACME, [new_job("decay")])
        store.jobs.finish([make_done(job) for job in store.jobs.claim(now=NOON, limit=9)], now=NOON)

        store.jobs.ensure_recurring([DAILY], now=NOON)

        assert job_state(store, "decay").due_at == NOON + DAY


class JobsSuite(RecurringJobsSuite):
    """Needs a fixture `store` that yields an empty store."""

    def test_schedule_is_idempotent(self, store: Store) -> None:
        assert store.jobs.schedule(ACME, [new_job("share", "a"), new_job("share", "b")]) == 2
        sooner = new_job("share", "a", NOON - HOUR, priority=Priority.SOON)
        assert store.jobs.schedule(ACME, [sooner, new_job("share", "b", LATER)]) == 0

        due = store.jobs.claim(now=NOON, limit=9)

        assert [(job.name, job.key) for job in due] == [("share", "a"), ("share", "b")]

    def test_claim_orders_by_priority_then_due_time(self, store: Store) -> None:
        store.jobs.schedule(
            ACME,
            [
                new_job("late", due_at=NOON - HOUR, priority=Priority.LATER),
                new_job("usual", due_at=NOON),
                new_job("zealous", due_at=NOON - 2 * HOUR),
                new_job("soon", due_at=NOON, priority=Priority.SOON),
            ],
        )

        assert job_names(store.jobs.claim(now=NOON, limit=2)) == ["soon", "zealous"]
        assert job_names(store.jobs.claim(now=NOON, limit=3)) == ["usual", "late"]

    def test_claim_filters_by_name(self, store: Store) -> None:
        store.jobs.schedule(ACME, [new_job("one"), new_job("two")])

        assert job_names(store.jobs.claim(now=NOON, limit=9, names=["two", "three"])) == ["two"]
        assert store.jobs.claim(now=NOON, limit=9, names=[]) == []

    def test_concurrent_claims_do_not_share_jobs(self, store: Store) -> None:
        workers = 4
        store.jobs.schedule(ACME, [new_job("share", str(n)) for n in range(10 * workers)])
        together = Barrier(workers)

        def claim_keys(_worker: int) -> list[str]:
            together.wait(timeout=30)
            return [job.key for job in store.jobs.claim(now=NOON, limit=10)]

        with ThreadPoolExecutor(workers) as pool:
            found = [key for theirs in pool.map(claim_keys, range(workers)) for key in theirs]
        found += [job.key for job in store.jobs.claim(now=NOON, limit=99)]

        assert len(found) == len(set(found)) == 10 * workers

    def test_expired_job_lease_is_claimed_again(self, store: Store) -> None:
        store.jobs.schedule(ACME, [new_job("share")])
        (first,) = store.jobs.claim(now=NOON, limit=9)

        assert store.jobs.claim(now=NOON, limit=9) == []
        (second,) = store.jobs.claim(now=NOON + LEASE_DURATION, limit=9)

        assert (second.attempts, second.fence > first.fence) == (1, True)
        assert store.jobs.renew([first], now=NOON) == []
        assert store.jobs.fail([first], error="late", retry_at=NOON) == 0
        assert store.jobs.finish([make_done(first)], now=NOON) == 0
        assert store.jobs.renew([second], now=NOON + LEASE_DURATION) == [second]
        assert store.jobs.finish([make_done(second)], now=NOON) == 1

    def test_job_lease_can_be_renewed(self, store: Store) -> None:
        store.jobs.schedule(ACME, [new_job("share")])
        jobs = store.jobs.claim(now=NOON, limit=9)

        assert store.jobs.renew(jobs, now=NOON + LEASE_DURATION / 2) == jobs
        assert store.jobs.claim(now=NOON + LEASE_DURATION, limit=9) == []
        assert len(store.jobs.claim(now=NOON + 2 * LEASE_DURATION, limit=9)) == 1

    def test_job_resumes_from_cursor(self, store: Store) -> None:
        append_events(store, make_event("1"))
        store.jobs.ensure_recurring([DAILY], now=NOON)
        (job,) = store.jobs.claim(now=LATER, limit=9)
        assert job.cursor is None
        first = make_done(job, seconds=1.5, counts={"seen": 2}, cursor={"after": "x"})
        store.jobs.finish([first], now=LATER)

        (again,) = store.jobs.claim(now=LATER, limit=9)
        assert again.cursor == {"after": "x"}
        store.jobs.finish([make_done(again, seconds=0.5, counts={"seen": 3, "new": 1})], now=LATER)

        found = job_state(store, "decay")
        assert (found.last_run_at, found.due_at) == (LATER, LATER + DAY)
        assert (found.last_seconds, found.last_counts) == (2.0, {"seen": 5, "new": 1})

    def test_counts_restart_with_new_run(self, store: Store) -> None:
        append_events(store, make_event("1"))
        store.jobs.ensure_recurring([DAILY], now=NOON)
        for day in range(1, 3):
            (job,) = store.jobs.claim(now=NOON + day * DAY, limit=9)
            store.jobs.finish([make_done(job, counts={"seen": day})], now=NOON + day * DAY)

        assert job_state(store, "decay").last_counts == {"seen": 2}

    def test_mark_is_not_part_of_counts(self, store: Store) -> None:
        append_events(store, make_event("1"))
        store.jobs.ensure_recurring([DAILY], now=NOON)
        (job,) = store.jobs.claim(now=LATER, limit=9)
        first = make_done(job, counts={"seen": 2}, cursor=7, mark=7)
        store.jobs.finish([first], now=LATER)
        (again,) = store.jobs.claim(now=LATER, limit=9)
        last = make_done(again, counts={"seen": 3}, mark=12)

        store.jobs.finish([last], now=LATER)

        found = job_state(store, "decay")
        assert last.counts == found.last_counts == {"seen": 5}
        assert found.mark == 12

    def test_on_news_job_is_due_after_news(self, store: Store) -> None:
        append_events(store, make_event("1"))
        store.jobs.ensure_recurring([HOURLY], now=NOON)
        (job,) = store.jobs.claim(now=LATER, limit=9)
        store.jobs.finish([make_done(job)], now=LATER)
        assert job_state(store, "patterns").due_at is None

        store.queue.finish(
            store.queue.claim(None, now=LATER, limit=9), reached=Stage.DERIVED, now=LATER
        )

        assert job_state(store, "patterns").due_at == LATER + HOUR

    def test_news_during_run_make_job_due(self, store: Store) -> None:
        append_events(store, make_event("1"))
        store.jobs.ensure_recurring([HOURLY], now=NOON)
        (job,) = store.jobs.claim(now=LATER, limit=9)
        store.queue.finish(
            store.queue.claim(None, now=LATER, limit=9), reached=Stage.DERIVED, now=LATER
        )

        store.jobs.finish([make_done(job)], now=LATER)

        assert job_state(store, "patterns").due_at == LATER + HOUR

    def test_job_can_set_next_due_time(self, store: Store) -> None:
        append_events(store, make_event("1"))
        store.jobs.ensure_recurring([HOURLY], now=NOON)
        (job,) = store.jobs.claim(now=LATER, limit=9)

        store.jobs.finish([make_done(job, again_at=LATER + 5 * HOUR)], now=LATER)

        assert job_state(store, "patterns").due_at == LATER + 5 * HOUR

    def test_news_override_later_due_time(self, store: Store) -> None:
        append_events(store, make_event("1"))
        store.jobs.ensure_recurring([HOURLY], now=NOON)
        (job,) = store.jobs.claim(now=LATER, limit=9)
        store.jobs.finish([make_done(job, again_at=LATER + 99 * HOUR)], now=LATER)

        finish_learning(store, now=LATER)

        assert job_state(store, "patterns").due_at == LATER + HOUR

    def test_news_do_not_shorten_lease_or_retry(self, store: Store) -> None:
        append_events(store, make_event("1"))
        often = RecurringJob(name="patterns", every=LEASE_DURATION / 2)
        store.jobs.ensure_recurring([often], now=NOON)
        (job,) = store.jobs.claim(now=LATER, limit=9)
        finish_learning(store, now=LATER)
        assert job_state(store, "patterns").due_at == LATER + LEASE_DURATION

        store.jobs.fail([job], error="away", retry_at=LATER + 5 * HOUR)
        append_events(store, make_event("2"))
        finish_learning(store, now=LATER)

        assert job_state(store, "patterns").due_at == LATER + 5 * HOUR

    def test_finished_keyed_job_is_removed(self, store: Store) -> None:
        store.jobs.schedule(ACME, [new_job("share", "a"), new_job("reembed")])
        jobs = store.jobs.claim(now=NOON, limit=9)

        assert store.jobs.finish([make_done(job) for job in jobs], now=NOON) == 2

        assert [(each.name, each.due_at) for each in store.jobs.list_jobs(ADMIN)] == [
            ("reembed", None)
        ]

    def test_job_scheduled_during_run_runs_again(self, store: Store) -> None:
        store.jobs.schedule(ACME, [new_job("share", "a")])
        (job,) = store.jobs.claim(now=NOON, limit=9)
        store.jobs.schedule(ACME, [new_job("share", "a")])
        assert store.jobs.claim(now=NOON, limit=9) == []

        store.jobs.finish([make_done(job)], now=NOON)

        assert job_names(store.jobs.claim(now=NOON, limit=9)) == ["share"]

    def test_failed_job_waits_for_retry(self, store: Store) -> None:
        store.jobs.schedule(ACME, [new_job("share")])
        jobs = store.jobs.claim(now=NOON, limit=9)

        assert store.jobs.fail(jobs, error="no network", retry_at=NOON + HOUR) == 1

        assert store.jobs.claim(now=NOON, limit=9) == []
        found = job_state(store, "share")
        assert (found.attempts, found.error, found.dead) == (1, "no network", False)
        assert job_names(store.jobs.claim(now=NOON + HOUR, limit=9)) == ["share"]

    def test_dead_job_is_listed_until_retried(self, store: Store) -> None:
        store.jobs.schedule(ACME, [new_job("share"), new_job("reembed")])
        jobs = store.jobs.claim(now=NOON, limit=9)
        store.jobs.fail(jobs, error="poison", retry_at=None)

        assert store.jobs.claim(now=LATER, limit=9) == []
        found = job_state(store, "share")
        assert (found.dead, found.due_at, found.error) == (True, None, "poison")

        assert store.queue.retry(ACME, ["share", "nobody"], now=LATER) == 1
        (job,) = store.jobs.claim(now=LATER, limit=9)
        assert (job.name, job.attempts) == ("share", 0)
        assert store.queue.retry(ACME, None, now=LATER) == 1  # a leased job is left alone
        assert store.queue.retry(OTHER, None, now=LATER) == 0

    def test_take_leases_job_before_due(self, store: Store) -> None:
        append_events(store, make_event("1"))
        store.jobs.ensure_recurring([DAILY], now=NOON)

        job = store.jobs.claim_one(ACME, "decay", now=NOON)

        assert job is not None
        assert (
            store.jobs.claim_one(ACME, "decay", now=NOON) is None
        )  # another worker holds the lease
        assert store.jobs.claim_one(ACME, "nothing", now=NOON) is None
        assert store.jobs.claim_one(OTHER, "decay", now=NOON) is None
        assert job_state(store, "decay").running
        assert store.jobs.finish([make_done(job)], now=NOON) == 1

    def test_only_admin_lists_job_states(self, store: Store) -> None:
        append_events(store, make_event("1"))
        store.jobs.ensure_recurring([HOURLY], now=NOON)

        assert store.jobs.list_jobs(ADMIN) == [
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
        assert job_state(store, "patterns").lag(NOON + 3 * HOUR) == 2 * HOUR
        assert store.jobs.list_jobs(administrator_grant(OTHER)) == []
        with pytest.raises(InvalidInput):
            store.jobs.list_jobs(ALICE.grant())

    def test_erasure_clears_job_errors(self, store: Store) -> None:
        (id,) = append_events(store, make_event("1"))
        store.jobs.schedule(ACME, [new_job("share")])
        jobs = store.jobs.claim(now=NOON, limit=9)
        store.jobs.fail(jobs, error="cannot read 'Tea is served'", retry_at=LATER)

        store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])

        assert "Tea" not in (job_state(store, "share").error or "")
