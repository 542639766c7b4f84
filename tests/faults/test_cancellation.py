"""Cancelled requests: clean connections and correct results."""

from __future__ import annotations

import pytest
from tests.faults.cancellation import CancellationLoad
from tests.servers.postgres import Database

from nexusmem.stores.postgres.connections import PostgresConnections


@pytest.mark.slow
@pytest.mark.requirement("X2", "X3")
async def test_cancelled_requests_leave_pool_clean(postgres: Database) -> None:
    told = await CancellationLoad(postgres).run(1_000)

    figures = told.told()
    print(figures)
    assert told.wrong_rows == []
    assert told.dirty_sessions == []
    assert figures["answered"] > 200
    assert figures["given_up_by_the_caller"] > 50
    assert figures["cancelled_by_the_server"] > 10


@pytest.mark.slow
async def test_check_detects_dirty_connections(
    postgres: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shows that the check can fail, with a pool that does not roll back."""
    monkeypatch.setattr(
        PostgresConnections,
        "_return_connection",
        lambda self, connection: self._pool.putconn(connection),
    )

    told = await CancellationLoad(postgres).run(200)

    assert any("transaction" in dirt for dirt in told.dirty_sessions)
