"""Names that are not there are not looked for; those that are, are found at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nexus import Nexus, Place
from nexus.core.records import MemoryKind
from nexus.stores.sql import naming
from nexus.stores.sqlite.connections import Connection


def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queries by name that are run from now on."""
    names: list[str] = []
    run = Connection.run

    def noted(self: Any, name: str, values: Any = ()) -> Any:
        names.append(name)
        return run(self, name, values)

    monkeypatch.setattr(Connection, "run", noted)
    return names


def room(nexus: Nexus, name: str = "talk") -> Place:
    return nexus.workspace("acme").room(name, participants=["ada", "bo"])


def facts(place: Place, *names: str) -> list[str]:
    place.flush()
    found = place._parts.store.memories.named(
        place.grant, list(names), kinds=[MemoryKind.FACT], limit=9
    )
    return [memory.text for memory in found]


def test_only_what_may_be_there_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Nexus.open(tmp_path / "memory.db", background=False) as nexus:
        place = room(nexus)
        place.add_fact("Ada", "WORKS_AT", "Helio")
        place.flush()
        queries = asked(monkeypatch)

        assert facts(place, "nobody", "nothing") == []
        assert "named" not in queries
        assert len(facts(place, "nobody", "ADA")) == 1
        assert "named" in queries


def test_what_is_told_and_taken_back_is_seen_at_once(tmp_path: Path) -> None:
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
        told = here._parts.store.memories.named(here.grant, ["bo"], limit=9)
        here._parts.store.memories.delete(here.viewer.workspace, [each.id for each in told])
        assert facts(there, "bo") == []
        assert len(facts(there, "ada")) == 1


def test_names_of_another_room_are_nobodys_here(tmp_path: Path) -> None:
    with Nexus.open(tmp_path / "memory.db", background=False) as nexus:
        room(nexus, "money").add_fact("Ada", "EARNS", "a lot")
        assert facts(room(nexus), "ada") == []
        room(nexus).add_fact("Bo", "EARNS", "little")
        assert facts(room(nexus), "ada") == []
        assert len(facts(room(nexus, "money"), "ada")) == 1


def test_of_too_many_names_all_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(naming, "MOST_NAMES", 1)
    with Nexus.open(tmp_path / "memory.db", background=False) as nexus:
        place = room(nexus)
        place.add_fact("Ada", "WORKS_AT", "Helio")
        place.flush()
        queries = asked(monkeypatch)

        assert facts(place, "nobody") == []
        assert "named" in queries
        assert len(facts(place, "helio")) == 1
