"""SQLite in memory: threads, snapshots, erasure and closing."""

from __future__ import annotations

import gc
import os
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from nexusmem import Nexus
from nexusmem.core.errors import StoreUnavailable
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.samples import ACME, ADMIN, NOON, add_memory, append_events, make_event
from nexusmem.wiring.stores import make_scratch_store


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    with closing(SqliteStore(":memory:")) as made:
        yield made


def test_stores_in_memory_are_separate(store: SqliteStore) -> None:
    append_events(store, make_event("1"))

    with closing(SqliteStore(":memory:")) as other:
        assert other.list_workspaces() == []
    assert store.list_files() == []


@pytest.mark.requirement("X3")
def test_concurrent_readers_and_writers_lose_nothing(store: SqliteStore) -> None:
    stop = threading.Event()

    def write(name: int) -> None:
        for number in range(20):
            store.ledger.append(ACME, [make_event(f"{name}-{number}")], recorded_at=NOON)

    def read() -> list[int]:
        counts = []
        while not stop.is_set():
            with store.snapshot():
                first, second = (store.count_records(ADMIN)["events"] for _ in range(2))
            assert first == second
            counts.append(first)
        return counts

    with ThreadPoolExecutor(8) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        writers = [pool.submit(write, name) for name in range(6)]
        for writer in writers:
            writer.result()
        stop.set()
        counts = [reader.result() for reader in readers]

    assert all(each == sorted(each) for each in counts)
    report = store.ledger.verify(ACME)
    assert (report.is_intact, report.events) == (True, 120)


def test_write_inside_snapshot_is_visible_and_epoch_grows(store: SqliteStore) -> None:
    append_events(store, make_event("1"))

    with store.snapshot():
        before = store.epoch(ADMIN)
        append_events(store, make_event("2"))

        assert store.count_records(ADMIN)["events"] == 2
        assert store.epoch(ADMIN) > before


def test_failed_write_is_rolled_back(store: SqliteStore) -> None:
    connections = store._connections

    def fail(session: object) -> None:
        session.execute("INSERT INTO schema_version VALUES (9, 'x', 'now')")  # type: ignore[attr-defined]
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        connections.write(fail)
    with connections.read_transaction() as session:
        assert session.execute("SELECT max(version) FROM schema_version").fetchone() == (1,)
    with pytest.raises(StoreUnavailable, match="no such table"):
        connections.write(lambda session: session.execute("SELECT * FROM missing"))


@pytest.mark.requirement("X6")
def test_erased_text_is_not_in_the_pages(store: SqliteStore) -> None:
    with Nexus.open(store, background=False) as nexus:
        workspace = nexus.workspace("acme")
        room = workspace.room("design", participants=["alice"])
        for number in range(200):
            room.observe("alice", f"The heron number {number} is blue.", key=str(number))
        room.flush()
        pages = store._connections.read_bytes()  # type: ignore[union-attr]
        assert pages
        assert b"heron" in pages

        assert workspace.forget(user="alice").residue == 0
        assert b"heron" not in store._connections.read_bytes()  # type: ignore[operator,union-attr]


def test_closed_store_is_rejected_and_freed() -> None:
    store = SqliteStore(":memory:")
    memory = add_memory(store, "1")
    database = weakref.ref(store._connections)
    store.close()
    store.close()

    with pytest.raises(StoreUnavailable, match="was closed"):
        store.memories.get(ADMIN, [memory.id])
    del store
    gc.collect()
    assert database() is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_use_after_fork_is_rejected(store: SqliteStore) -> None:
    child = os.fork()
    if not child:
        try:
            store.list_workspaces()
        except StoreUnavailable:
            os._exit(7)
        os._exit(1)

    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 7


def test_scratch_store_is_empty_and_shares_the_window(store: SqliteStore) -> None:
    append_events(store, make_event("1"))

    with closing(make_scratch_store(store)) as scratch:
        assert scratch.list_workspaces() == []
        assert scratch.window is store.window
    assert store.list_workspaces() == [ACME]
