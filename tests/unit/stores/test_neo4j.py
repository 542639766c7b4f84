"""Tests of the Neo4j graph without a server; the others are in `tests/neo4j`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nexusmem.core.errors import ConfigError, StoreUnavailable
from nexusmem.runtime import breaker as breakers
from nexusmem.runtime.breaker import BreakerState
from nexusmem.stores.external.composite_store import CompositeStore
from nexusmem.stores.external.neo4j.graph import AWAY, Neo4jGraph
from nexusmem.stores.external.neo4j.mirror import (
    CYPHER,
    MAX_NAME_CHARS,
    Neo4jAddress,
    memory_to_row,
    to_index_name,
)
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.samples import ACME, add_memory
from nexusmem.testing.suites.graph import ROOM_GRANT, add_entity, add_fact

pytest.importorskip("neo4j", reason="the extra neo4j is not installed")

NOBODY = "bolt://ann:open%20sesame@127.0.0.1:9/memories"  # no server listens on this port


@pytest.fixture
def records(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "memory.db")
    yield store
    store.close()


@pytest.fixture
def graph(records: SqliteStore) -> Iterator[Neo4jGraph]:
    graph = Neo4jGraph(NOBODY, records)
    yield graph
    graph.close()


def test_url_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_USERNAME", "from outside")
    monkeypatch.setenv("NEO4J_PASSWORD", "secret")
    monkeypatch.delenv("NEO4J_DATABASE", raising=False)

    told = Neo4jAddress.from_url(NOBODY)
    assert (told.user, told.password, told.database) == ("ann", "open sesame", "memories")
    assert told.uri == "bolt://127.0.0.1:9"

    short = Neo4jAddress.from_url("neo4j+s://graph.example:7000?policy=eu")
    assert (short.user, short.password, short.database) == ("from outside", "secret", None)
    assert short.uri == "neo4j+s://graph.example:7000?policy=eu"
    assert Neo4jAddress.from_url("bolt://[::1]:7687").uri == "bolt://[::1]:7687"


@pytest.mark.parametrize("url", ["bolt://", "neo4j", "bolt://ann:secret@", "bolt://host:x"])
def test_invalid_url_is_rejected_without_password(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Neo4jAddress.from_url(url)

    assert "secret" not in str(refused.value)


@pytest.mark.requirement("E5", "E29")
def test_unreachable_server_falls_back_to_records(graph: Neo4jGraph, records: SqliteStore) -> None:
    told = add_fact(records, "1", "Ada", "Charles")

    for _ in range(4):
        assert graph.traverse(ROOM_GRANT, ["ada"], depth=1, limit=9) == [[told]]

    assert breakers.get_breaker("the graph", NOBODY).state is BreakerState.OPEN
    assert graph.catch_up() is False
    with pytest.raises(StoreUnavailable) as away:
        graph.rebuild()
    assert "sesame" not in str(away.value)


@pytest.mark.requirement("E29", "X6")
def test_residue_counts_pending_erasures(graph: Neo4jGraph, records: SqliteStore) -> None:
    store = CompositeStore(records, graph=graph)
    told = add_fact(store, "1", "Ada", "Charles")

    erased = store.eraser.erase(ACME, events=told.sources, memories=[], tombstones=[])

    assert (erased.memories, erased.graph) == (1, 0)
    assert store.eraser.find_residue(ACME, [])[AWAY] == 1


def test_row_has_names_but_no_text(records: SqliteStore) -> None:
    known = add_entity(records, "1", "Ada Lovelace", "Countess")

    row = memory_to_row(7, known)

    assert row["names"] == ["ada lovelace", "countess"]
    assert row["parts"] == ["~ada", "~lovelace"]
    assert known.text not in str(row)
    assert memory_to_row(7, add_memory(records, "2"))["names"] == []


def test_long_name_is_stored_as_digest() -> None:
    long = "x" * (MAX_NAME_CHARS + 1)

    assert to_index_name("ada") == "ada"
    assert to_index_name(long[1:]) == long[1:]
    assert len(to_index_name(long)) < 100
    assert to_index_name(long) != to_index_name(long + "x")


def test_queries_contain_no_values() -> None:
    for name, cypher in CYPHER.items():
        statement = "\n".join(line for line in cypher.splitlines() if not line.startswith("//"))
        assert not set(statement) & set("'\"%"), name
    assert len(CYPHER) > 15


def test_every_query_is_used() -> None:
    package = Path(Neo4jGraph.__init__.__code__.co_filename).parent
    code = "".join(path.read_text(encoding="utf-8") for path in package.glob("*.py"))

    assert [name for name in CYPHER if f'"{name}"' not in code] == []


def test_import_does_not_load_driver() -> None:
    code = (
        "import sys, nexusmem.stores.external.neo4j.graph; print('neo4j.exceptions' in sys.modules)"
    )

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout.strip() == "False"
