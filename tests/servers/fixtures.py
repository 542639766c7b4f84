"""Server fixtures: one server of each kind for a test run, started by the first test that uses it.

`postgres_server`, `redis_server`    the shared servers
`postgres`                           an empty database, dropped after the test
`made_postgres`                      a database with the schema of a store, copied from a template
`redis_url`                          the URL of the shared Redis, after deleting every key
`own_postgres`, `own_redis`          a server for one test that stops or kills it

Each pytest-xdist worker starts its own servers. A missing engine skips the test with the reason
(see `skipped_engines`); with the environment variable CI the test fails instead.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, TypeVar

import pytest
from tests.servers.postgres import Database, Postgres
from tests.servers.process import Missing, Server
from tests.servers.redis import Redis
from tests.servers.skipped_engines import skip_engine

AnyServer = TypeVar("AnyServer", bound=Server)


def start_or_skip(engine: type[AnyServer], *args: Any) -> AnyServer:
    """Start and return the server; skip the test if the engine is missing, fail it in CI."""
    try:
        return engine(*args)
    except Missing as reason:
        if os.environ.get("CI"):
            pytest.fail(f"every engine must be installed in CI: {reason}")
        skip_engine(engine.name, reason)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    from tests.servers.databases import close_all  # needs the extra postgres

    with start_or_skip(Postgres) as server:
        yield server
        close_all(server)


@pytest.fixture
def postgres(postgres_server: Postgres) -> Iterator[Database]:
    database = postgres_server.database()
    yield database
    database.drop()


@pytest.fixture
def made_postgres(postgres_server: Postgres) -> Iterator[Database]:
    from tests.servers.databases import prepare  # needs the extra postgres

    database = postgres_server.database(prepared=prepare)
    yield database
    database.drop()


@pytest.fixture
def own_postgres() -> Iterator[Postgres]:
    with start_or_skip(Postgres) as server:
        yield server


@pytest.fixture(scope="session")
def redis_server() -> Iterator[Redis]:
    with start_or_skip(Redis) as server:
        yield server


@pytest.fixture
def redis_url(redis_server: Redis) -> str:
    redis_server.empty()
    return redis_server.url


@pytest.fixture
def own_redis() -> Iterator[Redis]:
    with start_or_skip(Redis) as server:
        yield server
