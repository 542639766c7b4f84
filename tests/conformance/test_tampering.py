"""Tampering with the ledger is reported by `verify`."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from nexusmem.core.canonical import canonical_json
from nexusmem.core.errors import Corrupt
from nexusmem.core.hash_chain import chain_hash, event_content, make_commitment
from nexusmem.core.ids import WorkspaceId
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.stores.validation import to_event
from nexusmem.testing.samples import ACME, ALICE, IN_ROOM, NOON, OTHER, append_events, make_event

Tamper = Callable[[sqlite3.Connection], object]


def sql(*statements: str) -> Tamper:
    def tamper(file: sqlite3.Connection) -> None:
        for statement in statements:
            assert file.execute(statement).rowcount > 0, statement

    return tamper


def forge_an_edit(file: sqlite3.Connection) -> None:
    """Edit an event and its commitment, but not the later hashes."""
    forged = event_content(to_event(ACME, make_event("3", "I never said that."), NOON))
    (salt,) = file.execute("SELECT salt FROM events WHERE workspace = 1 AND seq = 3").fetchone()
    file.execute(
        "UPDATE events SET content = ?, commitment = ? WHERE workspace = 1 AND seq = 3",
        (forged, make_commitment(salt, forged)),
    )


def forge_an_event(file: sqlite3.Connection) -> None:
    """Add a correctly linked event; only the head stored in the workspace differs."""
    (head,) = file.execute("SELECT chain_head FROM workspaces WHERE workspace = 1").fetchone()
    forged = to_event(ACME, make_event("6", "I owe you money."), NOON)
    promise = make_commitment(b"salt", event_content(forged))
    file.execute(
        "INSERT INTO events (workspace, seq, id, label, at, content, salt, commitment, hash, bytes)"
        " VALUES (1, 6, ?, 1, '2026', ?, ?, ?, ?, 1)",
        (forged.id, event_content(forged), b"salt", promise, chain_hash(head, promise)),
    )


SWAP = [
    "UPDATE events SET seq = -seq WHERE workspace = 1 AND seq IN (2, 3)",
    "UPDATE events SET seq = 5 + seq WHERE workspace = 1 AND seq < 0",
]

MUTATIONS: dict[str, Tamper] = {
    "a word is changed": sql(
        "UPDATE events SET content = replace(content, 'four', 'five')"
        " WHERE workspace = 1 AND seq = 3"
    ),
    "a space is added": sql(
        "UPDATE events SET content = content || ' ' WHERE workspace = 1 AND seq = 3"
    ),
    "the content is no record": sql(
        "UPDATE events SET content = '[]' WHERE workspace = 1 AND seq = 3"
    ),
    "an edit with its commitment": forge_an_edit,
    "an event is deleted": sql("DELETE FROM events WHERE workspace = 1 AND seq = 3"),
    "the first event is deleted": sql("DELETE FROM events WHERE workspace = 1 AND seq = 1"),
    "an event is deleted and the rest moved up": sql(
        "DELETE FROM events WHERE workspace = 1 AND seq = 3",
        "UPDATE events SET seq = seq - 1 WHERE workspace = 1 AND seq = 4",
        "UPDATE events SET seq = seq - 1 WHERE workspace = 1 AND seq = 5",
        "UPDATE workspaces SET event_count = 4 WHERE workspace = 1",
    ),
    "an event is added": forge_an_event,
    "two events change places": sql(*SWAP),
    "the last event is cut off": sql("DELETE FROM events WHERE workspace = 1 AND seq = 5"),
    "the last event is cut off and the length with it": sql(
        "DELETE FROM events WHERE workspace = 1 AND seq = 5",
        "UPDATE workspaces SET event_count = 4 WHERE workspace = 1",
    ),
    "the numbers are others": sql(
        "UPDATE events SET seq = seq + 100 WHERE workspace = 1",
        "UPDATE workspaces SET event_count = 105 WHERE workspace = 1",
    ),
    "the length is another": sql("UPDATE workspaces SET event_count = 7 WHERE workspace = 1"),
    "the head is another": sql(
        "UPDATE workspaces SET chain_head = zeroblob(32) WHERE workspace = 1"
    ),
    "the salt is another": sql(
        "UPDATE events SET salt = zeroblob(16) WHERE workspace = 1 AND seq = 3"
    ),
    "a hash is another": sql(
        "UPDATE events SET hash = zeroblob(32) WHERE workspace = 1 AND seq = 3"
    ),
    "an event is emptied": sql(
        "UPDATE events SET content = NULL, salt = NULL WHERE workspace = 1 AND seq = 3"
    ),
    "an event is emptied as forgetting does": sql(
        "UPDATE events SET label = NULL, key = NULL, at = NULL, content = NULL, salt = NULL,"
        " bytes = 0 WHERE workspace = 1 AND seq = 3"
    ),
    "the key is another": sql("UPDATE events SET key = 'x' WHERE workspace = 1 AND seq = 3"),
    "the time is another": sql(
        "UPDATE events SET at = '2031-01-01T00:00:00.000000Z' WHERE workspace = 1 AND seq = 3"
    ),
    "the id is another": sql("UPDATE events SET id = 'x' WHERE workspace = 1 AND seq = 3"),
    "an event lies in another place": sql(
        "INSERT INTO labels (workspace, label, scopes, scope_count) VALUES (1, 99, '[\"x\"]', 1)",
        "UPDATE events SET label = 99 WHERE workspace = 1 AND seq = 3",
    ),
    "an event lies nowhere": sql("UPDATE events SET label = NULL WHERE workspace = 1 AND seq = 3"),
    "everything is gone": sql("DELETE FROM events WHERE workspace = 1"),
    "an event comes from another workspace": sql(
        "DELETE FROM events WHERE workspace = 1 AND seq = 3",
        "UPDATE events SET workspace = 1, seq = 3 WHERE workspace = 2",
    ),
}


@pytest.mark.requirement("X3")
@pytest.mark.parametrize("mutation", MUTATIONS)
def test_tampering_is_detected(mutation: str, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(SqliteStore(path)) as store:
        for number in range(1, 6):
            append_events(store, make_event(str(number)))
        append_events(store, make_event("theirs"), workspace=OTHER)
        assert store.ledger.verify(ACME).is_intact

    with closing(sqlite3.connect(path)) as file, file:
        MUTATIONS[mutation](file)

    with closing(SqliteStore(path)) as store:
        report = store.ledger.verify(ACME)
        assert not report.is_intact
        assert report.problems


INTO_THE_ROOM = sql(
    "UPDATE events SET label = (SELECT label FROM events WHERE seq = 1) WHERE seq = 2"
)


@pytest.mark.requirement("X1", "X3")
def test_event_moved_to_another_scope_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(SqliteStore(path)) as store:
        append_events(store, make_event("1"), make_event("2", scope=ALICE.home))
    with closing(sqlite3.connect(path)) as file, file:
        INTO_THE_ROOM(file)

    with closing(SqliteStore(path)) as store:
        with pytest.raises(Corrupt, match="nexus verify"):
            store.ledger.find(IN_ROOM.grant())
        problems = store.ledger.verify(ACME).problems

    assert problems == ("event 2 does not match its indexed columns",)


def test_report_names_the_tampered_event(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(SqliteStore(path)) as store:
        append_events(store, *(make_event(str(number)) for number in range(1, 6)))
    with closing(sqlite3.connect(path)) as file, file:
        MUTATIONS["a word is changed"](file)

    with closing(SqliteStore(path)) as store:
        assert store.ledger.verify(WorkspaceId("acme")).problems == ("event 3 was changed",)


def test_commitment_covers_canonical_json_only() -> None:
    whole = to_event(ACME, make_event("1"), NOON)

    assert canonical_json({"b": 1, "a": 2}) == '{"a":2,"b":1}'
    assert event_content(whole) == event_content(to_event(OTHER, make_event("1"), NOON))
