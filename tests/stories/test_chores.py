"""What the background thread does while nothing else is to be done."""

from __future__ import annotations

import time
from threading import Event

import pytest
from tests.stories.conftest import Team

from nexus.maintain import worker
from nexus.maintain.worker import Worker


@pytest.mark.requirement("A3", "B1")
def test_a_session_becomes_an_episode_when_it_is_over(team: Team) -> None:
    for number in range(4):
        team.room.observe("alice", f"We decided to paint wall {number} of the office green.")
    team.workspace.flush()
    chore = team.workspace._parts.worker._chore
    assert not all(chore() for _ in range(10))
    assert not team.room.episodes(span="session")

    team.clock.advance(hours=2)

    assert chore()
    (episode,) = team.room.episodes(span="session")
    assert "green" in episode.text
    assert not all(chore() for _ in range(10))
    assert len(team.room.episodes(span="session")) == 1


def test_chores_wait_for_a_quiet_minute_and_go_on_while_there_is_more(
    team: Team, monkeypatch
) -> None:
    monkeypatch.setattr(worker, "CHORE_SECONDS", 0.05)
    monkeypatch.setattr(worker, "IDLE_SECONDS", 0.01)
    times: list[float] = []
    done = Event()

    def chore() -> bool:
        times.append(time.monotonic())
        if len(times) == 3:
            done.set()
        return len(times) < 3

    began = time.monotonic()
    busy = Worker(team.workspace._parts.learner, chore)
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
