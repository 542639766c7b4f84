"""Metrics of several processes, shared through files in a folder."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from nexusmem import Nexus
from nexusmem.config.settings import Settings, TelemetrySettings
from nexusmem.telemetry.metrics import DELETE_AFTER_SECONDS, MetricsFile


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(telemetry=TelemetrySettings(metrics_folder=str(tmp_path / "left")))


def recalls(nexus: Nexus) -> int:
    return nexus.metrics().timing("operation_seconds", operation="recall").count


def test_processes_with_the_same_id_share_metrics(settings: Settings) -> None:
    """Two containers may both have the process id 1."""
    with (
        Nexus.open(":memory:", settings=settings) as one,
        Nexus.open(":memory:", settings=settings) as other,
    ):
        for nexus, times in ((one, 3), (other, 1)):
            for _ in range(times):
                nexus.workspace("acme").room("design").recall("kettle")
            assert nexus._metrics_file
            nexus._metrics_file.write()  # normally every few seconds

        assert (recalls(one), recalls(other)) == (4, 4)


def test_worker_shares_metrics_until_it_ends(settings: Settings) -> None:
    with Nexus.open(":memory:", settings=settings, background=False) as working:
        working.workspace("acme").room("design").observe("alice", "The kettle is red.")
        working.worker().run(once=True)
        assert working._metrics_file
        working._metrics_file.write()  # normally every few seconds

        with Nexus.open(":memory:", settings=settings, background=False) as asking:
            told = asking.metrics()
            assert told.timing("operation_seconds", operation="learn").count >= 1

    assert list(Path(settings.telemetry.metrics_folder or "").iterdir()) == []


def test_files_of_killed_processes_are_deleted(tmp_path: Path) -> None:
    killed = [tmp_path / "nexus-0123.json", tmp_path / "nexus-0123.tmp"]
    kept = [tmp_path / "theirs.json", tmp_path / "nexus-4567.json"]
    for file in (*killed, *kept):
        file.write_text("[]")
    for file in (*killed, kept[0]):
        os.utime(file, (0, time.time() - DELETE_AFTER_SECONDS - 1))

    MetricsFile(tmp_path, list).close()

    assert sorted(tmp_path.iterdir()) == sorted(kept)
