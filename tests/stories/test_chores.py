"""What the background thread does while nothing else is to be done."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from threading import Event

import pytest
from tests.stories.conftest import Team

from nexus.core.ids import WorkspaceId
from nexus.core.jobs import Json, Recurring, Step
from nexus.maintain import worker
from nexus.maintain.jobs import Runner
from nexus.maintain.schedule import Planned
from nexus.maintain.worker import Worker


@pytest.mark.requirement("E24", "E25", "E26")
def test_every_job_comes_as_often_as_it_should(team: Team) -> None:
    minutes = {
        state.name: state.every / timedelta(minutes=1)
        for state in team.workspace.jobs()
        if state.every
    }

    often = {"consolidate": 15, "patterns": 60, "promote": 60, "session_end": 60, "episodes": 5}
    daily = dict.fromkeys(("decay", "cleanup", "audit_partitions"), 24 * 60)
    assert {**minutes, **often, **daily} == minutes


@pytest.mark.requirement("A3", "B1", "E24")
def test_a_session_becomes_an_episode_when_it_is_over(team: Team) -> None:
    for number in range(4):
        team.room.observe("alice", f"We decided to paint wall {number} of the office green.")
    team.workspace.flush()
    jobs = team.workspace._parts.jobs
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


def test_jobs_wait_for_a_quiet_minute_and_go_on_while_there_is_more(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "JOB_SECONDS", 0.05)
    monkeypatch.setattr(worker, "IDLE_SECONDS", 0.01)
    team.room.observe("alice", "The heron is blue.")
    times: list[float] = []
    done = Event()

    def run(_workspace: WorkspaceId, _now: datetime, cursor: Json) -> Step:
        times.append(time.monotonic())
        if len(times) == 3:
            done.set()
        return Step(cursor=(cursor or 0) + 1 if len(times) < 3 else None)

    when = Recurring(name="count", every=timedelta(seconds=1), on_news=False)
    parts = team.workspace._parts
    runner = Runner(parts.store, {"count": Planned(when=when, run=run)}, parts.now)
    runner.run_due()
    team.clock.advance(minutes=1)
    began = time.monotonic()
    busy = Worker(parts.learner, runner)
    busy.nudge()
    assert done.wait(20)
    busy.stop()

    assert times[0] - began >= 0.05


@pytest.mark.requirement("E29")
def test_what_lies_beside_follows_what_was_learned_and_looks_again_now_and_then(
    team: Team, monkeypatch
) -> None:
    monkeypatch.setattr(worker, "FOLLOW_SECONDS", 0.05)
    monkeypatch.setattr(worker, "IDLE_SECONDS", 0.01)
    learner = team.workspace._parts.learner
    waiting: list[int] = []
    done = Event()

    def follow() -> bool:
        waiting.append(learner.run_once())
        if len(waiting) == 3:
            done.set()
        return False

    team.room.observe("alice", "The heron is blue.")
    busy = Worker(learner, follow=follow)
    busy.nudge()
    assert done.wait(20)
    busy.stop()

    assert not any(waiting), "it follows when there is nothing left to learn"
