"""Several processes and threads on one file."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from nexusmem import Nexus
from nexusmem.config.settings import Settings
from nexusmem.core.access import Grant, administrator_grant
from nexusmem.core.ids import WorkspaceId
from nexusmem.core.protocols.memories import ScoredId
from nexusmem.core.protocols.store import Store
from nexusmem.core.records import event_id
from nexusmem.core.scope import Scope
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.samples import (
    ACME,
    ADMIN,
    NOON,
    TEST_PROFILE,
    make_draft,
    make_event,
    unit_vector,
)

PROGRAM = """
import sys, threading
from nexusmem import Nexus
from nexusmem.config.settings import Settings
from nexusmem.core.records import event_id
from nexusmem.core.records import event_id
from nexusmem.core.scope import Scope
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.stores.sqlite.store import SqliteStore

path, vectors, what, *names = sys.argv[1:]
store = SqliteStore(path, vectors=vectors)
nexus = Nexus.open(store, settings=Settings(), embedder=HashingEmbedder())
workspace = nexus.workspace("acme")
room = workspace.room("design", participants=["alice"])

def write(name):
    for number in range(40):
        room.observe("alice", f"message {name} {number} about herons", key=f"{name} {number}")

if what == "write":
    threads = [threading.Thread(target=write, args=(name,)) for name in names]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    room.flush()
else:
    for name in names:
        report = workspace.forget(event=event_id(room.viewer.home, name))
        print(report.residue)
nexus.close()
"""


def program(path: Path, what: str, *names: str, vectors: str = "exact") -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, str(path), vectors, what, *names]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(started: subprocess.Popen[str]) -> str:
    out, errors = started.communicate(timeout=60)
    assert started.returncode == 0, errors
    return out


def opened(store: Store) -> Nexus:
    return Nexus.open(store, settings=Settings(), embedder=HashingEmbedder(), background=False)


EVERYTHING = administrator_grant(WorkspaceId("acme"))


def answers(store: Store, grant: Grant = EVERYTHING) -> tuple[list[ScoredId], list[ScoredId]]:
    embedder = HashingEmbedder()
    asked = embedder.embed(["message about herons"])[0]
    return (
        store.memories.search_keywords(grant, ["heron", "messag"], limit=999),
        store.vectors.find_nearest(grant, embedder.profile, asked, limit=999),
    )


@pytest.mark.slow
@pytest.mark.requirement("X3")
def test_concurrent_writers_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"  # both processes create it

    writers = [program(path, "write", f"{name} 1", f"{name} 2") for name in ("one", "two")]
    for writer in writers:
        finish(writer)

    with closing(SqliteStore(path)) as store:
        report = store.ledger.verify(EVERYTHING.workspace)
        assert (report.is_intact, report.events) == (True, 160)
        keys = {found.key for found in store.ledger.find(EVERYTHING)}
        assert len(keys) == 160
        assert store.queue.count_pending(EVERYTHING) == 0
        assert [len(answer) for answer in answers(store)] == [160, 160]


@pytest.mark.slow
@pytest.mark.requirement("X3", "X6")
@pytest.mark.parametrize("vectors", ["exact", "sqlite-vec"])
def test_changes_of_another_process_are_seen_immediately(tmp_path: Path, vectors: str) -> None:
    if vectors == "sqlite-vec":
        pytest.importorskip("sqlite_vec", reason="the extra sqlite-vec is not installed")
    path = tmp_path / "memory.db"
    with closing(SqliteStore(path, vectors=vectors)) as store:
        assert answers(store) == ([], [])  # fills the caches

        finish(program(path, "write", "one", vectors=vectors))
        assert [len(answer) for answer in answers(store)] == [40, 40]

        removed = finish(program(path, "forget", "one 7", "one 8", vectors=vectors))
        assert removed.split() == ["0", "0"]
        assert [len(answer) for answer in answers(store)] == [38, 38]

        finish(program(path, "write", "two", vectors=vectors))
        warm = answers(store)
    with closing(SqliteStore(path, vectors=vectors)) as fresh:
        assert answers(fresh) == warm
        assert [len(answer) for answer in warm] == [78, 78]


def vector_of(store: Store, key: str) -> bytes:
    """Return the bytes of the vector of a message."""
    profile = HashingEmbedder().profile
    source = event_id(Scope.room("design"), key)
    (memory,) = store.eraser.list_derived(EVERYTHING.workspace, [source])
    return store.vectors.get(EVERYTHING, profile, [memory.id])[memory.id].tobytes()


@pytest.mark.slow
@pytest.mark.requirement("X6")
@pytest.mark.parametrize("eraser", ["opened before the index was built", "without sqlite-vec"])
def test_no_index_contains_erased_vector(tmp_path: Path, eraser: str) -> None:
    pytest.importorskip("sqlite_vec", reason="the extra sqlite-vec is not installed")
    path = tmp_path / "memory.db"
    finish(program(path, "write", "one"))
    early = SqliteStore(path, vectors="sqlite-vec")
    with closing(SqliteStore(path, vectors="sqlite-vec")) as builder:
        answers(builder)
        vector = vector_of(builder, "one 7")

    if eraser == "without sqlite-vec":
        early.close()
        finish(program(path, "forget", "one 7", vectors="exact"))
    else:
        gone = event_id(Scope.room("design"), "one 7")
        opened(early).workspace("acme").forget(event=gone)
        early.close()

    assert vector not in path.read_bytes()


SPENDER = """
import sys
from datetime import UTC, datetime
from nexusmem.core.ids import WorkspaceId
from nexusmem.core.records import ModelCost
from nexusmem.stores.sqlite.store import SqliteStore

