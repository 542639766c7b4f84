"""Connection pool: snapshot reads, durable writes, retries after a lost connection.

A write that loses its connection before the commit is repeated on another one. If the connection
is lost during the commit, the store asks the server whether the transaction was committed.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import psycopg
from psycopg import Connection, errors, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.types.numeric import Int8BinaryDumper, Int8Dumper
from psycopg_pool import ConnectionPool, PoolTimeout

from ...core.errors import Corrupt, InvalidInput, NexusError, StoreUnavailable
from ...text.urls import mask_passwords
from ..transaction_hooks import HeldLeases
from .transaction import PostgresTransaction, VectorLoader

T = TypeVar("T")

ROLE = "nexus_app"
MAX_CONNECTIONS = 20
STATEMENT_SECONDS = 30.0
LOCK_SECONDS = 10.0
RECONNECT_SECONDS = 15.0  # covers a restart of the server
MAX_PREPARED_STATEMENTS = 250  # per connection: enough for all queries of the store
RETRYABLE_ERRORS = (errors.SerializationFailure, errors.DeadlockDetected)
BEGIN_READ = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
BEGIN_WRITE = b"BEGIN"
# Each query was written for its indexes. A generic plan is made once instead of for each set of
# values, and wrong table statistics cannot cause a sequential scan.
PLANNER_SETTINGS = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "jit": "off",
}
COMMIT, ROLLBACK = b"COMMIT", b"ROLLBACK"
IDLE = TransactionStatus.IDLE

# The store raises StoreUnavailable. Without a handler Python would also print a line of the pool
# for each attempt to connect; applications with logging still get these lines.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())


class RetryTransaction(Exception):
    """The transaction was rolled back and may be repeated."""


class PostgresConnections:
    """Pool of connections to one database, as the role `nexus_app`."""

    def __init__(
        self,
        url: str,
        vector_schema: str,
        vector_oid: int,
        *,
        max_connections: int = MAX_CONNECTIONS,
        statement_seconds: float = STATEMENT_SECONDS,
        lock_seconds: float = LOCK_SECONDS,
    ) -> None:
        self._url = url
        self._masked_url = mask_passwords(url)
        self._vector_oid = vector_oid
        self._pid = os.getpid()
        self.closed = False
        self.held_leases = HeldLeases()
        self._thread_reads = threading.local()  # the read transaction of each thread
        settings = {
            "statement_timeout": f"{statement_seconds * 1000:.0f}",
            "lock_timeout": f"{lock_seconds * 1000:.0f}",
            "idle_in_transaction_session_timeout": f"{4 * statement_seconds * 1000:.0f}",
            **PLANNER_SETTINGS,
        }
        enforced = {"search_path": f'nexus,"{vector_schema}"', "role": ROLE, "TimeZone": "UTC"}
        self._pool: ConnectionPool[Connection[Any]] = ConnectionPool(
            with_settings(url, settings, enforced),
            min_size=1,
            max_size=max_connections,
            open=False,
            timeout=RECONNECT_SECONDS,
            configure=self._configure_connection,
            kwargs={"autocommit": True, "application_name": "nexus"},
            name="nexus",
        )
        self._pool.open()

    def _configure_connection(self, connection: Connection[Any]) -> None:
        connection.prepared_max = MAX_PREPARED_STATEMENTS
        adapters = connection.adapters
        adapters.register_loader(self._vector_oid, VectorLoader)
        # One type for integers of every size, so that a query is prepared once and not three times.
        adapters.register_dumper(int, Int8Dumper)
        adapters.register_dumper(int, Int8BinaryDumper)

    @contextmanager
    def read_transaction(self) -> Iterator[PostgresTransaction]:
        """Open a transaction with one snapshot, or join the one of this thread."""
        current: PostgresTransaction | None = getattr(self._thread_reads, "session", None)
        if current is not None:
            yield current
            return
        connection = self._begin_transaction(BEGIN_READ)
        session = PostgresTransaction(connection, writes=False)
        self._thread_reads.session = session
        try:
            with self.map_errors():
                yield session
        finally:
            self._thread_reads.session = None
            self._return_connection(connection)

    def write(self, work: Callable[[PostgresTransaction], T], /, *, lazily: bool = False) -> T:
        """Run `work` in a transaction and return its result; the commit is durable.

        With `lazily`, durability follows shortly after. A rolled back `work` is run again, so it
        must not change anything but the database.
        """
        deadline = time.monotonic() + RECONNECT_SECONDS
        while True:
            try:
                with self.map_errors():
                    return self._run_transaction(work, lazily=lazily)
            except RetryTransaction as again:
                if time.monotonic() > deadline:
                    raise self._to_store_error(again.__cause__) from again.__cause__

    def _run_transaction(self, work: Callable[[PostgresTransaction], T], *, lazily: bool) -> T:
        connection = self._begin_transaction(BEGIN_WRITE)
        session = PostgresTransaction(connection, writes=True, leases=self.held_leases.leases)
        try:
            if lazily:
                session.execute_query("set_async_commit")
            value = work(session)
            session.check_leases()
            self._commit_transaction(session)
        except RETRYABLE_ERRORS as error:
            raise RetryTransaction from error
        except errors.CheckViolation as error:
            if error.diag.constraint_name is not None:
                raise
            raise RetryTransaction from error  # a partition for this row was created meanwhile
        except psycopg.OperationalError as error:
            if connection.closed:
                raise RetryTransaction from error
            raise
        finally:
            self._return_connection(connection)
        return value

    def _commit_transaction(self, session: PostgresTransaction) -> None:
        try:
            _execute_raw(session.connection, COMMIT)
        except psycopg.OperationalError as error:
            if not session.connection.closed or not session.commit_mark:
                raise
            if not self._was_committed(session, error):
                raise

    def _was_committed(self, lost: PostgresTransaction, error: Exception) -> bool:
        """Return whether a transaction was committed after its connection was lost in COMMIT.

        Its mark is final as soon as the workspaces it had locked can be locked again.
        """
        deadline = time.monotonic() + RECONNECT_SECONDS
        while time.monotonic() < deadline:
            with suppress(psycopg.Error, StoreUnavailable):
                return self._is_marked(lost)
            time.sleep(0.05)
        raise StoreUnavailable(
            f"{self._masked_url} was lost during a commit and is still unreachable: the outcome is"
            " unknown. Sending the same again is safe"
        ) from error

    def _is_marked(self, lost: PostgresTransaction) -> bool:
        connection = self._begin_transaction(BEGIN_WRITE)
        try:
            session = PostgresTransaction(connection, writes=True)
            names = json.dumps(sorted(set(lost.locked_workspaces)), ensure_ascii=False)
            numbers = [row[1] for row in session.execute_query("lock_workspaces", {"names": names})]
            bound = {"workspaces": json.dumps(numbers), "lost": lost.commit_mark}
            (committed,) = session.execute_query("was_committed", bound).fetchone()
        finally:
            self._return_connection(connection)
        return bool(committed)

    def _begin_transaction(self, begin: bytes) -> Connection[Any]:
        """Return a connection inside a new transaction; discard connections a restart broke."""
        self._check_open()
        deadline = time.monotonic() + RECONNECT_SECONDS
        while True:
            with self.map_errors():
                connection = self._pool.getconn()
            try:
                _execute_raw(connection, begin)
            except psycopg.OperationalError as error:
                self._return_connection(connection)
                if time.monotonic() > deadline:
                    raise self._to_store_error(error) from error
            except BaseException:
                self._return_connection(connection)
                raise
            else:
                return connection

    def _return_connection(self, connection: Connection[Any]) -> None:
        """Roll back an open transaction and return the connection to the pool.

        A connection that fails to roll back is closed.
        """
        try:
            if not connection.closed and connection.info.transaction_status != IDLE:
                _execute_raw(connection, ROLLBACK)
        except psycopg.Error:  # lost, or cancelled too late: the caller already has its result
            connection.close()
        except BaseException:
            connection.close()
            raise
        finally:
            self._pool.putconn(connection)

    @contextmanager
    def map_errors(self) -> Iterator[None]:
        try:
            yield
        except (psycopg.Error, PoolTimeout) as error:
            raise self._to_store_error(error) from error

    def _to_store_error(self, error: BaseException | None) -> NexusError:
        return to_store_error(self._masked_url, error)

    def _check_open(self) -> None:
        if self.closed:
            raise StoreUnavailable(f"{self._masked_url} is closed; open it again")
        if self._pid != os.getpid():
            raise StoreUnavailable(
                f"{self._masked_url} was opened before a fork; open it in the child"
            )

    def vacuum(self, tables: Sequence[str], *, analyze: bool = False) -> None:
        """Run VACUUM as the user of the URL.

        Only the owner of the tables may do this; for other users the server does nothing.
        """
        names = sql.SQL(", ").join(sql.Identifier("nexus", table) for table in tables)
        option = sql.SQL("ANALYZE" if analyze else "SKIP_LOCKED")
        self.run_maintenance(sql.SQL("VACUUM ({}) {}").format(option, names))

    def run_maintenance(self, command: sql.Composed) -> None:
        """Run a statement in autocommit mode, without statement timeout, as the user of the URL."""
        self._check_open()
        with self.map_errors(), psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute(command)

    def close(self) -> None:
        if self.closed or self._pid != os.getpid():
            return
        self.closed = True
        self._pool.close()


def _execute_raw(connection: Connection[Any], command: bytes) -> None:
    """Run BEGIN, COMMIT or ROLLBACK with libpq.

    psycopg is slower, and discards its prepared statements after each ROLLBACK.
    """
    result = connection.pgconn.exec_(command)
    if result.status != ExecStatus.COMMAND_OK:
        if connection.closed:
            raise psycopg.OperationalError(result.error_message.decode(errors="replace"))
        raise error_from_result(result)


def with_settings(url: str, settings: dict[str, str], enforced: dict[str, str]) -> str:
    """Return the URL with these settings as options.

    Options of the URL override `settings`, but not `enforced`.
    """
    url_options = str(conninfo_to_dict(url).get("options") or "")
    options = " ".join(
        [
            *(f"-c {name}={value}" for name, value in settings.items()),
            url_options,
            *(f"-c {name}={value}" for name, value in enforced.items()),
        ]
    )
    return make_conninfo(url, options=options)


def to_store_error(where: str, error: BaseException | None) -> NexusError:
    """Return the NexusError for an error of the driver, with what to do about it."""
    text = mask_passwords(str(error).strip().partition("\n")[0]) or repr(error)
    for kind, explain in ERROR_TRANSLATIONS.items():
        if isinstance(error, kind):
            return explain(where, text)
    return StoreUnavailable(f"{where}: {text}")


ERROR_TRANSLATIONS: Mapping[type[Exception], Callable[[str, str], NexusError]] = {
    errors.DataCorrupted: lambda where, text: Corrupt(
        f"{where} is damaged ({text}); restore a backup or an export"
    ),
    errors.IndexCorrupted: lambda where, text: Corrupt(
        f"{where} has a damaged index ({text}); an administrator must run REINDEX"
    ),
    errors.ProgramLimitExceeded: lambda where, text: InvalidInput(f"too long for {where}: {text}"),
    errors.QueryCanceled: lambda where, text: StoreUnavailable(
        f"{where} cancelled a statement ({text}); try again"
    ),
    errors.LockNotAvailable: lambda where, text: StoreUnavailable(
        f"{where}: another transaction held a lock too long ({text}); try again"
    ),
    errors.InsufficientPrivilege: lambda where, text: StoreUnavailable(
        f"{where}: {text}; docs/reference/postgres.md lists the required privileges"
    ),
    PoolTimeout: lambda where, _: StoreUnavailable(
        f"{where}: no connection for {RECONNECT_SECONDS:.0f} s; is the server running, and does"
        " it have free connections?"
    ),
}
