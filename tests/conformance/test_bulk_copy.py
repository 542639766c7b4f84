"""Bulk copy: records move between stores unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.servers.databases import EmptiedStore
from tests.servers.postgres import Postgres

from nexusmem.core.protocols.store import Store
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.reference_store.store import ReferenceStore
from nexusmem.testing.suites.store import BulkCopySuite


@pytest.mark.requirement("X10")
class TestInProcess(BulkCopySuite):
    @pytest.fixture
    def store(self) -> Store:
        return ReferenceStore()


@pytest.mark.requirement("X10", "E31")
class TestSqlite(BulkCopySuite):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        store = SqliteStore(tmp_path / "memory.db")
        yield store
        store.close()


@pytest.mark.requirement("X10", "E31", "C3")
class TestPostgres(BulkCopySuite):
    @pytest.fixture
    def store(self, postgres_server: Postgres) -> Iterator[Store]:
        store = EmptiedStore(postgres_server)
        yield store
        store.close()
