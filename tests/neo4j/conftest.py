"""One Neo4j for the whole run, and records whose graph it mirrors.

`make test-neo4j` fetches the server once. Where Java or Maven or the network are missing, these
tests are skipped, also in CI: the server is in no package that a run could install.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.servers.neo4j import Neo4j
from tests.servers.process import Missing

from nexus.stores.beside import CombinedStore
from nexus.stores.neo4j.graph import Neo4jGraph
from nexus.stores.sqlite.store import SqliteStore


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.neo4j)


@pytest.fixture(scope="session")
def neo4j_server() -> Iterator[Neo4j]:
    pytest.importorskip("neo4j", reason="the extra neo4j is not installed")
    try:
        server = Neo4j()
    except Missing as reason:
        pytest.skip(str(reason))
    with server:
        yield server


@pytest.fixture
def neo4j_url(neo4j_server: Neo4j) -> str:
    """The address of a graph with nothing in it."""
    neo4j_server.empty()
    return neo4j_server.url


@pytest.fixture
def records(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "memory.db")
    yield store
    store.close()


@pytest.fixture
def graph(neo4j_url: str, records: SqliteStore) -> Iterator[Neo4jGraph]:
    graph = Neo4jGraph(neo4j_url, records)
    yield graph
    graph.close()


@pytest.fixture
def beside(records: SqliteStore, graph: Neo4jGraph) -> CombinedStore:
    """A store with its graph in Neo4j, which nobody has made to follow yet."""
    return CombinedStore(records, graph=graph)
