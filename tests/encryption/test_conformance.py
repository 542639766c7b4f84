"""Conformance of an encrypted Postgres store."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.encryption.conftest import KEY
from tests.servers.postgres import Database

from nexusmem.core.protocols.store import Store
from nexusmem.stores.postgres.store import PostgresStore
from nexusmem.testing.suites.access import LearnedPartitionSuite
from nexusmem.testing.suites.audit import AuditSuite
from nexusmem.testing.suites.counters import QuotasSuite
from nexusmem.testing.suites.eraser import EraserSuite
from nexusmem.testing.suites.ledger import LedgerSuite
from nexusmem.testing.suites.memories import MemoriesSuite
from nexusmem.testing.suites.queue import BacklogSuite, QueueSuite
from nexusmem.testing.suites.store import BulkCopySuite
from nexusmem.testing.suites.vectors import VectorsSuite
from nexusmem.testing.suites.window import WindowSuite


@pytest.mark.slow
@pytest.mark.requirement("E33", "X10")
class TestEncryptedPostgres(
    LedgerSuite,
    QueueSuite,
    BacklogSuite,
    QuotasSuite,
    MemoriesSuite,
    VectorsSuite,
    LearnedPartitionSuite,
    EraserSuite,
    WindowSuite,
    AuditSuite,
    BulkCopySuite,
):
    """The suites that read or write encrypted records."""

    @pytest.fixture
    def store(self, empty: Database) -> Iterator[Store]:
        store = PostgresStore(empty.url, key=KEY)
        yield store
        store.close()
