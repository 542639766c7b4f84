"""nexusmem.testing without its extra names the pip command."""

from __future__ import annotations

import subprocess
import sys

import pytest

ASK = """
import sys
sys.modules[{absent!r}] = None
import nexusmem.testing
try:
    from nexusmem.testing import {wanted}
except ImportError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    ("absent", "wanted"),
    [("pytest", "StoreSuite"), ("pytest", "EmbedderSuite"), ("hypothesis", "run_leaktest")],
)
def test_missing_package_names_the_extra(absent: str, wanted: str) -> None:
    code = ASK.format(absent=absent, wanted=wanted)

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout.startswith("MissingExtra")
    assert "pip install 'nexusmem[testing]'" in said.stdout
