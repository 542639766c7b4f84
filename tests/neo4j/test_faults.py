"""Neo4j stands still, is killed, is away for a while: every walk is answered, and it is made good.

What is tested of "away ten minutes and back": the server is killed with kill -9 in the middle of
following, stays away while thousands of memories are written and hundreds removed, and comes
back. How long it was away matters only by what was written meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from threading import Event, Thread
from typing import Any

import pytest
from tests.neo4j.test_mirror import exported, followed, many_facts
from tests.servers.neo4j import Neo4j

from nexus.core import breaker as breakers
from nexus.core.breaker import State
from nexus.core.records import MemoryKind
from nexus.maintain import worker
from nexus.maintain.worker import Worker
from nexus.stores.beside import CombinedStore
from nexus.stores.neo4j import follower, mirror
from nexus.stores.neo4j.graph import AWAY, Neo4jGraph
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.samples import ACME, ADMIN
from nexus.testing.suites.graph import HERE
from nexus.testing.suites.names import fact

# The driver leaves sockets of connections that broke to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

BACKLOG = 3_000  # memories: five a second for ten minutes


@pytest.fixture
def server(neo4j_server: Neo4j) -> Iterator[Neo4j]:
    """The server of the run, which runs again afterwards."""
    yield neo4j_server
    if neo4j_server.running:
        neo4j_server.thaw()
    neo4j_server.start()
    time.sleep(breakers.REST_SECONDS if _state() is not State.CLOSED else 0)


def _state() -> State:
    return breakers.breakers().get("the graph", State.CLOSED)


def timed(graph: Neo4jGraph) -> tuple[list[str], float]:
    began = time.monotonic()
    steps = graph.around(HERE, ["ada"], depth=2, limit=9)
    return [memory.text for step in steps for memory in step], time.monotonic() - began


class NothingToLearn:
    """A learner for a worker that only follows."""

    def run_once(self) -> int:
        return 0


@pytest.mark.requirement("E29", "E5")
def test_a_server_that_stands_still_costs_a_moment_and_then_nothing(
    server: Neo4j, graph: Neo4jGraph, beside: CombinedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = fact(beside, "1", "Ada", "Charles")
    followed(graph)
    monkeypatch.setattr(mirror, "WRITING_SECONDS", 1.0)
    monkeypatch.setattr(mirror, "GREETING_SECONDS", 0.5)
    server.freeze()

    answers = [timed(graph) for _ in range(6)]

    assert {tuple(texts) for texts, _ in answers} == {(told.text, told.text)}
    assert max(seconds for _, seconds in answers) < 2.0
    assert _state() is State.OPEN
    assert graph.follow() is False  # it does not wait either
    server.thaw()


@pytest.mark.requirement("E29", "X6")
def test_what_is_erased_while_it_is_away_is_owed_and_never_shown(
    server: Neo4j, graph: Neo4jGraph, beside: CombinedStore
) -> None:
    secret, stays = fact(beside, "1", "Ada", "Zanzibar"), fact(beside, "2", "Ada", "Charles")
    followed(graph)
    server.kill()

    erased = beside.eraser.erase(ACME, events=secret.sources, memories=[], tombstones=[])

    assert (erased.memories, erased.graph) == (1, 0)
    assert beside.eraser.residue(ACME, [])[AWAY] == 1
    assert set(timed(graph)[0]) == {stays.text}
    server.start()
    _until(lambda: not graph.follow() and not graph._away)
    assert beside.eraser.residue(ACME, [])["neo4j"] == 0
    assert [row["id"] for row in exported(graph)] == [stays.id]
    assert "zanzibar" not in str(server.ask("MATCH (n) RETURN properties(n) AS told"))


@pytest.mark.requirement("E29", "E5", "X3")
@pytest.mark.timeout(600)
def test_killed_while_following_and_back_with_a_backlog_it_converges_within_a_minute(
    server: Neo4j,
    graph: Neo4jGraph,
    records: SqliteStore,
    beside: CombinedStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = many_facts(beside, 1_000)
    monkeypatch.setattr(follower, "BATCH", 50)
    following = Thread(target=followed, args=[graph])
    following.start()
    _until(lambda: server.ask("MATCH (m:NexusMemory) RETURN count(m) AS n")[0]["n"] > 50)
    server.kill()
    following.join()
    monkeypatch.undo()
    for start in range(1_000, 1_000 + BACKLOG, 1_000):
        many_facts(beside, 1_000, start=start)
    beside.memories.delete(ACME, first[::5])
    plain = records.graph
    asked: dict[str, Any] = {"names": ["n7", "n11"], "depth": 2, "limit": 30}
    assert graph.around(HERE, **asked) == plain.around(HERE, **asked)

    seconds = _seconds_until_followed(server, graph, records)

    assert seconds < 60
    ids = {memory.id for memory in beside.memories.find(ADMIN) if memory.kind is MemoryKind.FACT}
    assert {row["id"] for row in exported(graph)} == ids
    assert graph.around(HERE, **asked) == plain.around(HERE, **asked)
    print(f"{BACKLOG:,} memories behind, whole again after {seconds:.1f} s")


def _seconds_until_followed(server: Neo4j, graph: Neo4jGraph, records: SqliteStore) -> float:
    """From the moment it is back, with the worker that every Nexus has."""
    done = Event()
    began: list[float] = []

    def follow() -> bool:
        more = graph.follow()
        if began and not more and not graph._away:
            done.set()
        return more

    busy = Worker(NothingToLearn(), follow=follow)  # type: ignore[arg-type]
    busy.nudge()
    time.sleep(2 * worker.IDLE_SECONDS)
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
