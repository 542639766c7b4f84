"""Addresses of a Redis: one server, sentinels, a cluster."""

from __future__ import annotations

import re

import pytest

from nexus.core.errors import ConfigError
from nexus.stores.redis.address import Address, Kind, parse_address


@pytest.mark.parametrize(
    ("url", "address"),
    {
        "redis://": Address(kind=Kind.SERVER, hosts=(("localhost", 6379),)),
        "redis://cache:7000/3": Address(kind=Kind.SERVER, hosts=(("cache", 7000),), database=3),
        "redis://[::1]:7000": Address(kind=Kind.SERVER, hosts=(("::1", 7000),)),
        "redis://nexus:p%40ss@cache": Address(
            kind=Kind.SERVER, hosts=(("cache", 6379),), username="nexus", password="p@ss"
        ),
        "redis://:secret@cache?namespace=team": Address(
            kind=Kind.SERVER, hosts=(("cache", 6379),), password="secret", namespace="team"
        ),
        "rediss://cache?ssl_ca_certs=/ca.pem": Address(
            kind=Kind.SERVER,
            hosts=(("cache", 6379),),
            tls=True,
            tls_options={"ssl_ca_certs": "/ca.pem"},
        ),
        "redis://cache?wait=0.2": Address(
            kind=Kind.SERVER, hosts=(("cache", 6379),), wait_seconds=0.2
        ),
        "redis+sentinel://:pw@a:1,b,c:3/main/2": Address(
            kind=Kind.SENTINEL,
            hosts=(("a", 1), ("b", 26379), ("c", 3)),
            password="pw",
            service="main",
            database=2,
        ),
        "rediss+cluster://a:7000,b:7001": Address(
            kind=Kind.CLUSTER, hosts=(("a", 7000), ("b", 7001)), tls=True
        ),
    }.items(),
)
def test_an_address_says_where_a_redis_is(url: str, address: Address) -> None:
    assert parse_address(url) == address


@pytest.mark.parametrize(
    ("url", "why"),
    {
        "http://cache": "the scheme 'http' is unknown",
        "redis+replica://cache": "the scheme 'redis+replica' is unknown",
        "redis://cache:port": "Port could not be cast",
        "redis://cache/first": "'first' is no number of a database",
        "redis://cache/0/1": "'0/1' is no number of a database",
        "redis+cluster://cache/1": "'1' is no number of a database",
        "redis+sentinel://cache": "it lacks the name of the service",
        "redis://cache?wait=soon": "could not convert string to float",
        "redis://cache?wait=60": "wait is a number of seconds up to 10, not 60",
        "redis://cache?socket_timeout=60": "the option 'socket_timeout' is unknown",
    }.items(),
)
def test_what_is_no_address_is_refused_with_the_reason(url: str, why: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(why)):
        parse_address(url)


def test_a_password_is_never_shown() -> None:
    assert "secret" not in repr(parse_address("redis://me:secret@cache"))
    with pytest.raises(ConfigError) as refused:
        parse_address("redis://me:secret@cache/first")
    assert "secret" not in str(refused.value)
