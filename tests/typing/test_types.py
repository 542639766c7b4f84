"""The type checker takes what people write, and stops what they must not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.architecture.sources import ROOT

HERE = Path(__file__).parent


@pytest.mark.slow
@pytest.mark.requirement("D21")
def test_right_code_passes_and_wrong_code_does_not() -> None:
    files = [str(HERE / "api.py"), str(HERE / "wrong.py")]

    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", *files],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )

    assert run.returncode == 0, run.stdout + run.stderr


def test_our_types_are_shipped() -> None:
    assert (ROOT / "src" / "nexus" / "py.typed").exists()
