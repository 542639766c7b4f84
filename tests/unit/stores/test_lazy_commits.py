"""Lazy commits: only data that can be derived again is written without fsync."""

from __future__ import annotations

from pathlib import Path

import pytest

from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.samples import ACME, ADMIN, add_memory, append_events, make_event

FULL, NORMAL = 2, 1  # values of PRAGMA synchronous


@pytest.mark.requirement("X3")
def test_only_state_changes_commit_without_fsync(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.db")
    tea = add_memory(store, "1")

    def waits() -> int:
        (level,) = store._connections._writer.execute("PRAGMA synchronous").fetchone()
        return int(level)

    levels = [waits()]
    store.memories.set_state(ACME, [tea.id], archived=True)
    levels.append(waits())
    append_events(store, make_event("2"))
    levels.append(waits())

    assert levels == [FULL, NORMAL, FULL]
    assert store.memories.get(ADMIN, [tea.id])[0].archived
    store.close()
