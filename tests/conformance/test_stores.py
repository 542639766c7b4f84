"""Every store keeps every contract."""

from __future__ import annotations

import pytest

from nexus.testing.suites.access import AccessSuite
from nexus.testing.suites.accounts import AccountsSuite
from nexus.testing.suites.audit import AuditSuite
from nexus.testing.suites.eraser import EraserSuite
from nexus.testing.suites.graph import GraphSuite
from nexus.testing.suites.jobs import JobsSuite
from nexus.testing.suites.labels import LabelSuite
from nexus.testing.suites.ledger import LedgerSuite
from nexus.testing.suites.memories import MemoriesSuite
from nexus.testing.suites.queue import BacklogSuite, QueueSuite
from nexus.testing.suites.quotas import QuotasSuite
from nexus.testing.suites.shelves import ShelvesSuite
from nexus.testing.suites.uses import UsesSuite
from nexus.testing.suites.vectors import VectorsSuite
from nexus.testing.suites.whole import WholeSuite
from nexus.testing.suites.window import WindowSuite


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
class TestShelves(ShelvesSuite):
    pass


@pytest.mark.requirement("C4", "X6")
class TestEraser(EraserSuite):
    pass


@pytest.mark.requirement("C4", "E5", "X2")
class TestGraph(GraphSuite):
    pass


@pytest.mark.requirement("X1", "X2")
class TestLabels(LabelSuite):
    pass


@pytest.mark.requirement("A10", "A11", "A12", "D21")
class TestAccess(AccessSuite):
    pass


@pytest.mark.requirement("C4")
class TestAccounts(AccountsSuite):
    pass


@pytest.mark.requirement("C4", "E23")
class TestUses(UsesSuite):
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
class TestWhole(WholeSuite):
    pass
