"""`nexus metrics`: a table, JSON, and what Prometheus reads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from nexus.cli.metrics import spark
from nexus.core.metrics import BOUNDS, Timing


def test_a_person_reads_a_table(run) -> None:
    run("observe", "alice", "We chose PostgreSQL.", "--room", "design")

    shown = run("metrics").stdout

    assert "events\t\t1" in shown
    assert "memories\tpassage\t1" in shown
    assert "breaker_state\tembedder\t0" in shown


def test_a_program_reads_json_and_prometheus_its_own_text(run, lines) -> None:
    run("observe", "alice", "We chose PostgreSQL.", "--room", "design")

    told = {(each["name"], *each.get("labels", {}).values()): each for each in lines("metrics")}
    text = run("metrics", "--prometheus").stdout
    read = {each.name: each for each in text_string_to_metric_families(text)}

    assert told["events",]["value"] == read["nexus_events"].samples[0].value == 1
    assert told["memories", "passage"]["value"] == 1
    assert run("metrics", "--prometheus", "--json", code=2).stderr


def test_what_a_running_process_did_is_shown(run, shell: Path) -> None:
    (shell / "nexus.yaml").write_text("memory: {telemetry: {folder: ./left}}\n")
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
    assert "recall\t" not in run("metrics").stdout  # it has ended, and its numbers with it


RUNNING = """
import sys
from nexus import Nexus
with Nexus.open() as nexus:
    room = nexus.workspace("acme").room("design")
    room.observe("alice", "The kettle is red.")
    for _ in range(3):
        room.recall("kettle")
    nexus._shared.write()  # as it does every few seconds
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_a_spread_is_drawn_from_the_fastest_to_the_slowest() -> None:
    counts = [0] * (len(BOUNDS) + 1)
    counts[3:7] = [1, 8, 0, 4]

    assert spark(Timing(counts=tuple(counts), seconds=1.0)) == "▂█ ▅"
