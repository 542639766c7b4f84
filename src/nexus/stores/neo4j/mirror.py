"""The graph in Neo4j: constant Cypher, and what its driver may do wrong.

Every call has an end. A server that stands still keeps its connections open and never answers,
and the driver would wait for it; here the call is left alone in its thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Any, LiteralString, TypeVar
from urllib.parse import unquote, urlsplit

from ...core.breaker import breaker
from ...core.errors import ConfigError, MissingExtra, NexusError, StoreUnavailable
from ...core.urls import masked
from ..queries import load_queries

if TYPE_CHECKING:
    from neo4j import Driver, ManagedTransaction

T = TypeVar("T")
Row = Mapping[str, Any]

CYPHER = load_queries(__package__, "queries.cypher")
SCHEMA = ("one_record", "one_name", "one_label", "one_home", "memories_by_label")

ASKING_SECONDS = 0.3  # while somebody waits for an answer that the records can give, too
WRITING_SECONDS = 30.0  # in the background
GREETING_SECONDS = 2.0  # for one that was away: whoever learns must not wait for it
CONNECTIONS = 16
PART = 1_000  # nodes taken out in one transaction


class Overtaken(NexusError):
    """Somebody else has brought the graph further meanwhile."""


@dataclass(frozen=True, slots=True)
class About:
    """What is about some names, and how far the graph had come when it was asked."""

    ids: tuple[str, ...]
    reached: int  # every memory up to this number is in it,
    generations: Mapping[int, int]  # but for what left a label up to this generation


@dataclass(frozen=True, slots=True)
class Followed:
    """How far a workspace was followed."""

    version: int  # grows with every transaction: nobody writes what he read before another wrote
    reached: int
    cleaned: Mapping[int, int]  # by label: the generation up to which nothing is in it that left


class Mirror:
    """One Neo4j database. It connects with the first call, and makes its indexes then."""

    def __init__(self, url: str) -> None:
        if find_spec("neo4j") is None:
            raise MissingExtra("Neo4j", "neo4j")
        self._address = Address.of(url)
        self._breaker = breaker("the graph", url)
        self._driver: Driver | None = None
        self._closed = False
        self._lock = Lock()

    def about(
        self,
        home: str,
        labels: Sequence[int],
        names: Sequence[str],
        kinds: Sequence[str],
        limit: int,
    ) -> About:
        """The newest of these kinds in these labels; raises StoreUnavailable in good time."""
        asked = {"labels": labels, "names": names, "kinds": kinds, "limit": limit}
        (row,) = self._read("about", home, asked, seconds=ASKING_SECONDS)
        return About(tuple(row["ids"]), row["reached"] or 0, _by_label(row["generations"]))

    def greet(self) -> None:
        """Raise StoreUnavailable soon if it is not there."""
        self._read("greeting", "", seconds=GREETING_SECONDS)

    def followed(self, home: str) -> Followed:
        (row,) = self._read("followed", home)
        cleaned = _by_label(row["cleaned"])
        return Followed(row["version"] or 0, row["reached"] or 0, cleaned)

    def ids(self, home: str) -> set[str]:
        return {row["id"] for row in self._read("ids", home)}

    def ids_in_label(self, home: str, label: int) -> set[str]:
        return {row["id"] for row in self._read("ids_in_label", home, {"label": label})}

    def size(self, home: str) -> int:
        (row,) = self._read("size", home)
        return int(row["number"])

    def loose_ends(self, home: str) -> int:
        (row,) = self._read("loose_ends", home)
        return int(row["number"])

    def exported(self, home: str) -> list[dict[str, Any]]:
        """Every memory with its names and sources, to be compared."""
        return [dict(row) for row in self._read("exported", home)]

    def add(self, home: str, rows: Sequence[Row], *, version: int, reached: int) -> None:
        """Add these, and replace what is known by the same ids: up to `reached` all is there."""

        def work(transaction: ManagedTransaction) -> None:
            _take(transaction, home, version)
            if rows:
                _run(transaction, "remove", home, {"ids": [row["id"] for row in rows]})
                _run(transaction, "add", home, {"rows": rows})
            _run(transaction, "come_to", home, {"reached": reached})

        self._write(work)

    def clean(
        self, home: str, label: int, ids: Sequence[str], *, version: int, generation: int
    ) -> int:
        """Take out these, which left a label up to this generation; the new version.

        That they may be missing is said with the first of them, that none is left with the last.
        """
        parts = [ids[cut : cut + PART] for cut in range(0, len(ids), PART)] or [[]]
        to = {"label": label, "generation": generation}
        for place, part in enumerate(parts, start=1):
            self._clean(home, part, version, {**to, "done": place == len(parts)})
            version += 1
        return version

    def _clean(self, home: str, ids: Sequence[str], version: int, to: Row) -> None:
        def work(transaction: ManagedTransaction) -> None:
            _take(transaction, home, version)
            if ids:
                _run(transaction, "remove", home, {"ids": ids})
            _run(transaction, "clean_to", home, to)

        self._write(work)

    def drop(self, homes: Sequence[str]) -> None:
        """Take everything of these out."""

        def work(transaction: ManagedTransaction) -> int:
            bound = {"homes": homes, "limit": PART}
            return int(_run(transaction, "drop_all", "", bound)[0]["gone"])

        while self._write(work):
            pass

    def close(self) -> None:
        with self._lock:
            self._closed = True
            driver, self._driver = self._driver, None
        if driver:
            driver.close()

    def _read(
        self, name: str, home: str, bound: Row | None = None, *, seconds: float = WRITING_SECONDS
    ) -> list[Any]:
        def read() -> list[Any]:
            with self._connected().session(database=self._address.database) as session:
                return list(session.run(_cypher(name), {"home": home, **(bound or {})}))

        return self._call(read, seconds)

    def _write(self, work: Callable[[ManagedTransaction], T]) -> T:
        def write() -> T:
            with self._connected().session(database=self._address.database) as session:
                return session.execute_write(work)

        return self._call(write, WRITING_SECONDS)

    def _call(self, call: Callable[[], T], seconds: float) -> T:
        def mapped() -> T:
            from neo4j.exceptions import DriverError, Neo4jError  # noqa: PLC0415  # slow to load

            try:
                return call()
            except (DriverError, Neo4jError, OSError) as error:
                what = masked(str(error))
                raise StoreUnavailable(f"Neo4j at {self._address.shown}: {what}") from error

        return self._breaker.call(mapped, seconds=seconds, error=StoreUnavailable)

    def _connected(self) -> Driver:
        with self._lock:
            if self._closed:
                raise StoreUnavailable("this graph was closed")
            if self._driver is None:
                driver = self._address.driver()
                try:
                    with driver.session(database=self._address.database) as session:
                        for name in SCHEMA:
                            session.run(_cypher(name)).consume()
                except BaseException:
                    driver.close()
                    raise
                self._driver = driver
            return self._driver


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server is, and who asks: `neo4j://user:password@host:7687/database`."""

    uri: str
    user: str | None
    password: str | None
    database: str | None

    @classmethod
    def of(cls, url: str) -> Address:
        """What the URL leaves out is in NEO4J_USERNAME, NEO4J_PASSWORD and NEO4J_DATABASE."""
        parts = urlsplit(url)
        try:
            host, port = parts.hostname, f":{parts.port}" if parts.port else ""
        except ValueError:
            host = None
        if not host:
            raise ConfigError(f"the address of a graph is neo4j://host:7687, not {masked(url)!r}")
        host = f"[{host}]" if ":" in host else host
        query = f"?{parts.query}" if parts.query else ""
        return cls(
            f"{parts.scheme}://{host}{port}{query}",
            unquote(parts.username or "") or os.environ.get("NEO4J_USERNAME"),
            unquote(parts.password or "") or os.environ.get("NEO4J_PASSWORD"),
            parts.path.strip("/") or os.environ.get("NEO4J_DATABASE"),
        )

    @property
    def shown(self) -> str:
        return masked(self.uri)

    def driver(self) -> Driver:
        from neo4j import GraphDatabase, NotificationMinimumSeverity  # noqa: PLC0415  # an extra

        return GraphDatabase.driver(
            self.uri,
            auth=(self.user, self.password or "") if self.user else None,
            connection_timeout=2.0,
            connection_acquisition_timeout=3.0,
            max_transaction_retry_time=3.0,
            max_connection_pool_size=CONNECTIONS,
            notifications_min_severity=NotificationMinimumSeverity.OFF,
            telemetry_disabled=True,
        )


def _cypher(name: str) -> LiteralString:
    return CYPHER[name]  # from a file of ours: it never varies


def _run(
    transaction: ManagedTransaction, name: str, home: str, bound: Row | None = None
) -> list[Any]:
    return list(transaction.run(_cypher(name), {"home": home, **(bound or {})}))


def _take(transaction: ManagedTransaction, home: str, version: int) -> None:
    if _run(transaction, "take", home)[0]["version"] != version + 1:
        raise Overtaken


def _by_label(pairs: Sequence[tuple[int | None, int | None]]) -> dict[int, int]:
    """Without the pair of nothing that an optional match leaves."""
    return {label: number or 0 for label, number in pairs if label is not None}
