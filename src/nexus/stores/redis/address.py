"""Where a Redis is: one server, a service that sentinels watch, or a cluster.

    redis://[user:password@]host[:port][/database]
    redis+sentinel://[user:password@]host[:port],host[:port]/service[/database]
    redis+cluster://[user:password@]host[:port],host[:port]

With `rediss` in the place of `redis` every connection is encrypted. After a question mark may
stand `namespace=`, which keeps two memories on one Redis apart, `wait=`, the seconds somebody waits
for an answer, and redis-py's `ssl_…` options.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import parse_qsl, unquote, urlsplit

from ...core.errors import ConfigError
from ...core.urls import masked

PORT = 6379
WAIT_SECONDS = 0.05
LONGEST_WAIT = 10.0
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


class Kind(StrEnum):
    """How the server that keeps a key is found."""

    SERVER = ""  # it is the one
    SENTINEL = "sentinel"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A Redis, as its URL says."""

    kind: Kind
    hosts: tuple[tuple[str, int], ...]
    tls: bool = False
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    service: str | None = None  # the name that sentinels know it by
    database: int = 0
    namespace: str = ""
    wait_seconds: float = WAIT_SECONDS
    tls_options: Mapping[str, str] = field(default_factory=dict)


def parse_address(url: str) -> Address:
    """The address a URL stands for, or ConfigError; a password is not repeated in the error."""
    try:
        return _parsed(url)
    except ValueError as error:
        raise ConfigError(f"{masked(url)!r} is no address of a Redis: {error}") from None


def _parsed(url: str) -> Address:
    split = urlsplit(url)
    product, _, name = split.scheme.partition("+")
    if product not in ("redis", "rediss") or name not in set(Kind):
        raise ValueError(f"the scheme {split.scheme!r} is unknown")
    kind = Kind(name)
    login, _, places = split.netloc.rpartition("@")
    username, _, password = login.partition(":")
    service, database = _path(kind, [unquote(part) for part in split.path.split("/") if part])
    options = dict(parse_qsl(split.query, keep_blank_values=True))
    if unknown := options.keys() - OPTIONS:
        known = ", ".join(sorted(OPTIONS))
        raise ValueError(f"the option {min(unknown)!r} is unknown; known are {known}")
    return Address(
        kind=kind,
        hosts=_hosts(places, SENTINEL_PORT if kind is Kind.SENTINEL else PORT),
        tls=product == "rediss",
        username=unquote(username) or None,
        password=unquote(password) or None,
        service=service,
        database=database,
        namespace=options.pop("namespace", ""),
        wait_seconds=_wait(options.pop("wait", str(WAIT_SECONDS))),
        tls_options=options,
    )


def _hosts(places: str, port: int) -> tuple[tuple[str, int], ...]:
    found = [urlsplit(f"//{place}") for place in places.split(",")]
    return tuple((each.hostname or "localhost", each.port or port) for each in found)


def _path(kind: Kind, parts: list[str]) -> tuple[str | None, int]:
    """The service and the database."""
    service = None
    if kind is Kind.SENTINEL:
        if not parts:
            raise ValueError("it lacks the name of the service, as in …/service")
        service, *parts = parts
    if not parts:
        return service, 0
    if kind is Kind.CLUSTER or len(parts) > 1 or not parts[0].isdecimal():
        raise ValueError(f"{'/'.join(parts)!r} is no number of a database")
    return service, int(parts[0])


def _wait(given: str) -> float:
    seconds = float(given)
    if not 0 < seconds <= LONGEST_WAIT:
        raise ValueError(f"wait is a number of seconds up to {LONGEST_WAIT:g}, not {given}")
    return seconds
