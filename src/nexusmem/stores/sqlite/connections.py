"""Connections to one SQLite file: many readers, and one writer with group commit.

The first thread that finds the writer free commits the work of every waiting thread, so 32
threads share one fsync. `synchronous=FULL` makes each commit survive a power cut.
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
from typing import Any, TypeVar

import numpy as np

from ...core.errors import ConfigError, Corrupt, StoreUnavailable
from ...core.protocols.embedder import Floats
from ..group_commit import GroupCommit, JobFailure
from ..query_files import load_queries
from ..sql.readable_labels import ReadableLabels
from ..sql.transactions import QueryResult, Row, with_lease_check
from ..transaction_hooks import HeldLeases


class FileIdentity:
    """Device and inode of a file, to notice that it was deleted or replaced."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)
        self._opened_identity = _read_identity(self._path)

    def check_unchanged(self) -> None:
        """Raise StoreUnavailable if the path now names another file, or none.

        Called before each write and each new connection: SQLite would create an empty file.
        """
        if self._opened_identity != _read_identity(self._path):
            raise StoreUnavailable(
                f"{self._path} was deleted or replaced while it was open: writes would be lost;"
                " open it again"
            )


def _read_identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)  # called for each write; Path.stat is slower  # noqa: PTH116
    except OSError:
        return None
    return status.st_dev, status.st_ino


T = TypeVar("T")
SQL = load_queries(__package__)

BUSY_SECONDS = 10.0  # how long to wait for a lock of another process
STATEMENT_CACHE_SIZE = 2 * len(SQL)  # so that each statement is compiled once
CHECKPOINT_PAGES = 1_000  # 4 MB, so that the commit that runs a checkpoint stays short

SHARED_PRAGMAS = (
    "PRAGMA secure_delete = ON",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
)
FILE_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}",
)


MAX_CACHED_VIEWS = 100  # per connection
SYNC_FULL, SYNC_NORMAL = "PRAGMA synchronous = FULL", "PRAGMA synchronous = NORMAL"


class NamedQueries:
    """Mixin of a connection: runs queries by name and caches compiled grants."""

    is_writer = False
    # For statements that are read to the end before the next one: a new cursor takes longer.
    shared_cursor: sqlite3.Cursor
    view_cache: dict[Hashable, tuple[int, ReadableLabels]]  # with the data version of each view
    snapshot_views: dict[Hashable, ReadableLabels]  # views of the current read transaction

    def execute_query(
        self: Any, name: str, values: Mapping[str, object] | tuple[()] = ()
    ) -> QueryResult:
        cursor: QueryResult = self.execute(SQL[name], values)
        return cursor

    def execute_batch(self: Any, name: str, rows: Sequence[Row]) -> int:
        changed: int = self.shared_cursor.executemany(SQL[name], rows).rowcount
        return max(changed, 0)  # sqlite3 reports -1 for an empty batch

    def fetch_each(self: Any, name: str, rows: Sequence[Row]) -> list[list[Any]]:
        sql, execute = SQL[name], self.shared_cursor.execute
        return [execute(sql, row).fetchall() for row in rows]

    def get_view(self: Any, key: Hashable, make: Callable[[], ReadableLabels]) -> ReadableLabels:
        """Return the compiled grant for `key`, from the cache if the database is unchanged.

        `data_version` changes with each commit of another connection, not with own commits. So
        the writer compiles every time.
        """
        if self.is_writer:
            return make()
        view: ReadableLabels | None = self.snapshot_views.get(key)
        if view is None:
            version = self.read_data_version()
            cached: tuple[int, ReadableLabels] | None = self.view_cache.get(key)
            if cached is None or cached[0] != version:
                if len(self.view_cache) >= MAX_CACHED_VIEWS:
                    self.view_cache.clear()
                cached = self.view_cache[key] = (version, make())
            view = self.snapshot_views[key] = cached[1]
        return view

    def read_data_version(self: Any) -> int:
        """Return a number that changes when another connection commits."""
        (version,) = self.execute("PRAGMA data_version").fetchone()
        return int(version)

    def decode_vectors(self, vectors: Sequence[bytes]) -> Floats:
        if len({len(vector) for vector in vectors}) > 1:
            raise StoreUnavailable("a stored vector is damaged: `nexus rebuild --layer vectors`")
        table = np.frombuffer(b"".join(vectors), dtype="<f4")
        return table.reshape(len(vectors), -1) if vectors else table


