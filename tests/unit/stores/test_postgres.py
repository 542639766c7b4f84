"""What is Postgres's own: roles, walls that are closed at first, commits that nobody answered."""

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

from nexus.config import StoreSettings
from nexus.core.access import administrator_grant
from nexus.core.errors import StoreUnavailable
from nexus.core.filters import Condition, Op
from nexus.core.ids import WorkspaceId, digest
from nexus.core.records import Draft, EmbeddingProfile, MemoryKind, NewEvent, Spent
from nexus.core.scope import parse_scope
from nexus.stores.postgres import connections
from nexus.stores.postgres import store as postgres_store
from nexus.stores.postgres.connections import COMMIT, with_settings
from nexus.stores.postgres.store import PostgresStore
from nexus.stores.postgres.vectors import PostgresVectors
from nexus.storing import make_store

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


# Walls


def as_application(store: EmptiedStore) -> psycopg.Connection[Any]:
    """What a query of ours meets that forgot every condition."""
    options = with_settings(store.database.url, {}, {"search_path": "nexus", "role": "nexus_app"})
    return psycopg.connect(options, autocommit=True)


TENANTS = (
    "workspaces commits labels label_scopes events outbox jobs memories threads links names"
    " postings vectors tombstones spending window_items"
).split()


def seen(connection: psycopg.Connection[Any]) -> set[str]:
    """The tables of which this transaction sees any row."""
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
def test_a_transaction_that_was_not_bound_sees_nothing(told: EmptiedStore) -> None:
    with as_application(told) as connection:
        assert seen(connection) == set()
        connection.execute("BEGIN; SELECT * FROM whole_workspaces(ARRAY['acme'])")
        assert "events" in seen(connection)
        connection.execute("ROLLBACK")
        assert seen(connection) == set()  # a setting that is over is empty, and shows nothing


@pytest.mark.requirement("A12", "X2")
def test_a_bound_transaction_neither_sees_nor_writes_past_its_wall(told: EmptiedStore) -> None:
    with as_application(told) as connection, connection.transaction():
        connection.execute("SELECT * FROM whole_workspaces(ARRAY['acme'])")

        names = connection.execute("SELECT name FROM workspaces").fetchall()

        assert names == [("acme",)]
        assert connection.execute("SELECT count(*) FROM events").fetchone() == (1,)
        assert connection.execute("DELETE FROM outbox").rowcount == 1
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            connection.execute("INSERT INTO spending VALUES (-1, now(), 'x', 'x', 1, 1, 1, 1)")


@pytest.mark.requirement("A12", "X2")
def test_a_reader_sees_the_labels_of_its_grant_and_no_others(told: EmptiedStore) -> None:
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
def test_the_worker_sees_what_waits_and_whose_it_is_and_nothing_else(told: EmptiedStore) -> None:
    with as_application(told) as connection, connection.transaction():
        connection.execute("SELECT serve_everybody()")

        assert seen(connection) == {"workspaces", "outbox"}


# Rights


@pytest.mark.requirement("E31")
def test_the_application_needs_no_rights_beyond_its_role(told: EmptiedStore) -> None:
    database = told.database
    database.run("GRANT nexus_app TO stranger")

    other = PostgresStore(database.url_of("stranger"))

    assert other.workspaces() == [ACME, GLOBEX]
    other.ledger.append(ACME, [said("2")], recorded_at=NOON)
    other.close()
    database.run("REVOKE nexus_app FROM stranger")


def test_who_may_not_prepare_a_database_is_told_what_to_do(postgres: Database) -> None:
    with pytest.raises(StoreUnavailable, match="GRANT nexus_app TO"):
        PostgresStore(postgres.url_of("stranger"))


def test_a_superuser_works_as_the_application_all_the_same(told: EmptiedStore) -> None:
    store = PostgresStore(told.database.url_of("postgres"))

    with store._connections.reading() as session:
        row = session.connection.execute("SELECT current_user").fetchone()

    store.close()
    assert row == ("nexus_app",)


def test_many_may_open_an_empty_database_at_once(postgres: Database) -> None:
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


# Commits that nobody answered

Say = Callable[[psycopg.Connection[Any], bytes], None]


def lost(store: PostgresStore, patch: pytest.MonkeyPatch, *, kept: bool) -> None:
    """The next commit is (not) done by the server, and then the connection is gone."""
    say: Say = connections._say
    done = threading.Event()

    def losing(connection: psycopg.Connection[Any], command: bytes) -> None:
        if command != COMMIT or done.is_set():
            return say(connection, command)
        done.set()
        if kept:
            say(connection, command)
        connection.close()
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    patch.setattr(connections, "_say", losing)


