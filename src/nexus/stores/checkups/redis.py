"""A look at the Redis that keeps the windows of places, or composed contexts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

from redis.exceptions import RedisError

from ...core.checkup import NOTE, OK, PROBLEM, Check, latency
from ...core.urls import masked
from ..redis.address import parse_address
from ..redis.server import FAILURES, Client, connected, said_by

PATIENCE_SECONDS = 2.0
SCRIPT = "return 1"


def examine(url: str, name: str) -> Iterator[Check]:
    """`name` says what is kept there. An address that is none is an error, as when opening."""
    shown = masked(url)
    address = parse_address(url)
    try:
        with closing(connected(address, PATIENCE_SECONDS)) as client:
            answers = latency(client.ping)
            told = _told(client)
            yield Check(name, OK, f"{shown} answers, {answers}")
            yield from _examined(client, told)
    except FAILURES as error:
        why = (
            f"{shown} does not answer ({masked(said_by(error))}); Nexus goes on without the {name}"
        )
        yield Check(name, PROBLEM, why)


def _told(client: Client) -> dict[str, Any]:
    """What the server says of itself; the first of several, in a cluster."""
    said = client.info()
    first = next(iter(said.values()), None) if "redis_version" not in said else None
    told: dict[str, Any] = first if isinstance(first, dict) else said
    return told


def _examined(client: Client, told: dict[str, Any]) -> Iterator[Check]:
    yield Check("redis", OK, f"version {told.get('redis_version', 'unknown')}")
    try:
        client.eval(SCRIPT, 0)
    except RedisError as error:
        detail = f"this user may not run scripts ({error}): ACL SETUSER … +eval +evalsha +@write"
        yield Check("redis rights", PROBLEM, detail)
    most, policy = told.get("maxmemory", 0), told.get("maxmemory_policy", "unknown")
    if not most:
        yield Check("redis memory", NOTE, f"no limit is set (maxmemory 0, policy {policy})")
    elif policy == "noeviction":
        detail = f"maxmemory {most:,} with noeviction: when it is full, notes are refused; every"
        yield Check("redis memory", NOTE, f"{detail} key has a time to live, so volatile-ttl fits")
    else:
        yield Check("redis memory", OK, f"maxmemory {most:,}, policy {policy}")
    if told.get("role") == "slave":
        yield Check("redis role", PROBLEM, "this is a replica: nothing can be written to it")
