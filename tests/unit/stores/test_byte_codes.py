"""Byte codes: the nearest vectors are exact for every label size."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nexusmem.stores.sql.vectors import vector_codes
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.samples import ACME, ADMIN, TEST_PROFILE, add_memory

GROWTH = (2, 5, 9)  # across both edges of the middle range below


@pytest.mark.requirement("X10")
@pytest.mark.parametrize(
    "kept_as_floats", [range(0), range(4, 8), range(1000)], ids=["never", "between", "always"]
)
def test_growing_label_stays_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept_as_floats: range
) -> None:
    monkeypatch.setattr(vector_codes, "FLOAT_LABEL_SIZES", kept_as_floats)
    store = SqliteStore(tmp_path / "m.db")
    random = np.random.default_rng(5)
    known: dict[str, np.ndarray] = {}
    asked = _unit(random)

    for size in GROWTH:
        while len(known) < size:
            id = add_memory(store, str(len(known))).id
            known[id] = _unit(random)
            store.vectors.put(ACME, TEST_PROFILE, {id: known[id]})
        found = store.vectors.find_nearest(ADMIN, TEST_PROFILE, asked, limit=4)

        cosines = {id: float(vector.astype(float) @ asked) for id, vector in known.items()}
        best = sorted((max(cosine, 0.0) for cosine in cosines.values()), reverse=True)[:4]
        assert [hit.score for hit in found] == pytest.approx(best, abs=1e-6)
        assert all(hit.score == pytest.approx(cosines[hit.id], abs=1e-6) for hit in found)
    store.close()


def _unit(random: np.random.Generator) -> np.ndarray:
    vector = np.abs(random.normal(size=TEST_PROFILE.dimension)).astype(np.float32)
    return vector / np.linalg.norm(vector)
