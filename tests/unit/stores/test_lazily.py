"""What can be made again does not wait for the disk; what was acknowledged always does."""

from __future__ import annotations

from pathlib import Path

import pytest

from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.samples import ACME, ADMIN, event, keep, tell

FULL, NORMAL = 2, 1  # SQLite's own numbers


@pytest.mark.requirement("X3")
def test_only_marks_and_uses_do_not_wait_for_the_disk(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.db")
    tea = keep(store, "1")

    def waits() -> int:
        (level,) = store._connections._writer.execute("PRAGMA synchronous").fetchone()
        return int(level)

    levels = [waits()]
    store.memories.mark(ACME, [tea.id], archived=True)
    levels.append(waits())
    tell(store, event("2"))
    levels.append(waits())

    assert levels == [FULL, NORMAL, FULL]
    assert store.memories.get(ADMIN, [tea.id])[0].archived
    store.close()
