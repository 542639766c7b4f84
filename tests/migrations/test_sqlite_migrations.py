"""Migration of SQLite files: a dump of every schema version opens with all records."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from tests.conftest import Open
from tests.migrations.make_dump import dump

from nexusmem import Corrupt, NexusError, Stage, StoreUnavailable
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.stores.sqlite import store
from nexusmem.stores.sqlite.store import SqliteStore

HERE = Path(__file__).parent
DUMPS = sorted(HERE.glob("written_by_*.sql"))
ADVICE = "the schema changed; before the release: python -m tests.migrations.make_dump"


def load(text: str, file: Path) -> Path:
    connection = sqlite3.connect(file)
    connection.executescript(text)
    connection.close()
    return file


def test_every_schema_version_has_a_dump() -> None:
    assert [path.stem[-4:] for path in DUMPS] == [f"{v:04}" for v in store.migrations()], ADVICE


@pytest.mark.requirement("E31")
@pytest.mark.parametrize("text", DUMPS, ids=lambda path: path.stem)
def test_dump_of_older_version_opens(text: Path, tmp_path: Path, open_nexus: Open) -> None:
    file = load(text.read_text(encoding="utf-8"), tmp_path / "memory.db")

    nexus = open_nexus(file, embedder=HashingEmbedder(8))
    acme = nexus.workspace("acme")
    room = acme.room("design", agent="scribe", participants=["alice", "bob"], project="apollo")

    assert nexus.workspaces() == ["acme", "globex"]
    assert acme.verify().is_intact, ADVICE
    assert (acme.verify().events, acme.verify().erased) == (9, 1)
    assert room.get_value("user:alice", "expiry") == {"minutes": 30}
    assert [memory.fact.object for memory in room.facts("Tyler")] == ["Anthropic"]
    keys = [key for hit in room.recall("postgresql heron", limit=50) for key in hit.event_keys]
    assert {"choice", "noted", "guide"} <= set(keys)
    assert not {"raise", "gone"} & set(keys)
    assert room.recent(1)[0].key == "waiting"
    again = room.observe("alice", "Nobody has learned this yet.", key="waiting")
    assert again.duplicate
    assert nexus.wait(again).stage is Stage.DERIVED
    assert acme.dm("alice", agent="scribe").recall("raise")[0].event_keys == ("raise",)
    before = acme.stats()
    assert room.observe("alice", "Something new in an old file.", key="new").duplicate is False
    assert acme.stats()["events"] == before["events"] + 1
    assert acme.forget(user="alice").residue == 0


def test_newest_dump_has_the_current_schema() -> None:
    """The newest dump is the reference file of the current schema version."""
    newest = DUMPS[-1].read_text(encoding="utf-8")

    assert created(newest) == created(dump()), ADVICE


def created(text: str) -> set[str]:
    connection = sqlite3.connect(":memory:")
    connection.executescript(text)
    rows = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    connection.close()
    return {sql for (sql,) in rows}


@pytest.mark.requirement("E31")
def test_reopening_applies_no_migration(tmp_path: Path, open_nexus: Open) -> None:
    file = tmp_path / "memory.db"

    versions = []
    for _ in range(3):
        open_nexus(file).close()
        connection = sqlite3.connect(file)
        versions.append(connection.execute("SELECT * FROM schema_version").fetchall())
        connection.close()

    assert versions[0] == versions[1] == versions[2]
    assert [row[0] for row in versions[0]] == list(store.migrations())


@pytest.mark.requirement("E31")
def test_newer_schema_is_rejected_unchanged(tmp_path: Path, open_nexus: Open) -> None:
    file = tmp_path / "memory.db"
    open_nexus(file).close()
    connection = sqlite3.connect(file)
    connection.execute("INSERT INTO schema_version VALUES (9999, 'from the future', 'then')")
    connection.commit()
    connection.close()
    before = file.read_bytes()

    with pytest.raises(StoreUnavailable, match="newer Nexus"):
        open_nexus(file)

    assert file.read_bytes() == before


def test_foreign_database_is_rejected_unchanged(tmp_path: Path, open_nexus: Open) -> None:
    file = load(
        "CREATE TABLE songs (title TEXT); INSERT INTO songs VALUES ('x');", tmp_path / "a.db"
    )

    with pytest.raises(StoreUnavailable, match="another program"):
        open_nexus(file)

    connection = sqlite3.connect(file)
    assert [row[0] for row in connection.execute("SELECT name FROM sqlite_master")] == ["songs"]
    connection.close()


@pytest.mark.parametrize(
    "content", [b"not a database at all, but long enough" * 100, b"\xff" * 9000]
)
def test_garbage_is_rejected_unchanged(tmp_path: Path, open_nexus: Open, content: bytes) -> None:
    file = tmp_path / "memory.db"
    file.write_bytes(content)

    with pytest.raises(Corrupt):
        open_nexus(file)

    assert file.read_bytes() == content


@pytest.mark.requirement("E31")
def test_migration_is_applied_once_and_recorded(tmp_path: Path, monkeypatch) -> None:
    file = tmp_path / "memory.db"
    SqliteStore(file).close()
    steps = store.migrations()
    added = (max(steps) + 1, ("add_mood", "ALTER TABLE memories ADD COLUMN mood TEXT;\n"))
    monkeypatch.setattr(store, "migrations", lambda: {**steps, added[0]: added[1]})

    for _ in range(2):
        SqliteStore(file).close()

    connection = sqlite3.connect(file)
    columns = [row[1] for row in connection.execute("PRAGMA table_info(memories)")]
    rows = connection.execute("SELECT version, description FROM schema_version").fetchall()
    connection.close()
    assert columns.count("mood") == 1
    assert rows[-1] == (added[0], "add_mood")


@pytest.mark.requirement("E31")
def test_failed_migration_is_rolled_back(tmp_path: Path, monkeypatch) -> None:
    file = tmp_path / "memory.db"
    SqliteStore(file).close()
    steps = store.migrations()
    broken = "ALTER TABLE memories ADD COLUMN mood TEXT;\nALTER TABLE nothing ADD COLUMN x TEXT;\n"
    monkeypatch.setattr(store, "migrations", lambda: {**steps, max(steps) + 1: ("broken", broken)})

    with pytest.raises(NexusError):
        SqliteStore(file)

    monkeypatch.undo()
    SqliteStore(file).close()
    connection = sqlite3.connect(file)
    assert "mood" not in [row[1] for row in connection.execute("PRAGMA table_info(memories)")]
    connection.close()
