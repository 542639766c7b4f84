"""Connections to one SQLite file: many readers, and one writer that commits for everybody.

Whoever finds the writer free takes along all that waits, so that 32 threads share one fsync
and a single thread waits for nobody. `synchronous=FULL` makes each commit survive a power cut.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

import numpy as np

from ...core.errors import ConfigError, Corrupt, StoreUnavailable
from ...core.protocols import Floats
from ..holding import Holding
from ..queries import load_queries
from ..sql.held import if_held
from ..sql.labels import Readable
from ..sql.session import Row, Rows
from .same_file import SameFile

T = TypeVar("T")
SQL = load_queries(__package__)

BUSY_SECONDS = 10.0  # how long to wait for another process
STATEMENTS = 2 * len(SQL)  # each is compiled once
CHECKPOINT_PAGES = 1_000  # 4 MB: the commit that moves so much into the file is soon over

PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA secure_delete = ON",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}",
)


MOST_VIEWS = 100  # of one connection
WAITS, WAITS_NOT = "PRAGMA synchronous = FULL", "PRAGMA synchronous = NORMAL"


class Named:
    """Queries by their names; a connection is a session of the shared row logic."""

    writes = False
    at_once: sqlite3.Cursor  # of what is read to its end at once: a new one each time takes longer
    views: dict[Hashable, tuple[int, Readable]]
    seen: dict[Hashable, Readable]  # in the moment that is being read

    def run(self: Any, name: str, values: Mapping[str, object] | tuple[()] = ()) -> Rows:
        cursor: Rows = self.execute(SQL[name], values)
        return cursor

    def run_many(self: Any, name: str, rows: Sequence[Row]) -> int:
        changed: int = self.at_once.executemany(SQL[name], rows).rowcount
        return max(changed, 0)  # of no rows it is -1

    def read_each(self: Any, name: str, rows: Sequence[Row]) -> list[list[Any]]:
        sql, execute = SQL[name], self.at_once.execute
        return [execute(sql, row).fetchall() for row in rows]

    def view(self: Any, key: Hashable, make: Callable[[], Readable]) -> Readable:
        """One question compiles the same grant several times, and the next one again; while
        nobody has written anything in between (SQLite's data version tells), the first answer
        stands. It does not tell of a connection's own writes.
        """
        if self.writes:
            return make()
        seen: Readable | None = self.seen.get(key)
        if seen is None:
            (version,) = self.execute("PRAGMA data_version").fetchone()
            known: tuple[int, Readable] | None = self.views.get(key)
            if known is None or known[0] != version:
                if len(self.views) >= MOST_VIEWS:
                    self.views.clear()
                known = self.views[key] = (version, make())
            seen = self.seen[key] = known[1]
        return seen

    def floats(self, vectors: Sequence[bytes]) -> Floats:
        if len({len(vector) for vector in vectors}) > 1:
            raise StoreUnavailable("a vector is damaged: `nexus rebuild --layer vectors`")
        table = np.frombuffer(b"".join(vectors), dtype="<f4")
        return table.reshape(len(vectors), -1) if vectors else table


class Connection(Named, sqlite3.Connection):
    """A connection of Python's own SQLite."""


def _taken_lock() -> threading.Lock:
    lock = threading.Lock()
    lock.acquire()
    return lock


@dataclass(slots=True)
class _Job(Generic[T]):
    work: Callable[[Connection], T]
    lazily: bool = False
    turn: threading.Lock | None = None  # of who waits; free: it is done, or shall lead
    done: bool = False
    value: T | None = None
    error: BaseException | None = None


LAZILY = attrgetter("lazily")
_libraries: dict[Path, list[str]] = defaultdict(list)  # file → the SQLite each opener uses


class Connections:
    """Every way to the file."""

    def __init__(
        self,
        path: Path,
        driver: ModuleType = sqlite3,
        prepare: Callable[[Connection], None] = lambda _: None,
    ) -> None:
        self.path = path
        self.holding = Holding()
        self._driver = driver
        ours = driver is sqlite3
        self._kind = Connection if ours else type("Connection", (Named, driver.Connection), {})
        self._prepare = prepare
        self._pid = os.getpid()
        self._idle: list[Connection] = []
        self._held = threading.local()  # the connection a thread reads one moment with
        self._waiting: list[_Job[Any]] = []
        self._mutex = threading.Lock()
        self._leader = threading.Lock()  # held by whoever uses the writer
        self._led = False  # whether somebody commits, or is about to
        self._broken: str | None = None
        self._waits = True  # for the disk, at the end of a commit
        self._closed = False
        self._refuse_second_library()
        self._writer = self._connect()
        self._writer.writes = True
        self._file = SameFile(path)
        _libraries[path].append(driver.__name__)

    def _refuse_second_library(self) -> None:
        """Two SQLite libraries in one process drop each other's locks on a file."""
        others = set(_libraries[self.path]) - {self._driver.__name__}
        if others:
            raise ConfigError(
                f"{self.path} is open in this process through {others.pop()}; a second SQLite"
                f" library ({self._driver.__name__}) would break its locks: use the same settings"
            )

    def _connect(self) -> Connection:
        with self.errors_mapped():
            connection: Connection = self._driver.connect(
                self.path,
                timeout=BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=STATEMENTS,
                factory=self._kind,
            )
            connection.at_once, connection.views, connection.seen = connection.cursor(), {}, {}
            self._prepare(connection)
            self._refuse_strangers(connection)
            connection.execute("PRAGMA page_size = 4096")  # a commit writes few and small pages
            for pragma in PRAGMAS:
                connection.execute(pragma)
        return connection

    def _refuse_strangers(self, connection: Connection) -> None:
        """Before anything is set: a database of another program stays as it is."""
        tables = "SELECT name FROM sqlite_master WHERE type = 'table'"
        names = {name for (name,) in connection.execute(tables)}
        if names and "schema_version" not in names:
            connection.close()
            raise StoreUnavailable(f"{self.path} holds something else, not a Nexus memory")

    def reading(self) -> AbstractContextManager[Connection]:
        """A connection nobody else uses meanwhile; all that is read on it is of one moment.

        Otherwise a cache would take note of rows that its label did not yet tell of. Inside
        another `reading` of the same thread it is that one's moment.
        """
        held: Connection | None = getattr(self._held, "connection", None)
        return self._moment() if held is None else nullcontext(held)

    @contextmanager
    def _moment(self) -> Iterator[Connection]:
        self._check_open()
        with self._mutex:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            self._file.check()
            connection = self._connect()
        self._held.connection = connection
        try:
            connection.seen.clear()
            connection.execute("BEGIN")
            yield connection
        except self._driver.Error as error:
            raise self._explained(error) from error
        finally:
            self._held.connection = None
            self._ended(connection)
            with self._mutex:
                self._idle.append(connection)

    def _ended(self, connection: Connection) -> None:
        try:
            connection.rollback()
        except self._driver.Error as error:
            raise self._explained(error) from error

    def write(self, work: Callable[[Connection], T], *, lazily: bool = False) -> T:
        """Run `work` in a transaction that is on disk when this returns.

        Or, `lazily`, with the next one that is: a power cut may undo it, and nothing else.

        Work that fails is undone alone; what others wrote in the same commit stays. It may be
        run twice, the first time undone: it must change nothing but the database.
        """
        self._check_open()
        self._file.check()
        leases = self.holding.leases
        job = _Job(if_held(work, leases) if leases else work, lazily)
        with self._mutex:
            self._waiting.append(job)
            leads, self._led = not self._led, True
            if not leads:
                job.turn = _taken_lock()
        if job.turn:
            self._await_turn(job, job.turn)
        if not job.done:
            self._lead()
        if job.error:
            raise job.error
        return job.value  # type: ignore[return-value]  # set together with `done`

    def _await_turn(self, job: _Job[Any], turn: threading.Lock) -> None:
        try:
            turn.acquire()
        except BaseException:  # interrupted: nobody may be left waiting for this thread
            with self._mutex:
                withdrawn = job in self._waiting
                if withdrawn:
                    self._waiting.remove(job)
            if withdrawn and not turn.locked():
                self._hand_over()
            raise

    def _lead(self) -> None:
        """Commit for all who wait, then hand over to the first who came meanwhile."""
        try:
            with self._leader:
                with self._mutex:
                    jobs, self._waiting = self._waiting, []
                self._commit(jobs)
        finally:
            self._hand_over()

    def _hand_over(self) -> None:
        with self._mutex:
            heir = self._waiting[0] if self._waiting else None
            self._led = heir is not None
            if heir and heir.turn:
                heir.turn.release()

    def _commit(self, jobs: Sequence[_Job[Any]]) -> None:
        """All in one transaction; if one fails, again with each apart, so that it fails alone."""
        try:
            try:
                self._transact(jobs)
            except Exception:
                if len(jobs) == 1 or self._broken:
                    raise
                self._transact(jobs, apart=True)
        except BaseException as error:
            for job in jobs:
                job.error = job.error or error
            if not isinstance(error, Exception):
                raise
        finally:
            for job in jobs:
                job.done = True
                if job.turn and job.turn.locked():
                    job.turn.release()

    def _transact(self, jobs: Sequence[_Job[Any]], *, apart: bool = False) -> None:
        writer, execute = self._writer, self._writer.at_once.execute
        lazily = all(map(LAZILY, jobs))
        try:
            if lazily is self._waits:
                self._wait_for_the_disk(not lazily)
            execute("BEGIN IMMEDIATE")
            for job in jobs:
                job.value = self._apart(job) if apart else job.work(writer)
            execute("COMMIT")
        except self._driver.Error as error:
            explained = self._explained(error)
            self._undo()
            raise explained from error
        except BaseException:
            self._undo()
            raise

    def _wait_for_the_disk(self, waits: bool) -> None:
        """Whether the next commits end when they are on the disk."""
        self._writer.execute(WAITS if waits else WAITS_NOT)
        self._waits = waits

    def _apart(self, job: _Job[Any]) -> Any:
        self._writer.execute("SAVEPOINT job")
        value = None
        try:
            with self.errors_mapped():
                value = job.work(self._writer)
        except Exception as error:  # handed to the thread that asked
            job.error = error
            if self._broken:
                raise
            self._writer.execute("ROLLBACK TO job")
        self._writer.execute("RELEASE job")
        return value

    def _undo(self) -> None:
        if self._writer.in_transaction:
            try:
                self._writer.execute("ROLLBACK")
            except self._driver.Error as error:
                self._broken = str(error)

    @contextmanager
    def errors_mapped(self) -> Iterator[None]:
        try:
            yield
        except self._driver.Error as error:
            raise self._explained(error) from error

    def _explained(self, error: sqlite3.Error) -> StoreUnavailable | Corrupt:
        text = str(error)
        if "not a database" in text:
            return Corrupt(
                f"{self.path} is encrypted, damaged or no memory ({text}): set NEXUS_KEY or"
                " memory.store.key_command; what is damaged comes back from a backup or an export"
            )
        if "malformed" in text:
            return Corrupt(f"{self.path} is damaged ({text}); restore a backup or an export")
        if "disk I/O error" in text:
            # After a failed fsync the kernel may have dropped the pages: trust nothing more.
            self._broken = text
        if "locked" in text or "busy" in text:
            text += f"; another process kept {self.path} locked for {BUSY_SECONDS:.0f} s"
        return StoreUnavailable(f"{self.path}: {text}")

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailable(f"{self.path} was closed; open it again")
        if self._broken:
            raise StoreUnavailable(f"{self.path} failed ({self._broken}); open it again")
        if self._pid != os.getpid():
            raise StoreUnavailable(f"{self.path} was opened before a fork; open it in the child")

    def checkpoint(self) -> bool:
        """Move the write-ahead log into the file and empty it; False if a reader was in the way."""
        with self._leader, self.errors_mapped():
            busy, *_ = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy

    def vacuum(self) -> None:
        with self._leader, self.errors_mapped():
            self._writer.execute("PRAGMA optimize")
            self._writer.execute("VACUUM")

    def close(self) -> None:
        if self._closed or self._pid != os.getpid():
            return
        self._closed = True
        _libraries[self.path].remove(self._driver.__name__)
        with self._leader, self._mutex:
            for connection in (*self._idle, self._writer):
                connection.close()
