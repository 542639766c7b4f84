"""Fixtures: one Neo4j server per run, and stores with their graph in it.

`make test-neo4j` fetches the server once. Without Java, Maven or a network these tests are
skipped, also in CI, because no package contains the server.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.servers.neo4j import Neo4j
from tests.servers.process import Missing
from tests.servers.skipped_engines import skip_engine

from nexusmem.stores.external.composite_store import CompositeStore
from nexusmem.stores.external.neo4j.graph import Neo4jGraph
from nexusmem.stores.sqlite.store import SqliteStore


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
        skip_engine("neo4j", reason)
    with server:
        yield server


@pytest.fixture
def neo4j_url(neo4j_server: Neo4j) -> str:
    """Return the URL of an empty graph."""
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
def composite(records: SqliteStore, graph: Neo4jGraph) -> CompositeStore:
    """Return a store with its graph in Neo4j, before any replication."""
    return CompositeStore(records, graph=graph)
