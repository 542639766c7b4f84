"""Server-side cursors: results are fetched in batches on demand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.servers.postgres import Database

from nexusmem.stores.postgres import transaction
from nexusmem.stores.postgres.store import PostgresStore
from nexusmem.stores.postgres.transaction import PostgresTransaction
from nexusmem.stores.sql.readable_labels import find_workspace
from nexusmem.testing.samples import ACME, ADMIN, append_events, make_event

TOLD = 20


@pytest.fixture
def store(postgres: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresStore]:
    monkeypatch.setattr(transaction, "FIRST_PART", 3)
    monkeypatch.setattr(transaction, "NEXT_PARTS", 7)
    store = PostgresStore(postgres.url)
    append_events(store, *(make_event(str(number), f"Cup {number}.") for number in range(TOLD)))
    yield store
    store.close()


def test_cursor_fetches_rows_on_demand(store: PostgresStore) -> None:
    with store.ledger._connections.read_transaction() as session:
        number = find_workspace(session, ACME)
        chain = iter(session.execute_query("chain", {"workspace": number}))
        places = [next(chain)[0]]
        (left,) = session.connection.execute("FETCH ALL FROM " + _open(session)).fetchall()[:1]
        assert left[0] == 4  # only the first batch was fetched

        other = iter(
            session.execute_query("chain", {"workspace": number})
        )  # each cursor has its own position
        places += [row[0] for row in chain]
        assert [row[0] for row in other] == list(range(1, TOLD + 1))
    assert places == [1, 2, 3]  # the test deleted the remaining rows


def _open(session: PostgresTransaction) -> str:
    ((name,),) = session.connection.execute("SELECT name FROM pg_cursors").fetchall()
    return str(name)


def test_cursor_returns_all_rows(store: PostgresStore) -> None:
    assert store.ledger.verify(ACME).events == TOLD
    assert len(store.ledger.find(ADMIN)) == TOLD
    assert len(store.ledger.find(ADMIN, limit=5)) == 5
