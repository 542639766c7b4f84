"""Dump a database of the current version: `python -m tests.migrations.make_dump`.

The dump of version 1 may be regenerated only before its release. Later a new schema version gets
a new dump, and the old dumps stay: users have such files.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from nexusmem import Nexus
from nexusmem.config.settings import Settings
from nexusmem.embedders.feature_hash import HashingEmbedder

HERE = Path(__file__).parent
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def fill(nexus: Nexus) -> None:
    """Write one record of each type; `test_sqlite_migrations.py` reads them."""
    acme = nexus.workspace("acme")
    room = acme.room("design", agent="scribe", participants=["alice", "bob"], project="apollo")
    room.observe("alice", "We chose PostgreSQL over MySQL.", key="choice", tags=["decision"])
    room.observe("bob", "This one will be forgotten soon.", key="gone")
    room.observe("scribe", "Noted, PostgreSQL it is.", key="noted", thread="storage")
    room.set_value("user:alice", "expiry", {"minutes": 30})
    room.add_fact("Tyler", "WORKS_AT", "Anthropic", confidence=0.9)
    room.remember("The staging server is called heron.", scope="project")
    room.add_document("# Guide\nStart heron.\n# End\nStop heron.", scope="project", key="guide")
    acme.dm("alice", agent="scribe").observe("alice", "My raise is due on Friday.", key="raise")
    acme.flush()
    acme.forget(user="bob")
    room.observe("alice", "Nobody has learned this yet.", key="waiting")
    nexus.workspace("globex").dm("carol").observe("carol", "Another company.", key="other")


def dump() -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "memory.db")
        embedder = HashingEmbedder(8)
        options = {"settings": Settings(), "embedder": embedder, "clock": lambda: NOON}
        with Nexus.open(file, background=False, **options) as nexus:
            fill(nexus)
        connection = sqlite3.connect(file)
        lines = "\n".join(connection.iterdump())
        connection.close()
    return lines + "\n"


if __name__ == "__main__":
    version = sys.argv[1] if len(sys.argv) > 1 else "0001"
    Path(HERE, f"written_by_{version}.sql").write_text(dump(), encoding="utf-8")
