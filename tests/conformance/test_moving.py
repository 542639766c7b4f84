"""Records move between stores as they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

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
