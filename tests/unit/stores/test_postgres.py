"""Postgres store: roles, row-level security, lost commits, group commit, large labels."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np
import psycopg
import pytest
from tests.servers.databases import EmptiedStore
from tests.servers.postgres import Database, Postgres

from nexusmem.config.settings import StoreSettings
from nexusmem.core.access import administrator_grant
from nexusmem.core.errors import StoreUnavailable
from nexusmem.core.filters import Condition, Op
from nexusmem.core.ids import WorkspaceId, digest
from nexusmem.core.records import Draft, EmbeddingProfile, MemoryKind, ModelCost, NewEvent
from nexusmem.core.scope import parse_scope
from nexusmem.stores.postgres import connections
from nexusmem.stores.postgres import store as postgres_store
from nexusmem.stores.postgres.connections import COMMIT, with_settings
from nexusmem.stores.postgres.store import PostgresStore
from nexusmem.stores.postgres.vectors import PostgresVectors
from nexusmem.wiring.stores import make_store

ACME, GLOBEX = WorkspaceId("acme"), WorkspaceId("globex")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ROOM = parse_scope("room:general")


def said(key: str, text: str = "tea is served") -> NewEvent:
    return NewEvent(scope=ROOM, speaker="user:ann", text=text, at=NOON, key=key)


@pytest.fixture
def store(postgres_server: Postgres) -> Iterator[EmptiedStore]:
    store = EmptiedStore(postgres_server)
    yield store
    store.close()


# Row-level security


def as_application(store: EmptiedStore) -> psycopg.Connection[Any]:
    """Return a connection like the store's, for queries without conditions."""
    options = with_settings(store.database.url, {}, {"search_path": "nexus", "role": "nexus_app"})
    return psycopg.connect(options, autocommit=True)


TENANTS = (
    "workspaces commits labels label_scopes events outbox jobs memories conversations links names"
    " postings vectors tombstones model_costs window_items"
).split()


