"""Kills of a Postgres server during writes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from tests.faults.durability_checks import check_promises
from tests.faults.server_kills import kill_under_load
from tests.servers.postgres import Database, Postgres
from tests.servers.proxy import Proxy

from nexusmem import Nexus, Place
from nexusmem.core.errors import StoreUnavailable
from nexusmem.stores.postgres.store import PostgresStore

Open = Callable[..., Nexus]


def room_of(nexus: Nexus) -> Place:
    return nexus.workspace("acme").room("design", participants=["alice"])


@pytest.mark.slow
@pytest.mark.requirement("X3")
def test_acknowledged_writes_survive_server_kills(
    own_postgres: Postgres, tmp_path: Path, kills: int
) -> None:
    database = own_postgres.database()

    outcome = kill_under_load(database, tmp_path, kills)

    store = PostgresStore(database.url)
    assert len(outcome.promised.told) > kills
    check_promises(store, outcome.promised)
    store.close()


@pytest.mark.slow
@pytest.mark.requirement("X3")
@pytest.mark.parametrize("how", ["kill", "stop", "stop_immediately"])
def test_call_after_restart_works(how: str, own_postgres: Postgres, open_nexus: Open) -> None:
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
def test_unreachable_server_is_reported_and_recovers(
    own_postgres: Postgres, open_nexus: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nexusmem.stores.postgres.connections.RECONNECT_SECONDS", 1.0)
    nexus = open_nexus(PostgresStore(own_postgres.database().url))
    room = room_of(nexus)
    room.observe("alice", "tea before", key="1")

    own_postgres.stop_immediately()
    with pytest.raises(StoreUnavailable):
        room.observe("alice", "tea meanwhile", key="2")
    with pytest.raises(StoreUnavailable):
        room.recall("tea")
    own_postgres.start()

    call_until_reachable(lambda: room.observe("alice", "tea meanwhile", key="2"))
    assert [event.key for event in room.recent()] == ["2", "1"]


def call_until_reachable(observe: Callable[[], object]) -> None:
    """Retry for the default time: the pool reconnects with increasing delays."""
    for _ in range(14):
        with suppress(StoreUnavailable):
            observe()
            return
    observe()


# Proxy


@pytest.fixture
def wire(postgres: Database):
    with Proxy(postgres.server.port) as wire:
        yield wire


@pytest.mark.requirement("X3")
def test_reset_connections_are_replaced(wire: Proxy, postgres: Database, open_nexus: Open) -> None:
    room = room_of(open_nexus(PostgresStore(postgres.url_of("owner", port=wire.port))))
    room.observe("alice", "tea", key="1")

    wire.reset()

    assert [event.key for event in room.recent()] == ["1"]
    room.observe("alice", "more tea", key="2")


@pytest.mark.requirement("X3")
def test_truncated_commit_reply_is_resolved(
    wire: Proxy, postgres: Database, open_nexus: Open
) -> None:
    """The store asks the server for the outcome of the commit."""
    store = PostgresStore(postgres.url_of("owner", port=wire.port))
    room = room_of(open_nexus(store))
    room.observe("alice", "tea", key="0")
    for number in range(1, 25):
        wire.truncate(number * 20)
        room.observe("alice", f"tea {number}", key=str(number))
    wire.reset()  # the rest of the last limit must not affect the read

    assert wire.accepted > 10
    assert sorted(int(event.key) for event in room.recent(50)) == list(range(25))
    assert store.ledger.verify(room.viewer.workspace).problems == ()
