"""NameCache: the names of a label are read once, and missing names are not queried."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nexusmem import Nexus
from nexusmem.core.records import MemoryKind
from nexusmem.stores.sqlite.connections import SqliteConnection


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the queries that are run."""
    names: list[str] = []
    run, read_each = SqliteConnection.execute_query, SqliteConnection.fetch_each

    def noting(self: SqliteConnection, name: str, *values: Any) -> Any:
        names.append(name)
        return run(self, name, *values)

    def noting_each(self: SqliteConnection, name: str, rows: Any) -> Any:
        names.append(name)
        return read_each(self, name, rows)

    monkeypatch.setattr(SqliteConnection, "execute_query", noting)
    monkeypatch.setattr(SqliteConnection, "fetch_each", noting_each)
    return names


def test_missing_kinds_and_names_are_not_queried(tmp_path: Path, asked: list[str]) -> None:
    with Nexus.open(tmp_path / "memory.db", background=False) as nexus:
        room = nexus.workspace("acme").room("talk", participants=["ada"])
        room.observe("ada", "Ada works at Harbour Ltd.", key="1")
        room.flush()
        memories, grant = nexus._parts.store.memories, room.grant
        del asked[:]

        found = memories.find_by_name(grant, ["ADA"], limit=9)
        assert found
        assert asked.count("memories_by_name") == asked.count("label_names") == 1

        assert memories.find_by_name(grant, ["nobody", "Ada"], limit=9) == found
        assert memories.find_by_name(grant, ["nobody"], limit=9) == []
        assert memories.find_by_name(grant, ["Ada"], kinds=[MemoryKind.LINK], limit=9) == []
        assert memories.find_by_name(grant, [], limit=9) == []
        assert asked.count("memories_by_name") == 2
        assert asked.count("label_names") == 1


def test_new_name_is_seen_after_a_write(tmp_path: Path) -> None:
    with Nexus.open(tmp_path / "memory.db", background=False) as nexus:
        room = nexus.workspace("acme").room("talk", participants=["ada"])
        room.observe("ada", "Ada works at Harbour Ltd.", key="1")
        room.flush()
        memories, grant = nexus._parts.store.memories, room.grant
        assert memories.find_by_name(grant, ["Bea"], limit=9) == []

        room.observe("ada", "Bea works at Harbour Ltd.", key="2")
        room.flush()
        assert memories.find_by_name(grant, ["Bea"], limit=9)
