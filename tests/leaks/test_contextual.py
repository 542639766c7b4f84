"""The contextual ranking reads more than the fused one; it is hunted for leaks as well."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nexus.config import Settings
from nexus.recall.query import Search
from nexus.stores.inprocess import InProcessStore
from nexus.testing import operations
from nexus.testing.leaks import run_leaktest


@pytest.mark.slow
@pytest.mark.requirement("X2")
def test_the_contextual_ranking_shows_nothing_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    contextual = Settings(search=Search(ranking="contextual"))
    monkeypatch.setattr(operations, "Settings", lambda **given: replace(contextual, **given))

    report = run_leaktest(5, InProcessStore)

    assert report.clean
    assert report.observations > 0
