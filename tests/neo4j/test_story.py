"""A memory with its graph in Neo4j, as somebody uses it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.servers.neo4j import Neo4j

from nexus import Nexus
from nexus.config import Settings, StoreSettings
from nexus.core.errors import ConfigError
from nexus.embedders.hashing import HashingEmbedder
from nexus.stores.neo4j import mirror

SAID = (
    ("ann", "Ada works with Charles on the engine."),
    ("bob", "Charles lives in Dorset."),
    ("ann", "My sister Ada plays the harp."),
)
ASKED = ("Where does Charles live?", "Who works with Ada?", "What does Ada play?")


def told(file: Path, graph: str | None) -> tuple[Nexus, list[list[str]]]:
    """A memory that heard this, and what it answers."""
    settings = Settings(store=StoreSettings(url=str(file), graph=graph))
    nexus = Nexus.open(settings=settings, embedder=HashingEmbedder())
    room = nexus.workspace("acme").room("design", participants=["ann", "bob"])
    for n, (who, what) in enumerate(SAID):
        room.observe(who, what, key=str(n))
    room.add_fact("Ada", "KNOWS", "Mary")
    room.add_fact("Mary", "LIVES_IN", "London")
    nexus.workspace("acme").flush()
    return nexus, [[hit.text for hit in room.recall(question)] for question in ASKED]


@pytest.mark.requirement("E5", "E29", "X6")
def test_the_same_answers_and_the_same_oblivion(
    tmp_path: Path, neo4j_server: Neo4j, neo4j_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror, "ASKING_SECONDS", 30.0)
    plain, expected = told(tmp_path / "plain.db", None)
    with_graph, answers = told(tmp_path / "graph.db", neo4j_url)

    assert answers == expected
    names = neo4j_server.ask("MATCH (n:NexusName) RETURN collect(n.name) AS names")[0]["names"]
    assert {"ada", "mary", "london"} <= set(names)

    report = with_graph.workspace("acme").forget(user="ann")

    assert report.erased.graph > 0
    assert report.residue == 0
    assert "neo4j" in report.files_searched
    left = neo4j_server.ask("MATCH (n:NexusName) RETURN collect(n.name) AS names")[0]["names"]
    assert "ann" not in left
    plain.close()
    with_graph.close()


def test_a_graph_stands_beside_records_that_can_be_followed(neo4j_url: str) -> None:
    store = StoreSettings(url=":memory:", graph=neo4j_url)

    with pytest.raises(ConfigError, match="Neo4j"):
        Nexus.open(settings=Settings(store=store), embedder=HashingEmbedder())
