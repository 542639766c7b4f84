"""However many vectors a label has, the nearest are exactly those."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nexus.stores.sql import codes
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.samples import ACME, ADMIN, SPACE, keep

GROWTH = (2, 5, 9)  # across both edges of the middle range below


@pytest.mark.requirement("X10")
@pytest.mark.parametrize(
    "kept_as_floats", [range(0), range(4, 8), range(1000)], ids=["never", "between", "always"]
)
def test_a_label_that_grows_stays_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept_as_floats: range
) -> None:
    monkeypatch.setattr(codes, "KEPT_AS_FLOATS", kept_as_floats)
    store = SqliteStore(tmp_path / "m.db")
    random = np.random.default_rng(5)
    known: dict[str, np.ndarray] = {}
    asked = _unit(random)

    for size in GROWTH:
        while len(known) < size:
            id = keep(store, str(len(known))).id
            known[id] = _unit(random)
            store.vectors.put(ACME, SPACE, {id: known[id]})
        found = store.vectors.nearest(ADMIN, SPACE, asked, limit=4)

        cosines = {id: float(vector.astype(float) @ asked) for id, vector in known.items()}
        best = sorted((max(cosine, 0.0) for cosine in cosines.values()), reverse=True)[:4]
        assert [hit.score for hit in found] == pytest.approx(best, abs=1e-6)
        assert all(hit.score == pytest.approx(cosines[hit.id], abs=1e-6) for hit in found)
    store.close()


def _unit(random: np.random.Generator) -> np.ndarray:
    vector = np.abs(random.normal(size=SPACE.dimension)).astype(np.float32)
    return vector / np.linalg.norm(vector)
