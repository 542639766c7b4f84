"""Which names a label has is known after one look, and what cannot be there is not looked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nexus import Nexus
from nexus.core.records import MemoryKind
from nexus.stores.sqlite.connections import Connection


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queries that are run."""
    names: list[str] = []
    run, read_each = Connection.run, Connection.read_each

    def noting(self: Connection, name: str, *values: Any) -> Any:
        names.append(name)
        return run(self, name, *values)

    def noting_each(self: Connection, name: str, rows: Any) -> Any:
        names.append(name)
        return read_each(self, name, rows)

    monkeypatch.setattr(Connection, "run", noting)
    monkeypatch.setattr(Connection, "read_each", noting_each)
    return names


def test_kinds_and_names_that_are_nowhere_are_not_looked_for(
    tmp_path: Path, asked: list[str]
) -> None:
    with Nexus.open(tmp_path / "memory.db", background=False) as nexus:
        room = nexus.workspace("acme").room("talk", participants=["ada"])
        room.observe("ada", "Ada works at Harbour Ltd.", key="1")
        room.flush()
        memories, grant = nexus._parts.store.memories, room.grant
        del asked[:]

        found = memories.named(grant, ["ADA"], limit=9)
        assert found
        assert asked.count("named") == asked.count("names_of_label") == 1

        assert memories.named(grant, ["nobody", "Ada"], limit=9) == found
        assert memories.named(grant, ["nobody"], limit=9) == []
        assert memories.named(grant, ["Ada"], kinds=[MemoryKind.LINK], limit=9) == []
        assert memories.named(grant, [], limit=9) == []
        assert asked.count("named") == 2
        assert asked.count("names_of_label") == 1


def test_what_is_told_later_is_known_then(tmp_path: Path) -> None:
    with Nexus.open(tmp_path / "memory.db", background=False) as nexus:
        room = nexus.workspace("acme").room("talk", participants=["ada"])
        room.observe("ada", "Ada works at Harbour Ltd.", key="1")
        room.flush()
        memories, grant = nexus._parts.store.memories, room.grant
        assert memories.named(grant, ["Bea"], limit=9) == []

        room.observe("ada", "Bea works at Harbour Ltd.", key="2")
        room.flush()
        assert memories.named(grant, ["Bea"], limit=9)
