"""What is read of a label that nobody has asked about yet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nexus.core.scope import Scope
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.samples import ADMIN, keep

SMALL, LARGE = Scope.room("small"), Scope.room("large")


def steps(store: SqliteStore, read: Callable[[], object]) -> int:
    """How many of its machine's steps SQLite takes for this."""
    taken = 0

    def step() -> None:
        nonlocal taken
        taken += 1

    with store._connections.reading() as connection:
        connection.set_progress_handler(step, 1)
        read()
        connection.set_progress_handler(None, 1)
    return taken


@pytest.mark.requirement("X2")
def test_a_place_is_opened_as_fast_in_a_large_workspace(tmp_path: Path) -> None:
    def opened(beside: int) -> int:
        store = SqliteStore(tmp_path / f"{beside}.db")
        tea = keep(store, "small", scope=SMALL)
        for number in range(beside):
            keep(store, f"large {number}", scope=LARGE)
        here = ADMIN.within([SMALL])
        taken = steps(store, lambda: store.memories.describe(here, [tea.id], ["tea"]))
        store.close()
        return taken

    assert opened(100) == opened(1)
