"""Replicates records into LanceDB until it is killed: lancedb_replicator.py FILE FOLDER

Prints "ready" after the first batch. Rebuilds the tables whenever replication is complete.
"""

from __future__ import annotations

import sys
from pathlib import Path

from nexusmem.core.records import EmbeddingProfile
from nexusmem.stores.external.lancedb import tables
from nexusmem.stores.external.lancedb.vectors import LanceVectors
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.samples import ACME


def main() -> None:
    file, folder, large = sys.argv[1:]
    tables.BATCH = 40
    tables.COMPACT_AFTER_APPENDS = 5
    records = SqliteStore(file)
    vectors = LanceVectors(Path(folder), records, min_documents=int(large))
    nothing = EmbeddingProfile(provider="test", model="axes", dimension=4)
    vectors.put(ACME, nothing, {})
    vectors.catch_up()
    print("ready", flush=True)
    while True:
        while vectors.catch_up():
            pass
        vectors.rebuild()


if __name__ == "__main__":
    main()
