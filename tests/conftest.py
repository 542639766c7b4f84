"""Fixtures of all tests: a manual clock, every kind of store, and a network guard."""

from __future__ import annotations

import gc
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings as hypothesis_settings
from tests.servers.fixtures import (  # noqa: F401  # fixtures of every test
    made_postgres,
    own_postgres,
    own_redis,
    postgres,
    postgres_server,
    redis_server,
    redis_url,
)
from tests.servers.skipped_engines import pytest_terminal_summary  # noqa: F401  # a pytest hook

from nexusmem import Nexus
from nexusmem.config.settings import Settings
from nexusmem.embedders.feature_hash import HashingEmbedder

hypothesis_settings.register_profile("quick", max_examples=25, deadline=None, print_blob=True)
hypothesis_settings.load_profile("quick")

IN_MEMORY = Path("/dev/shm")
ROOM_FOR_ALL = 2 * 1024**3  # bytes


def pytest_configure() -> None:
    """Use a RAM disk for temporary files; tests in `faults` need a real disk."""
    if IN_MEMORY.is_dir() and shutil.disk_usage(IN_MEMORY).free > ROOM_FOR_ALL:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))


MONDAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class Clock:
    """A clock that advances only when a test advances it."""

    def __init__(self, now: datetime = MONDAY) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **span: float) -> datetime:
        self.now += timedelta(**span)
        return self.now


Open = Callable[..., Nexus]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def open_nexus(clock: Clock) -> Iterator[Open]:
    """Return `Nexus.open` without background work; everything is closed at the end."""
    opened: list[Nexus] = []

    def open_nexus(where: Any = ":memory:", **options: Any) -> Nexus:
        given = {"settings": Settings(), "embedder": HashingEmbedder(), "clock": clock}
        opened.append(Nexus.open(where, **{**given, "background": False, **options}))
        return opened[-1]

    yield open_nexus
    for each in opened:
        each.close()


SHARED = ["sqlite", pytest.param("postgres", marks=pytest.mark.slow)]


@pytest.fixture(params=["memory", *SHARED])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a store, once for each kind of store."""
    return ":memory:" if request.param == "memory" else address(request, tmp_path)


@pytest.fixture(params=SHARED)
def shared_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a store that several processes can open."""
    return address(request, tmp_path)


def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "memory.db")
    made: str = request.getfixturevalue("made_postgres").url
    return made


@pytest.fixture
def nexus(url: str, open_nexus: Open) -> Nexus:
    return open_nexus(url)


@pytest.fixture(autouse=True, scope="session")
def no_network() -> Iterator[None]:
    """Fail every test that connects to another machine."""

    def guard(name: str) -> Callable[..., Any]:
        real = getattr(socket.socket, name)

        def guarded(self: socket.socket, *args: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6):
                refuse_to_leave(args[-1][0])
            return real(self, *args)

        return guarded

    look_up = socket.getaddrinfo

    def guarded_look_up(host: Any, *args: Any, **options: Any) -> Any:
        refuse_to_leave(host)
        return look_up(host, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex", "sendto"):
            patch.setattr(socket.socket, name, guard(name))
        patch.setattr(socket, "getaddrinfo", guarded_look_up)
        yield


def refuse_to_leave(host: str | bytes | None) -> None:
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost"):
        return
    try:
        here = ip_address(name).is_loopback
    except ValueError:
        here = False
    if not here:
        raise RuntimeError(f"tests must stay on this machine, not connect to {name}")


def pytest_collection_finish() -> None:
    """Collect garbage once: later collections skip the thousands of test objects."""
    gc.collect()
    gc.freeze()
