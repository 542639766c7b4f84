"""Metrics of several processes: each leaves its own in a folder, and whoever asks adds them up."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from nexus import Nexus
from nexus.config import Settings, TelemetrySettings
from nexus.gathering import LEFT_SECONDS, Shared


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(telemetry=TelemetrySettings(folder=str(tmp_path / "left")))


def recalls(nexus: Nexus) -> int:
    return nexus.metrics().timing("operation_seconds", operation="recall").count


def test_two_with_the_same_number_of_a_process_know_of_each_other(settings: Settings) -> None:
    """As in two containers: there, each is the process with the number 1."""
    with (
        Nexus.open(":memory:", settings=settings) as one,
        Nexus.open(":memory:", settings=settings) as other,
    ):
        for nexus, times in ((one, 3), (other, 1)):
            for _ in range(times):
                nexus.workspace("acme").room("design").recall("kettle")
            assert nexus._shared
            nexus._shared.write()  # as it does every few seconds

        assert (recalls(one), recalls(other)) == (4, 4)


def test_a_worker_leaves_its_metrics_too_and_takes_them_along(settings: Settings) -> None:
    with Nexus.open(":memory:", settings=settings, background=False) as working:
        working.workspace("acme").room("design").observe("alice", "The kettle is red.")
        working.shift().run(once=True)
        assert working._shared
        working._shared.write()  # as it does every few seconds

        with Nexus.open(":memory:", settings=settings, background=False) as asking:
            told = asking.metrics()
            assert told.timing("operation_seconds", operation="learn").count >= 1

    assert list(Path(settings.telemetry.folder or "").iterdir()) == []


def test_what_the_killed_have_left_goes_and_nothing_else(tmp_path: Path) -> None:
    killed = [tmp_path / "nexus-0123.json", tmp_path / "nexus-0123.tmp"]
    kept = [tmp_path / "theirs.json", tmp_path / "nexus-4567.json"]
    for file in (*killed, *kept):
        file.write_text("[]")
    for file in (*killed, kept[0]):
        os.utime(file, (0, time.time() - LEFT_SECONDS - 1))

    Shared(tmp_path, list).close()

    assert sorted(tmp_path.iterdir()) == sorted(kept)
