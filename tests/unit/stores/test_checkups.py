"""What the doctor finds in an index beside the records."""

from __future__ import annotations

from pathlib import Path

import pytest

from nexus.stores.checkups.lancedb import examine
from nexus.stores.lancedb.vectors import LanceVectors
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.samples import ACME, SPACE, keep, towards


def details(folder: Path, records: SqliteStore) -> dict[str, str]:
    return {check.name: check.detail for check in examine(folder, records)}


@pytest.mark.slow  # its package takes seconds to load
def test_an_index_is_told_with_its_size_and_how_far_it_has_come(tmp_path: Path) -> None:
    records = SqliteStore(tmp_path / "memory.db")
    folder = tmp_path / "memory.lance"
    empty = details(folder, records)
    index = LanceVectors(folder, records, large=3)
    ids = [keep(records, str(n), f"Message {n}.").id for n in range(5)]
    index.put(ACME, SPACE, {id: towards(1.0, n) for n, id in enumerate(ids)})
    while index.follow():
        pass
    full = details(folder, records)
    more = keep(records, "more", "One more.")
    records.vectors.put(ACME, SPACE, {more.id: towards(0.5, 1.0)})

    behind = details(folder, records)

    assert "holds no index yet" in empty["index"]
    assert "holds 1 tables" in full["index"]
    assert full["index lag"] == "nothing is missing"
    assert behind["index lag"].startswith("1 vectors are not in it yet")
    index.close()
    records.close()
