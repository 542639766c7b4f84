"""Jobs of the background worker."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from threading import Event

import pytest
from tests.stories.conftest import Team

from nexusmem.core.ids import WorkspaceId
from nexusmem.core.protocols.jobs import JobStep, Json, RecurringJob
from nexusmem.maintain import background_worker
from nexusmem.maintain.background_worker import BackgroundWorker
from nexusmem.maintain.job_runner import JobRunner
from nexusmem.maintain.schedule import ScheduledJob


@pytest.mark.requirement("E24", "E25", "E26")
def test_job_intervals_are_those_of_the_seeds(team: Team) -> None:
    minutes = {
        state.name: state.every / timedelta(minutes=1)
        for state in team.workspace.jobs()
        if state.every
    }

    often = {"consolidate": 15, "habits": 60, "promote": 60, "session_end": 60, "episodes": 5}
    daily = dict.fromkeys(("decay", "cleanup", "audit_partitions"), 24 * 60)
    assert {**minutes, **often, **daily} == minutes


@pytest.mark.requirement("A3", "B1", "E24")
def test_ended_session_becomes_an_episode(team: Team) -> None:
    for number in range(4):
        team.room.observe("alice", f"We decided to paint wall {number} of the office green.")
    team.workspace.flush()
    jobs = team.workspace._parts.job_runner
    assert jobs.run_due() == 0
    team.clock.advance(minutes=6)
    assert jobs.run_due() == 1
    assert jobs.run_due() == 0
    assert not team.room.episodes(span="session")

    team.clock.advance(hours=2)

    assert jobs.run_due(names=["episodes"]) == 1
    (episode,) = team.room.episodes(span="session")
    assert "green" in episode.text
    assert jobs.run_due(names=["episodes"]) == 0
    assert len(team.room.episodes(span="session")) == 1


def test_jobs_wait_for_quiet_and_continue_while_work_is_left(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_worker, "JOB_SECONDS", 0.05)
    monkeypatch.setattr(background_worker, "IDLE_SECONDS", 0.01)
    team.room.observe("alice", "The heron is blue.")
    times: list[float] = []
    done = Event()

    def run(_workspace: WorkspaceId, _now: datetime, cursor: Json) -> JobStep:
        times.append(time.monotonic())
        if len(times) == 3:
            done.set()
        return JobStep(cursor=(cursor or 0) + 1 if len(times) < 3 else None)

    when = RecurringJob(name="count", every=timedelta(seconds=1), on_news=False)
    parts = team.workspace._parts
    runner = JobRunner(parts.store, {"count": ScheduledJob(recurrence=when, run=run)}, parts.now)
    runner.run_due()
    team.clock.advance(minutes=1)
    began = time.monotonic()
    busy = BackgroundWorker(parts.learner, runner)
    busy.wake()
    assert done.wait(20)
    busy.stop()

    assert times[0] - began >= 0.05


@pytest.mark.requirement("E29")
def test_replicas_catch_up_after_learning_and_periodically(team: Team, monkeypatch) -> None:
    monkeypatch.setattr(background_worker, "CATCH_UP_SECONDS", 0.05)
    monkeypatch.setattr(background_worker, "IDLE_SECONDS", 0.01)
    learner = team.workspace._parts.learner
    waiting: list[int] = []
    done = Event()

    def follow() -> bool:
        waiting.append(learner.run_once())
        if len(waiting) == 3:
            done.set()
        return False

    team.room.observe("alice", "The heron is blue.")
    busy = BackgroundWorker(learner, catch_up=follow)
    busy.wake()
    assert done.wait(20)
    busy.stop()

    assert not any(waiting), "it follows when there is nothing left to learn"
