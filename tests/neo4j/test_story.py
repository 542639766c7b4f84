"""End-to-end story of a memory with its graph in Neo4j."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.servers.neo4j import Neo4j

from nexusmem import Nexus
from nexusmem.config.settings import Settings, StoreSettings
from nexusmem.core.errors import ConfigError
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.stores.external.neo4j import mirror

SAID = (
    ("ann", "Ada works with Charles on the engine."),
    ("bob", "Charles lives in Dorset."),
    ("ann", "My sister Ada plays the harp."),
)
ASKED = ("Where does Charles live?", "Who works with Ada?", "What does Ada play?")


def observe_and_recall(file: Path, graph: str | None) -> tuple[Nexus, list[list[str]]]:
    """Record events in a memory and return its results."""
    settings = Settings(store=StoreSettings(url=str(file), graph_url=graph))
    nexus = Nexus.open(settings=settings, embedder=HashingEmbedder())
    room = nexus.workspace("acme").room("design", participants=["ann", "bob"])
    for n, (who, what) in enumerate(SAID):
        room.observe(who, what, key=str(n))
    room.add_fact("Ada", "KNOWS", "Mary")
    room.add_fact("Mary", "LIVES_IN", "London")
    nexus.workspace("acme").flush()
    found = [[hit.text for hit in room.recall(question)] for question in ASKED]
    near = room.neighbourhood("Ada", depth=2).neighbours
    return nexus, [*found, [f"{each.name} {each.distance}" for each in near]]


@pytest.mark.requirement("E5", "E29", "X6")
def test_same_results_and_erasure_as_without_neo4j(
    tmp_path: Path, neo4j_server: Neo4j, neo4j_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror, "READ_TIMEOUT_SECONDS", 30.0)
    plain, expected = observe_and_recall(tmp_path / "plain.db", None)
    with_graph, answers = observe_and_recall(tmp_path / "graph.db", neo4j_url)

    assert answers == expected
    assert {"Mary 1", "London 2"} <= set(answers[-1])
    names = neo4j_server.execute("MATCH (n:NexusName) RETURN collect(n.name) AS names")[0]["names"]
    assert {"ada", "mary", "london"} <= set(names)

    report = with_graph.workspace("acme").forget(user="ann")

    assert report.erased.graph > 0
    assert report.residue == 0
    assert "neo4j" in report.files_searched
    left = neo4j_server.execute("MATCH (n:NexusName) RETURN collect(n.name) AS names")[0]["names"]
    assert "ann" not in left
    plain.close()
    with_graph.close()


def test_graph_needs_sql_records(neo4j_url: str) -> None:
    store = StoreSettings(url=":memory:", graph_url=neo4j_url)

    with pytest.raises(ConfigError, match="Neo4j"):
        Nexus.open(settings=Settings(store=store), embedder=HashingEmbedder())
