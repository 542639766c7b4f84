"""Fixtures for commands: an empty folder, one user, and `nexus` run in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from nexusmem.cli import nexus

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("CONFIG", "WORKSPACE", "SESSION", "AGENT"):
        monkeypatch.delenv(f"NEXUS_{name}", raising=False)
    monkeypatch.setenv("NEXUS_USER", "alice")
    monkeypatch.setenv("NEXUS_STORE", "memory.db")
    return tmp_path


@pytest.fixture
def run() -> Run:
    """Run a command in this process; a crash or another exit code fails the test."""

    def run(*words: str, code: int = 0, said: str | bytes | None = None) -> Result:
        result = CliRunner().invoke(nexus, words, input=said, prog_name="nexus")
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        return result

    return run


@pytest.fixture
def lines(run: Run) -> Callable[..., list[dict[str, Any]]]:
    """Run a command with --json and return the printed objects."""

    def lines(*words: str, code: int = 0, said: str | bytes | None = None) -> list[dict[str, Any]]:
        result = run(*words, "--json", code=code, said=said)
        return [json.loads(line) for line in result.stdout.splitlines()]

    return lines
