"""Connections to a Postgres server: a pool, one moment for readers, durable commits for writers.

A connection that is lost while something is read or written is replaced, and the work is done
again if nothing of it can have been kept. If it is lost during the commit itself, the server is
asked what became of the transaction, and is believed.
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
from ...core.urls import masked
from ..holding import Holding
from .session import Session, VectorLoader

T = TypeVar("T")

ROLE = "nexus_app"
MOST_CONNECTIONS = 20
STATEMENT_SECONDS = 30.0
LOCK_SECONDS = 10.0
PATIENCE_SECONDS = 15.0  # for a server that is started again
PREPARED = 250  # statements of one connection: all of ours
AGAIN = (errors.SerializationFailure, errors.DeadlockDetected)
READ = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
WRITE = b"BEGIN"
# Every query was written for its indexes. So it is planned once, and not for each set of values,
# and what the planner believes about a table cannot talk it into reading all of it.
PLANS = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "jit": "off",
}
COMMIT, UNDO = b"COMMIT", b"ROLLBACK"
IDLE = TransactionStatus.IDLE

# Who is away is said by our errors. Applications that collect logs get the pool's lines, too; for
# others Python would print one with each attempt to connect.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())


class Again(Exception):
    """Nothing of this transaction was kept: it may be tried again."""


class Connections:
    """Every way to the database."""

    def __init__(
        self,
        url: str,
        schema_of_vector: str,
        vector: int,
        *,
        most: int = MOST_CONNECTIONS,
        statement_seconds: float = STATEMENT_SECONDS,
        lock_seconds: float = LOCK_SECONDS,
    ) -> None:
        self._url = url
        self._where = masked(url)
        self._vector = vector
        self._pid = os.getpid()
        self.closed = False
        self.holding = Holding()
        self._held = threading.local()  # the session a thread reads one moment with
        settings = {
            "statement_timeout": f"{statement_seconds * 1000:.0f}",
            "lock_timeout": f"{lock_seconds * 1000:.0f}",
            "idle_in_transaction_session_timeout": f"{4 * statement_seconds * 1000:.0f}",
            **PLANS,
        }
        walls = {"search_path": f'nexus,"{schema_of_vector}"', "role": ROLE, "TimeZone": "UTC"}
        self._pool: ConnectionPool[Connection[Any]] = ConnectionPool(
            with_settings(url, settings, walls),
            min_size=1,
            max_size=most,
            open=False,
            timeout=PATIENCE_SECONDS,
            configure=self._configure,
            kwargs={"autocommit": True, "application_name": "nexus"},
            name="nexus",
        )
        self._pool.open()

    def _configure(self, connection: Connection[Any]) -> None:
        connection.prepared_max = PREPARED
        adapters = connection.adapters
        adapters.register_loader(self._vector, VectorLoader)
        # One type for every number, whatever its size: one statement is prepared, not three.
        adapters.register_dumper(int, Int8Dumper)
        adapters.register_dumper(int, Int8BinaryDumper)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A transaction that sees one moment; inside another one of the same thread, that one."""
        held: Session | None = getattr(self._held, "session", None)
        if held is not None:
            yield held
            return
        connection = self._begun(READ)
        session = Session(connection, writes=False)
        self._held.session = session
        try:
            with self.errors_mapped():
                yield session
        finally:
            self._held.session = None
            self._give_back(connection)

    def write(self, work: Callable[[Session], T], /, *, lazily: bool = False) -> T:
        """Run `work` in a transaction that is durable when this returns, or soon after.

        It may be run twice, the first time undone: it must change nothing but the database.
        """
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                with self.errors_mapped():
                    return self._transact(work, lazily=lazily)
            except Again as again:
                if time.monotonic() > deadline:
                    raise self._explained(again.__cause__) from again.__cause__

    def _transact(self, work: Callable[[Session], T], *, lazily: bool) -> T:
        connection = self._begun(WRITE)
        session = Session(connection, writes=True, leases=self.holding.leases)
        try:
            if lazily:
                session.run("wait_for_no_disk")
            value = work(session)
            session.check_leases()
            self._commit(session)
        except AGAIN as error:
            raise Again from error
        except errors.CheckViolation as error:
            if error.diag.constraint_name is not None:
                raise
            raise Again from error  # a partition was made for this row while it was on its way
        except psycopg.OperationalError as error:
            if connection.closed:
                raise Again from error
            raise
        finally:
            self._give_back(connection)
        return value

    def _commit(self, session: Session) -> None:
        try:
            _say(session.connection, COMMIT)
        except psycopg.OperationalError as error:
            if not session.connection.closed or not session.mark:
                raise
            if not self._was_committed(session, error):
                raise

    def _was_committed(self, lost: Session, error: Exception) -> bool:
        """What became of a transaction whose commit nobody answered.

        Its mark is there or not as soon as what it had locked can be locked again.
        """
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            with suppress(psycopg.Error, StoreUnavailable):
                return self._is_marked(lost)
            time.sleep(0.05)
        raise StoreUnavailable(
            f"{self._where} went away during a commit and did not come back: it may have been"
            " kept or not. Sending the same again is safe"
        ) from error

    def _is_marked(self, lost: Session) -> bool:
        connection = self._begun(WRITE)
        try:
            session = Session(connection, writes=True)
            names = json.dumps(sorted(set(lost.locked)), ensure_ascii=False)
            found = [row[1] for row in session.run("lock_workspaces", {"names": names})]
            bound = {"workspaces": json.dumps(found), "lost": lost.mark}
            (marked,) = session.run("was_committed", bound).fetchone()
        finally:
            self._give_back(connection)
        return bool(marked)

    def _begun(self, begin: bytes) -> Connection[Any]:
        """A connection inside a new transaction; those that a restart broke are thrown away."""
        self._check_open()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            with self.errors_mapped():
                connection = self._pool.getconn()
            try:
                _say(connection, begin)
            except psycopg.OperationalError as error:
                self._give_back(connection)
                if time.monotonic() > deadline:
                    raise self._explained(error) from error
            except BaseException:
                self._give_back(connection)
                raise
            else:
                return connection

    def _give_back(self, connection: Connection[Any]) -> None:
        """Without a transaction; a connection that cannot even undo one is closed."""
        try:
            if not connection.closed and connection.info.transaction_status != IDLE:
                _say(connection, UNDO)
        except psycopg.Error:  # lost, or cancelled too late: what was asked for has its answer
            connection.close()
        except BaseException:
            connection.close()
            raise
        finally:
            self._pool.putconn(connection)

    @contextmanager
    def errors_mapped(self) -> Iterator[None]:
        try:
            yield
        except (psycopg.Error, PoolTimeout) as error:
            raise self._explained(error) from error

    def _explained(self, error: BaseException | None) -> NexusError:
        return explained(self._where, error)

    def _check_open(self) -> None:
        if self.closed:
            raise StoreUnavailable(f"{self._where} was closed; open it again")
        if self._pid != os.getpid():
            raise StoreUnavailable(f"{self._where} was opened before a fork; open it in the child")

    def vacuum(self, tables: Sequence[str], *, analyze: bool = False) -> None:
        """Give back the space of what was deleted, with the rights of whoever connected.

        It needs the owner's; others get a warning from the server, and nothing is done.
        """
        names = sql.SQL(", ").join(sql.Identifier("nexus", table) for table in tables)
        how = sql.SQL("ANALYZE" if analyze else "SKIP_LOCKED")
        self.administer(sql.SQL("VACUUM ({}) {}").format(how, names))

    def administer(self, command: sql.Composed) -> None:
        """Outside any transaction, for as long as it takes, with the rights of the address."""
        self._check_open()
        with self.errors_mapped(), psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute(command)

    def close(self) -> None:
        if self.closed or self._pid != os.getpid():
            return
        self.closed = True
        self._pool.close()


