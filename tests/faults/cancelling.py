"""Requests that are given up at any moment, and whether a connection is worse for it afterwards.

Some are given up by their caller (a cancelled task), some by the server (`pg_cancel_backend`, as a
statement timeout or an operator does it). Every answer that comes is looked at: whatever it holds
must be of the place that asked. Every connection that comes back to the pool is looked at: a
transaction that is left over is dirt, and now and then also a role or a setting. For tests and
benches.
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

from nexus import AsyncNexus
from nexus.aio import AsyncPlace
from nexus.config import Settings
from nexus.core.errors import StoreUnavailable
from nexus.embedders.hashing import HashingEmbedder

AT_ONCE = 24  # requests under way
WORKSPACES = 6
GIVEN_UP = 0.3  # by their callers; the server's share depends on what it meets
LONGEST = 0.03  # seconds until a caller gives up
CANCEL_EVERY = 0.008  # seconds between two looks for a statement to cancel
LOOK_EVERY = 20  # transactions between two looks at what a session has left over

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
class Told:
    """What became of the requests."""

    requests: int = 0
    answered: int = 0
    given_up: int = 0  # by their callers
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
class Someone:
    """A place that asks, and the one word that everything said there holds."""

    place: AsyncPlace
    word: str


async def _recall(someone: Someone, numbers: random.Random) -> list[str]:
    found = await someone.place.recall(f"who drinks tea number {numbers.randrange(9)}?")
    return [hit.memory.text for hit in found.hits]


async def _recent(someone: Someone, _: random.Random) -> list[str]:
    return [event.text for event in await someone.place.recent(20)]


async def _notes(someone: Someone, _: random.Random) -> list[str]:
    return [str(note.value) for note in await someone.place.notes()]


async def _fact(someone: Someone, _: random.Random) -> list[str]:
    return [str(await someone.place.fact("dm", "bird"))]


async def _observe(someone: Someone, numbers: random.Random) -> list[str]:
    text = f"{someone.word} drinks tea number {numbers.randrange(99)}"
    await someone.place.observe("bob", text, key=f"{numbers.randrange(400)} {text}")
    return []


async def _jot(someone: Someone, numbers: random.Random) -> list[str]:
    await someone.place.note("note", f"{someone.word} {numbers.random()}")
    return []


REQUESTS: tuple[Callable[[Someone, random.Random], Awaitable[list[str]]], ...] = (
    *(_recall, _recall, _recent, _recent, _notes, _fact, _observe, _jot),
)


class Cancelling:
    """Many places of several workspaces ask and write at once; many of them give up."""

    def __init__(
        self, database: Database, *, seed: int = 1, say: Callable[[], None] = lambda: None
    ) -> None:
        self._database = database
        self._numbers = random.Random(seed)
        self._say = say
        self._told = Told()
        self._over = threading.Event()

    async def run(self, requests: int) -> Told:
        async with await AsyncNexus.open(
            self._database.url,
            settings=Settings(),
            embedder=HashingEmbedder(),
            background=False,
        ) as nexus:
            people = await self._people(nexus)
            pool = nexus._inner._parts.store._connections._pool
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
        """Look at every connection that comes back."""
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
        except psycopg.OperationalError:  # cancelled, too
            return []
        found = [f"{name} is still {value}" for name, value in left]
        return [*found, f"sessions differ: {known}"] if len(known) > 1 else found

    async def _people(self, nexus: AsyncNexus) -> list[Someone]:
        people = []
        for number in range(WORKSPACES):
            workspace = nexus.workspace(f"w{number}")
            for name in ("ann", "bob"):
                word = f"heron{number}{name}"
                place = workspace.dm(name)
                for line in range(5):
                    await place.observe(name, f"{word} drinks tea number {line}", key=f"{line}")
                await place.note("note", f"{word} is on the table")
                await place.set_fact("dm", "bird", word)
                people.append(Someone(place, word))
            await workspace.flush()
        return people

    def _cancel(self) -> None:
        """The server gives up one statement after another."""
        with psycopg.connect(self._database.url_of("postgres"), autocommit=True) as connection:
            while not self._over.wait(CANCEL_EVERY):
                connection.execute(CANCEL)

    async def _ask(self, people: list[Someone], requests: int) -> None:
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

    async def _request(self, someone: Someone) -> list[str]:
        """One of the things a place can do, and every text that came of it."""
        chosen = self._numbers.choice(REQUESTS)
        return await chosen(someone, self._numbers)

    def _check(self, someone: Someone, texts: list[str]) -> None:
        wrong = [text for text in texts if someone.word not in text]
        self._told.wrong_rows += [f"{someone.word} was shown {text!r}" for text in wrong]
