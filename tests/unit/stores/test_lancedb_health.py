"""Health checks of the LanceDB index."""

from __future__ import annotations

from pathlib import Path

import pytest

from nexusmem.stores.external.lancedb.vectors import LanceVectors
from nexusmem.stores.health.lancedb import check_health
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.samples import ACME, TEST_PROFILE, add_memory, unit_vector


def details(folder: Path, records: SqliteStore) -> dict[str, str]:
    return {check.name: check.detail for check in check_health(folder, records)}


@pytest.mark.slow  # importing lancedb takes seconds
def test_lancedb_check_reports_size_and_lag(tmp_path: Path) -> None:
    records = SqliteStore(tmp_path / "memory.db")
    folder = tmp_path / "memory.lance"
    empty = details(folder, records)
    index = LanceVectors(folder, records, min_documents=3)
    ids = [add_memory(records, str(n), f"Message {n}.").id for n in range(5)]
    index.put(ACME, TEST_PROFILE, {id: unit_vector(1.0, n) for n, id in enumerate(ids)})
    while index.catch_up():
        pass
    full = details(folder, records)
    more = add_memory(records, "more", "One more.")
    records.vectors.put(ACME, TEST_PROFILE, {more.id: unit_vector(0.5, 1.0)})

    behind = details(folder, records)

    assert "has no index yet" in empty["index"]
    assert "has 1 tables" in full["index"]
    assert full["index lag"] == "up to date"
    assert behind["index lag"].startswith("1 vectors are not indexed yet")
    index.close()
    records.close()
