"""CandidateCache: cost of the first read of a label."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nexusmem.core.scope import Scope
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.samples import ADMIN, add_memory

SMALL, LARGE = Scope.room("small"), Scope.room("large")


def steps(store: SqliteStore, read: Callable[[], object]) -> int:
    """Return the number of SQLite VM steps."""
    taken = 0

    def step() -> None:
        nonlocal taken
        taken += 1

    with store._connections.read_transaction() as connection:
        connection.set_progress_handler(step, 1)
        read()
        connection.set_progress_handler(None, 1)
    return taken


@pytest.mark.requirement("X2")
def test_first_read_does_not_depend_on_workspace_size(tmp_path: Path) -> None:
    def opened(beside: int) -> int:
        store = SqliteStore(tmp_path / f"{beside}.db")
        tea = add_memory(store, "small", scope=SMALL)
        for number in range(beside):
            add_memory(store, f"large {number}", scope=LARGE)
        here = ADMIN.narrow_to([SMALL])
        taken = steps(store, lambda: store.memories.load_candidates(here, [tea.id], ["tea"]))
        store.close()
        return taken

    assert opened(100) == opened(1)
