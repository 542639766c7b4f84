"""`nexus worker --processes`: what several of them end with."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.cli.test_process import nexus

from nexus.cli.working import Crew

ENDS = "import os, sys; sys.exit({code})"


def crew(code: str, *, once: bool = False) -> Crew:
    command = [sys.executable, "-S", "-c", ENDS.format(code=code)]
    return Crew(2, command, once=once, as_json=True)


@pytest.mark.slow
def test_several_refuse_a_job_that_nobody_knows_once_and_end() -> None:
    answer = nexus("worker", "--processes", "2", "--jobs", "nothing")

    assert answer.returncode == 2
    assert answer.stderr.count("there is no job 'nothing'") == 1


def test_what_one_refuses_as_bad_input_ends_all_for_good() -> None:
    refused = crew("2")

    refused.run()

    assert refused.code == 2


@pytest.mark.parametrize(
    ("ends", "code"), [("0", 0), ("3", 3), ("os.kill(os.getpid(), 9)", 128 + 9)]
)
def test_the_worst_end_of_those_that_work_once_is_told(ends: str, code: int) -> None:
    worked = crew(ends, once=True)

    worked.run()

    assert worked.code == code


def test_what_dies_otherwise_is_started_again(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("nexus.cli.working.AGAIN_SECONDS", 0.01)
    died = tmp_path / "died"
    first = f"os.path.exists({str(died)!r}) and 2 or (open({str(died)!r}, 'w') and 1)"
    restarted = Crew(
        1,
        [sys.executable, "-S", "-c", ENDS.format(code=first)],
        once=False,
        as_json=True,
    )

    restarted.run()

    assert died.exists()
    assert restarted.code == 2  # by the second one
