"""Records move between stores as they are."""

from __future__ import annotations

import pytest

from nexus.core.protocols import Store
from nexus.stores.inprocess import InProcessStore
from nexus.testing.suites.moving import MovingSuite


@pytest.mark.requirement("X10")
class TestInProcess(MovingSuite):
    @pytest.fixture
    def store(self) -> Store:
        return InProcessStore()
