"""Background worker: when it learns."""

from __future__ import annotations

import threading
import time
from typing import cast

import pytest

from nexusmem.learn.learner import Learner
from nexusmem.maintain import background_worker as module
from nexusmem.maintain.background_worker import BackgroundWorker


class Counting:
    """A learner without work that records the times of its calls."""

    def __init__(self) -> None:
        self.asked: list[float] = []
        self.was_asked = threading.Event()

    def run_once(self) -> int:
        self.asked.append(time.monotonic())
        self.was_asked.set()
        return 0


def test_burst_is_learned_after_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUIET_SECONDS", 0.8)  # longer than the pauses of a busy machine
    monkeypatch.setattr(module, "BURST_SECONDS", 60.0)
    learner = Counting()
    worker = BackgroundWorker(cast("Learner", learner))
    for _ in range(5):
        worker.wake()
        time.sleep(0.02)
    over = time.monotonic()

    assert learner.was_asked.wait(30)
    worker.stop()

    assert learner.asked[0] >= over


def test_endless_burst_is_learned_anyway(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUIET_SECONDS", 0.2)
    monkeypatch.setattr(module, "BURST_SECONDS", 0.1)
    learner = Counting()
    worker = BackgroundWorker(cast("Learner", learner))
    deadline = time.monotonic() + 30
    while not learner.asked and time.monotonic() < deadline:
        worker.wake()
        time.sleep(0.01)
    worker.stop()

    assert learner.asked


def test_stop_does_not_wait_for_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUIET_SECONDS", 60.0)
    worker = BackgroundWorker(cast("Learner", Counting()))
    worker.wake()

    started = time.monotonic()
    worker.stop()

    assert time.monotonic() - started < 30


class Failing(Counting):
    """A learner that raises an unexpected error."""

    def run_once(self) -> int:
        super().run_once()
        raise KeyError("poll")


def test_unexpected_error_does_not_end_the_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "AWAY_SECONDS", 0.01)
    monkeypatch.setattr(module, "IDLE_SECONDS", 0.01)
    learner, later = Failing(), threading.Event()
    worker = BackgroundWorker(cast("Learner", learner))
    worker.wake()
    assert learner.was_asked.wait(30)

    learner.was_asked.clear()
    assert learner.was_asked.wait(30), "it is tried again"
    worker.submit(lambda: {}["missing"])
    worker.submit(later.set)
    assert later.wait(30)
    worker.stop()
