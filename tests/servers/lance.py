"""LanceDB beside the records of a store, for a test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from nexus.core.ids import WorkspaceId
from nexus.core.protocols import Floats
from nexus.core.records import EmbeddingProfile
from nexus.stores.beside import CombinedStore
from nexus.stores.lancedb.vectors import LanceVectors
from nexus.stores.sql.store import SqlStore


class EagerLanceVectors(LanceVectors):
    """Follows every vector at once, so that searches ask its tables."""

    def put(
        self, workspace: WorkspaceId, profile: EmbeddingProfile, vectors: Mapping[str, Floats]
    ) -> int:
        kept = super().put(workspace, profile, vectors)
        while self.follow():
            pass
        return kept


def beside_lancedb(records: SqlStore, folder: Path) -> CombinedStore:
    """Every label is large enough for a table."""
    return CombinedStore(records, vectors=EagerLanceVectors(folder, records, large=1))