@pytest.mark.requirement("C23")
@pytest.mark.parametrize("kept", [True, False])
def test_an_event_is_there_once_whatever_became_of_the_first_commit(
    store: EmptiedStore, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    lost(store, monkeypatch, kept=kept)

    (receipt,) = store.ledger.append(ACME, [said("1")], recorded_at=NOON)

    assert not receipt.repeated  # nobody else wrote it
    assert store.ledger.verify(ACME).events == 1
    (again,) = store.ledger.append(ACME, [said("1")], recorded_at=NOON)
    assert again.repeated


@pytest.mark.requirement("C23")
def test_a_commit_of_which_nothing_is_known_any_more_is_done_again(
    store: EmptiedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As hours later: marks are kept for one."""
    lost(store, monkeypatch, kept=True)
    monkeypatch.setattr(connections.Connections, "_was_committed", lambda *_: False)

    (receipt,) = store.ledger.append(ACME, [said("1")], recorded_at=NOON)

    assert not receipt.repeated
    assert store.ledger.verify(ACME).events == 1
    assert store.ledger.verify(ACME).problems == ()


@pytest.mark.requirement("C23")
@pytest.mark.parametrize("kept", [True, False])
def test_what_cannot_be_repeated_is_not_repeated(
    store: EmptiedStore, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    bill = Spent(
        at=NOON, purpose="recall", model="m", calls=1, input_tokens=2, output_tokens=3, cost=0.5
    )
    store.accounts.add(ACME, bill)
    lost(store, monkeypatch, kept=kept)

    store.accounts.add(ACME, bill)

    (spent,) = store.accounts.spent(ACME)
    assert (spent.calls, spent.cost) == (2, 1.0)


# Many at once


@pytest.mark.requirement("C23", "X3")
def test_threads_share_commits_and_each_gets_its_own_answer(store: EmptiedStore) -> None:
    answers: dict[int, Any] = {}

    def append(number: int) -> None:
        key = "same" if number in (3, 4) else str(number)
        text = "other" if number == 5 else "tea is served"
        key = "same" if number == 5 else key
        try:
            workspace = GLOBEX if number % 2 else ACME
            answers[number] = store.ledger.append(workspace, [said(key, text)], recorded_at=NOON)
        except Exception as error:  # noqa: BLE001  # looked at below
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
    assert store.queue.pending(administrator_grant(ACME)) == 6


def test_a_statement_that_takes_too_long_is_given_up(store: EmptiedStore) -> None:
    impatient = PostgresStore(store.database.url, lock_seconds=0.2)
    store.ledger.append(ACME, [said("1")], recorded_at=NOON)
    with psycopg.connect(store.database.url_of("postgres")) as other:
        other.execute("SELECT * FROM nexus.workspaces FOR UPDATE")

        with pytest.raises(StoreUnavailable, match="lock too long"):
            impatient.ledger.append(ACME, [said("2")], recorded_at=NOON)

    impatient.ledger.append(ACME, [said("2")], recorded_at=NOON)
    impatient.close()


# Labels that are too large for memory

SPACE = EmbeddingProfile(provider="test", model="m", dimension=32)
VERY_MANY = 3_000
ASKED = 40


@pytest.fixture(scope="module")
def crowded(postgres_server: Postgres) -> Iterator[EmptiedStore]:
    """One room with many vectors in clusters, as those of real texts are."""
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
def test_a_label_too_large_for_memory_is_searched_exactly_on_the_server(
    crowded: EmptiedStore,
) -> None:
    grant = administrator_grant(ACME)
    small = PostgresStore(crowded.database.url, cache_megabytes=1)
    assert isinstance(small.vectors, PostgresVectors)

    for asked in questions():
        expected = crowded.vectors.nearest(grant, SPACE, asked, limit=10)
        assert small.vectors.nearest(grant, SPACE, asked, limit=10) == expected

    assert small.vectors._cache._bytes == 0  # nothing of it was brought here
    some = Condition("text", Op.EQ, "note 17")
    (found,) = small.vectors.nearest(grant, SPACE, asked, where=some, limit=3)
    assert found == crowded.vectors.nearest(grant, SPACE, asked, where=some, limit=3)[0]
    small.close()


@pytest.mark.requirement("C3", "X10")
@pytest.mark.slow
def test_an_index_of_one_label_finds_most_of_the_best(
    crowded: EmptiedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    grant = administrator_grant(ACME)
    settings = StoreSettings(url=crowded.database.url, cache_megabytes=1, approximate=True)
    small = make_store(settings)
    vectors = small.vectors
    assert isinstance(vectors, PostgresVectors)
    monkeypatch.setattr(postgres_store, "VERY_LARGE", VERY_MANY)
    crowded.vectors.use(ACME, SPACE)

    small.optimize()

    assert vectors.index_large_labels(grant, SPACE, at_least=VERY_MANY) == 0

    hits = wanted = 0
    for asked in questions():
        expected = crowded.vectors.nearest(grant, SPACE, asked, limit=10)
        found = vectors.nearest(grant, SPACE, asked, limit=10)
        hits += len({each.id for each in found} & {each.id for each in expected})
        wanted += len(expected)
        scores = {each.id: each.score for each in expected}
        assert all(scores.get(each.id, each.score) == each.score for each in found)
    print(f"recall of the index: {hits / wanted:.3f}")
    assert hits / wanted >= 0.95
    small.close()
    exact = PostgresStore(crowded.database.url, cache_megabytes=1)  # it is not asked for here
    for asked in questions():
        expected = crowded.vectors.nearest(grant, SPACE, asked, limit=10)
        assert exact.vectors.nearest(grant, SPACE, asked, limit=10) == expected
    exact.close()


def test_a_pool_without_its_server_prints_nothing_by_itself() -> None:
    code = (
        "import logging, nexus.stores.postgres.connections\n"
        "logging.getLogger('psycopg.pool').warning('error connecting')"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stderr == ""
