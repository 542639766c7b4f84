"""Long answers are fetched in parts, and only as far as somebody reads."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.servers.postgres import Database

from nexus.stores.postgres import rows
from nexus.stores.postgres.session import Session
from nexus.stores.postgres.store import PostgresStore
from nexus.stores.sql.labels import known_workspace
from nexus.testing.samples import ACME, ADMIN, event, tell

TOLD = 20


@pytest.fixture
def store(postgres: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresStore]:
    monkeypatch.setattr(rows, "FIRST_PART", 3)
    monkeypatch.setattr(rows, "NEXT_PARTS", 7)
    store = PostgresStore(postgres.url)
    tell(store, *(event(str(number), f"Cup {number}.") for number in range(TOLD)))
    yield store
    store.close()


def test_the_rest_is_fetched_when_somebody_goes_on(store: PostgresStore) -> None:
    with store.ledger._connections.reading() as session:
        number = known_workspace(session, ACME)
        chain = iter(session.run("chain", {"workspace": number}))
        places = [next(chain)[0]]
        (left,) = session.connection.execute("FETCH ALL FROM " + _open(session)).fetchall()[:1]
        assert left[0] == 4  # the first three were fetched, and no more

        other = iter(session.run("chain", {"workspace": number}))  # each has a place of its own
        places += [row[0] for row in chain]
        assert [row[0] for row in other] == list(range(1, TOLD + 1))
    assert places == [1, 2, 3]  # the test took the rest away


def _open(session: Session) -> str:
    ((name,),) = session.connection.execute("SELECT name FROM pg_cursors").fetchall()
    return str(name)


def test_all_of_it_is_there(store: PostgresStore) -> None:
    assert store.ledger.verify(ACME).events == TOLD
    assert len(store.ledger.find(ADMIN)) == TOLD
    assert len(store.ledger.find(ADMIN, limit=5)) == 5
