"""Fixtures: every store, one line each."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.servers.databases import EmptiedStore
from tests.servers.lancedb_store import with_lancedb
from tests.servers.redis_store import with_redis
from tests.servers.skipped_engines import skip_engine

from nexusmem.core.errors import ConfigError
from nexusmem.core.protocols.store import Store
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.reference_store.store import ReferenceStore

Server = Callable[[str], Any]  # a fixture that is a server, by its name
Make = Callable[[Path, Server], Store]

KEY = "0123456789abcdef" * 4

STORES: dict[str, Make] = {
    "reference": lambda *_: ReferenceStore(),
    "memory": lambda *_: SqliteStore(":memory:"),
    "sqlite": lambda folder, _: SqliteStore(folder / "memory.db"),
    "sqlite-vec": lambda folder, _: SqliteStore(folder / "memory.db", vectors="sqlite-vec"),
    "sqlite-encrypted": lambda folder, _: SqliteStore(folder / "memory.db", key=KEY),
    "sqlite+lancedb": lambda folder, _: with_lancedb(
        SqliteStore(folder / "memory.db"), folder / "vectors"
    ),
    "sqlite+redis": lambda folder, server: with_redis(
        SqliteStore(folder / "memory.db"), server("redis_server").url, folder.name
    ),
    "postgres": lambda _, server: EmptiedStore(server("postgres_server")),
    "postgres+lancedb": lambda folder, server: with_lancedb(
        EmptiedStore(server("postgres_server")), folder / "vectors"
    ),
}


# Suites of a store with an external part; its other parts are those of the records.
EXTERNAL_SUITES = {
    "sqlite+redis": ("TestWindow", "TestEraser", "TestWhole", "TestAccess", "TestLabels"),
    "sqlite+lancedb": ("TestVectors", "TestEraser", "TestWhole", "TestLabels", "TestShelves"),
    "postgres+lancedb": ("TestVectors", "TestEraser", "TestShelves"),
}


# Suites that also run on Postgres in the fast run: access control, durability and erasure.
FAST_SUITES = ("TestAccess", "TestLabels", "TestLedger", "TestEraser")
MANY_QUERIES = (  # too slow on a server for the fast run
    "test_lookalike_names_are_distinct",
    "test_scope_is_readable_only_by_allowed_viewers",
)


@pytest.hookimpl(tryfirst=True)  # before pytest evaluates the markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect suites that an external part does not change."""
    redundant = {item for item in items if _is_redundant(item)}
    items[:] = [item for item in items if item not in redundant]
    config.hook.pytest_deselected(items=list(redundant))
    for item in items:
        if _store_of(item) == "postgres" and _is_slow(item):
            item.add_marker(pytest.mark.slow)


def _is_redundant(item: pytest.Item) -> bool:
    suite = getattr(item, "cls", None)
    return suite is not None and suite.__name__ not in EXTERNAL_SUITES.get(
        _store_of(item), (suite.__name__,)
    )


def _is_slow(item: pytest.Item) -> bool:
    suite = getattr(item, "cls", None)
    quick = suite is not None and suite.__name__ in FAST_SUITES
    return not quick or getattr(item, "originalname", None) in MANY_QUERIES


def _store_of(item: pytest.Item) -> str | None:
    return getattr(getattr(item, "callspec", None), "params", {}).get("store")


def made(name: str, folder: Path, server: Server) -> Store:
    """Return a new store of this kind; skip the test if it cannot be created."""
    folder.mkdir(parents=True, exist_ok=True)
    if name == "sqlite-vec":
        pytest.importorskip("sqlite_vec", reason="the extra sqlite-vec is not installed")
    try:
        return STORES[name](folder, server)
    except ConfigError as refused:
        skip_engine(name, refused)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A temporary folder, in shared memory if possible."""
    shared = Path("/dev/shm")
    with TemporaryDirectory(dir=shared if shared.is_dir() else None) as name:
        yield Path(name)


# The fast run has the reference and the record stores; the slow run also their combinations.
QUICK = ("reference", "memory", "sqlite", "postgres")
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
    """One kind of store: creates empty stores and reopens them."""

    name: str
    folder: Path
    server: Server

    def make(self) -> Store:
        return made(self.name, self.folder / secrets.token_hex(8), self.server)

    def reopen(self, store: Store) -> Store:
        if (
            not store.list_files() or self.name in SERVED
        ):  # a server creates another database each time
            return store
        store.close()
        return made(self.name, store.list_files()[0].parent, self.server)


SERVED = [name for name in STORES if name.startswith("postgres")]
GROUPS = [
    pytest.param(["reference", "memory", "sqlite"], id="sqlite"),
    pytest.param([name for name in STORES if name not in SERVED], id="files", marks=SLOWLY),
    *(pytest.param(["reference", name], id=name, marks=SLOWLY) for name in SERVED),
]


@pytest.fixture(params=GROUPS)
def kinds(folder: Path, request: pytest.FixtureRequest) -> list[Kind]:
    """Kinds of stores to compare that are available, the reference first.

    Stores of a server are compared separately, because they are slow.
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
        pytest.skip("no other store is available")
    return usable
