"""What of a graph in Neo4j can be tested without one. The rest is in `tests/neo4j`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nexus.core import breaker as breakers
from nexus.core.breaker import State
from nexus.core.errors import ConfigError, StoreUnavailable
from nexus.stores.beside import CombinedStore
from nexus.stores.neo4j.graph import AWAY, Neo4jGraph
from nexus.stores.neo4j.mirror import CYPHER, Address
from nexus.stores.neo4j.rows import LONGEST_NAME, row_of, stored
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.samples import ACME, keep
from nexus.testing.suites.graph import HERE, entity
from nexus.testing.suites.names import fact

pytest.importorskip("neo4j", reason="the extra neo4j is not installed")

NOBODY = "bolt://ann:open%20sesame@127.0.0.1:9/memories"  # listens there


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


def test_an_address_tells_who_asks_and_which_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_USERNAME", "from outside")
    monkeypatch.setenv("NEO4J_PASSWORD", "secret")
    monkeypatch.delenv("NEO4J_DATABASE", raising=False)

    told = Address.of(NOBODY)
    assert (told.user, told.password, told.database) == ("ann", "open sesame", "memories")
    assert told.uri == "bolt://127.0.0.1:9"

    short = Address.of("neo4j+s://graph.example:7000?policy=eu")
    assert (short.user, short.password, short.database) == ("from outside", "secret", None)
    assert short.uri == "neo4j+s://graph.example:7000?policy=eu"
    assert Address.of("bolt://[::1]:7687").uri == "bolt://[::1]:7687"


@pytest.mark.parametrize("url", ["bolt://", "neo4j", "bolt://ann:secret@", "bolt://host:x"])
def test_an_address_that_is_none_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Address.of(url)

    assert "secret" not in str(refused.value)


@pytest.mark.requirement("E5", "E29")
def test_while_it_is_away_the_records_answer_and_nobody_waits(
    graph: Neo4jGraph, records: SqliteStore
) -> None:
    told = fact(records, "1", "Ada", "Charles")

    for _ in range(4):
        assert graph.around(HERE, ["ada"], depth=1, limit=9) == [[told]]

    assert breakers.breaker("the graph", NOBODY).state is State.OPEN
    assert graph.follow() is False
    with pytest.raises(StoreUnavailable) as away:
        graph.rebuild()
    assert "sesame" not in str(away.value)


@pytest.mark.requirement("E29", "X6")
def test_what_it_may_still_hold_is_in_the_report(graph: Neo4jGraph, records: SqliteStore) -> None:
    store = CombinedStore(records, graph=graph)
    told = fact(store, "1", "Ada", "Charles")

    erased = store.eraser.erase(ACME, events=told.sources, memories=[], tombstones=[])

    assert (erased.memories, erased.graph) == (1, 0)
    assert store.eraser.residue(ACME, [])[AWAY] == 1


def test_a_row_holds_names_and_no_text(records: SqliteStore) -> None:
    known = entity(records, "1", "Ada Lovelace", "Countess")

    row = row_of(7, known)

    assert row["names"] == ["ada lovelace", "countess"]
    assert row["parts"] == ["~ada", "~lovelace"]
    assert known.text not in str(row)
    assert row_of(7, keep(records, "2"))["names"] == []


def test_a_name_too_long_for_an_index_is_known_by_its_digest() -> None:
    long = "x" * (LONGEST_NAME + 1)

    assert stored("ada") == "ada"
    assert stored(long[1:]) == long[1:]
    assert len(stored(long)) < 100
    assert stored(long) != stored(long + "x")


def test_the_text_of_a_query_holds_no_values() -> None:
    for name, cypher in CYPHER.items():
        statement = "\n".join(line for line in cypher.splitlines() if not line.startswith("//"))
        assert not set(statement) & set("'\"%"), name
    assert len(CYPHER) > 15


def test_every_query_is_used() -> None:
    package = Path(Neo4jGraph.__init__.__code__.co_filename).parent
    code = "".join(path.read_text(encoding="utf-8") for path in package.glob("*.py"))

    assert [name for name in CYPHER if f'"{name}"' not in code] == []


def test_importing_it_does_not_load_the_driver() -> None:
    code = "import sys, nexus.stores.neo4j.graph; print('neo4j.exceptions' in sys.modules)"

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout.strip() == "False"
