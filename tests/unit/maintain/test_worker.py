"""The background thread: when it learns."""

from __future__ import annotations

import threading
import time
from typing import cast

import pytest

from nexus.learn.learner import Learner
from nexus.maintain import worker as module
from nexus.maintain.worker import Worker


class Counting:
    """A learner that has nothing to do, and says when it was asked."""

    def __init__(self) -> None:
        self.asked: list[float] = []
        self.was_asked = threading.Event()

    def run_once(self) -> int:
        self.asked.append(time.monotonic())
        self.was_asked.set()
        return 0


def test_a_burst_is_learned_when_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUIET_SECONDS", 0.8)  # no pause of a busy machine is as long
    monkeypatch.setattr(module, "BURST_SECONDS", 60.0)
    learner = Counting()
    worker = Worker(cast("Learner", learner))
    for _ in range(5):
        worker.nudge()
        time.sleep(0.02)
    over = time.monotonic()

    assert learner.was_asked.wait(30)
    worker.stop()

    assert learner.asked[0] >= over


def test_a_burst_without_end_is_learned_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUIET_SECONDS", 0.2)
    monkeypatch.setattr(module, "BURST_SECONDS", 0.1)
    learner = Counting()
    worker = Worker(cast("Learner", learner))
    deadline = time.monotonic() + 30
    while not learner.asked and time.monotonic() < deadline:
        worker.nudge()
        time.sleep(0.01)
    worker.stop()

    assert learner.asked


def test_what_ends_does_not_wait_for_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUIET_SECONDS", 60.0)
    worker = Worker(cast("Learner", Counting()))
    worker.nudge()

    started = time.monotonic()
    worker.stop()

    assert time.monotonic() - started < 30


class Failing(Counting):
    """A learner with a fault that nobody thought of."""

    def run_once(self) -> int:
        super().run_once()
        raise KeyError("poll")


def test_a_fault_that_nobody_thought_of_does_not_end_the_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "AWAY_SECONDS", 0.01)
    monkeypatch.setattr(module, "IDLE_SECONDS", 0.01)
    learner, later = Failing(), threading.Event()
    worker = Worker(cast("Learner", learner))
    worker.nudge()
    assert learner.was_asked.wait(30)

    learner.was_asked.clear()
    assert learner.was_asked.wait(30), "it is tried again"
    worker.later(lambda: {}["missing"])
    worker.later(later.set)
    assert later.wait(30)
    worker.stop()
