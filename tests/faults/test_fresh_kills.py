"""Whoever keeps dossiers fresh is killed again and again: none is lost, none is there twice."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.faults.conftest import opened

from nexus.core.records import MemoryKind

FRESHENER = Path(__file__).with_name("freshener.py")
LIVES = [0.03, 0.06, 0.09, 0.12, 0.15, 0.18]  # seconds: longer and longer
NAMES = [f"Person{number}" for number in range(40)]


def say(url: str, what: str) -> None:
    """Something new of everybody; whose dossier is stale by then."""
    with opened(url) as nexus:
        room = nexus.workspace("acme").room("design", participants=["alice"])
        for name in NAMES:
            room.observe("alice", f"{name} {what}")
        nexus.workspace("acme").flush()


def killed(url: str, life: float | None) -> bool:
    """Let one work and kill it after so many seconds; whether it came to its end."""
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
def test_a_worker_that_is_killed_leaves_nothing_behind(url: str) -> None:
    say(url, "works at Globex.")
    with opened(url) as nexus:
        room = nexus.workspace("acme").room("design", participants=["alice"])
        for name in NAMES:
            room.dossiers().get(name)
    ended = []
    for number, life in enumerate(LIVES):
        if number % 2 == 0:
            say(url, f"lives in City{number}.")
        ended.append(killed(url, life))

    assert ended.count(False) >= 3
    assert killed(url, None)
    assert killed(url, None)  # whoever goes on where another was does not begin at the start

    with opened(url) as nexus:
        workspace = nexus.workspace("acme")
        room = workspace.room("design", participants=["alice"])
        found = nexus._parts.store.memories.find(workspace.administrator)
        made = [each.body["name"] for each in found if each.kind is MemoryKind.DOSSIER]
        assert Counter(made) == Counter(NAMES)
        assert [each.name for each in room.dossiers().list() if each.stale] == []
        assert workspace.verify_audit().sound
