"""Fixtures of fault tests: memories on a disk and in a server.

`pytest tests/faults --kills 200` or NEXUS_KILLS=200 sets the number of kills.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from nexusmem import Nexus
from nexusmem.config.settings import Settings
from nexusmem.embedders.feature_hash import HashingEmbedder

FAST, ALL = 2, 50
SERVER_KILLS = 4


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Return a folder on a disk, not in memory: these tests check durability."""
    with TemporaryDirectory() as name:
        yield Path(name)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a memory that several processes can open."""
    if request.param == "sqlite":
        return str(tmp_path / "memory.db")
    database_url: str = request.getfixturevalue("postgres").url
    return database_url


def opened(url: str) -> Nexus:
    return Nexus.open(url, settings=Settings(), embedder=HashingEmbedder(), background=False)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--kills", type=int, help="number of kills of a writing program")


@pytest.fixture
def kills(request: pytest.FixtureRequest) -> int:
    """Return how often to kill a server during writes."""
    count = request.config.getoption("--kills", None) or os.environ.get("NEXUS_KILLS")
    return int(count or SERVER_KILLS)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "kill" not in metafunc.fixturenames:
        return
    count = metafunc.config.getoption("--kills", None) or os.environ.get("NEXUS_KILLS")
    if count:
        metafunc.parametrize("kill", range(int(count)))
        return
    slow = [pytest.param(number, marks=pytest.mark.slow) for number in range(FAST, ALL)]
    metafunc.parametrize("kill", [*range(FAST), *slow])
