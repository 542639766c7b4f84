"""Leak test of the Neo4j graph."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from nexusmem.core.protocols.store import Store
from nexusmem.stores.external.composite_store import CompositeStore
from nexusmem.stores.external.neo4j import mirror
from nexusmem.stores.external.neo4j.graph import Neo4jGraph
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.leaks.state_machine import run_leaktest

SECONDS = 20
FEWEST = 20  # observations on a slow machine


@pytest.mark.timeout(900)  # each traversal calls the server
@pytest.mark.requirement("E29", "X2", "A12")
def test_traversal_does_not_leak_private_writes(
    tmp_path: Path, neo4j_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror, "READ_TIMEOUT_SECONDS", 30.0)

    def opened(file: Path) -> Store:
        records = SqliteStore(file)
        return CompositeStore(records, graph=Neo4jGraph(neo4j_url, records))

    def reopen(store: Store) -> Store:
        (file, *_) = store.list_files()
        store.close()
        return opened(file)

    report = run_leaktest(
        SECONDS, lambda: opened(tmp_path / f"{secrets.token_hex(8)}.db"), seed=11, reopen=reopen
    )

    print(report)
    assert report.is_clean, "\n".join(map(str, report.violations))
    assert report.observations > FEWEST
