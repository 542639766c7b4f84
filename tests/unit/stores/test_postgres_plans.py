"""The server plans with what it believes about a table. It may be wrong: that must not matter."""

from __future__ import annotations

import re

import pytest
from tests.servers.postgres import Database

from nexus import Nexus
from nexus.stores.postgres import session
from nexus.stores.queries import load_queries

LOOKED_UP = "events|memories|threads|links|names|postings|vectors|uses|outbox|jobs|audit"
ROWS_READ = """SELECT coalesce(sum(idx_tup_read), 0)::bigint
                 FROM pg_stat_user_indexes WHERE schemaname = 'nexus'"""


def tell(database: Database, workspace: str, messages: int) -> None:
    """All that reads and writes many rows at once, with this many of them."""
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
        assert not place.damage()
        assert place.forget(user="bob").residue == 0


def rows_read_for(database: Database, messages: int) -> int:
    """With tables that were last counted when nothing was in them."""
    database.run("VACUUM ANALYZE")
    (before,) = database.run(ROWS_READ)[0]
    tell(database, f"of {messages}", messages)
    (after,) = database.run(ROWS_READ)[0]
    return int(after - before)


@pytest.mark.requirement("C3")
def test_work_grows_with_what_is_told_also_if_the_server_took_the_tables_for_empty(
    postgres: Database,
) -> None:
    tell(postgres, "before", 1)

    few, many = (rows_read_for(postgres, messages) for messages in (40, 160))

    assert few > 0
    assert many < 5 * few  # it once read all for each


def test_whatever_is_too_much_for_one_statement_is_written_by_several(
    postgres: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "ROWS_AT_ONCE", 7)

    tell(postgres, "acme", 30)


@pytest.mark.parametrize("name", load_queries("nexus.stores.postgres"))
def test_what_belongs_to_many_rows_is_looked_up_for_each(name: str) -> None:
    """Joined otherwise, the server may begin with all rows of a workspace."""
    query = load_queries("nexus.stores.postgres")[name]

    assert not re.findall(rf"\bJOIN ({LOOKED_UP})\b", query)
