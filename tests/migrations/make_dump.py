"""Write down a memory as today's version writes it: `python -m tests.migrations.make_dump`.

Only before version 1 is released may its dump be made anew. After that a new schema version
gets a dump of its own, and the old ones stay: people have such files.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from nexus import Nexus
from nexus.config import Settings
from nexus.embedders.hashing import HashingEmbedder

HERE = Path(__file__).parent
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def fill(nexus: Nexus) -> None:
    """One of everything; `test_old_files.py` looks for it."""
    acme = nexus.workspace("acme")
    room = acme.room("design", agent="scribe", participants=["alice", "bob"], project="apollo")
    room.observe("alice", "We chose PostgreSQL over MySQL.", key="choice", tags=["decision"])
    room.observe("bob", "This one will be forgotten soon.", key="gone")
    room.observe("scribe", "Noted, PostgreSQL it is.", key="noted", thread="storage")
    room.set_fact("user:alice", "expiry", {"minutes": 30})
    room.add_fact("Tyler", "WORKS_AT", "Anthropic", confidence=0.9)
    room.remember("The staging server is called heron.", scope="project")
    room.index("# Guide\nStart heron.\n# End\nStop heron.", scope="project", key="guide")
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
