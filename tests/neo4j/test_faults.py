"""Faults of Neo4j: frozen, killed, unreachable for a while.

"Ten minutes unreachable" is simulated by the writes of that time: the server is killed with
SIGKILL during replication, thousands of memories are written and hundreds removed, and the
server starts again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from threading import Event, Thread
from typing import Any

import pytest
from tests.neo4j.test_mirror import exported, followed, many_facts
from tests.servers.neo4j import Neo4j

from nexusmem.core.records import MemoryKind
from nexusmem.maintain import background_worker
from nexusmem.maintain.background_worker import BackgroundWorker
from nexusmem.runtime import breaker as breakers
from nexusmem.runtime.breaker import BreakerState
from nexusmem.stores.external.composite_store import CompositeStore
from nexusmem.stores.external.neo4j import mirror
from nexusmem.stores.external.neo4j import mirror as replicator
from nexusmem.stores.external.neo4j.graph import AWAY, Neo4jGraph
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.samples import ACME, ADMIN
from nexusmem.testing.suites.graph import ROOM_GRANT, add_fact

# The driver leaves broken sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

BACKLOG = 3_000  # five memories a second for ten minutes


@pytest.fixture
def server(neo4j_server: Neo4j) -> Iterator[Neo4j]:
    """Return the shared server and restart it after the test."""
    yield neo4j_server
    if neo4j_server.running:
        neo4j_server.thaw()
    neo4j_server.start()
    time.sleep(breakers.COOLDOWN_SECONDS if _state() is not BreakerState.CLOSED else 0)


def _state() -> BreakerState:
    return breakers.breaker_states().get("the graph", BreakerState.CLOSED)


def timed(graph: Neo4jGraph) -> tuple[list[str], float]:
    began = time.monotonic()
    steps = graph.traverse(ROOM_GRANT, ["ada"], depth=2, limit=9)
    return [memory.text for step in steps for memory in step], time.monotonic() - began


class IdleLearner:
    """A learner without work, for a worker that only replicates."""

    def run_once(self) -> int:
        return 0


@pytest.mark.requirement("E29", "E5")
def test_frozen_server_costs_one_timeout(
    server: Neo4j, graph: Neo4jGraph, composite: CompositeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = add_fact(composite, "1", "Ada", "Charles")
    followed(graph)
    monkeypatch.setattr(mirror, "WRITE_TIMEOUT_SECONDS", 1.0)
    monkeypatch.setattr(mirror, "PING_TIMEOUT_SECONDS", 0.5)
    server.freeze()

    answers = [timed(graph) for _ in range(6)]

    assert {tuple(texts) for texts, _ in answers} == {(told.text, told.text)}
    assert max(seconds for _, seconds in answers) < 2.0
    assert _state() is BreakerState.OPEN
    assert graph.catch_up() is False  # replication does not wait either
    server.thaw()


@pytest.mark.requirement("E29", "X6")
def test_erasure_while_unreachable_is_pending_and_hidden(
    server: Neo4j, graph: Neo4jGraph, composite: CompositeStore
) -> None:
    secret, stays = (
        add_fact(composite, "1", "Ada", "Zanzibar"),
        add_fact(composite, "2", "Ada", "Charles"),
    )
    followed(graph)
    server.kill()

    erased = composite.eraser.erase(ACME, events=secret.sources, memories=[], tombstones=[])

    assert (erased.memories, erased.graph) == (1, 0)
    assert composite.eraser.find_residue(ACME, [])[AWAY] == 1
    assert set(timed(graph)[0]) == {stays.text}
    server.start()
    _until(lambda: not graph.catch_up() and not graph._is_unreachable)
    assert composite.eraser.find_residue(ACME, [])["neo4j"] == 0
    assert [row["id"] for row in exported(graph)] == [stays.id]
    assert "zanzibar" not in str(server.execute("MATCH (n) RETURN properties(n) AS told"))


@pytest.mark.requirement("E29", "E5", "X3")
@pytest.mark.timeout(600)
def test_mirror_catches_up_within_a_minute_after_kill(
    server: Neo4j,
    graph: Neo4jGraph,
    records: SqliteStore,
    composite: CompositeStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = many_facts(composite, 1_000)
    monkeypatch.setattr(replicator, "BATCH", 50)
    following = Thread(target=followed, args=[graph])
    following.start()
    _until(lambda: server.execute("MATCH (m:NexusMemory) RETURN count(m) AS n")[0]["n"] > 50)
    server.kill()
    following.join()
    monkeypatch.undo()
    for start in range(1_000, 1_000 + BACKLOG, 1_000):
        many_facts(composite, 1_000, start=start)
    composite.memories.delete(ACME, first[::5])
    plain = records.graph
    asked: dict[str, Any] = {"names": ["n7", "n11"], "depth": 2, "limit": 30}
    assert graph.traverse(ROOM_GRANT, **asked) == plain.traverse(ROOM_GRANT, **asked)

    seconds = _seconds_until_caught_up(server, graph, records)

    assert seconds < 60
    ids = {memory.id for memory in composite.memories.find(ADMIN) if memory.kind is MemoryKind.FACT}
    assert {row["id"] for row in exported(graph)} == ids
    assert graph.traverse(ROOM_GRANT, **asked) == plain.traverse(ROOM_GRANT, **asked)
    print(f"{BACKLOG:,} memories behind, whole again after {seconds:.1f} s")


def _seconds_until_caught_up(server: Neo4j, graph: Neo4jGraph, records: SqliteStore) -> float:
    """Return the seconds until the background worker has replicated everything."""
    done = Event()
    began: list[float] = []

    def follow() -> bool:
        more = graph.catch_up()
        if began and not more and not graph._is_unreachable:
            done.set()
        return more

    busy = BackgroundWorker(IdleLearner(), catch_up=follow)  # type: ignore[arg-type]
    busy.wake()
    time.sleep(2 * background_worker.IDLE_SECONDS)
    server.start()
    began.append(time.monotonic())
    assert done.wait(120)
    seconds = time.monotonic() - began[0]
    busy.stop()
    return seconds


def _until(happened: Any, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.2)
