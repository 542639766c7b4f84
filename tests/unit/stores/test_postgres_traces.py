"""After erasing, every text of the workspace is looked through for what should be gone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.servers.postgres import Database

from nexus.stores.postgres import rows
from nexus.stores.postgres.store import PostgresStore
from nexus.testing.samples import ACME, OTHER, draft, event, keep, tell

PIECE = b"a secret of twenty-four."
IN_SOME_PLACE = "INSERT INTO nexus.{} SELECT * FROM jsonb_populate_record(NULL::nexus.{}, %s)"
LEFT = {
    "names": '{"workspace": 1, "label": 1, "name": "a secret of twenty-four.", "kind": "fact",'
    ' "at": "2026-01-01", "id": "x"}',
    "jobs": '{"workspace": 1, "name": "n", "key": "k", "on_news": false, "priority": 1, "fence": 0,'
    ' "woken": false, "attempts": 0, "dead": false, "seconds": 0, "counts": "{}",'
    ' "error": "of a secret of twenty-four. again"}',
}


@pytest.fixture
def store(postgres: Database) -> Iterator[PostgresStore]:
    store = PostgresStore(postgres.url)
    yield store
    store.close()


@pytest.mark.requirement("X6")
@pytest.mark.parametrize("table", LEFT)
def test_what_is_left_in_any_table_is_told(
    store: PostgresStore, postgres: Database, table: str
) -> None:
    keep(store, "one", "Nothing that matters.")
    assert sum(store.eraser.residue(ACME, [PIECE]).values()) == 0

    postgres.run(IN_SOME_PLACE.format(table, table), LEFT[table])

    left = store.eraser.residue(ACME, [PIECE, b"another that is nowhere."])
    assert {place: times for place, times in left.items() if times} == {table: 1}


def test_what_somebody_else_said_too_is_no_trace(store: PostgresStore, postgres: Database) -> None:
    keep(store, "one", "I know a secret of twenty-four.")
    postgres.run(IN_SOME_PLACE.format("names", "names"), LEFT["names"])

    assert sum(store.eraser.residue(ACME, [PIECE]).values()) == 0


def test_what_was_archived_leaves_no_row_when_it_goes(
    store: PostgresStore, postgres: Database
) -> None:
    memory = keep(store, "one", "Nothing that matters.")
    store.memories.mark(ACME, [memory.id], archived=True)
    assert postgres.run("SELECT count(*) FROM nexus.archive") == [(1,)]

    store.eraser.erase(ACME, events=memory.sources, memories=[memory.id], tombstones=[])

    assert postgres.run("SELECT count(*) FROM nexus.archive") == [(0,)]


def test_nobody_looks_into_another_workspace(store: PostgresStore) -> None:
    keep(store, "one", "Nothing that matters.")
    keep(store, "one", "I know a secret of twenty-four.", workspace=OTHER)

    assert sum(store.eraser.residue(ACME, [PIECE]).values()) == 0


def test_a_large_workspace_is_looked_through_in_parts(
    store: PostgresStore, postgres: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server may give up a statement after a while: none takes long."""
    monkeypatch.setattr(rows, "NEXT_PARTS", 100)
    long = "This is said in a long text. " * 20
    sources = tell(store, *(event(str(number)) for number in range(500)))
    store.memories.put(ACME, [draft(source, text=long) for source in sources])
    pieces = [f"what nobody said, {number:6}".encode() for number in range(2_000)]
    hasty = PostgresStore(f"{postgres.url}?options=-c%20statement_timeout%3D300")

    assert sum(hasty.eraser.residue(ACME, pieces).values()) == 0
    hasty.close()
