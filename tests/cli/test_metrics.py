"""`nexus metrics`: table, JSON and Prometheus."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from nexusmem.cli.metrics import draw_sparkline
from nexusmem.telemetry.metrics import BUCKET_BOUNDS, Timing


def test_table_output(run) -> None:
    run("observe", "alice", "We chose PostgreSQL.", "--room", "design")

    shown = run("metrics").stdout

    assert "events\t\t1" in shown
    assert "memories\tpassage\t1" in shown
    assert "breaker_state\tembedder\t0" in shown


def test_json_and_prometheus_formats(run, lines) -> None:
    run("observe", "alice", "We chose PostgreSQL.", "--room", "design")

    told = {(each["name"], *each.get("labels", {}).values()): each for each in lines("metrics")}
    text = run("metrics", "--prometheus").stdout
    read = {each.name: each for each in text_string_to_metric_families(text)}

    assert told["events",]["value"] == read["nexus_events"].samples[0].value == 1
    assert told["memories", "passage"]["value"] == 1
    assert run("metrics", "--prometheus", "--json", code=2).stderr


def test_metrics_of_running_process_are_shown(run, shell: Path) -> None:
    (shell / "nexus.yaml").write_text("memory: {telemetry: {metrics_folder: ./left}}\n")
    with subprocess.Popen(
        [sys.executable, "-c", RUNNING],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as running:
        assert running.stdout
        assert running.stdout.readline() == "ready\n"
        shown = run("metrics").stdout
        running.communicate(timeout=60)

    rows = {row.split("\t")[0]: row.split("\t") for row in shown.splitlines()}
    assert rows["recall"][1] == "3"
    assert rows["recall"][2].endswith("s")
    assert rows["recall: keyword"][1] == "3"
    assert "recall\t" not in run("metrics").stdout  # the file of an ended process is deleted


RUNNING = """
import sys
from nexusmem import Nexus
with Nexus.open() as nexus:
    room = nexus.workspace("acme").room("design")
    room.observe("alice", "The kettle is red.")
    for _ in range(3):
        room.recall("kettle")
    nexus._metrics_file.write()  # as it does every few seconds
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_sparkline_is_drawn_fastest_first() -> None:
    counts = [0] * (len(BUCKET_BOUNDS) + 1)
    counts[3:7] = [1, 8, 0, 4]

    assert draw_sparkline(Timing(counts=tuple(counts), seconds=1.0)) == "▂█ ▅"
