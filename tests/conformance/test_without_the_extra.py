"""Without the extra `testing`, one is told which line installs it."""

from __future__ import annotations

import subprocess
import sys

import pytest

ASK = """
import sys
sys.modules[{absent!r}] = None
import nexus.testing
try:
    from nexus.testing import {wanted}
except ImportError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    ("absent", "wanted"), [("pytest", "StoreSuite"), ("hypothesis", "run_leaktest")]
)
def test_a_missing_package_says_how_to_install_it(absent: str, wanted: str) -> None:
    code = ASK.format(absent=absent, wanted=wanted)

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout.startswith("MissingExtra")
    assert "pip install 'nexus-memory[testing]'" in said.stdout
