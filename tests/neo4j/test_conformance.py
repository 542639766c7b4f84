"""Conformance of the Neo4j graph: caught up, behind, and unreachable."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from tests.servers.databases import EmptiedStore
from tests.servers.postgres import Postgres

from nexusmem.core.records import Memory
from nexusmem.stores.external.composite_store import CompositeStore
from nexusmem.stores.external.neo4j import mirror
from nexusmem.stores.external.neo4j.graph import Neo4jGraph
from nexusmem.stores.sql.store import SqlStore
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.suites.access import AccessLabelSuite, AccessSuite, LearnedPartitionSuite
from nexusmem.testing.suites.eraser import EraserSuite
from nexusmem.testing.suites.graph import GraphSuite


class MemoriesById:
    """Memories of the records without lookup by name, so that only the mirror can find names."""

    def __init__(self, memories: Any) -> None:
        self.get = memories.get

    def named(self, *_: Any, **__: Any) -> list[Memory]:
        raise AssertionError("the graph was asked, and the records answered")


class CaughtUpGraph:
    """A graph that replicates a given number of steps before each traversal."""

    def __init__(self, graph: Neo4jGraph, chance: float) -> None:
        self._graph = graph
        self._chance = chance
        self._random = random.Random(1)

    def around(self, *args: Any, **more: Any) -> list[list[Memory]]:
        if self._random.random() < self._chance:
            while self._graph.catch_up():
                pass
        return self._graph.traverse(*args, **more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)


FOLLOWED = 1.0
MODES = {"followed": FOLLOWED, "half followed": 0.5, "never followed": 0.0}
NOBODY = "bolt://127.0.0.1:9"  # no server listens on this port


def combined(records: SqlStore, url: str, chance: float) -> Iterator[CompositeStore]:
    graph = Neo4jGraph(url, records)
    if chance == FOLLOWED:
        graph._memories = MemoriesById(records.memories)  # type: ignore[assignment]
    yield CompositeStore(records, graph=CaughtUpGraph(graph, chance))  # type: ignore[arg-type]
    graph.close()


@pytest.fixture(autouse=True)
def long_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use long timeouts, so that a busy machine causes no fallback to the records."""
    monkeypatch.setattr(mirror, "READ_TIMEOUT_SECONDS", 30.0)


@pytest.fixture(params=MODES)
def store(
    request: pytest.FixtureRequest, records: SqliteStore, neo4j_url: str
) -> Iterator[CompositeStore]:
    yield from combined(records, neo4j_url, MODES[request.param])


@pytest.mark.requirement("C4", "E5", "E29", "X2")
class TestGraph(GraphSuite):
    pass


@pytest.mark.requirement("E29", "X2")
class TestUnreachableGraph(GraphSuite):
    @pytest.fixture
    def store(self, records: SqliteStore) -> Iterator[CompositeStore]:
        yield from combined(records, NOBODY, 0.0)


@pytest.mark.requirement("C4", "E5", "E29", "X2")
class TestGraphWithPostgres(GraphSuite):
    @pytest.fixture
    def store(self, postgres_server: Postgres, neo4j_url: str) -> Iterator[CompositeStore]:
        records = EmptiedStore(postgres_server)
        yield from combined(records, neo4j_url, FOLLOWED)
        records.close()


class CaughtUpStore:
    @pytest.fixture
    def store(self, records: SqliteStore, neo4j_url: str) -> Iterator[CompositeStore]:
        yield from combined(records, neo4j_url, FOLLOWED)


@pytest.mark.requirement("E29", "X6")
class TestEraser(CaughtUpStore, EraserSuite):
    pass


@pytest.mark.requirement("A12", "E29", "X2")
class TestAccess(CaughtUpStore, AccessSuite):
    pass


@pytest.mark.requirement("E29", "X1", "X2")
class TestLabels(CaughtUpStore, AccessLabelSuite):
    pass


@pytest.mark.requirement("E29", "X2")
class TestLearnedPartition(CaughtUpStore, LearnedPartitionSuite):
    pass
