"""NameIndex: lookup by name skips missing names and sees every write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nexusmem import Nexus, Place
from nexusmem.core.records import MemoryKind
from nexusmem.stores.sql.caches import label_cache
from nexusmem.stores.sqlite.connections import SqliteConnection


def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the names of the queries that are run."""
    names: list[str] = []
    run = SqliteConnection.execute_query

    def noted(self: Any, name: str, values: Any = ()) -> Any:
        names.append(name)
        return run(self, name, values)

    monkeypatch.setattr(SqliteConnection, "execute_query", noted)
    return names


def room(nexus: Nexus, name: str = "talk") -> Place:
    return nexus.workspace("acme").room(name, participants=["ada", "bo"])


def facts(place: Place, *names: str) -> list[str]:
    place.flush()
    found = place._parts.store.memories.find_by_name(
        place.grant, list(names), kinds=[MemoryKind.FACT], limit=9
    )
    return [memory.text for memory in found]


def test_only_existing_names_are_queried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Nexus.open(tmp_path / "memory.db", background=False) as nexus:
        place = room(nexus)
        place.add_fact("Ada", "WORKS_AT", "Helio")
        place.flush()
        queries = asked(monkeypatch)

        assert facts(place, "nobody", "nothing") == []
        assert "memories_by_name" not in queries
        assert len(facts(place, "nobody", "ADA")) == 1
        assert "memories_by_name" in queries


def test_added_and_deleted_names_are_seen_immediately(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with (
        Nexus.open(path, background=False) as one,
        Nexus.open(path, background=False) as other,
    ):
        here, there = room(one), room(other)
        here.add_fact("Ada", "WORKS_AT", "Helio")
        here.flush()
        assert facts(there, "bo") == []
        here.add_fact("Bo", "WORKS_AT", "Quarry")
        assert len(facts(there, "bo")) == 1
        told = here._parts.store.memories.find_by_name(here.grant, ["bo"], limit=9)
        here._parts.store.memories.delete(here.viewer.workspace, [each.id for each in told])
        assert facts(there, "bo") == []
        assert len(facts(there, "ada")) == 1


def test_names_of_another_room_are_not_found(tmp_path: Path) -> None:
    with Nexus.open(tmp_path / "memory.db", background=False) as nexus:
        room(nexus, "money").add_fact("Ada", "EARNS", "a lot")
        assert facts(room(nexus), "ada") == []
        room(nexus).add_fact("Bo", "EARNS", "little")
        assert facts(room(nexus), "ada") == []
        assert len(facts(room(nexus, "money"), "ada")) == 1


def test_too_many_names_are_queried_without_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(label_cache, "MAX_CACHED_NAMES", 1)
    with Nexus.open(tmp_path / "memory.db", background=False) as nexus:
        place = room(nexus)
        place.add_fact("Ada", "WORKS_AT", "Helio")
        place.flush()
        queries = asked(monkeypatch)

        assert facts(place, "nobody") == []
        assert "memories_by_name" in queries
        assert len(facts(place, "helio")) == 1
