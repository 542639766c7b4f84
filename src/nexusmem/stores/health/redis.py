"""Health checks of the Redis of windows or the context cache."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

from redis.exceptions import RedisError

from ...runtime.health import NOTE, OK, PROBLEM, HealthCheck, measure_latency
from ...text.urls import mask_passwords
from ..external.redis.server import FAILURES, Client, connect_client, error_text, parse_address

TIMEOUT_SECONDS = 2.0
PROBE_SCRIPT = "return 1"


def check_health(url: str, part: str) -> Iterator[HealthCheck]:
    """Yield checks of the server of `part` ("window" or "contexts").

    Raise ConfigError if the URL is invalid.
    """
    shown = mask_passwords(url)
    address = parse_address(url)
    try:
        with closing(connect_client(address, TIMEOUT_SECONDS)) as client:
            latency = measure_latency(client.ping)
            info = _server_info(client)
            yield HealthCheck(part, OK, f"{shown} answers, {latency}")
            yield from _check_server(client, info)
    except FAILURES as error:
        why = mask_passwords(error_text(error))
        detail = f"{shown} does not answer ({why}); Nexus continues without the {part}"
        yield HealthCheck(part, PROBLEM, detail)


def _server_info(client: Client) -> dict[str, Any]:
    """Return the INFO of the server, or of the first node of a cluster."""
    reply: dict[str, Any] = client.info()
    first = next(iter(reply.values()), None) if "redis_version" not in reply else None
    return first if isinstance(first, dict) else reply


def _check_server(client: Client, info: dict[str, Any]) -> Iterator[HealthCheck]:
    yield HealthCheck("redis", OK, f"version {info.get('redis_version', 'unknown')}")
    try:
        client.eval(PROBE_SCRIPT, 0)
    except RedisError as error:
        detail = f"this user may not run scripts ({error}): ACL SETUSER … +eval +evalsha +@write"
        yield HealthCheck("redis rights", PROBLEM, detail)
    max_memory, policy = info.get("maxmemory", 0), info.get("maxmemory_policy", "unknown")
    if not max_memory:
        yield HealthCheck("redis memory", NOTE, f"no limit is set (maxmemory 0, policy {policy})")
    elif policy == "noeviction":
        detail = f"maxmemory {max_memory:,} with noeviction: a full server rejects notes; every"
        yield HealthCheck(
            "redis memory", NOTE, f"{detail} key has a time to live, so volatile-ttl fits"
        )
    else:
        yield HealthCheck("redis memory", OK, f"maxmemory {max_memory:,}, policy {policy}")
    if info.get("role") == "slave":
        yield HealthCheck("redis role", PROBLEM, "this is a read-only replica")
