"""Stores with their vectors in LanceDB, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from nexusmem.core.ids import WorkspaceId
from nexusmem.core.protocols.embedder import Floats
from nexusmem.core.records import EmbeddingProfile
from nexusmem.stores.external.composite_store import CompositeStore
from nexusmem.stores.external.lancedb.vectors import LanceVectors
from nexusmem.stores.sql.store import SqlStore


class EagerLanceVectors(LanceVectors):
    """LanceVectors that replicate each write immediately, so that searches use the tables."""

    def put(
        self, workspace: WorkspaceId, profile: EmbeddingProfile, vectors: Mapping[str, Floats]
    ) -> int:
        written = super().put(workspace, profile, vectors)
        while self.catch_up():
            pass
        return written


def with_lancedb(records: SqlStore, folder: Path) -> CompositeStore:
    """Return a store with vectors in LanceDB, where labels of every size have a table."""
    return CompositeStore(records, vectors=EagerLanceVectors(folder, records, min_documents=1))
