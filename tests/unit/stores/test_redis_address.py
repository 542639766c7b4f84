"""Redis URLs of a server, Sentinel and a cluster."""

from __future__ import annotations

import re

import pytest

from nexusmem.core.errors import ConfigError
from nexusmem.stores.external.redis.server import RedisAddress, RedisTopology, parse_address


@pytest.mark.parametrize(
    ("url", "address"),
    {
        "redis://": RedisAddress(topology=RedisTopology.SERVER, hosts=(("localhost", 6379),)),
        "redis://cache:7000/3": RedisAddress(
            topology=RedisTopology.SERVER, hosts=(("cache", 7000),), database=3
        ),
        "redis://[::1]:7000": RedisAddress(topology=RedisTopology.SERVER, hosts=(("::1", 7000),)),
        "redis://nexus:p%40ss@cache": RedisAddress(
            topology=RedisTopology.SERVER,
            hosts=(("cache", 6379),),
            username="nexus",
            password="p@ss",
        ),
        "redis://:secret@cache?namespace=team": RedisAddress(
            topology=RedisTopology.SERVER,
            hosts=(("cache", 6379),),
            password="secret",
            namespace="team",
        ),
        "rediss://cache?ssl_ca_certs=/ca.pem": RedisAddress(
            topology=RedisTopology.SERVER,
            hosts=(("cache", 6379),),
            tls=True,
            tls_options={"ssl_ca_certs": "/ca.pem"},
        ),
        "redis://cache?wait=0.2": RedisAddress(
            topology=RedisTopology.SERVER, hosts=(("cache", 6379),), wait_seconds=0.2
        ),
        "redis+sentinel://:pw@a:1,b,c:3/main/2": RedisAddress(
            topology=RedisTopology.SENTINEL,
            hosts=(("a", 1), ("b", 26379), ("c", 3)),
            password="pw",
            service="main",
            database=2,
        ),
        "rediss+cluster://a:7000,b:7001": RedisAddress(
            topology=RedisTopology.CLUSTER, hosts=(("a", 7000), ("b", 7001)), tls=True
        ),
    }.items(),
)
def test_url_is_parsed(url: str, address: RedisAddress) -> None:
    assert parse_address(url) == address


@pytest.mark.parametrize(
    ("url", "why"),
    {
        "http://cache": "unknown scheme 'http'",
        "redis+replica://cache": "unknown scheme 'redis+replica'",
        "redis://cache:port": "Port could not be cast",
        "redis://cache/first": "'first' is not a database number",
        "redis://cache/0/1": "'0/1' is not a database number",
        "redis+cluster://cache/1": "'1' is not a database number",
        "redis+sentinel://cache": "the name of the service is missing",
        "redis://cache?wait=soon": "could not convert string to float",
        "redis://cache?wait=60": "wait must be between 0 and 10 seconds, got 60",
        "redis://cache?socket_timeout=60": "unknown option 'socket_timeout'",
    }.items(),
)
def test_invalid_url_is_rejected_with_reason(url: str, why: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(why)):
        parse_address(url)


def test_password_is_never_shown() -> None:
    assert "secret" not in repr(parse_address("redis://me:secret@cache"))
    with pytest.raises(ConfigError) as refused:
        parse_address("redis://me:secret@cache/first")
    assert "secret" not in str(refused.value)