class SqliteConnection(NamedQueries, sqlite3.Connection):
    """A connection of Python's own SQLite."""


def init_connection(connection: SqliteConnection) -> None:
    """Set the attributes that NamedQueries needs; sqlite3.connect calls no __init__ of ours."""
    connection.shared_cursor = connection.cursor()
    connection.view_cache, connection.snapshot_views = {}, {}


@dataclass(frozen=True, slots=True, eq=False)
class _WriteJob:
    work: Callable[[SqliteConnection], Any]
    lazily: bool


GET_LAZILY = attrgetter("lazily")
_open_libraries: dict[Path, list[str]] = defaultdict(list)  # file → SQLite library of each opener


def translate_error(error: sqlite3.Error, database: str) -> StoreUnavailable | Corrupt:
    """Return the exception of the public API for an error of the driver."""
    text = str(error)
    if "not a database" in text:
        return Corrupt(
            f"{database} is encrypted, damaged or not a Nexus memory ({text}): set NEXUS_KEY or"
            " memory.store.key_command, or restore a backup or an export"
        )
    if "malformed" in text:
        return Corrupt(f"{database} is damaged ({text}); restore a backup or an export")
    if "locked" in text or "busy" in text:
        text += f"; another process kept {database} locked for {BUSY_SECONDS:.0f} s"
    return StoreUnavailable(f"{database}: {text}")


