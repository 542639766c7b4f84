"""Kills of a worker that refreshes dossiers."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.faults.conftest import opened

from nexusmem.core.records import MemoryKind

FRESHENER = Path(__file__).with_name("dossier_refresher.py")
LIVES = [0.03, 0.06, 0.09, 0.12, 0.15, 0.18]  # increasing seconds
NAMES = [f"Person{number}" for number in range(40)]


def observe_all(url: str, what: str) -> None:
    """Record an event about each person; return the people with stale dossiers."""
    with opened(url) as nexus:
        room = nexus.workspace("acme").room("design", participants=["alice"])
        for name in NAMES:
            room.observe("alice", f"{name} {what}")
        nexus.workspace("acme").flush()


def run_and_kill(url: str, life: float | None) -> bool:
    """Run the worker and kill it after `seconds`; return whether it finished."""
    command = [sys.executable, str(FRESHENER), url]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe) as worker:
        assert worker.stdout
        assert worker.stderr
        assert worker.stdout.readline() == b"ready\n", worker.stderr.read().decode()
        try:
            worker.wait(timeout=life)
        except subprocess.TimeoutExpired:
            worker.kill()
            return False
        assert worker.returncode == 0, worker.stderr.read().decode()
        return True


@pytest.mark.slow
@pytest.mark.requirement("B19", "E24")
def test_killed_workers_refresh_each_dossier_once(url: str) -> None:
    observe_all(url, "works at Globex.")
    with opened(url) as nexus:
        room = nexus.workspace("acme").room("design", participants=["alice"])
        for name in NAMES:
            room.dossiers.get(name)
    ended = []
    for number, life in enumerate(LIVES):
        if number % 2 == 0:
            observe_all(url, f"lives in City{number}.")
        ended.append(run_and_kill(url, life))

    assert ended.count(False) >= 3
    assert run_and_kill(url, None)
    assert run_and_kill(url, None)  # the next worker continues at the cursor

    with opened(url) as nexus:
        workspace = nexus.workspace("acme")
        room = workspace.room("design", participants=["alice"])
        found = nexus._parts.store.memories.find(workspace.admin_grant)
        dossiers = [each for each in found if each.kind is MemoryKind.DOSSIER]
        made = [each.body["name"] for each in dossiers if "mark" in each.body]
        assert Counter(made) == Counter(NAMES)
        versions = Counter((each.body["name"], each.body["version"]) for each in dossiers)
        assert set(versions.values()) == {1}, "each version is kept once"
        assert [each.name for each in room.dossiers.list() if each.stale] == []
        assert workspace.verify_audit().is_intact
