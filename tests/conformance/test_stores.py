"""Every store keeps every contract."""

from __future__ import annotations

import pytest

from nexusmem.testing.suites.access import AccessLabelSuite, AccessSuite, LearnedPartitionSuite
from nexusmem.testing.suites.audit import AuditSuite
from nexusmem.testing.suites.counters import ModelCostsSuite, QuotasSuite, UsageCountsSuite
from nexusmem.testing.suites.eraser import EraserSuite
from nexusmem.testing.suites.graph import GraphSuite
from nexusmem.testing.suites.jobs import JobsSuite
from nexusmem.testing.suites.ledger import LedgerSuite
from nexusmem.testing.suites.memories import MemoriesSuite
from nexusmem.testing.suites.queue import BacklogSuite, QueueSuite
from nexusmem.testing.suites.store import StoreBasicsSuite
from nexusmem.testing.suites.vectors import VectorsSuite
from nexusmem.testing.suites.window import WindowSuite


@pytest.mark.requirement("C4", "X3")
class TestLedger(LedgerSuite):
    pass


@pytest.mark.requirement("C4", "X3")
class TestQueue(QueueSuite, BacklogSuite):
    pass


@pytest.mark.requirement("C4", "E32")
class TestJobs(JobsSuite):
    pass


@pytest.mark.requirement("C4", "X10")
class TestMemories(MemoriesSuite):
    pass


@pytest.mark.requirement("C4", "X10")
class TestVectors(VectorsSuite):
    pass


@pytest.mark.requirement("C4", "X10")
class TestShelves(LearnedPartitionSuite):
    pass


@pytest.mark.requirement("C4", "X6")
class TestEraser(EraserSuite):
    pass


@pytest.mark.requirement("C4", "E5", "X2")
class TestGraph(GraphSuite):
    pass


@pytest.mark.requirement("X1", "X2")
class TestLabels(AccessLabelSuite):
    pass


@pytest.mark.requirement("A10", "A11", "A12", "D21")
class TestAccess(AccessSuite):
    pass


@pytest.mark.requirement("C4")
class TestAccounts(ModelCostsSuite):
    pass


@pytest.mark.requirement("C4", "E23")
class TestUses(UsageCountsSuite):
    pass


@pytest.mark.requirement("C4", "E27")
class TestAudit(AuditSuite):
    pass


@pytest.mark.requirement("C4", "D30")
class TestQuotas(QuotasSuite):
    pass


@pytest.mark.requirement("C4", "A2", "D2", "E9")
class TestWindow(WindowSuite):
    pass


@pytest.mark.requirement("C4")
class TestWhole(StoreBasicsSuite):
    pass
