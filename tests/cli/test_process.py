"""The command line program as a separate process."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("numpy", "rich", "yaml", "asyncio", "sqlite3")


def nexus(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "nexusmem", *words],
        capture_output=True,
        encoding=environment.get("PYTHONIOENCODING", "utf-8"),
        env={**os.environ, **environment},
        timeout=60,
    )


@pytest.mark.slow
@pytest.mark.requirement("C18", "C19", "C20", "C21", "C22")
def test_commands_of_seed_002_work() -> None:
    docs = Path("docs")
    docs.mkdir()
    (docs / "auth.md").write_text("# Auth\n\nWe implemented auth with signed tokens.\n")
    commands = (
        "nexus observe alice 'We implemented auth with tokens of an hour.' --channel default",
        "nexus observe alice 'The session talks about something of its own.'",
        'nexus memory search "how did we implement auth?" --scope channel --limit 5',
        "nexus memory index ./docs --scope global",
        "nexus memory stats --scope session",
        "nexus memory compact",
        "nexus memory export --scope session --output memories.json",
        "nexus memory import memories.json --scope global",
    )

    answers = [nexus(*shlex.split(command)[1:]) for command in commands]

    assert [answer.returncode for answer in answers] == [0] * len(commands), answers
    assert "tokens of an hour" in answers[2].stdout
    assert "indexed\t1" in answers[3].stdout
    assert "events\t1" in answers[4].stdout
    assert json.loads(Path("memories.json").read_text().splitlines()[0])["type"] == "nexus-archive"


def test_help_loads_no_heavy_module() -> None:
    code = (
        "import sys; from nexusmem.cli import nexus; nexus(['--help'], standalone_mode=False);"
        f"sys.exit(' '.join(sys.modules.keys() & set({HEAVY})) or 0)"
    )

    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)

    assert answer.returncode == 0, answer.stderr
    assert b"nexus memory search" in answer.stdout


def test_error_is_one_line() -> None:
    answer = nexus("memory", "stats", "--store", "nowhere.db")

    assert answer.returncode == 2
    assert answer.stdout == ""
    assert answer.stderr.startswith("error: no store at nowhere.db")
    assert answer.stderr.count("\n") == 1


@pytest.mark.slow
def test_ascii_terminal_prints_escapes() -> None:
    nexus("remember", "The ship is called 海鸥 and sails on Friday.")

    answer = nexus("memory", "search", "ship", PYTHONIOENCODING="latin-1", PYTHONUTF8="0")

    assert answer.returncode == 0, answer.stderr
    assert "called \\u6d77\\u9e25 and" in answer.stdout


def test_version_is_the_package_version() -> None:
    answer = nexus("--version")

    assert answer.returncode == 0
    assert answer.stdout.startswith("nexus, version ")
