"""An encrypted Postgres keeps the contracts of a store."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.encryption.conftest import KEY
from tests.servers.postgres import Database

from nexus.core.protocols import Store
from nexus.stores.postgres.store import PostgresStore
from nexus.testing.suites.audit import AuditSuite
from nexus.testing.suites.eraser import EraserSuite
from nexus.testing.suites.ledger import LedgerSuite
from nexus.testing.suites.memories import MemoriesSuite
from nexus.testing.suites.moving import MovingSuite
from nexus.testing.suites.queue import BacklogSuite, QueueSuite
from nexus.testing.suites.quotas import QuotasSuite
from nexus.testing.suites.shelves import ShelvesSuite
from nexus.testing.suites.vectors import VectorsSuite
from nexus.testing.suites.window import WindowSuite


@pytest.mark.slow
@pytest.mark.requirement("E33", "X10")
class TestSealed(
    LedgerSuite,
    QueueSuite,
    BacklogSuite,
    QuotasSuite,
    MemoriesSuite,
    VectorsSuite,
    ShelvesSuite,
    EraserSuite,
    WindowSuite,
    AuditSuite,
    MovingSuite,
):
    """Those that read or write what is sealed."""

    @pytest.fixture
    def store(self, empty: Database) -> Iterator[Store]:
        store = PostgresStore(empty.url, key=KEY)
        yield store
        store.close()
