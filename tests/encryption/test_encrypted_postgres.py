"""Encrypted Postgres store: results, plaintext in tables, keys."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.encryption.conftest import KEY
from tests.servers.postgres import Database

from nexusmem import Nexus
from nexusmem.cli import nexus as nexus_command
from nexusmem.config.settings import AuditSettings, EmbeddingSettings, Settings, StoreSettings
from nexusmem.core.access import administrator_grant
from nexusmem.core.errors import ConfigError, Corrupt
from nexusmem.core.ids import WorkspaceId, digest
from nexusmem.core.records import Tombstone
from nexusmem.stores.postgres.encryption import CONTENT_COLUMNS, TEXT_COLUMNS
from nexusmem.stores.postgres.store import PostgresStore
from nexusmem.stores.query_files import load_queries
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.reference_store.store import ReferenceStore
from nexusmem.transfer.migrate import migrate
from nexusmem.wiring.stores import make_store

ACME = WorkspaceId("acme")
SECRETS = ("otter", "Ferdinand", "watermill", "Zebedee", "hollyhock")
TABLES = (
    "events",
    "memories",
    "window_items",
    "postings",
    "names",
    "conversations",
    "keys",
    "audit",
)


@pytest.fixture
def store(empty: Database) -> Iterator[PostgresStore]:
    store = PostgresStore(empty.url, key=KEY)
    yield store
    store.close()


def opened(store: Any) -> Nexus:
    settings = Settings(
        embeddings=EmbeddingSettings(provider="hashing"), audit=AuditSettings(level="verbose")
    )
    return Nexus.open(store, settings=settings, background=False)


def talk(nexus: Nexus) -> None:
    workspace = nexus.workspace("acme")
    room = workspace.room("design", participants=["alice", "bob"])
    room.observe("alice", "My otter is called Ferdinand and lives in the watermill.", key="otter")
    room.observe("bob", "We decided to plant hollyhock with Zebedee.", thread="Zebedee's garden")
    room.set_note("plan", {"who": "Zebedee", "what": "hollyhock"})
    room.recall("Where does Ferdinand the otter live?")
    assert workspace.audit(action="recall")
    workspace.flush()


def everything_in(database: Database) -> str:
    rows = [database.run(f"SELECT t::text FROM nexus.{table} AS t") for table in TABLES]
    return json.dumps(rows, default=str)


@pytest.mark.requirement("E33")
def test_tables_contain_no_plaintext(empty: Database, store: PostgresStore) -> None:
    talk(opened(store))

    kept = everything_in(empty)

    assert len(kept) > 5_000
    assert [word for word in SECRETS if word.lower() in kept.lower()] == []
    assert len(empty.run("SELECT 1 FROM nexus.keys")) >= 2


def test_unencrypted_tables_contain_plaintext(empty: Database) -> None:
    """Shows that the test above can fail."""
    store = PostgresStore(empty.url)
    talk(opened(store))

    kept = everything_in(empty)

    assert [word for word in SECRETS if word.lower() not in kept.lower()] == []
    store.close()


@pytest.mark.requirement("E33", "X10")
def test_results_equal_unencrypted_store(store: PostgresStore) -> None:
    plain = ReferenceStore()
    talk(opened(plain))
    migrate(plain, store)

    for question in ("What is the otter called?", "What did we decide?", "Zebedee"):
        asked = [
            opened(each).workspace("acme").room("design", participants=["alice", "bob"])
            for each in (plain, store)
        ]
        hits = [[(h.memory.id, round(h.score, 6)) for h in r.recall(question)] for r in asked]
        assert hits[0] == hits[1]
        assert hits[0]
    grant = administrator_grant(ACME)
    assert store.memories.find(grant) == plain.memories.find(grant)
    assert store.ledger.verify(ACME) == plain.ledger.verify(ACME)
    assert store.queue.list_pending(grant, limit=9) == plain.queue.list_pending(grant, limit=9)


@pytest.mark.requirement("E33")
def test_missing_or_wrong_key_is_rejected(empty: Database, store: PostgresStore) -> None:
    talk(opened(store))
    before = everything_in(empty)

    with pytest.raises(ConfigError, match="is encrypted: set NEXUS_KEY"):
        PostgresStore(empty.url)
    with pytest.raises(ConfigError, match="the key does not match this memory: check NEXUS_KEY"):
        PostgresStore(empty.url, key="another key that is long enough")

    assert everything_in(empty) == before
    again = make_store(StoreSettings(url=empty.url, key=KEY))
    assert len(again.ledger.find(administrator_grant(ACME))) == 2
    again.close()


def test_key_for_unencrypted_database_is_rejected(empty: Database) -> None:
    plain = PostgresStore(empty.url)
    talk(opened(plain))
    plain.close()

    with pytest.raises(ConfigError, match="was written without a key"):
        PostgresStore(empty.url, key=KEY)
    assert empty.run("SELECT 1 FROM nexus.key_vault") == []


@pytest.mark.requirement("E33")
def test_erasing_a_person_destroys_the_key(empty: Database, store: PostgresStore) -> None:
    nexus = opened(store)
    talk(nexus)
    backup = empty.run("SELECT id, content FROM nexus.events ORDER BY seq")
    keys = len(empty.run("SELECT 1 FROM nexus.keys"))

    report = nexus.workspace("acme").forget(user="alice")

    assert report.erased.keys == 1
    assert len(empty.run("SELECT 1 FROM nexus.keys")) == keys - 1
    bob = nexus.workspace("acme").room("design", participants=["bob"]).recall("hollyhock")
    assert bob
    # A copied row that is inserted again is unreadable.
    for id, content in backup:
        empty.run("UPDATE nexus.events SET content = %s WHERE id = %s", content, id)
    with pytest.raises(Corrupt, match="was destroyed"):
        store.ledger.verify(ACME)


def test_erasing_either_person_erases_shared_record(empty: Database, store: PostgresStore) -> None:
    nexus = opened(store)
    talk(nexus)
    sealed = empty.run("SELECT content::json ->> 'sealed' FROM nexus.memories")
    owners = dict(empty.run("SELECT id, owner FROM nexus.keys"))

    used = {tuple(sorted(each.split(".")[1].split(","))) for (each,) in sealed}

    assert {id for ids in used for id in ids} <= owners.keys()
    assert all(ids != ("",) for ids in used)


def test_returning_person_gets_new_key(empty: Database, store: PostgresStore) -> None:
    nexus = opened(store)
    talk(nexus)
    before = {id for (id,) in empty.run("SELECT id FROM nexus.keys")}
    nexus.workspace("acme").forget(user="alice")

    room = nexus.workspace("acme").room("design", participants=["alice"])
    room.observe("alice", "I am back, with a badger.")

    after = {id for (id,) in empty.run("SELECT id FROM nexus.keys")}
    assert len(after - before) == 1
    assert room.recall("badger")


def test_key_in_use_is_not_destroyed(empty: Database, store: PostgresStore) -> None:
    nexus = opened(store)
    talk(nexus)

    erased = store.eraser.erase(ACME, events=[], memories=[], tombstones=[stone("alice")])

    assert erased.keys == 0
    assert len(store.ledger.find(administrator_grant(ACME))) == 2


def stone(user: str) -> Tombstone:
    return Tombstone(kind="user", digest=digest("user", user), at=datetime.now(UTC))


def test_every_query_with_content_is_decrypted() -> None:
    """A new query without an entry in CONTENT_COLUMNS would return ciphertext."""
    queries = load_queries("nexusmem.stores.postgres")
    reading = set()
    for name, text in queries.items():
        columns = re.match(r"(?:--[^\n]*\n)*(?:WITH .*?\)\s*)?SELECT(.*?)FROM", text, re.DOTALL)
        if columns and re.search(r"\bcontent\b", columns[1]):
            reading.add(name)
    reading |= {"derived_memories"}  # after WITH RECURSIVE

    assert len(reading) > 20
    assert reading - {"list_pending"} == CONTENT_COLUMNS.keys()
    assert {"list_pending", "new_candidate_rows", "event_keys", "chain"} == TEXT_COLUMNS.keys()


@pytest.mark.requirement("E33", "E31")
def test_migrate_from_file_to_encrypted_database(
    empty: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = SqliteStore(tmp_path / "plain.db")
    talk(opened(plain))
    plain.close()
    (tmp_path / "old.yaml").write_text(f"memory: {{store: {{url: {tmp_path / 'plain.db'}}}}}")
    sealed = f"memory: {{store: {{url: '{empty.url}', key: '${{THE_KEY}}'}}}}"
    (tmp_path / "new.yaml").write_text(sealed)
    monkeypatch.setenv("THE_KEY", KEY)

    words = ["migrate", str(tmp_path / "old.yaml"), str(tmp_path / "new.yaml"), "--json"]
    moved = CliRunner().invoke(nexus_command, words)

    assert moved.exit_code == 0, moved.output
    assert json.loads(moved.stdout)["records"]["events"] == 2
    assert [word for word in SECRETS if word.lower() in everything_in(empty).lower()] == []
    words = ["doctor", "--config", str(tmp_path / "new.yaml"), "--json"]
    monkeypatch.delenv("NEXUS_STORE", raising=False)
    checks = CliRunner().invoke(nexus_command, words).stdout.splitlines()
    told = {check["name"]: check["detail"] for check in map(json.loads, checks)}
    assert told["encrypted"] == "contents, with one key per person"