class SqliteConnections:
    """All connections of one store to its file."""

    def __init__(
        self,
        path: Path,
        driver: ModuleType = sqlite3,
        prepare: Callable[[SqliteConnection], None] = lambda _: None,
    ) -> None:
        self.path = path
        self.held_leases = HeldLeases()
        self._driver = driver
        is_builtin = driver is sqlite3
        self._connection_class = (
            SqliteConnection
            if is_builtin
            else type("Connection", (NamedQueries, driver.Connection), {})
        )
        self._prepare = prepare
        self._pid = os.getpid()
        self._idle: list[SqliteConnection] = []
        self._thread_state = threading.local()  # the connection of this thread's read transaction
        self._mutex = threading.Lock()
        self._writer_lock = threading.Lock()
        self._group_commit: GroupCommit[_WriteJob, Any] = GroupCommit(
            self._commit_jobs, retry_jobs=self._commit_in_savepoints
        )
        self._failure: str | None = None
        self._is_sync_full = True  # the current `synchronous` of the writer
        self._closed = False
        self._check_single_library()
        self._writer = self._open_connection()
        self._writer.is_writer = True
        self._file_identity = FileIdentity(path)
        _open_libraries[path].append(driver.__name__)

    def _check_single_library(self) -> None:
        """Raise ConfigError if this process has the file open with another SQLite library.

        POSIX locks belong to the process: closing a file in one library drops the other's locks.
        """
        others = set(_open_libraries[self.path]) - {self._driver.__name__}
        if others:
            raise ConfigError(
                f"{self.path} is open in this process through {others.pop()}; a second SQLite"
                f" library ({self._driver.__name__}) would break its locks: use the same settings"
            )

    def _open_connection(self) -> SqliteConnection:
        with self.map_errors():
            connection: SqliteConnection = self._driver.connect(
                self.path,
                timeout=BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=STATEMENT_CACHE_SIZE,
                factory=self._connection_class,
            )
            init_connection(connection)
            self._prepare(connection)
            self._check_foreign_database(connection)
            connection.execute("PRAGMA page_size = 4096")  # commits write few small pages
            for pragma in (*FILE_PRAGMAS, *SHARED_PRAGMAS):
                connection.execute(pragma)
        return connection

    def _check_foreign_database(self, connection: SqliteConnection) -> None:
        """Raise StoreUnavailable if another program's tables are in the file.

        Runs before any PRAGMA, so that such a file is left unchanged.
        """
        tables = "SELECT name FROM sqlite_master WHERE type = 'table'"
        names = {name for (name,) in connection.execute(tables)}
        if names and "schema_version" not in names:
            connection.close()
            raise StoreUnavailable(
                f"{self.path} is a database of another program, not a Nexus memory"
            )

    def read_transaction(self) -> AbstractContextManager[SqliteConnection]:
        """Yield a connection in a read transaction: all queries see the same snapshot.

        Caches depend on this: they compare rows with the label state of the same snapshot. A
        nested call in the same thread yields the outer connection.
        """
        held: SqliteConnection | None = getattr(self._thread_state, "connection", None)
        return self._begin_read() if held is None else nullcontext(held)

    @contextmanager
    def _begin_read(self) -> Iterator[SqliteConnection]:
        self._check_open()
        with self._mutex:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            self._file_identity.check_unchanged()
            connection = self._open_connection()
        self._thread_state.connection = connection
        try:
            connection.snapshot_views.clear()
            connection.execute("BEGIN")
            yield connection
        except self._driver.Error as error:
            raise self._translate_error(error) from error
        finally:
            self._thread_state.connection = None
            self._end_read(connection)
            with self._mutex:
                self._idle.append(connection)

    def _end_read(self, connection: SqliteConnection) -> None:
        try:
            connection.rollback()
        except self._driver.Error as error:
            raise self._translate_error(error) from error

    def write(self, work: Callable[[SqliteConnection], T], *, lazily: bool = False) -> T:
        """Run `work` in a write transaction; return its value once the commit is on disk.

        `lazily` commits without fsync: a power cut may undo this write alone.

        If `work` raises, only its own changes are undone; other work of the same commit stays.
        `work` may run twice, the first time rolled back: it must change only the database.
        """
        self._check_open()
        self._file_identity.check_unchanged()
        leases = self.held_leases.leases
        job = _WriteJob(with_lease_check(work, leases) if leases else work, lazily)
        value: T = self._group_commit(job)
        return value

    def _commit_jobs(self, jobs: Sequence[_WriteJob]) -> list[Any]:
        return self._run_transaction(jobs, lambda job: job.work(self._writer))

    def _commit_in_savepoints(
        self, jobs: Sequence[_WriteJob], error: Exception
    ) -> list[Any | JobFailure]:
        """Commit a failed group again, with a savepoint a job: only the failing jobs fail."""
        if self._failure:
            raise error
        return self._run_transaction(jobs, self._run_in_savepoint)

    def _run_transaction(
        self, jobs: Sequence[_WriteJob], run_job: Callable[[_WriteJob], Any]
    ) -> list[Any]:
        with self._writer_lock:
            execute = self._writer.shared_cursor.execute
            lazily = all(map(GET_LAZILY, jobs))
            try:
                if lazily is self._is_sync_full:
                    self._set_sync_mode(not lazily)
                execute("BEGIN IMMEDIATE")
                values = [run_job(job) for job in jobs]
                execute("COMMIT")
            except self._driver.Error as error:
                explained = self._translate_error(error)
                self._roll_back()
                raise explained from error
            except BaseException:
                self._roll_back()
                raise
            return values

    def _set_sync_mode(self, full: bool) -> None:
        """Set whether the next commits wait for fsync."""
        self._writer.execute(SYNC_FULL if full else SYNC_NORMAL)
        self._is_sync_full = full

    def _run_in_savepoint(self, job: _WriteJob) -> Any | JobFailure:
        self._writer.execute("SAVEPOINT job")
        result: Any = None
        try:
            with self.map_errors():
                result = job.work(self._writer)
        except Exception as error:  # raised in the thread of this job
            result = JobFailure(error)
            if self._failure:
                raise
            self._writer.execute("ROLLBACK TO job")
        self._writer.execute("RELEASE job")
        return result

    def _roll_back(self) -> None:
        if self._writer.in_transaction:
            try:
                self._writer.execute("ROLLBACK")
            except self._driver.Error as error:
                self._failure = str(error)

    @contextmanager
    def map_errors(self) -> Iterator[None]:
        """Raise StoreUnavailable or Corrupt instead of errors of the driver."""
        try:
            yield
        except self._driver.Error as error:
            raise self._translate_error(error) from error

    def _translate_error(self, error: sqlite3.Error) -> StoreUnavailable | Corrupt:
        if "disk I/O error" in str(error):
            # After a failed fsync the kernel may have dropped dirty pages: stop using the file.
            self._failure = str(error)
        return translate_error(error, str(self.path))

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailable(f"{self.path} was closed; open it again")
        if self._failure:
            raise StoreUnavailable(f"{self.path} failed ({self._failure}); open it again")
        if self._pid != os.getpid():
            raise StoreUnavailable(f"{self.path} was opened before a fork; open it in the child")

    def checkpoint(self) -> bool:
        """Move the write-ahead log into the file and truncate it; False if a reader blocks it."""
        with self._writer_lock, self.map_errors():
            busy, *_ = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy

    def vacuum(self) -> None:
        with self._writer_lock, self.map_errors():
            self._writer.execute("PRAGMA optimize")
            self._writer.execute("VACUUM")

    def close(self) -> None:
        if self._closed or self._pid != os.getpid():
            return
        self._closed = True
        _open_libraries[self.path].remove(self._driver.__name__)
        with self._writer_lock, self._mutex:
            for connection in (*self._idle, self._writer):
                connection.close()


