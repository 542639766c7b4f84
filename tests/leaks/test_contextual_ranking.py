"""Leak test of the contextual ranking, which reads more than the rank fusion."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nexusmem.config.settings import Settings
from nexusmem.recall.query import SearchSettings
from nexusmem.testing.leaks import operations
from nexusmem.testing.leaks.state_machine import run_leaktest
from nexusmem.testing.reference_store.store import ReferenceStore


@pytest.mark.slow
@pytest.mark.requirement("X2")
def test_contextual_ranking_has_no_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    contextual = Settings(search=SearchSettings(ranking="contextual"))
    monkeypatch.setattr(operations, "Settings", lambda **given: replace(contextual, **given))

    report = run_leaktest(5, ReferenceStore)

    assert report.is_clean
    assert report.observations > 0