def _say(connection: Connection[Any], command: bytes) -> None:
    """The few words around a transaction, past the driver: it would take longer than the server,
    and after each ROLLBACK it would forget every statement it has prepared.
    """
    result = connection.pgconn.exec_(command)
    if result.status != ExecStatus.COMMAND_OK:
        if connection.closed:
            raise psycopg.OperationalError(result.error_message.decode(errors="replace"))
        raise error_from_result(result)


def with_settings(url: str, settings: dict[str, str], walls: dict[str, str]) -> str:
    """The address with our settings; what its own `options` say of them stands, but for walls."""
    own = str(conninfo_to_dict(url).get("options") or "")
    options = " ".join(
        [
            *(f"-c {name}={value}" for name, value in settings.items()),
            own,
            *(f"-c {name}={value}" for name, value in walls.items()),
        ]
    )
    return make_conninfo(url, options=options)


def explained(where: str, error: BaseException | None) -> NexusError:
    """A driver's error in our words: what happened, and what to do."""
    text = masked(str(error).strip().partition("\n")[0]) or repr(error)
    for kind, explain in EXPLANATIONS.items():
        if isinstance(error, kind):
            return explain(where, text)
    return StoreUnavailable(f"{where}: {text}")


EXPLANATIONS: Mapping[type[Exception], Callable[[str, str], NexusError]] = {
    errors.DataCorrupted: lambda where, text: Corrupt(
        f"{where} is damaged ({text}); restore a backup or an export"
    ),
    errors.IndexCorrupted: lambda where, text: Corrupt(
        f"{where} has a damaged index ({text}); let its administrator run REINDEX"
    ),
    errors.ProgramLimitExceeded: lambda where, text: InvalidInput(f"too long for {where}: {text}"),
    errors.QueryCanceled: lambda where, text: StoreUnavailable(
        f"{where} gave a statement up ({text}); try again"
    ),
    errors.LockNotAvailable: lambda where, text: StoreUnavailable(
        f"{where}: somebody else kept a lock too long ({text}); try again"
    ),
    errors.InsufficientPrivilege: lambda where, text: StoreUnavailable(
        f"{where}: {text}; docs/stores.md says which rights are needed"
    ),
    PoolTimeout: lambda where, _: StoreUnavailable(
        f"{where}: no connection for {PATIENCE_SECONDS:.0f} s; is the server up, and are there"
        " connections left?"
    ),
}