IN_MEMORY = ":memory:"  # the URL of a database in memory, and its name in SQLite


class _MemoryConnection(SqliteConnection):
    """The only connection to a database in memory; counts its own commits."""

    data_version = 0  # PRAGMA data_version does not change with a connection's own commits

    def read_data_version(self) -> int:
        return self.data_version


class InMemoryConnections:
    """Read and write transactions of a database in memory; closing it frees the memory.

    A thread may write inside its own read transaction, which then reads what it wrote.
    """

    def __init__(self) -> None:
        self.held_leases = HeldLeases()
        self._pid = os.getpid()
        self._closed = False
        self._lock = threading.RLock()  # held during each transaction
        self._read_depth = 0  # nested read transactions of the thread that holds the lock
        self._connection: _MemoryConnection = sqlite3.connect(
            IN_MEMORY,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=STATEMENT_CACHE_SIZE,
            factory=_MemoryConnection,
        )
        init_connection(self._connection)
        for pragma in SHARED_PRAGMAS:
            self._connection.execute(pragma)

    @contextmanager
    def read_transaction(self) -> Iterator[SqliteConnection]:
        """Yield the connection while no other thread uses it."""
        with self._use_connection() as connection:
            if not self._read_depth:
                connection.snapshot_views.clear()
            self._read_depth += 1
            try:
                yield connection
            finally:
                self._read_depth -= 1

    def write(self, work: Callable[[SqliteConnection], T], *, lazily: bool = False) -> T:
        """Run `work` in a write transaction and return its value; undo it if it raises.

        `lazily` has no effect: there is no disk to wait for.
        """
        del lazily
        leases = self.held_leases.leases
        job = with_lease_check(work, leases) if leases else work
        with self._use_connection() as connection:
            connection.execute("BEGIN")
            connection.is_writer = True
            try:
                value = job(connection)
                connection.execute("COMMIT")
            finally:
                connection.is_writer = False
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            connection.data_version += 1
            connection.snapshot_views.clear()
            return value

    @contextmanager
    def _use_connection(self) -> Iterator[_MemoryConnection]:
        if self._pid != os.getpid():  # before the lock: a thread of the parent may hold it
            raise StoreUnavailable(f"{IN_MEMORY} was opened before a fork; open it in the child")
        with self._lock:
            if self._closed:
                raise StoreUnavailable(f"{IN_MEMORY} was closed, which deleted its records")
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise translate_error(error, IN_MEMORY) from error

    def read_bytes(self) -> bytes | None:
        """Return the pages of the database; None if this SQLite cannot serialize them."""
        with self._use_connection() as connection:
            return connection.serialize() if hasattr(connection, "serialize") else None

    def checkpoint(self) -> bool:
        return True  # there is no write-ahead log

    def vacuum(self) -> None:
        with self._use_connection() as connection:
            connection.execute("VACUUM")

    def close(self) -> None:
        if self._pid != os.getpid():
            return
        with self._lock:
            if not self._closed:
                self._closed = True
                self._connection.close()
