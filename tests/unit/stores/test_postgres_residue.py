"""Residue search in the tables of a workspace."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.servers.postgres import Database

from nexusmem.stores.postgres import transaction
from nexusmem.stores.postgres.store import PostgresStore
from nexusmem.testing.samples import ACME, OTHER, add_memory, append_events, make_draft, make_event

PIECE = b"a secret of twenty-four."
IN_SOME_PLACE = "INSERT INTO nexus.{} SELECT * FROM jsonb_populate_record(NULL::nexus.{}, %s)"
LEFT = {
    "names": '{"workspace": 1, "label": 1, "name": "a secret of twenty-four.", "kind": "fact",'
    ' "at": "2026-01-01", "id": "x"}',
    "jobs": '{"workspace": 1, "name": "n", "key": "k", "on_news": false, "priority": 1, "fence": 0,'
    ' "has_news": false, "attempts": 0, "is_dead": false, "seconds": 0, "counts": "{}",'
    ' "error": "of a secret of twenty-four. again"}',
}


@pytest.fixture
def store(postgres: Database) -> Iterator[PostgresStore]:
    store = PostgresStore(postgres.url)
    yield store
    store.close()


@pytest.mark.requirement("X6")
@pytest.mark.parametrize("table", LEFT)
def test_residue_in_any_table_is_counted(
    store: PostgresStore, postgres: Database, table: str
) -> None:
    add_memory(store, "one", "Nothing that matters.")
    assert sum(store.eraser.find_residue(ACME, [PIECE]).values()) == 0

    postgres.run(IN_SOME_PLACE.format(table, table), LEFT[table])

    left = store.eraser.find_residue(ACME, [PIECE, b"another that is nowhere."])
    assert {place: times for place, times in left.items() if times} == {table: 1}


def test_text_of_remaining_record_is_no_residue(store: PostgresStore, postgres: Database) -> None:
    add_memory(store, "one", "I know a secret of twenty-four.")
    postgres.run(IN_SOME_PLACE.format("names", "names"), LEFT["names"])

    assert sum(store.eraser.find_residue(ACME, [PIECE]).values()) == 0


def test_erased_archived_memory_leaves_no_row(store: PostgresStore, postgres: Database) -> None:
    memory = add_memory(store, "one", "Nothing that matters.")
    store.memories.set_state(ACME, [memory.id], archived=True)
    assert postgres.run("SELECT count(*) FROM nexus.archived_memories") == [(1,)]

    store.eraser.erase(ACME, events=memory.sources, memories=[memory.id], tombstones=[])

    assert postgres.run("SELECT count(*) FROM nexus.archived_memories") == [(0,)]


def test_residue_search_is_limited_to_workspace(store: PostgresStore) -> None:
    add_memory(store, "one", "Nothing that matters.")
    add_memory(store, "one", "I know a secret of twenty-four.", workspace=OTHER)

    assert sum(store.eraser.find_residue(ACME, [PIECE]).values()) == 0


def test_large_workspace_is_searched_in_batches(
    store: PostgresStore, postgres: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each statement must stay below the statement timeout."""
    monkeypatch.setattr(transaction, "NEXT_PARTS", 100)
    long = "This is said in a long text. " * 20
    sources = append_events(store, *(make_event(str(number)) for number in range(500)))
    store.memories.put(ACME, [make_draft(source, text=long) for source in sources])
    pieces = [f"what nobody said, {number:6}".encode() for number in range(2_000)]
    hasty = PostgresStore(f"{postgres.url}?options=-c%20statement_timeout%3D300")

    assert sum(hasty.eraser.find_residue(ACME, pieces).values()) == 0
    hasty.close()
