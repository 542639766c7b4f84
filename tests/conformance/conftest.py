"""Every store, one line each."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.servers.databases import EmptiedStore
from tests.servers.lance import beside_lancedb
from tests.servers.windows import beside_redis

from nexus.core.errors import ConfigError
from nexus.core.protocols import Store
from nexus.stores.inprocess import InProcessStore
from nexus.stores.sqlite.store import SqliteStore

Server = Callable[[str], Any]  # a fixture that is a server, by its name
Make = Callable[[Path, Server], Store]

KEY = "0123456789abcdef" * 4

STORES: dict[str, Make] = {
    "inprocess": lambda *_: InProcessStore(),
    "sqlite": lambda folder, _: SqliteStore(folder / "memory.db"),
    "sqlite-vec": lambda folder, _: SqliteStore(folder / "memory.db", vectors="sqlite-vec"),
    "sqlite-encrypted": lambda folder, _: SqliteStore(folder / "memory.db", key=KEY),
    "sqlite+lancedb": lambda folder, _: beside_lancedb(
        SqliteStore(folder / "memory.db"), folder / "vectors"
    ),
    "sqlite+redis": lambda folder, server: beside_redis(
        SqliteStore(folder / "memory.db"), server("redis_server").url, folder.name
    ),
    "postgres": lambda _, server: EmptiedStore(server("postgres_server")),
    "postgres+lancedb": lambda folder, server: beside_lancedb(
        EmptiedStore(server("postgres_server")), folder / "vectors"
    ),
}


# What lies beside the records changes nothing of their other parts.
BESIDE = {
    "sqlite+redis": ("TestWindow", "TestEraser", "TestWhole", "TestAccess", "TestLabels"),
    "sqlite+lancedb": ("TestVectors", "TestEraser", "TestWhole", "TestLabels", "TestShelves"),
    "postgres+lancedb": ("TestVectors", "TestEraser", "TestShelves"),
}


# Of Postgres the fast run sees who may read what, and that nothing is lost or left over; but not
# what asks a server thousands of questions. The slow run sees all of it.
AT_ONCE = ("TestAccess", "TestLabels", "TestLedger", "TestEraser")
MANY_QUESTIONS = (
    "test_names_that_look_alike_are_not_the_same",
    "test_a_drawer_opens_only_from_where_it_should",
)


@pytest.hookimpl(tryfirst=True)  # before the marks are looked at
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the suites that would only say again what they say of the records."""
    again = {item for item in items if _says_nothing_new(item)}
    items[:] = [item for item in items if item not in again]
    config.hook.pytest_deselected(items=list(again))
    for item in items:
        if _store_of(item) == "postgres" and _takes_long(item):
            item.add_marker(pytest.mark.slow)


def _says_nothing_new(item: pytest.Item) -> bool:
    suite = getattr(item, "cls", None)
    return suite is not None and suite.__name__ not in BESIDE.get(
        _store_of(item), (suite.__name__,)
    )


def _takes_long(item: pytest.Item) -> bool:
    suite = getattr(item, "cls", None)
    quick = suite is not None and suite.__name__ in AT_ONCE
    return not quick or getattr(item, "originalname", None) in MANY_QUESTIONS


def _store_of(item: pytest.Item) -> str | None:
    return getattr(getattr(item, "callspec", None), "params", {}).get("store")


def made(name: str, folder: Path, server: Server) -> Store:
    """A new store of this kind, or a skip that says why there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    if name == "sqlite-vec":
        pytest.importorskip("sqlite_vec", reason="the extra sqlite-vec is not installed")
    try:
        return STORES[name](folder, server)
    except ConfigError as refused:
        pytest.skip(f"{name}: {refused}")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in memory where there is one: these tests are not about disks."""
    shared = Path("/dev/shm")
    with TemporaryDirectory(dir=shared if shared.is_dir() else None) as name:
        yield Path(name)


# The reference and both kinds of records at every run; the others, which are made of these, in
# the slow one.
QUICK = ("inprocess", "sqlite", "postgres")
SLOWLY = (pytest.mark.slow, pytest.mark.timeout(900))
EACH = [pytest.param(name, marks=() if name in QUICK else SLOWLY[:1]) for name in STORES]


@pytest.fixture(params=EACH)
def store(request: pytest.FixtureRequest, folder: Path) -> Iterator[Store]:
    """An empty store of each kind."""
    store = made(request.param, folder, request.getfixturevalue)
    yield store
    store.close()


@dataclass(frozen=True)
class Kind:
    """One kind of store: makes empty ones, and opens one again."""

    name: str
    folder: Path
    server: Server

    def make(self) -> Store:
        return made(self.name, self.folder / secrets.token_hex(8), self.server)

    def reopen(self, store: Store) -> Store:
        if not store.files() or self.name in SERVED:  # a server's is another database each time
            return store
        store.close()
        return made(self.name, store.files()[0].parent, self.server)


SERVED = [name for name in STORES if name.startswith("postgres")]
GROUPS = [
    pytest.param(["inprocess", "sqlite"], id="sqlite"),
    pytest.param([name for name in STORES if name not in SERVED], id="files", marks=SLOWLY),
    *(pytest.param(["inprocess", name], id=name, marks=SLOWLY) for name in SERVED),
]


@pytest.fixture(params=GROUPS)
def kinds(folder: Path, request: pytest.FixtureRequest) -> list[Kind]:
    """Kinds of stores to compare that there are here, the reference first.

    Those of a server by themselves: they take as long as all others together.
    """
    usable = []
    for name in request.param:
        try:
            kind = Kind(name, folder, request.getfixturevalue)
            kind.make().close()
            usable.append(kind)
        except pytest.skip.Exception:
            continue
    if len(usable) == 1:
        pytest.skip("there is nothing to compare with")
    return usable
