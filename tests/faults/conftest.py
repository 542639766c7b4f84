"""Memories on a disk, and in a server.

How many kills: `pytest tests/faults --kills 200`, or NEXUS_KILLS=200.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from nexus import Nexus
from nexus.config import Settings
from nexus.embedders.hashing import HashingEmbedder

FAST, ALL = 2, 50
OF_A_SERVER = 4


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder on a disk: these tests are about what is on it."""
    with TemporaryDirectory() as name:
        yield Path(name)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a memory is kept that several processes open."""
    if request.param == "sqlite":
        return str(tmp_path / "memory.db")
    found: str = request.getfixturevalue("postgres").url
    return found


def opened(url: str) -> Nexus:
    return Nexus.open(url, settings=Settings(), embedder=HashingEmbedder(), background=False)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--kills", type=int, help="how often to kill a program that writes")


@pytest.fixture
def kills(request: pytest.FixtureRequest) -> int:
    """How often to kill a server while it is written to."""
    wanted = request.config.getoption("--kills", None) or os.environ.get("NEXUS_KILLS")
    return int(wanted or OF_A_SERVER)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "kill" not in metafunc.fixturenames:
        return
    wanted = metafunc.config.getoption("--kills", None) or os.environ.get("NEXUS_KILLS")
    if wanted:
        metafunc.parametrize("kill", range(int(wanted)))
        return
    slow = [pytest.param(number, marks=pytest.mark.slow) for number in range(FAST, ALL)]
    metafunc.parametrize("kill", [*range(FAST), *slow])
