"""Requests that are given up in the middle leave no trace in the pool, and mix up nothing."""

from __future__ import annotations

import pytest
from tests.faults.cancelling import Cancelling
from tests.servers.postgres import Database

from nexus.stores.postgres.connections import Connections


@pytest.mark.slow
@pytest.mark.requirement("X2", "X3")
async def test_cancelled_requests_mix_up_nothing(postgres: Database) -> None:
    told = await Cancelling(postgres).run(1_000)

    figures = told.told()
    print(figures)
    assert told.wrong_rows == []
    assert told.dirty_sessions == []
    assert figures["answered"] > 200
    assert figures["given_up_by_the_caller"] > 50
    assert figures["cancelled_by_the_server"] > 10


@pytest.mark.slow
async def test_what_is_left_over_is_noticed(
    postgres: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same with a pool that takes back whatever it is given."""
    monkeypatch.setattr(
        Connections, "_give_back", lambda self, connection: self._pool.putconn(connection)
    )

    told = await Cancelling(postgres).run(200)

    assert any("transaction" in dirt for dirt in told.dirty_sessions)
