"""A graph in Neo4j is the records' graph: when it has followed, while it has not, and when away."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from tests.servers.databases import EmptiedStore
from tests.servers.postgres import Postgres

from nexus.core.records import Memory
from nexus.stores.beside import CombinedStore
from nexus.stores.neo4j import mirror
from nexus.stores.neo4j.graph import Neo4jGraph
from nexus.stores.sql.store import SqlStore
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.suites.access import AccessSuite
from nexus.testing.suites.eraser import EraserSuite
from nexus.testing.suites.graph import GraphSuite
from nexus.testing.suites.labels import LabelSuite
from nexus.testing.suites.shelves import ShelvesSuite


class OnlyById:
    """The records' memories, but nobody may look them up by name: the graph has to."""

    def __init__(self, memories: Any) -> None:
        self.get = memories.get

    def named(self, *_: Any, **__: Any) -> list[Memory]:
        raise AssertionError("the graph was asked, and the records answered")


class FollowedGraph:
    """A graph that follows as much as it is told before every walk."""

    def __init__(self, graph: Neo4jGraph, chance: float) -> None:
        self._graph = graph
        self._chance = chance
        self._random = random.Random(1)

    def around(self, *args: Any, **more: Any) -> list[list[Memory]]:
        if self._random.random() < self._chance:
            while self._graph.follow():
                pass
        return self._graph.around(*args, **more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)


FOLLOWED = 1.0
MODES = {"followed": FOLLOWED, "half followed": 0.5, "never followed": 0.0}
NOBODY = "bolt://127.0.0.1:9"  # listens there


def combined(records: SqlStore, url: str, chance: float) -> Iterator[CombinedStore]:
    graph = Neo4jGraph(url, records)
    if chance == FOLLOWED:
        graph._memories = OnlyById(records.memories)  # type: ignore[assignment]
    yield CombinedStore(records, graph=FollowedGraph(graph, chance))  # type: ignore[arg-type]
    graph.close()


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """That the machine is busy is no reason to ask the records here."""
    monkeypatch.setattr(mirror, "ASKING_SECONDS", 30.0)


@pytest.fixture(params=MODES)
def store(
    request: pytest.FixtureRequest, records: SqliteStore, neo4j_url: str
) -> Iterator[CombinedStore]:
    yield from combined(records, neo4j_url, MODES[request.param])


@pytest.mark.requirement("C4", "E5", "E29", "X2")
class TestGraph(GraphSuite):
    pass


@pytest.mark.requirement("E29", "X2")
class TestGraphThatIsAway(GraphSuite):
    @pytest.fixture
    def store(self, records: SqliteStore) -> Iterator[CombinedStore]:
        yield from combined(records, NOBODY, 0.0)


@pytest.mark.requirement("C4", "E5", "E29", "X2")
class TestGraphBesidePostgres(GraphSuite):
    @pytest.fixture
    def store(self, postgres_server: Postgres, neo4j_url: str) -> Iterator[CombinedStore]:
        records = EmptiedStore(postgres_server)
        yield from combined(records, neo4j_url, FOLLOWED)
        records.close()


class Followed:
    @pytest.fixture
    def store(self, records: SqliteStore, neo4j_url: str) -> Iterator[CombinedStore]:
        yield from combined(records, neo4j_url, FOLLOWED)


@pytest.mark.requirement("E29", "X6")
class TestEraser(Followed, EraserSuite):
    pass


@pytest.mark.requirement("A12", "E29", "X2")
class TestAccess(Followed, AccessSuite):
    pass


@pytest.mark.requirement("E29", "X1", "X2")
class TestLabels(Followed, LabelSuite):
    pass


@pytest.mark.requirement("E29", "X2")
class TestShelves(Followed, ShelvesSuite):
    pass
