"""Doing jobs: what happens when a step does not work."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from nexus.core.access import administrator_grant
from nexus.core.errors import InvalidInput, LeaseLost, ModelUnavailable, NexusError, Unavailable
from nexus.core.heartbeat import Heartbeat
from nexus.core.ids import WorkspaceId
from nexus.core.jobs import Done, Json, NewJob, Recurring, Step
from nexus.core.leases import LEASE, MOST_LOST
from nexus.core.protocols import Store
from nexus.maintain import jobs as module
from nexus.maintain.jobs import MOST_ATTEMPTS, MOST_OUTAGES, WAITS, Runner
from nexus.maintain.schedule import Planned
from nexus.stores.inprocess import InProcessStore
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.samples import ACME, ADMIN, NOON, OTHER, draft, event, tell

DAY = timedelta(days=1)


class Doing:
    """A store with one job, whose steps a test decides."""

    def __init__(self) -> None:
        self.now = NOON
        self.store = InProcessStore()
        self.errors: dict[WorkspaceId, Exception] = {}
        self.did: list[tuple[WorkspaceId, Json]] = []
        self.steps = [Step(counts={"done": 1})]
        self.meanwhile: Callable[[], object] = lambda: None
        self.renewed = False
        when = Recurring(name="tidy", every=DAY, on_news=False)
        planned = {"tidy": Planned(when=when, run=self.run)}
        self.runner = Runner(self.store, planned, lambda: self.now)
        for workspace in (ACME, OTHER):
            tell(self.store, event("1"), workspace=workspace)
        self.runner.run_due()

    def run(self, workspace: WorkspaceId, now: datetime, cursor: Json) -> Step:
        assert now == self.now
        if error := self.errors.get(workspace):
            raise error
        self.meanwhile()
        self.did.append((workspace, cursor))
        return self.steps[0] if len(self.steps) == 1 else self.steps.pop(0)

    def state(self) -> Any:
        (found,) = self.store.jobs.listed(ADMIN)
        return found


@pytest.fixture
def doing() -> Doing:
    return Doing()


@pytest.mark.requirement("E24")
def test_what_is_due_is_done_in_every_workspace(doing: Doing) -> None:
    doing.now += DAY

    assert doing.runner.run_due() == 2
    assert doing.runner.run_due() == 0

    assert sorted(workspace for workspace, _ in doing.did) == [ACME, OTHER]
    assert (doing.state().last_counts, doing.state().due_at) == ({"done": 1}, doing.now + DAY)


@pytest.mark.requirement("E32")
def test_a_poisoned_workspace_holds_nobody_up_and_is_given_up(doing: Doing) -> None:
    doing.errors[ACME] = ValueError("poison")

    for _ in range(MOST_ATTEMPTS):
        doing.now += DAY
        doing.runner.run_due()

    assert [workspace for workspace, _ in doing.did] == [OTHER] * MOST_ATTEMPTS
    state = doing.state()
    assert (state.dead, state.attempts, state.due_at) == (True, MOST_ATTEMPTS, None)
    assert "poison" in state.error
    doing.now += 99 * DAY
    doing.runner.run_due()
    assert doing.state().attempts == MOST_ATTEMPTS, "it is not tried any more"

    del doing.errors[ACME]
    assert doing.store.queue.retry(ACME, ["tidy"], now=doing.now) == 1
    doing.runner.run_due()
    assert (doing.state().dead, doing.state().error) == (False, None)


def test_what_is_only_away_is_waited_for_longer(doing: Doing) -> None:
    doing.errors[ACME] = ModelUnavailable("away")

    for _ in range(MOST_OUTAGES - 1):
        doing.now += DAY
        doing.runner.run_due()

    assert (doing.state().attempts, doing.state().dead) == (MOST_OUTAGES - 1, False)
    doing.now += DAY
    doing.runner.run_due()
    assert doing.state().dead


@pytest.mark.requirement("E32")
def test_each_try_waits_twice_as_long_as_the_one_before_up_to_a_point(doing: Doing) -> None:
    doing.errors[ACME] = ModelUnavailable("away")
    doing.now += DAY
    waits = []
    for _ in range(MOST_OUTAGES - 1):
        doing.runner.run_due()
        waits.append(doing.state().due_at - doing.now)
        doing.now = doing.state().due_at

    assert waits[:4] == [WAITS.first, 2 * WAITS.first, 4 * WAITS.first, 8 * WAITS.first]
    assert waits[-2:] == [WAITS.longest, WAITS.longest]


@pytest.mark.requirement("E32")
def test_work_that_kills_whoever_does_it_is_given_up(doing: Doing) -> None:
    doing.now += DAY
    for _ in range(MOST_LOST + 1):  # taken, and never ended
        doing.store.jobs.claim(now=doing.now, limit=9)
        doing.now += LEASE

    doing.runner.run_due()

    assert doing.did == []
    assert doing.state().dead


def test_a_long_job_is_done_in_steps_and_whoever_waits_comes_between(doing: Doing) -> None:
    doing.steps = [Step(cursor=1), Step(cursor=2), Step()]
    waited: list[int] = []

    assert doing.runner.run_now(ACME, "tidy") == {}

    assert [cursor for _, cursor in doing.did] == [None, 1, 2]
    doing.steps = [Step()]
    doing.now += DAY
    doing.runner.run_due(between=lambda: waited.append(len(doing.did)))
    assert waited == [4, 5]


def test_a_job_that_somebody_does_is_not_done_twice(doing: Doing) -> None:
    doing.store.jobs.schedule(ACME, [NewJob(name="tidy", due_at=doing.now)])
    doing.store.jobs.claim(now=doing.now, limit=9)

    with pytest.raises(Unavailable, match="somebody else"):
        doing.runner.run_now(ACME, "tidy")
    with pytest.raises(InvalidInput, match="tidy"):
        doing.runner.run_now(ACME, "tidying")


def test_what_takes_long_is_held_as_long_as_it_takes() -> None:
    beats = threading.Semaphore(0)
    heart = Heartbeat(seconds=0.01)

    with heart.during(beats.release):
        assert all(beats.acquire(timeout=10) for _ in range(3))

    assert heart._held == {}


def test_whoever_has_hung_for_very_long_holds_nothing_any_more() -> None:
    beats = threading.Semaphore(0)
    heart = Heartbeat(seconds=0.01, longest=0.1)

    with heart.during(beats.release):
        time.sleep(0.2)
        while beats.acquire(blocking=False):
            pass
        assert not beats.acquire(timeout=0.1)


@pytest.fixture(params=["inprocess", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    store = InProcessStore() if request.param == "inprocess" else SqliteStore(tmp_path / "m.db")
    yield store
    store.close()


@pytest.mark.requirement("E24", "D26")
def test_no_workspace_comes_before_one_that_has_waited_longer(store: Store) -> None:
    store.jobs.schedule(ACME, [NewJob(name=name, due_at=NOON) for name in ("one", "two")])
    store.jobs.schedule(OTHER, [NewJob(name="one", due_at=NOON - DAY)])

    (claimed,) = store.jobs.claim(now=NOON, limit=1)

    assert claimed.workspace == OTHER


@pytest.mark.requirement("E32")
def test_who_lost_a_job_writes_nothing_any_more(store: Store) -> None:
    (id,) = tell(store, event("1"))
    store.jobs.schedule(ACME, [NewJob(name="tidy", due_at=NOON)])
    (late,) = store.jobs.claim(now=NOON, limit=9)
    (ours,) = store.jobs.claim(now=NOON + LEASE, limit=9)

    with store.holding([late.lease]):
        for write in (
            lambda: store.memories.put(ACME, [draft(id)]),
            lambda: store.ledger.append(OTHER, [event("late")], recorded_at=NOON),
        ):
            with pytest.raises(LeaseLost):
                write()

    assert store.memories.find(ADMIN) == []
    with store.holding([ours.lease]):
        store.memories.put(ACME, [draft(id)])


@pytest.mark.requirement("E32")
@pytest.mark.parametrize("inner", [False, True])
def test_whoever_holds_something_inside_something_depends_on_both(
    store: Store, inner: bool
) -> None:
    (id,) = tell(store, event("1"))
    store.jobs.schedule(ACME, [NewJob(name=name, due_at=NOON) for name in ("lost", "ours")])
    jobs = {job.name: job.lease for job in store.jobs.claim(now=NOON, limit=9)}
    store.jobs.claim(now=NOON + LEASE, limit=9, names=["lost"])
    outer, within = (jobs["ours"], jobs["lost"]) if inner else (jobs["lost"], jobs["ours"])

    with store.holding([outer]), store.holding([within]), pytest.raises(LeaseLost):
        store.memories.put(ACME, [draft(id)])


@pytest.mark.requirement("E32")
def test_a_step_that_took_longer_than_its_lease_writes_nothing(doing: Doing) -> None:
    (id,) = tell(doing.store, event("2"))
    doing.store.jobs.schedule(ACME, [NewJob(name="tidy", due_at=doing.now)])

    def somebody_else_takes_it() -> None:
        (taken,) = doing.store.jobs.claim(now=doing.now + LEASE, limit=9)
        doing.store.jobs.finish([Done(job=taken, step=Step(counts={"theirs": 1}))], now=doing.now)
        doing.store.memories.put(ACME, [draft(id)])

    doing.meanwhile = somebody_else_takes_it
    assert doing.runner.run_due() == 1

    assert doing.store.memories.find(ADMIN) == []
    assert (doing.state().last_counts, doing.state().error) == ({"theirs": 1}, None)


@pytest.mark.requirement("E32")
@pytest.mark.parametrize("asked_for", [False, True])
def test_a_job_is_held_for_as_long_as_its_step_takes(
    doing: Doing, monkeypatch: pytest.MonkeyPatch, asked_for: bool
) -> None:
    monkeypatch.setattr(module, "HEARTBEAT", Heartbeat(seconds=0.01))
    jobs, renewed = doing.store.jobs, threading.Event()
    keep = jobs.keep

    def kept(*given: Any, **told: Any) -> Any:
        found = keep(*given, **told)
        renewed.set()
        return found

    def think() -> None:
        renewed.clear()
        doing.now += LEASE / 2
        doing.renewed = renewed.wait(10) and jobs.claim(now=started + LEASE, limit=9) == []

    monkeypatch.setattr(jobs, "keep", kept)
    doing.runner.run_due()
    jobs.schedule(ACME, [NewJob(name="tidy", due_at=doing.now)])
    started, doing.meanwhile = doing.now, think
    if asked_for:
        doing.runner.run_now(ACME, "tidy")
    else:
        doing.runner.run_due()

    assert doing.renewed


@pytest.mark.requirement("E32")
def test_what_is_done_stays_ours_while_others_are_learned(
    doing: Doing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HEARTBEAT", Heartbeat(seconds=0.01))
    monkeypatch.setattr(module, "TOGETHER_SECONDS", 60.0)
    doing.now += DAY
    taken: list[Any] = []

    def between() -> None:
        for _ in range(3):  # somebody has much to say
            doing.now += LEASE * 0.9
            time.sleep(0.2)
        taken.extend(doing.store.jobs.claim(now=doing.now, limit=9))

    assert doing.runner.run_due(between=between) == 2

    assert taken == []
    assert len(doing.did) == 2
    assert (doing.state().error, doing.state().last_counts) == (None, {"done": 1})


@pytest.mark.requirement("E32")
def test_what_is_done_is_entered_whatever_goes_wrong_in_between(doing: Doing) -> None:
    doing.now += DAY

    def between() -> None:
        raise ModelUnavailable("away")

    with pytest.raises(ModelUnavailable):
        doing.runner.run_due(between=between)

    ((workspace, _),) = doing.did
    (state,) = doing.store.jobs.listed(administrator_grant(workspace))
    assert (state.running, state.last_counts) == (False, {"done": 1})


@pytest.mark.requirement("E32")
@pytest.mark.parametrize("error", [ValueError("boom"), ModelUnavailable("boom")])
def test_what_does_not_work_when_somebody_asks_says_why_and_can_be_tried_again(
    doing: Doing, error: Exception
) -> None:
    doing.errors[ACME] = error

    with pytest.raises(NexusError, match="boom"):
        doing.runner.run_now(ACME, "tidy")

    state = doing.state()
    assert (state.running, state.attempts, state.due_at) == (False, 1, doing.now + WAITS.first)
    assert "boom" in state.error
    assert doing.store.queue.retry(ACME, ["tidy"], now=doing.now) == 1
    del doing.errors[ACME]
    assert doing.runner.run_now(ACME, "tidy") == {"done": 1}
    assert doing.state().error is None


def test_a_job_of_another_version_is_not_late(doing: Doing) -> None:
    other = Recurring(name="dream", every=DAY, on_news=False)
    doing.store.jobs.plant([other], now=NOON)
    doing.now += 9 * DAY

    late = {each.name: each.lag(doing.now) for each in doing.runner.states(ADMIN)}

    assert late == {"dream": timedelta(), "tidy": 8 * DAY}
    assert doing.store.jobs.claim(now=doing.now, limit=9, names=["dream"]), "it is left alone"


def test_a_lease_that_cannot_be_renewed_ends_no_other() -> None:
    heart, beats = Heartbeat(seconds=0.01), threading.Event()

    def closed() -> None:
        raise RuntimeError("the store is closed")

    with heart.during(closed):
        time.sleep(0.1)
        with heart.during(beats.set):
            assert beats.wait(10)
