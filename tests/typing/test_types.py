"""The type checker accepts valid uses of the API and rejects invalid ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.architecture.sources import ROOT

HERE = Path(__file__).parent


@pytest.mark.slow
@pytest.mark.requirement("D21")
def test_mypy_accepts_valid_and_rejects_invalid_code() -> None:
    files = [str(HERE / "api.py"), str(HERE / "wrong.py")]

    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", *files],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )

    assert run.returncode == 0, run.stdout + run.stderr


def test_package_has_py_typed_marker() -> None:
    assert (ROOT / "src" / "nexusmem" / "py.typed").exists()