def seen(connection: psycopg.Connection[Any]) -> set[str]:
    """Return the tables with rows visible to this transaction."""
    shown = set()
    for table in TENANTS:
        (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone() or (0,)
        if count:
            shown.add(table)
    return shown


@pytest.fixture
def told(store: EmptiedStore) -> EmptiedStore:
    for workspace in (ACME, GLOBEX):
        store.ledger.append(workspace, [said("1")], recorded_at=NOON)
    return store


@pytest.mark.requirement("A12", "X2")
def test_unbound_transaction_reads_nothing(told: EmptiedStore) -> None:
    with as_application(told) as connection:
        assert seen(connection) == set()
        connection.execute("BEGIN; SELECT * FROM find_workspaces(ARRAY['acme'])")
        assert "events" in seen(connection)
        connection.execute("ROLLBACK")
        assert seen(connection) == set()  # the setting is empty after the transaction


@pytest.mark.requirement("A12", "X2")
def test_bound_transaction_cannot_read_or_write_other_workspaces(told: EmptiedStore) -> None:
    with as_application(told) as connection, connection.transaction():
        connection.execute("SELECT * FROM find_workspaces(ARRAY['acme'])")

        names = connection.execute("SELECT name FROM workspaces").fetchall()

        assert names == [("acme",)]
        assert connection.execute("SELECT count(*) FROM events").fetchone() == (1,)
        assert connection.execute("DELETE FROM outbox").rowcount == 1
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            connection.execute("INSERT INTO model_costs VALUES (-1, now(), 'x', 'x', 1, 1, 1, 1)")


@pytest.mark.requirement("A12", "X2")
def test_reader_sees_only_labels_of_its_grant(told: EmptiedStore) -> None:
    secret = NewEvent(
        scope=parse_scope("dm:bob:scribe"), speaker="user:bob", text="hush", at=NOON, key="2"
    )
    told.ledger.append(ACME, [secret], recorded_at=NOON)
    with as_application(told) as connection, connection.transaction():
        connection.execute("SELECT * FROM read_as('acme', %s)", ([digest("scope", str(ROOM))],))

        contents = connection.execute("SELECT content FROM events").fetchall()
        labels = connection.execute("SELECT count(*) FROM labels").fetchone()

    assert len(contents) == 1
    assert "hush" not in contents[0][0]
    assert labels == (1,)


@pytest.mark.requirement("A12", "X2")
def test_worker_sees_only_queue_and_workspace_names(told: EmptiedStore) -> None:
    with as_application(told) as connection, connection.transaction():
        connection.execute("SELECT bind_worker()")

        assert seen(connection) == {"workspaces", "outbox"}


# Privileges


@pytest.mark.requirement("E31")
def test_application_role_is_sufficient(told: EmptiedStore) -> None:
    database = told.database
    database.run("GRANT nexus_app TO stranger")

    other = PostgresStore(database.url_of("stranger"))

    assert other.list_workspaces() == [ACME, GLOBEX]
    other.ledger.append(ACME, [said("2")], recorded_at=NOON)
    other.close()
    database.run("REVOKE nexus_app FROM stranger")


def test_missing_privileges_are_reported(postgres: Database) -> None:
    with pytest.raises(StoreUnavailable, match="GRANT nexus_app TO"):
        PostgresStore(postgres.url_of("stranger"))


def test_superuser_uses_application_role(told: EmptiedStore) -> None:
    store = PostgresStore(told.database.url_of("postgres"))

    with store._connections.read_transaction() as session:
        row = session.connection.execute("SELECT current_user").fetchone()

    store.close()
    assert row == ("nexus_app",)


def test_concurrent_first_openings(postgres: Database) -> None:
    stores: list[PostgresStore] = []
    threads = [
        threading.Thread(target=lambda: stores.append(PostgresStore(postgres.url)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(stores) == 4
    for store in stores:
        store.close()


# Lost commits

Say = Callable[[psycopg.Connection[Any], bytes], None]


def lose_commit(store: PostgresStore, patch: pytest.MonkeyPatch, *, kept: bool) -> None:
    """Close the connection at the next commit, with or without executing it."""
    say: Say = connections._execute_raw
    done = threading.Event()

    def losing(connection: psycopg.Connection[Any], command: bytes) -> None:
        if command != COMMIT or done.is_set():
            return say(connection, command)
        done.set()
        if kept:
            say(connection, command)
        connection.close()
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    patch.setattr(connections, "_execute_raw", losing)


@pytest.mark.requirement("C23")
@pytest.mark.parametrize("kept", [True, False])
def test_event_is_stored_once_after_lost_commit(
    store: EmptiedStore, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    lose_commit(store, monkeypatch, kept=kept)

    (receipt,) = store.ledger.append(ACME, [said("1")], recorded_at=NOON)

    assert not receipt.duplicate  # the first commit failed
    assert store.ledger.verify(ACME).events == 1
    (again,) = store.ledger.append(ACME, [said("1")], recorded_at=NOON)
    assert again.duplicate


@pytest.mark.requirement("C23")
def test_append_repeats_after_expired_commit_mark(
    store: EmptiedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Simulates a later retry: commit marks expire after an hour."""
    lose_commit(store, monkeypatch, kept=True)
    monkeypatch.setattr(connections.PostgresConnections, "_was_committed", lambda *_: False)

    (receipt,) = store.ledger.append(ACME, [said("1")], recorded_at=NOON)

    assert not receipt.duplicate
    assert store.ledger.verify(ACME).events == 1
    assert store.ledger.verify(ACME).problems == ()


@pytest.mark.requirement("C23")
@pytest.mark.parametrize("kept", [True, False])
def test_lost_commit_without_mark_is_not_repeated(
    store: EmptiedStore, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    bill = ModelCost(
        at=NOON, purpose="recall", model="m", calls=1, input_tokens=2, output_tokens=3, cost=0.5
    )
    store.model_costs.add(ACME, bill)
    lose_commit(store, monkeypatch, kept=kept)

    store.model_costs.add(ACME, bill)

    (spent,) = store.model_costs.list_costs(ACME)
    assert (spent.calls, spent.cost) == (2, 1.0)


# Concurrency


@pytest.mark.requirement("C23", "X3")
def test_group_commit_returns_receipts_per_thread(store: EmptiedStore) -> None:
    answers: dict[int, Any] = {}

    def append(number: int) -> None:
        key = "same" if number in (3, 4) else str(number)
        text = "other" if number == 5 else "tea is served"
        key = "same" if number == 5 else key
        try:
            workspace = GLOBEX if number % 2 else ACME
            answers[number] = store.ledger.append(workspace, [said(key, text)], recorded_at=NOON)
        except Exception as error:  # looked at below  # noqa: BLE001
            answers[number] = error

    threads = [threading.Thread(target=append, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    failed = [answer for answer in answers.values() if isinstance(answer, Exception)]
    assert len(answers) == 12
    assert [type(error).__name__ for error in failed] == ["Conflict"]  # 3 and 5 in one workspace
    kept = sum(store.ledger.verify(workspace).events for workspace in (ACME, GLOBEX))
    assert kept == 11
    assert store.ledger.verify(ACME).problems == store.ledger.verify(GLOBEX).problems == ()
    assert store.queue.count_pending(administrator_grant(ACME)) == 6


def test_statement_timeout(store: EmptiedStore) -> None:
    impatient = PostgresStore(store.database.url, lock_seconds=0.2)
    store.ledger.append(ACME, [said("1")], recorded_at=NOON)
    with psycopg.connect(store.database.url_of("postgres")) as other:
        other.execute("SELECT * FROM nexus.workspaces FOR UPDATE")

        with pytest.raises(StoreUnavailable, match="lock too long"):
            impatient.ledger.append(ACME, [said("2")], recorded_at=NOON)

    impatient.ledger.append(ACME, [said("2")], recorded_at=NOON)
    impatient.close()


# Large labels

SPACE = EmbeddingProfile(provider="test", model="m", dimension=32)
VERY_MANY = 3_000
ASKED = 40


@pytest.fixture(scope="module")
def large_room(postgres_server: Postgres) -> Iterator[EmptiedStore]:
    """Return a room with many vectors in clusters, like those of real texts."""
    store = EmptiedStore(postgres_server)
    events = [said(str(number), f"note {number}") for number in range(VERY_MANY)]
    store.ledger.append(ACME, events, recorded_at=NOON)
    drafts = [
        Draft(scope=ROOM, kind=MemoryKind.PASSAGE, text=event.text, sources=(event.id,), at=NOON)
        for event in events
    ]
    kept = store.memories.put(ACME, drafts)
    numbers = np.random.default_rng(3)
    centres = numbers.standard_normal((60, SPACE.dimension))
    table = centres[numbers.integers(60, size=len(kept))] + numbers.standard_normal(
        (len(kept), SPACE.dimension)
    )
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    vectors = dict(zip((m.id for m in kept), table.astype(np.float32), strict=True))
    store.vectors.put(ACME, SPACE, vectors)
    store.optimize()
    yield store
    store.close()


def questions() -> Iterator[Any]:
    for row in np.random.default_rng(4).standard_normal((ASKED, SPACE.dimension)):
        yield (row / np.linalg.norm(row)).astype(np.float32)


@pytest.mark.requirement("C3", "X10")
@pytest.mark.slow
def test_large_label_is_searched_exactly_on_server(
    large_room: EmptiedStore,
) -> None:
    grant = administrator_grant(ACME)
    small = PostgresStore(large_room.database.url, cache_megabytes=1)
    assert isinstance(small.vectors, PostgresVectors)

    for asked in questions():
        expected = large_room.vectors.find_nearest(grant, SPACE, asked, limit=10)
        assert small.vectors.find_nearest(grant, SPACE, asked, limit=10) == expected

    assert small.vectors._cache._bytes == 0  # nothing was loaded into memory
    some = Condition("text", Op.EQ, "note 17")
    (found,) = small.vectors.find_nearest(grant, SPACE, asked, where=some, limit=3)
    assert found == large_room.vectors.find_nearest(grant, SPACE, asked, where=some, limit=3)[0]
    small.close()


@pytest.mark.requirement("C3", "X10")
@pytest.mark.slow
def test_hnsw_index_recall(large_room: EmptiedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    grant = administrator_grant(ACME)
    settings = StoreSettings(
        url=large_room.database.url, cache_megabytes=1, approximate_search=True
    )
    small = make_store(settings)
    vectors = small.vectors
    assert isinstance(vectors, PostgresVectors)
    monkeypatch.setattr(postgres_store, "MIN_INDEXED_VECTORS", VERY_MANY)
    large_room.vectors.activate_profile(ACME, SPACE)

    small.optimize()

    assert vectors.index_large_labels(grant, SPACE, min_vectors=VERY_MANY) == 0

    hits = wanted = 0
    for asked in questions():
        expected = large_room.vectors.find_nearest(grant, SPACE, asked, limit=10)
        found = vectors.find_nearest(grant, SPACE, asked, limit=10)
        hits += len({each.id for each in found} & {each.id for each in expected})
        wanted += len(expected)
        scores = {each.id: each.score for each in expected}
        assert all(scores.get(each.id, each.score) == each.score for each in found)
    print(f"recall of the index: {hits / wanted:.3f}")
    assert hits / wanted >= 0.95
    small.close()
    exact = PostgresStore(
        large_room.database.url, cache_megabytes=1
    )  # this store does not use the index
    for asked in questions():
        expected = large_room.vectors.find_nearest(grant, SPACE, asked, limit=10)
        assert exact.vectors.find_nearest(grant, SPACE, asked, limit=10) == expected
    exact.close()


def test_pool_without_server_prints_nothing() -> None:
    code = (
        "import logging, nexusmem.stores.postgres.connections\n"
        "logging.getLogger('psycopg.pool').warning('error connecting')"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stderr == ""
