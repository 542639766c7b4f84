"""Recall with a store that fails during the search: the results so far are still returned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import pytest

from nexusmem import Nexus
from nexusmem.core.errors import StoreUnavailable
from nexusmem.stores.sql.memories import SqlMemories


@pytest.mark.requirement("X3")
def test_recall_without_texts_returns_hits_and_reports_degradation(
    open_nexus: Callable[..., Nexus], monkeypatch: pytest.MonkeyPatch
) -> None:
    room = open_nexus().workspace("acme").room("design", participants=["alice"])
    room.observe("alice", "herons drink tea")

    def fail(*_: Any) -> NoReturn:
        raise StoreUnavailable("gone in the middle of it")

    monkeypatch.setattr(SqlMemories, "load_texts", fail)
    hits = room.recall("who drinks tea?")

    assert [hit.memory.text for hit in hits.hits] == ["herons drink tea"]
    assert hits.degraded == ("wording: gone in the middle of it",)
