"""One Postgres database for all encryption tests, emptied before each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.servers.databases import EMPTY
from tests.servers.postgres import Database, Postgres

from nexusmem.stores.postgres.key_vault import KeyVault
from nexusmem.stores.postgres.store import PostgresStore

KEY = "correct horse battery staple"


@pytest.fixture(autouse=True)
def fast_key_derivation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a low scrypt cost: the default is slow on purpose."""
    real = KeyVault.__init__

    def init(vault: KeyVault, master: str, salt: bytes, work: int = 2) -> None:
        real(vault, master, salt, work)

    monkeypatch.setattr(KeyVault, "__init__", init)


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
