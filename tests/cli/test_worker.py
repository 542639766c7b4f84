"""`nexus worker --processes`: restarts and exit codes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.cli.test_process import nexus

from nexusmem.cli.worker import WorkerProcesses

ENDS = "import os, sys; sys.exit({code})"


def crew(code: str, *, once: bool = False) -> WorkerProcesses:
    command = [sys.executable, "-S", "-c", ENDS.format(code=code)]
    return WorkerProcesses(2, command, once=once, as_json=True)


@pytest.mark.slow
def test_unknown_job_stops_before_processes_start() -> None:
    answer = nexus("worker", "--processes", "2", "--jobs", "nothing")

    assert answer.returncode == 2
    assert answer.stderr.count("unknown job 'nothing'") == 1


def test_invalid_input_in_one_process_stops_all() -> None:
    refused = crew("2")

    refused.run()

    assert refused.code == 2


@pytest.mark.parametrize(
    ("ends", "code"), [("0", 0), ("3", 3), ("os.kill(os.getpid(), 9)", 128 + 9)]
)
def test_exit_code_is_the_highest_of_all_processes(ends: str, code: int) -> None:
    worked = crew(ends, once=True)

    worked.run()

    assert worked.code == code


def test_killed_process_is_started_again(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("nexusmem.cli.worker.RESTART_SECONDS", 0.01)
    died = tmp_path / "died"
    first = f"os.path.exists({str(died)!r}) and 2 or (open({str(died)!r}, 'w') and 1)"
    restarted = WorkerProcesses(
        1,
        [sys.executable, "-S", "-c", ENDS.format(code=first)],
        once=False,
        as_json=True,
    )

    restarted.run()

    assert died.exists()
    assert restarted.code == 2  # of the second process
