"""Nobody can tell from a graph in Neo4j what somebody else wrote in private."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from nexus.core.protocols import Store
from nexus.stores.beside import CombinedStore
from nexus.stores.neo4j import mirror
from nexus.stores.neo4j.graph import Neo4jGraph
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.leaks import run_leaktest

SECONDS = 20
FEWEST = 20  # observations, even on a slow machine


@pytest.mark.timeout(900)  # a run that has begun is ended, and every walk asks the server
@pytest.mark.requirement("E29", "X2", "A12")
def test_nobody_notices_a_secret(
    tmp_path: Path, neo4j_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror, "ASKING_SECONDS", 30.0)

    def opened(file: Path) -> Store:
        records = SqliteStore(file)
        return CombinedStore(records, graph=Neo4jGraph(neo4j_url, records))

    def reopen(store: Store) -> Store:
        (file, *_) = store.files()
        store.close()
        return opened(file)

    report = run_leaktest(
        SECONDS, lambda: opened(tmp_path / f"{secrets.token_hex(8)}.db"), seed=11, reopen=reopen
    )

    print(report)
    assert report.clean, "\n".join(map(str, report.violations))
    assert report.observations > FEWEST
