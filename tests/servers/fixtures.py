"""Servers for tests: one of each kind for the whole run, started when the first test asks for it.

`postgres_server`, `redis_server`    the servers themselves, to be read and written
`postgres`                           an empty database of the server, dropped after the test
`made_postgres`                      the same with the schema of a store in it, sooner
`redis_url`                          the server's URL, with every key gone
`own_postgres`, `own_redis`          a server for one test that stops or kills it

Under pytest-xdist every worker starts its own. A service that is not here skips the test with the
reason; where CI is set, the test fails instead.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest
from tests.servers.postgres import Database, Postgres
from tests.servers.process import Missing, Server
from tests.servers.redis import Redis

Made = TypeVar("Made", bound=Server)


def started(make: Callable[[], Made]) -> Made:
    """The server, or a skip that says why there is none."""
    try:
        return make()
    except Missing as reason:
        if os.environ.get("CI"):
            pytest.fail(f"in CI every service is there: {reason}")
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    from tests.servers.databases import close_all  # an extra

    with started(Postgres) as server:
        yield server
        close_all(server)


@pytest.fixture
def postgres(postgres_server: Postgres) -> Iterator[Database]:
    database = postgres_server.database()
    yield database
    database.drop()


@pytest.fixture
def made_postgres(postgres_server: Postgres) -> Iterator[Database]:
    from tests.servers.databases import prepare  # an extra

    database = postgres_server.database(prepared=prepare)
    yield database
    database.drop()


@pytest.fixture
def own_postgres() -> Iterator[Postgres]:
    with started(Postgres) as server:
        yield server


@pytest.fixture(scope="session")
def redis_server() -> Iterator[Redis]:
    with started(Redis) as server:
        yield server


@pytest.fixture
def redis_url(redis_server: Redis) -> str:
    redis_server.empty()
    return redis_server.url


@pytest.fixture
def own_redis() -> Iterator[Redis]:
    with started(Redis) as server:
        yield server
