"""Job runner: due jobs, failures, leases and retries."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from nexusmem.core.access import administrator_grant
from nexusmem.core.errors import InvalidInput, LeaseLost, ModelUnavailable, NexusError, Unavailable
from nexusmem.core.ids import WorkspaceId
from nexusmem.core.protocols.jobs import FinishedStep, JobStep, Json, NewJob, RecurringJob
from nexusmem.core.protocols.store import Store
from nexusmem.maintain import job_runner as module
from nexusmem.maintain.job_runner import MAX_ATTEMPTS, MAX_OUTAGES, RETRY_BACKOFF, JobRunner
from nexusmem.maintain.schedule import ScheduledJob
from nexusmem.runtime.leases import LEASE_DURATION, MAX_LOST_LEASES, LeaseHeartbeat
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.reference_store.store import ReferenceStore
from nexusmem.testing.samples import ACME, ADMIN, NOON, OTHER, append_events, make_draft, make_event

DAY = timedelta(days=1)


class Doing:
    """Test helper: a store with one job; the test defines its steps."""

    def __init__(self) -> None:
        self.now = NOON
        self.store = ReferenceStore()
        self.errors: dict[WorkspaceId, Exception] = {}
        self.did: list[tuple[WorkspaceId, Json]] = []
        self.steps = [JobStep(counts={"done": 1})]
        self.meanwhile: Callable[[], object] = lambda: None
        self.renewed = False
        when = RecurringJob(name="tidy", every=DAY, on_news=False)
        planned = {"tidy": ScheduledJob(recurrence=when, run=self.run)}
        self.runner = JobRunner(self.store, planned, lambda: self.now)
        for workspace in (ACME, OTHER):
            append_events(self.store, make_event("1"), workspace=workspace)
        self.runner.run_due()

    def run(self, workspace: WorkspaceId, now: datetime, cursor: Json) -> JobStep:
        assert now == self.now
        if error := self.errors.get(workspace):
            raise error
        self.meanwhile()
        self.did.append((workspace, cursor))
        return self.steps[0] if len(self.steps) == 1 else self.steps.pop(0)

    def state(self) -> Any:
        (found,) = self.store.jobs.list_jobs(ADMIN)
        return found


@pytest.fixture
def doing() -> Doing:
    return Doing()


@pytest.mark.requirement("E24")
def test_due_jobs_run_in_every_workspace(doing: Doing) -> None:
    doing.now += DAY

    assert doing.runner.run_due() == 2
    assert doing.runner.run_due() == 0

    assert sorted(workspace for workspace, _ in doing.did) == [ACME, OTHER]
    assert (doing.state().last_counts, doing.state().due_at) == ({"done": 1}, doing.now + DAY)


@pytest.mark.requirement("E32")
def test_failing_workspace_is_isolated_and_given_up(doing: Doing) -> None:
    doing.errors[ACME] = ValueError("poison")

    for _ in range(MAX_ATTEMPTS):
        doing.now += DAY
        doing.runner.run_due()

    assert [workspace for workspace, _ in doing.did] == [OTHER] * MAX_ATTEMPTS
    state = doing.state()
    assert (state.dead, state.attempts, state.due_at) == (True, MAX_ATTEMPTS, None)
    assert "poison" in state.error
    doing.now += 99 * DAY
    doing.runner.run_due()
    assert doing.state().attempts == MAX_ATTEMPTS, "it is not tried any more"

    del doing.errors[ACME]
    assert doing.store.queue.retry(ACME, ["tidy"], now=doing.now) == 1
    doing.runner.run_due()
    assert (doing.state().dead, doing.state().error) == (False, None)


def test_unavailable_part_is_retried_longer(doing: Doing) -> None:
    doing.errors[ACME] = ModelUnavailable("away")

    for _ in range(MAX_OUTAGES - 1):
        doing.now += DAY
        doing.runner.run_due()

    assert (doing.state().attempts, doing.state().dead) == (MAX_OUTAGES - 1, False)
    doing.now += DAY
    doing.runner.run_due()
    assert doing.state().dead


@pytest.mark.requirement("E32")
def test_retry_delay_doubles_up_to_a_limit(doing: Doing) -> None:
    doing.errors[ACME] = ModelUnavailable("away")
    doing.now += DAY
    waits = []
    for _ in range(MAX_OUTAGES - 1):
        doing.runner.run_due()
        waits.append(doing.state().due_at - doing.now)
        doing.now = doing.state().due_at

    assert waits[:4] == [
        RETRY_BACKOFF.first_delay,
        2 * RETRY_BACKOFF.first_delay,
        4 * RETRY_BACKOFF.first_delay,
        8 * RETRY_BACKOFF.first_delay,
    ]
    assert waits[-2:] == [RETRY_BACKOFF.max_delay, RETRY_BACKOFF.max_delay]


@pytest.mark.requirement("E32")
def test_job_that_kills_its_worker_is_given_up(doing: Doing) -> None:
    doing.now += DAY
    for _ in range(MAX_LOST_LEASES + 1):  # claimed and never finished
        doing.store.jobs.claim(now=doing.now, limit=9)
        doing.now += LEASE_DURATION

    doing.runner.run_due()

    assert doing.did == []
    assert doing.state().dead


def test_long_job_runs_in_steps_with_callbacks_between(doing: Doing) -> None:
    doing.steps = [JobStep(cursor=1), JobStep(cursor=2), JobStep()]
    waited: list[int] = []

    assert doing.runner.run_now(ACME, "tidy") == {}

    assert [cursor for _, cursor in doing.did] == [None, 1, 2]
    doing.steps = [JobStep()]
    doing.now += DAY
    doing.runner.run_due(after_step=lambda: waited.append(len(doing.did)))
    assert waited == [4, 5]


def test_leased_job_does_not_run_twice(doing: Doing) -> None:
    doing.store.jobs.schedule(ACME, [NewJob(name="tidy", due_at=doing.now)])
    doing.store.jobs.claim(now=doing.now, limit=9)

    with pytest.raises(Unavailable, match="another worker"):
        doing.runner.run_now(ACME, "tidy")
    with pytest.raises(InvalidInput, match="tidy"):
        doing.runner.run_now(ACME, "tidying")


def test_lease_is_renewed_while_a_step_runs() -> None:
    beats = threading.Semaphore(0)
    heart = LeaseHeartbeat(seconds=0.01)

    with heart.keep_renewing(beats.release):
        assert all(beats.acquire(timeout=10) for _ in range(3))

    assert heart._renewals == {}


def test_hung_worker_loses_its_lease() -> None:
    beats = threading.Semaphore(0)
    heart = LeaseHeartbeat(seconds=0.01, max_seconds=0.1)

    with heart.keep_renewing(beats.release):
        time.sleep(0.2)
        while beats.acquire(blocking=False):
            pass
        assert not beats.acquire(timeout=0.1)


@pytest.fixture(params=["inprocess", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    store = ReferenceStore() if request.param == "inprocess" else SqliteStore(tmp_path / "m.db")
    yield store
    store.close()


@pytest.mark.requirement("E24", "D26")
def test_oldest_waiting_workspace_runs_first(store: Store) -> None:
    store.jobs.schedule(ACME, [NewJob(name=name, due_at=NOON) for name in ("one", "two")])
    store.jobs.schedule(OTHER, [NewJob(name="one", due_at=NOON - DAY)])

    (claimed,) = store.jobs.claim(now=NOON, limit=1)

    assert claimed.workspace == OTHER


@pytest.mark.requirement("E32")
def test_worker_without_lease_writes_nothing(store: Store) -> None:
    (id,) = append_events(store, make_event("1"))
    store.jobs.schedule(ACME, [NewJob(name="tidy", due_at=NOON)])
    (late,) = store.jobs.claim(now=NOON, limit=9)
    (ours,) = store.jobs.claim(now=NOON + LEASE_DURATION, limit=9)

    with store.with_leases([late.lease]):
        for write in (
            lambda: store.memories.put(ACME, [make_draft(id)]),
            lambda: store.ledger.append(OTHER, [make_event("late")], recorded_at=NOON),
        ):
            with pytest.raises(LeaseLost):
                write()

    assert store.memories.find(ADMIN) == []
    with store.with_leases([ours.lease]):
        store.memories.put(ACME, [make_draft(id)])


@pytest.mark.requirement("E32")
@pytest.mark.parametrize("inner", [False, True])
def test_nested_leases_are_both_checked(store: Store, inner: bool) -> None:
    (id,) = append_events(store, make_event("1"))
    store.jobs.schedule(ACME, [NewJob(name=name, due_at=NOON) for name in ("lost", "ours")])
    jobs = {job.name: job.lease for job in store.jobs.claim(now=NOON, limit=9)}
    store.jobs.claim(now=NOON + LEASE_DURATION, limit=9, names=["lost"])
    outer, within = (jobs["ours"], jobs["lost"]) if inner else (jobs["lost"], jobs["ours"])

    with store.with_leases([outer]), store.with_leases([within]), pytest.raises(LeaseLost):
        store.memories.put(ACME, [make_draft(id)])


@pytest.mark.requirement("E32")
def test_step_longer_than_its_lease_writes_nothing(doing: Doing) -> None:
    (id,) = append_events(doing.store, make_event("2"))
    doing.store.jobs.schedule(ACME, [NewJob(name="tidy", due_at=doing.now)])

    def somebody_else_takes_it() -> None:
        (taken,) = doing.store.jobs.claim(now=doing.now + LEASE_DURATION, limit=9)
        doing.store.jobs.finish(
            [FinishedStep(job=taken, step=JobStep(counts={"theirs": 1}))], now=doing.now
        )
        doing.store.memories.put(ACME, [make_draft(id)])

    doing.meanwhile = somebody_else_takes_it
    assert doing.runner.run_due() == 1

    assert doing.store.memories.find(ADMIN) == []
    assert (doing.state().last_counts, doing.state().error) == ({"theirs": 1}, None)


@pytest.mark.requirement("E32")
@pytest.mark.parametrize("asked_for", [False, True])
def test_lease_lasts_as_long_as_the_step(
    doing: Doing, monkeypatch: pytest.MonkeyPatch, asked_for: bool
) -> None:
    monkeypatch.setattr(module, "HEARTBEAT", LeaseHeartbeat(seconds=0.01))
    jobs, renewed = doing.store.jobs, threading.Event()
    keep = jobs.renew

    def kept(*given: Any, **told: Any) -> Any:
        found = keep(*given, **told)
        renewed.set()
        return found

    def think() -> None:
        renewed.clear()
        doing.now += LEASE_DURATION / 2
        doing.renewed = renewed.wait(10) and jobs.claim(now=started + LEASE_DURATION, limit=9) == []

    monkeypatch.setattr(jobs, "renew", kept)
    doing.runner.run_due()
    jobs.schedule(ACME, [NewJob(name="tidy", due_at=doing.now)])
    started, doing.meanwhile = doing.now, think
    if asked_for:
        doing.runner.run_now(ACME, "tidy")
    else:
        doing.runner.run_due()

    assert doing.renewed


@pytest.mark.requirement("E32")
def test_finished_jobs_stay_leased_during_callbacks(
    doing: Doing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HEARTBEAT", LeaseHeartbeat(seconds=0.01))
    monkeypatch.setattr(module, "RECORD_SECONDS", 60.0)
    doing.now += DAY
    taken: list[Any] = []

    def between() -> None:
        for _ in range(3):  # other work takes long
            doing.now += LEASE_DURATION * 0.9
            time.sleep(0.2)
        taken.extend(doing.store.jobs.claim(now=doing.now, limit=9))

    assert doing.runner.run_due(after_step=between) == 2

    assert taken == []
    assert len(doing.did) == 2
    assert (doing.state().error, doing.state().last_counts) == (None, {"done": 1})


@pytest.mark.requirement("E32")
def test_finished_steps_are_recorded_after_an_error(doing: Doing) -> None:
    doing.now += DAY

    def between() -> None:
        raise ModelUnavailable("away")

    with pytest.raises(ModelUnavailable):
        doing.runner.run_due(after_step=between)

    ((workspace, _),) = doing.did
    (state,) = doing.store.jobs.list_jobs(administrator_grant(workspace))
    assert (state.running, state.last_counts) == (False, {"done": 1})


@pytest.mark.requirement("E32")
@pytest.mark.parametrize("error", [ValueError("boom"), ModelUnavailable("boom")])
def test_requested_job_raises_its_error_and_can_be_repeated(doing: Doing, error: Exception) -> None:
    doing.errors[ACME] = error

    with pytest.raises(NexusError, match="boom"):
        doing.runner.run_now(ACME, "tidy")

    state = doing.state()
    assert (state.running, state.attempts, state.due_at) == (
        False,
        1,
        doing.now + RETRY_BACKOFF.first_delay,
    )
    assert "boom" in state.error
    assert doing.store.queue.retry(ACME, ["tidy"], now=doing.now) == 1
    del doing.errors[ACME]
    assert doing.runner.run_now(ACME, "tidy") == {"done": 1}
    assert doing.state().error is None


def test_job_of_another_version_is_never_due(doing: Doing) -> None:
    other = RecurringJob(name="dream", every=DAY, on_news=False)
    doing.store.jobs.ensure_recurring([other], now=NOON)
    doing.now += 9 * DAY

    late = {each.name: each.lag(doing.now) for each in doing.runner.job_states(ADMIN)}

    assert late == {"dream": timedelta(), "tidy": 8 * DAY}
    assert doing.store.jobs.claim(now=doing.now, limit=9, names=["dream"]), "it is left alone"


def test_failed_renewal_does_not_stop_other_renewals() -> None:
    heart, beats = LeaseHeartbeat(seconds=0.01), threading.Event()

    def closed() -> None:
        raise RuntimeError("the store is closed")

    with heart.keep_renewing(closed):
        time.sleep(0.1)
        with heart.keep_renewing(beats.set):
            assert beats.wait(10)
