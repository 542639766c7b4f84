"""Redis client with short timeouts, one attempt and a circuit breaker.

By default redis-py waits five seconds several times. Calls that can do without
Redis must not wait that long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from ....core.errors import ConfigError, MissingExtra, StoreUnavailable
from ....runtime.breaker import get_breaker
from ....text.urls import mask_passwords

PORT = 6379
WAIT_SECONDS = 0.05
MAX_WAIT_SECONDS = 10.0
SENTINEL_PORT = 26379
OPTIONS = frozenset(
    {
        "namespace",
        "wait",
        "ssl_ca_certs",
        "ssl_ca_path",
        "ssl_certfile",
        "ssl_keyfile",
        "ssl_cert_reqs",
    }
)


class RedisTopology(StrEnum):
    """How the server of a key is found."""

    SERVER = ""  # a single server
    SENTINEL = "sentinel"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisAddress:
    """A parsed Redis URL."""

    topology: RedisTopology
    hosts: tuple[tuple[str, int], ...]
    tls: bool = False
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    service: str | None = None  # name of the service in Sentinel
    database: int = 0
    namespace: str = ""
    wait_seconds: float = WAIT_SECONDS
    tls_options: Mapping[str, str] = field(default_factory=dict)


def parse_address(url: str) -> RedisAddress:
    """Parse a URL; raise ConfigError, without the password, if it is invalid."""
    try:
        return _parse_url(url)
    except ValueError as error:
        raise ConfigError(f"{mask_passwords(url)!r} is not a valid Redis URL: {error}") from None


def _parse_url(url: str) -> RedisAddress:
    split = urlsplit(url)
    product, _, name = split.scheme.partition("+")
    if product not in ("redis", "rediss") or name not in set(RedisTopology):
        raise ValueError(f"unknown scheme {split.scheme!r}")
    kind = RedisTopology(name)
    credentials, _, hosts = split.netloc.rpartition("@")
    username, _, password = credentials.partition(":")
    service, database = _parse_path(kind, [unquote(part) for part in split.path.split("/") if part])
    options = dict(parse_qsl(split.query, keep_blank_values=True))
    if unknown := options.keys() - OPTIONS:
        accepted = ", ".join(sorted(OPTIONS))
        raise ValueError(f"unknown option {min(unknown)!r}; accepted are {accepted}")
    return RedisAddress(
        topology=kind,
        hosts=_parse_hosts(hosts, SENTINEL_PORT if kind is RedisTopology.SENTINEL else PORT),
        tls=product == "rediss",
        username=unquote(username) or None,
        password=unquote(password) or None,
        service=service,
        database=database,
        namespace=options.pop("namespace", ""),
        wait_seconds=_parse_wait(options.pop("wait", str(WAIT_SECONDS))),
        tls_options=options,
    )


def _parse_hosts(hosts: str, port: int) -> tuple[tuple[str, int], ...]:
    parsed = [urlsplit(f"//{host}") for host in hosts.split(",")]
    return tuple((each.hostname or "localhost", each.port or port) for each in parsed)


def _parse_path(topology: RedisTopology, parts: list[str]) -> tuple[str | None, int]:
    """Return the service name and the database number."""
    service = None
    if topology is RedisTopology.SENTINEL:
        if not parts:
            raise ValueError("the name of the service is missing, as in …/service")
        service, *parts = parts
    if not parts:
        return service, 0
    if topology is RedisTopology.CLUSTER or len(parts) > 1 or not parts[0].isdecimal():
        raise ValueError(f"{'/'.join(parts)!r} is not a database number")
    return service, int(parts[0])


def _parse_wait(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds <= MAX_WAIT_SECONDS:
        raise ValueError(f"wait must be between 0 and {MAX_WAIT_SECONDS:g} seconds, got {text}")
    return seconds


T = TypeVar("T")
Client = Any  # redis.Redis or redis.RedisCluster, which have no common base class

COOL_DOWN_SECONDS = 2.0  # of the circuit breaker, after one timeout

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
REDIRECT_ERRORS = (ClusterError, ReadOnlyError)  # the request must go to another server


class UnreadableData(Exception):
    """A value in Redis was not written by Nexus."""


class RedisServer:
    """A Redis server, shared by all threads of a process."""

    def __init__(self, address: RedisAddress) -> None:
        self._address = address
        self._breaker = get_breaker(
            "Redis", repr(address), failure_limit=1, cooldown_seconds=COOL_DOWN_SECONDS
        )
        self._clients: dict[float, Client] = {}  # by timeout in seconds
        self._lock = Lock()

    def call(self, work: Callable[[Client], T], seconds: float) -> T:
        """Return `work(client)`, or raise StoreUnavailable within `seconds`.

        Error replies, such as a full memory, and unreadable values do not open the circuit
        breaker, because the server is reachable.
        """
        try:
            return self._breaker.call(
                lambda: self._call_client(work, seconds), seconds=seconds, error=StoreUnavailable
            )
        except ResponseError as refused:
            raise StoreUnavailable(f"Redis returned an error: {refused}") from refused
        except UnreadableData as strange:
            raise StoreUnavailable(f"Redis has data that Nexus did not write: {strange}") from None

    def _call_client(self, work: Callable[[Client], T], seconds: float) -> T:
        try:
            return work(self._get_client(seconds))
        except FAILURES as error:
            if isinstance(error, ResponseError) and not isinstance(error, REDIRECT_ERRORS):
                raise
            raise StoreUnavailable(f"Redis does not answer: {error_text(error)}") from error

    def _get_client(self, seconds: float) -> Client:
        with self._lock:
            if seconds not in self._clients:
                self._clients[seconds] = connect_client(self._address, seconds)
            return self._clients[seconds]

    def close(self) -> None:
        with self._lock:
            clients, self._clients = self._clients, {}
        for client in clients.values():
            client.close()


def error_text(error: Exception) -> str:
    """Return the text of an error, for Sentinel without the list of attempts."""
    text = str(error)
    return text.partition(" : ")[0] if isinstance(error, MasterNotFoundError) else text


def execute_pipeline(pipeline: Any) -> list[Any]:
    """Return the replies of a pipeline; None where a key has the wrong type."""
    replies = pipeline.execute(raise_on_error=False)
    for each in replies:
        if isinstance(each, Exception) and not _is_wrong_type(each):
            raise each
    return [None if isinstance(each, Exception) else each for each in replies]


def _is_wrong_type(error: Exception) -> bool:
    return isinstance(error, ResponseError) and "WRONGTYPE" in str(error)


def make_servers(urls: Iterable[str]) -> dict[str, RedisServer]:
    """Return one server for each distinct URL."""
    return {url: RedisServer(parse_address(url)) for url in urls}


def connect_client(address: RedisAddress, seconds: float) -> Client:
    """Return a client with this timeout for connections and replies, without retries."""
    options: dict[str, Any] = {
        "socket_timeout": seconds,
        "socket_connect_timeout": seconds,
        "retry": Retry(NoBackoff(), 0),
        "protocol": 2,  # RESP3 would subscribe to push messages that are not used
        "driver_info": None,  # saves a CLIENT SETINFO round trip
        "username": address.username,
        "password": address.password,
    }
    options |= _tls_options(address)
    if address.topology is RedisTopology.CLUSTER:
        nodes = [ClusterNode(*host) for host in address.hosts]  # type: ignore[no-untyped-call]
        return RedisCluster(startup_nodes=nodes, require_full_coverage=False, **options)
    options["db"] = address.database
    if address.topology is RedisTopology.SENTINEL:
        sentinel_options = {
            name: options[name] for name in ("socket_timeout", "socket_connect_timeout")
        }
        sentinel_options |= {"retry": options["retry"], "protocol": 2, **_tls_options(address)}
        sentinel: Any = Sentinel
        return sentinel(address.hosts, sentinel_kwargs=sentinel_options, **options).master_for(
            address.service
        )
    ((host, port),) = address.hosts
    return redis.Redis(host=host, port=port, **options)


def _tls_options(address: RedisAddress) -> dict[str, Any]:
    if not address.tls:
        return {}
    # Older drivers do not check the host name by default.
    checked = address.tls_options.get("ssl_cert_reqs") != "none"
    return {"ssl": True, "ssl_check_hostname": checked, **address.tls_options}
