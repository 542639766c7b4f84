"""One database for all tests of encryption, emptied before each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.servers.databases import EMPTY
from tests.servers.postgres import Database, Postgres

from nexus.stores.postgres.store import PostgresStore
from nexus.stores.postgres.vault import Vault

KEY = "correct horse battery staple"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stretching a key takes a while on purpose; for these tests it is short."""
    real = Vault.__init__

    def init(vault: Vault, master: str, salt: bytes, work: int = 2) -> None:
        real(vault, master, salt, work)

    monkeypatch.setattr(Vault, "__init__", init)


@pytest.fixture(scope="session")
def database(postgres_server: Postgres) -> Iterator[Database]:
    database = postgres_server.database()
    PostgresStore(database.url).close()
    yield database
    database.drop()


@pytest.fixture
def empty(database: Database) -> Database:
    database.run(EMPTY)
    return database
