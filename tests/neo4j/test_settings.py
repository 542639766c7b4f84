"""Settings and health checks of a Neo4j graph."""

from __future__ import annotations

import pytest
from tests.servers.neo4j import Neo4j

from nexusmem.config.settings import StoreSettings
from nexusmem.runtime.health import HealthCheck
from nexusmem.stores.external.neo4j.graph import Neo4jGraph
from nexusmem.stores.health.neo4j import check_health
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.samples import add_memory
from nexusmem.wiring.stores import make_store


def run_checks(url: str, records: SqliteStore | None) -> dict[str, HealthCheck]:
    return {check.name: check for check in check_health(url, records)}


def test_graph_url_gives_store_with_neo4j_graph(tmp_path, neo4j_url: str) -> None:
    store = make_store(StoreSettings(url=str(tmp_path / "memory.db"), graph_url=neo4j_url))

    assert isinstance(store.graph, Neo4jGraph)
    store.close()


def test_doctor_reports_version_and_lag(
    graph: Neo4jGraph, records: SqliteStore, neo4j_url: str
) -> None:
    add_memory(records, "one")
    behind = run_checks(neo4j_url, records)
    while graph.catch_up():
        pass

    level = run_checks(neo4j_url, records)

    assert behind["graph"].state == level["graph"].state == "ok"
    assert "Neo4j/" in level["neo4j"].detail
    assert behind["graph lag"].detail.startswith("1 writes behind")
    assert level["graph lag"].detail == "up to date"


@pytest.mark.parametrize("password", ["s3cret"])
def test_doctor_masks_password_of_unreachable_server(password: str) -> None:
    (check,) = check_health(f"bolt://neo4j:{password}@127.0.0.1:1", None)

    assert check.state == "problem"
    assert "bolt://neo4j:***@127.0.0.1:1 does not answer" in check.detail
    assert password not in check.detail


def test_doctor_gives_up_on_frozen_server(neo4j_server: Neo4j) -> None:
    neo4j_server.freeze()

    (check,) = check_health(neo4j_server.url, None)

    neo4j_server.thaw()
    assert "does not answer" in check.detail
