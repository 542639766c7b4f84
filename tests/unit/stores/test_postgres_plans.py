"""Query plans with wrong table statistics."""

from __future__ import annotations

import re

import pytest
from tests.servers.postgres import Database

from nexusmem import Nexus
from nexusmem.stores.postgres import transaction
from nexusmem.stores.query_files import load_queries

LOOKED_UP = (
    "events|memories|conversations|links|names|postings|vectors|usage_counts|outbox|jobs|audit"
)
ROWS_READ = """SELECT coalesce(sum(idx_tup_read), 0)::bigint
                 FROM pg_stat_user_indexes WHERE schemaname = 'nexus'"""


def write_rows(database: Database, workspace: str, messages: int) -> None:
    """Run the bulk reads and writes with this many rows."""
    with Nexus.open(database.url, background=False) as nexus:
        place = nexus.workspace(workspace)
        room = place.room("kitchen", participants=["ann", "bob"])
        room.observe_many(
            {
                "speaker": "bob",
                "text": f"Bob likes tea {n}; Anna Diaz lives in Town{n}. We chose tool{n % 5}.",
                "thread": f"t{n % 5}",
            }
            for n in range(messages)
        )
        place.flush()
        hits = room.recall("Who likes tea?", limit=messages)
        assert len(hits) >= messages / 2
        room.compose("Where does Anna Diaz live?")
        room.profile("bob")
        place.run_job("consolidate")
        place.rebuild("keywords")
        place.rebuild("graph")
        assert not place.check_indexes()
        assert place.forget(user="bob").residue == 0


def rows_read_for(database: Database, messages: int) -> int:
    """Count rows read, with statistics from when the tables were empty."""
    database.run("VACUUM ANALYZE")
    (before,) = database.run(ROWS_READ)[0]
    write_rows(database, f"of {messages}", messages)
    (after,) = database.run(ROWS_READ)[0]
    return int(after - before)


@pytest.mark.requirement("C3")
def test_rows_read_grow_linearly_with_stale_statistics(
    postgres: Database,
) -> None:
    write_rows(postgres, "before", 1)

    few, many = (rows_read_for(postgres, messages) for messages in (40, 160))

    assert few > 0
    assert many < 5 * few  # quadratic before


def test_large_write_is_split_into_statements(
    postgres: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction, "ROWS_PER_STATEMENT", 7)

    write_rows(postgres, "acme", 30)


@pytest.mark.parametrize("name", load_queries("nexusmem.stores.postgres"))
def test_joins_start_with_given_rows(name: str) -> None:
    """Another join order could start with all rows of a workspace."""
    query = load_queries("nexusmem.stores.postgres")[name]

    assert not re.findall(rf"\bJOIN ({LOOKED_UP})\b", query)
