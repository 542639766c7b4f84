"""Load with cancelled requests, and checks of the connection pool. For tests and benchmarks.

Callers cancel tasks, and the server cancels statements with `pg_cancel_backend`. Each result must
belong to the place that requested it. Each connection that returns to the pool must have no open
transaction; samples are also checked for a changed role or setting.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from tests.servers.postgres import Database

from nexusmem import AsyncNexus
from nexusmem.aio import AsyncPlace
from nexusmem.config.settings import Settings
from nexusmem.core.errors import StoreUnavailable
from nexusmem.embedders.feature_hash import HashingEmbedder

AT_ONCE = 24  # concurrent requests
WORKSPACES = 6
GIVEN_UP = 0.3  # cancelled by callers; the share of the server varies
LONGEST = 0.03  # seconds until a caller cancels
CANCEL_EVERY = 0.008  # seconds between two cancellations by the server
LOOK_EVERY = 20  # transactions between two checks of role and settings

STATE = """
SELECT current_user, session_user, current_setting('search_path'),
       current_setting('statement_timeout'), current_setting('transaction_read_only'),
       (SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory')"""

BOUND = """
SELECT name, current_setting(name, true)
  FROM unnest(ARRAY['nexus.names', 'nexus.workspace', 'nexus.labels', 'nexus.every_label',
                    'nexus.worker']) AS name
 WHERE current_setting(name, true) <> ''"""

CANCEL = """
SELECT pg_cancel_backend(pid) FROM pg_stat_activity
 WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active'
   AND backend_type = 'client backend' ORDER BY random() LIMIT 1"""


@dataclass
class CancellationReport:
    """Counts of the outcomes of requests."""

    requests: int = 0
    answered: int = 0
    given_up: int = 0  # by callers
    cancelled: int = 0  # by the server
    wrong_rows: list[str] = field(default_factory=list)
    dirty_sessions: list[str] = field(default_factory=list)

    def told(self) -> dict[str, Any]:
        return {
            "requests": self.requests,
            "answered": self.answered,
            "given_up_by_the_caller": self.given_up,
            "cancelled_by_the_server": self.cancelled,
            "share_cancelled": (self.given_up + self.cancelled) / max(1, self.requests),
            "wrong_rows": len(self.wrong_rows),
            "dirty_sessions": len(self.dirty_sessions),
        }


@dataclass(frozen=True)
class Participant:
    """A place, and the word that each of its events contains."""

    place: AsyncPlace
    word: str


async def _recall(someone: Participant, numbers: random.Random) -> list[str]:
    found = await someone.place.recall(f"who drinks tea number {numbers.randrange(9)}?")
    return [hit.memory.text for hit in found.hits]


async def _recent(someone: Participant, _: random.Random) -> list[str]:
    return [event.text for event in await someone.place.recent(20)]


async def _notes(someone: Participant, _: random.Random) -> list[str]:
    return [str(note.value) for note in await someone.place.notes()]


async def _fact(someone: Participant, _: random.Random) -> list[str]:
    return [str(await someone.place.get_value("dm", "bird"))]


async def _observe(someone: Participant, numbers: random.Random) -> list[str]:
    text = f"{someone.word} drinks tea number {numbers.randrange(99)}"
    await someone.place.observe("bob", text, key=f"{numbers.randrange(400)} {text}")
    return []


async def _jot(someone: Participant, numbers: random.Random) -> list[str]:
    await someone.place.set_note("note", f"{someone.word} {numbers.random()}")
    return []


REQUESTS: tuple[Callable[[Participant, random.Random], Awaitable[list[str]]], ...] = (
    *(_recall, _recall, _recent, _recent, _notes, _fact, _observe, _jot),
)


class CancellationLoad:
    """Runs requests of many places concurrently and cancels a share of them."""

    def __init__(
        self, database: Database, *, seed: int = 1, say: Callable[[], None] = lambda: None
    ) -> None:
        self._database = database
        self._numbers = random.Random(seed)
        self._say = say
        self._told = CancellationReport()
        self._over = threading.Event()

    async def run(self, requests: int) -> CancellationReport:
        async with await AsyncNexus.open(
            self._database.url,
            settings=Settings(),
            embedder=HashingEmbedder(),
            background=False,
        ) as nexus:
            people = await self._people(nexus)
            pool = nexus._wrapped._parts.store._connections._pool
            self._watch(pool)
            canceller = threading.Thread(target=self._cancel)
            canceller.start()
            try:
                await asyncio.gather(
                    *(self._ask(people, requests // AT_ONCE) for _ in range(AT_ONCE))
                )
            finally:
                self._over.set()
                canceller.join()
        return self._told

    def _watch(self, pool: Any) -> None:
        """Check every connection that returns to the pool."""
        put_back, known, count = pool.putconn, set[tuple[Any, ...]](), itertools.count()

        def looked_at(connection: Any) -> None:
            if not connection.closed:
                self._told.dirty_sessions += self._dirt(connection, next(count), known)
            put_back(connection)

        pool.putconn = looked_at

    def _dirt(self, connection: Any, number: int, known: set[tuple[Any, ...]]) -> list[str]:
        status = connection.info.transaction_status
        if status != TransactionStatus.IDLE:
            return [f"a transaction is {status.name}"]
        if number % LOOK_EVERY:
            return []
        try:
            known.add(connection.execute(STATE).fetchone())
            left = connection.execute(BOUND).fetchall()
        except psycopg.OperationalError:  # cancelled as well
            return []
        found = [f"{name} is still {value}" for name, value in left]
        return [*found, f"sessions differ: {known}"] if len(known) > 1 else found

    async def _people(self, nexus: AsyncNexus) -> list[Participant]:
        people = []
        for number in range(WORKSPACES):
            workspace = nexus.workspace(f"w{number}")
            for name in ("ann", "bob"):
                word = f"heron{number}{name}"
                place = workspace.dm(name)
                for line in range(5):
                    await place.observe(name, f"{word} drinks tea number {line}", key=f"{line}")
                await place.set_note("note", f"{word} is on the table")
                await place.set_value("dm", "bird", word)
                people.append(Participant(place, word))
            await workspace.flush()
        return people

    def _cancel(self) -> None:
        """Cancel running statements on the server."""
        with psycopg.connect(self._database.url_of("postgres"), autocommit=True) as connection:
            while not self._over.wait(CANCEL_EVERY):
                connection.execute(CANCEL)

    async def _ask(self, people: list[Participant], requests: int) -> None:
        for _ in range(requests):
            someone = self._numbers.choice(people)
            patience = self._numbers.uniform(0, LONGEST) if self._gives_up() else None
            self._told.requests += 1
            try:
                texts = await asyncio.wait_for(self._request(someone), patience)
                self._told.answered += 1
                self._check(someone, texts)
            except TimeoutError:
                self._told.given_up += 1
            except StoreUnavailable:
                self._told.cancelled += 1
            self._say()

    def _gives_up(self) -> bool:
        return self._numbers.random() < GIVEN_UP

    async def _request(self, someone: Participant) -> list[str]:
        """Run a random operation of a place and return the texts of its result."""
        chosen = self._numbers.choice(REQUESTS)
        return await chosen(someone, self._numbers)

    def _check(self, someone: Participant, texts: list[str]) -> None:
        wrong = [text for text in texts if someone.word not in text]
        self._told.wrong_rows += [f"{someone.word} was shown {text!r}" for text in wrong]
