"""Doing jobs: what happens when a step does not work."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from typing import Any

import pytest

from nexus.core.errors import InvalidInput, ModelUnavailable, Unavailable
from nexus.core.heartbeat import Heartbeat
from nexus.core.ids import WorkspaceId
from nexus.core.jobs import Json, NewJob, Recurring, Step
from nexus.core.leases import LEASE, MOST_LOST
from nexus.maintain.jobs import MOST_ATTEMPTS, MOST_OUTAGES, Runner
from nexus.maintain.schedule import Planned
from nexus.stores.inprocess import InProcessStore
from nexus.testing.samples import ACME, ADMIN, NOON, OTHER, event, tell

DAY = timedelta(days=1)


class Doing:
    """A store with one job, whose steps a test decides."""

    def __init__(self) -> None:
        self.now = NOON
        self.store = InProcessStore()
        self.errors: dict[WorkspaceId, Exception] = {}
        self.did: list[tuple[WorkspaceId, Json]] = []
        self.steps = [Step(counts={"done": 1})]
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
    assert doing.store.jobs.retry(ACME, ["tidy"], now=doing.now) == 1
    doing.runner.run_due()
    assert (doing.state().dead, doing.state().error) == (False, None)


def test_what_is_only_away_is_waited_for_longer(doing: Doing) -> None:
    doing.errors[ACME] = ModelUnavailable("away")

    for _ in range(MOST_OUTAGES - 1):
        doing.now += DAY
        doing.runner.run_due()

    assert (doing.state().attempts, doing.state().dead) == (MOST_OUTAGES - 1, False)


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
