"""The suite a store must pass.

class TestMyStore(StoreSuite):
    @pytest.fixture
    def store(self, tmp_path):
        store = MyStore(tmp_path)
        yield store
        store.close()
"""

from __future__ import annotations

from collections.abc import Iterator

from ..core.protocols import Store
from .suites import pytest
from .suites.access import AccessSuite
from .suites.accounts import AccountsSuite
from .suites.audit import AuditSuite
from .suites.eraser import EraserSuite
from .suites.graph import GraphSuite
from .suites.labels import LabelSuite
from .suites.ledger import LedgerSuite
from .suites.memories import MemoriesSuite
from .suites.queue import BacklogSuite, QueueSuite
from .suites.quotas import QuotasSuite
from .suites.shelves import ShelvesSuite
from .suites.uses import UsesSuite
from .suites.vectors import VectorsSuite
from .suites.whole import WholeSuite
from .suites.window import WindowSuite


class StoreSuite(
    LedgerSuite,
    QueueSuite,
    BacklogSuite,
    QuotasSuite,
    MemoriesSuite,
    VectorsSuite,
    ShelvesSuite,
    EraserSuite,
    GraphSuite,
    LabelSuite,
    AccessSuite,
    AccountsSuite,
    UsesSuite,
    AuditSuite,
    WindowSuite,
    WholeSuite,
):
    """Every contract in `nexus.core.protocols`, as tests."""

    @pytest.fixture
    def store(self) -> Iterator[Store]:
        """An empty store, closed afterwards."""
        raise NotImplementedError("define a fixture `store` that gives an empty store")