store = SqliteStore(sys.argv[1])
noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
for _ in range(50):
    one = ModelCost(
        at=noon, purpose="p", model="m", calls=1, input_tokens=10, output_tokens=2, cost=0.5
    )
    store.model_costs.add(WorkspaceId("acme"), one)
store.close()
"""


@pytest.mark.slow
def test_concurrent_model_costs_are_summed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    command = [sys.executable, "-c", SPENDER, str(path)]
    pipe = subprocess.PIPE

    spenders = [subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) for _ in range(3)]
    for spender in spenders:
        finish(spender)

    with closing(SqliteStore(path)) as store:
        (day,) = store.model_costs.list_costs(ACME)
        assert (day.calls, day.input_tokens, day.output_tokens) == (150, 1_500, 300)
        assert day.cost == 75.0


@pytest.mark.slow
@pytest.mark.requirement("X3", "X10")
def test_readers_during_writes_see_no_duplicates(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "memory.db")
    stop, problems = threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            hits = [
                hit.id
                for hit in store.vectors.find_nearest(ADMIN, TEST_PROFILE, unit_vector(1), limit=99)
            ]
            words = [hit.id for hit in store.memories.search_keywords(ADMIN, ["tea"], limit=99)]
            if len(set(hits)) < len(hits) or len(set(words)) < len(words):
                problems.append("something was found twice")
            problems.extend(store.ledger.verify(ACME).problems)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(80):
        told = make_event(str(number))
        store.ledger.append(ACME, [told], recorded_at=NOON)
        (memory,) = store.memories.put(ACME, [make_draft(told.id)])
        store.vectors.put(ACME, TEST_PROFILE, {memory.id: unit_vector(1, number)})
    stop.set()
    for reader in readers:
        reader.join()

    assert set(problems) == set()
    with closing(SqliteStore(store.path)) as fresh:
        for ask in (
            lambda each: each.vectors.find_nearest(ADMIN, TEST_PROFILE, unit_vector(1), limit=999),
            lambda each: each.memories.search_keywords(ADMIN, ["tea"], limit=999),
        ):
            assert ask(store) == ask(fresh)
    store.close()


@pytest.mark.requirement("X3")
def test_32_threads_lose_nothing(store: Store) -> None:
    def write(name: int) -> None:
        for number in range(10):
            store.ledger.append(ACME, [make_event(f"{name}-{number}")], recorded_at=NOON)

    threads = [threading.Thread(target=write, args=(name,)) for name in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    report = store.ledger.verify(ACME)
    assert (report.is_intact, report.events) == (True, 320)
    assert len({found.key for found in store.ledger.find(ADMIN)}) == 320
