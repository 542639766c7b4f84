"""Records move between stores as they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.servers.databases import EmptiedStore
from tests.servers.postgres import Postgres

from nexus.core.protocols import Store
from nexus.stores.inprocess import InProcessStore
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.suites.moving import MovingSuite


@pytest.mark.requirement("X10")
class TestInProcess(MovingSuite):
    @pytest.fixture
    def store(self) -> Store:
        return InProcessStore()


@pytest.mark.requirement("X10", "E31")
class TestSqlite(MovingSuite):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        store = SqliteStore(tmp_path / "memory.db")
        yield store
        store.close()


@pytest.mark.requirement("X10", "E31", "C3")
class TestPostgres(MovingSuite):
    @pytest.fixture
    def store(self, postgres_server: Postgres) -> Iterator[Store]:
        store = EmptiedStore(postgres_server)
        yield store
        store.close()
