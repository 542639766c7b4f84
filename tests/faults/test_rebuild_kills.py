"""Kills of a rebuild and of a change of embedders."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from nexusmem import Nexus
from nexusmem.config.settings import Settings
from nexusmem.core.records import Hit
from nexusmem.embedders.feature_hash import HashingEmbedder

REBUILDER = Path(__file__).with_name("rebuilder.py")
LIVES = range(1, 13)  # increasing seconds: after the first complete run little is left to kill
QUESTION = "which heron drinks tea at the pond"


def opened(path: Path, dimension: int = 64) -> Nexus:
    embedder = HashingEmbedder(dimension)
    return Nexus.open(path, settings=Settings(), embedder=embedder, background=False)


def filled(path: Path, dimension: int = 64) -> tuple[Hit, ...]:
    with opened(path, dimension) as nexus:
        room = nexus.workspace("acme").room("design")
        for number in range(400):
            room.observe(
                "alice", f"Heron {number} drinks tea at pond {number % 9}.", key=f"{number}"
            )
        nexus.workspace("acme").flush()
        return room.recall(QUESTION, limit=50).hits


def run_and_kill(path: Path, what: str, life: float | None) -> bool:
    """Run the program and kill it after `seconds`; return whether it finished."""
    command = [sys.executable, str(REBUILDER), str(path), what]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout
        assert program.stderr
        assert program.stdout.readline() == b"ready\n", program.stderr.read().decode()
        try:
            program.wait(timeout=life)
        except subprocess.TimeoutExpired:
            with opened(path) as nexus:  # concurrent reads return results
                assert nexus.workspace("acme").room("design").recall(QUESTION).hits
            program.kill()
            return False
        assert program.returncode == 0, program.stderr.read().decode()
        return True


@pytest.mark.slow
@pytest.mark.requirement("X3")
def test_killed_rebuild_is_resumed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    before = filled(path)
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("DELETE FROM postings WHERE memory % 2 = 0")
        file.execute("DELETE FROM names WHERE name LIKE '%1%'")
        file.execute("DELETE FROM vectors WHERE memory % 3 = 0")
        file.execute("UPDATE conversations SET term_count = 3")

    ended = [run_and_kill(path, "rebuild", 0.06 * life) for life in LIVES]
    assert ended.count(False) >= 3
    assert run_and_kill(path, "rebuild", None)

    with opened(path) as nexus:
        workspace = nexus.workspace("acme")
        assert workspace.check_indexes() == []
        assert workspace.room("design").recall(QUESTION, limit=50).hits == before
        assert workspace.verify().is_intact


@pytest.mark.slow
@pytest.mark.requirement("X9")
def test_killed_reembed_is_resumed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    filled(path)
    expected = filled(tmp_path / "never.db", 96)

    ended = [run_and_kill(path, "reembed", 0.01 * life) for life in LIVES]
    assert ended.count(False) >= 3
    assert run_and_kill(path, "reembed", None)

    with opened(path, 96) as nexus:
        found = nexus.workspace("acme").room("design").recall(QUESTION, limit=50)
        assert found.degraded == ()
        scores = {hit.memory.text: hit.score for hit in found}
        assert scores == {hit.memory.text: hit.score for hit in expected}
        assert nexus.reembed()["embedded"] == 0
