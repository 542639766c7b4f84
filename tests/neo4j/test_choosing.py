"""Neo4j by its address, and what the doctor says of it."""

from __future__ import annotations

import pytest
from tests.servers.neo4j import Neo4j

from nexus.config import StoreSettings
from nexus.core.checkup import Check
from nexus.stores.checkups.neo4j import examine
from nexus.stores.neo4j.graph import Neo4jGraph
from nexus.stores.sqlite.store import SqliteStore
from nexus.storing import make_store
from nexus.testing.samples import keep


def told(url: str, records: SqliteStore | None) -> dict[str, Check]:
    return {check.name: check for check in examine(url, records)}


def test_a_graph_stands_beside_the_records(tmp_path, neo4j_url: str) -> None:
    store = make_store(StoreSettings(url=str(tmp_path / "memory.db"), graph=neo4j_url))

    assert isinstance(store.graph, Neo4jGraph)
    store.close()


def test_the_doctor_tells_its_version_and_how_far_it_is_behind(
    graph: Neo4jGraph, records: SqliteStore, neo4j_url: str
) -> None:
    keep(records, "one")
    behind = told(neo4j_url, records)
    while graph.follow():
        pass

    level = told(neo4j_url, records)

    assert behind["graph"].state == level["graph"].state == "ok"
    assert "Neo4j/" in level["neo4j"].detail
    assert behind["graph lag"].detail.startswith("1 writes behind")
    assert level["graph lag"].detail == "nothing is missing"


@pytest.mark.parametrize("password", ["s3cret"])
def test_one_that_is_away_is_a_problem_without_its_password(password: str) -> None:
    (check,) = examine(f"bolt://neo4j:{password}@127.0.0.1:1", None)

    assert check.state == "problem"
    assert "bolt://neo4j:***@127.0.0.1:1 does not answer" in check.detail
    assert password not in check.detail


def test_one_that_stands_still_is_given_up(neo4j_server: Neo4j) -> None:
    neo4j_server.freeze()

    (check,) = examine(neo4j_server.url, None)

    neo4j_server.thaw()
    assert "does not answer" in check.detail
