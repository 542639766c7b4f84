"""A Postgres that is killed while it is written to: what was acknowledged is there, once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from tests.faults.promises import check_promises
from tests.faults.server_kills import kill_under_load
from tests.servers.postgres import Database, Postgres
from tests.servers.proxy import Proxy

from nexus import Nexus, Place
from nexus.core.errors import StoreUnavailable
from nexus.stores.postgres.store import PostgresStore

Open = Callable[..., Nexus]


def room_of(nexus: Nexus) -> Place:
    return nexus.workspace("acme").room("design", participants=["alice"])


@pytest.mark.slow
@pytest.mark.requirement("X3")
def test_kills_under_load_lose_nothing(own_postgres: Postgres, tmp_path: Path, kills: int) -> None:
    database = own_postgres.database()

    outcome = kill_under_load(database, tmp_path, kills)

    store = PostgresStore(database.url)
    assert len(outcome.promised.told) > kills
    check_promises(store, outcome.promised)
    store.close()


@pytest.mark.slow
@pytest.mark.requirement("X3")
@pytest.mark.parametrize("how", ["kill", "stop", "stop_immediately"])
def test_the_next_call_after_a_restart_works(
    how: str, own_postgres: Postgres, open_nexus: Open
) -> None:
    nexus = open_nexus(PostgresStore(own_postgres.database().url))
    room = room_of(nexus)
    room.observe("alice", "tea before", key="1")
    room.recall("tea")

    getattr(own_postgres, how)()
    own_postgres.start()

    assert room.recall("tea").hits[0].memory.text == "tea before"
    room.observe("alice", "tea afterwards", key="2")
    assert {event.key for event in room.recent()} == {"1", "2"}


@pytest.mark.slow
@pytest.mark.requirement("X3")
def test_a_server_that_is_away_is_said_and_comes_back(
    own_postgres: Postgres, open_nexus: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nexus.stores.postgres.connections.PATIENCE_SECONDS", 1.0)
    nexus = open_nexus(PostgresStore(own_postgres.database().url))
    room = room_of(nexus)
    room.observe("alice", "tea before", key="1")

    own_postgres.stop_immediately()
    with pytest.raises(StoreUnavailable):
        room.observe("alice", "tea meanwhile", key="2")
    with pytest.raises(StoreUnavailable):
        room.recall("tea")
    own_postgres.start()

    patiently(lambda: room.observe("alice", "tea meanwhile", key="2"))
    assert [event.key for event in room.recent()] == ["2", "1"]


def patiently(observe: Callable[[], object]) -> None:
    """As long as one would wait by default: a pool tries again after longer and longer pauses."""
    for _ in range(14):
        with suppress(StoreUnavailable):
            observe()
            return
    observe()


# The wire between


@pytest.fixture
def wire(postgres: Database):
    with Proxy(postgres.server.port) as wire:
        yield wire


@pytest.mark.requirement("X3")
def test_connections_that_were_reset_are_made_anew(
    wire: Proxy, postgres: Database, open_nexus: Open
) -> None:
    room = room_of(open_nexus(PostgresStore(postgres.url_of("owner", port=wire.port))))
    room.observe("alice", "tea", key="1")

    wire.reset()

    assert [event.key for event in room.recent()] == ["1"]
    room.observe("alice", "more tea", key="2")


@pytest.mark.requirement("X3")
def test_an_answer_that_was_cut_off_is_no_answer(
    wire: Proxy, postgres: Database, open_nexus: Open
) -> None:
    """Whether the commit is there is asked of the server: nothing is lost, nothing there twice."""
    store = PostgresStore(postgres.url_of("owner", port=wire.port))
    room = room_of(open_nexus(store))
    room.observe("alice", "tea", key="0")
    for number in range(1, 25):
        wire.truncate(number * 20)
        room.observe("alice", f"tea {number}", key=str(number))
    wire.reset()  # what was left of the last cut is not for the reading

    assert wire.accepted > 10
    assert sorted(int(event.key) for event in room.recent(50)) == list(range(25))
    assert store.ledger.verify(room.viewer.workspace).problems == ()
