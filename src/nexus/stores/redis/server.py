"""Asking a Redis: for a short while, once, and not at all for a moment after it was away.

redis-py by itself waits five seconds, several times over. Somebody who waits for an answer that
needs no Redis must not wait for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any, TypeVar

from ...core.breaker import breaker
from ...core.errors import MissingExtra, StoreUnavailable
from .address import Address, Kind, parse_address

T = TypeVar("T")
Client = Any  # redis.Redis or redis.RedisCluster, which have no type in common

REST_SECONDS = 2.0  # after one question without an answer

try:
    import redis
    from redis.backoff import NoBackoff
    from redis.cluster import ClusterNode, RedisCluster
    from redis.exceptions import (
        ClusterError,
        ReadOnlyError,
        RedisClusterException,
        RedisError,
        ResponseError,
    )
    from redis.retry import Retry
    from redis.sentinel import MasterNotFoundError, Sentinel
except ImportError:
    raise MissingExtra("Redis", "redis") from None

FAILURES = (RedisError, RedisClusterException, OSError)
AWAY = (ClusterError, ReadOnlyError)  # an answer, but only that somebody else is to be asked


class Unreadable(Exception):
    """Redis answered, but what lies there is not what Nexus put there."""


class RedisServer:
    """One Redis, for all threads of a process."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._breaker = breaker("Redis", repr(address), failures=1, rest_seconds=REST_SECONDS)
        self._clients: dict[float, Client] = {}  # by how long they wait
        self._lock = Lock()

    def ask(self, work: Callable[[Client], T], seconds: float) -> T:
        """What `work` makes of a client, or StoreUnavailable within this time.

        An error that Redis itself answers with, such as a full memory, is no reason not to ask
        it again; neither is something else under one of our keys.
        """
        try:
            return self._breaker.call(
                lambda: self._answer(work, seconds), seconds=seconds, error=StoreUnavailable
            )
        except ResponseError as refused:
            raise StoreUnavailable(f"Redis refuses: {refused}") from refused
        except Unreadable as strange:
            raise StoreUnavailable(f"Redis holds what Nexus did not put there: {strange}") from None

    def _answer(self, work: Callable[[Client], T], seconds: float) -> T:
        try:
            return work(self._client(seconds))
        except FAILURES as error:
            if isinstance(error, ResponseError) and not isinstance(error, AWAY):
                raise
            raise StoreUnavailable(f"Redis does not answer: {said_by(error)}") from error

    def _client(self, seconds: float) -> Client:
        with self._lock:
            if seconds not in self._clients:
                self._clients[seconds] = connected(self._address, seconds)
            return self._clients[seconds]

    def close(self) -> None:
        with self._lock:
            clients, self._clients = self._clients, {}
        for client in clients.values():
            client.close()


def said_by(error: Exception) -> str:
    """Its words; where sentinels were asked, without what the driver keeps of each."""
    text = str(error)
    return text.partition(" : ")[0] if isinstance(error, MasterNotFoundError) else text


def answers(asked: Any) -> list[Any]:
    """What each question of a pipeline is answered; None, where another type lies under a key."""
    found = asked.execute(raise_on_error=False)
    for each in found:
        if isinstance(each, Exception) and not _another_type(each):
            raise each
    return [None if isinstance(each, Exception) else each for each in found]


def _another_type(error: Exception) -> bool:
    return isinstance(error, ResponseError) and "WRONGTYPE" in str(error)


def servers(urls: Iterable[str]) -> dict[str, RedisServer]:
    """One for each address, however many parts lie there."""
    return {url: RedisServer(parse_address(url)) for url in urls}


def connected(address: Address, seconds: float) -> Client:
    """A client that waits this long for a connection or an answer, and tries once."""
    options: dict[str, Any] = {
        "socket_timeout": seconds,
        "socket_connect_timeout": seconds,
        "retry": Retry(NoBackoff(), 0),
        "protocol": 2,  # the third would ask for notices that nobody here reads
        "driver_info": None,  # nor need it say who asks: each saying is one more question
        "username": address.username,
        "password": address.password,
    }
    options |= _encryption(address)
    if address.kind is Kind.CLUSTER:
        nodes = [ClusterNode(*host) for host in address.hosts]  # type: ignore[no-untyped-call]
        return RedisCluster(startup_nodes=nodes, require_full_coverage=False, **options)
    options["db"] = address.database
    if address.kind is Kind.SENTINEL:
        asked = {name: options[name] for name in ("socket_timeout", "socket_connect_timeout")}
        asked |= {"retry": options["retry"], "protocol": 2, **_encryption(address)}
        sentinel: Any = Sentinel
        return sentinel(address.hosts, sentinel_kwargs=asked, **options).master_for(address.service)
    ((host, port),) = address.hosts
    return redis.Redis(host=host, port=port, **options)


def _encryption(address: Address) -> dict[str, Any]:
    if not address.tls:
        return {}
    checked = address.tls_options.get("ssl_cert_reqs") != "none"  # older drivers check no name
    return {"ssl": True, "ssl_check_hostname": checked, **address.tls_options}
