"""A program that follows records into LanceDB until it is killed: follower.py FILE FOLDER

It says "ready" when the first batch is written, and starts over whenever it has finished.
"""

from __future__ import annotations

import sys
from pathlib import Path

from nexus.core.records import EmbeddingProfile
from nexus.stores.lancedb import follower
from nexus.stores.lancedb.vectors import LanceVectors
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.samples import ACME


def main() -> None:
    file, folder, large = sys.argv[1:]
    follower.BATCH = 40
    follower.COMPACTED_AFTER = 5
    records = SqliteStore(file)
    vectors = LanceVectors(Path(folder), records, large=int(large))
    nothing = EmbeddingProfile(provider="test", model="axes", dimension=4)
    vectors.put(ACME, nothing, {})
    vectors.follow()
    print("ready", flush=True)
    while True:
        while vectors.follow():
            pass
        vectors.rebuild()


if __name__ == "__main__":
    main()
