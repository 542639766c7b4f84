"""Protocols of a database: queries by name, read transactions and write transactions.

A query has the same name in SQLite and Postgres, and its text in the `queries.sql` of each. A
list is one JSON parameter, so the text of a query never depends on input.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ...core.errors import LeaseLost
from ...runtime.leases import Lease
from ..transaction_hooks import WriteHooks

if TYPE_CHECKING:
    from ...core.protocols.embedder import Floats
    from ..transaction_hooks import HeldLeases
    from .readable_labels import ReadableLabels


T = TypeVar("T")
Row = tuple[Any, ...]


class QueryResult(Protocol):
    """The rows of a query, or the number of changed rows."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchmany(self, size: int) -> list[Any]: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Transaction(Protocol):
    """One transaction of one thread, which runs queries by name."""

    def execute_query(self, name: str, values: Mapping[str, object] = ..., /) -> QueryResult:
        """Run a query once."""
        ...

    def execute_batch(self, name: str, rows: Sequence[Row], /) -> int:
        """Run a query for each row of values; return the number of changed rows."""
        ...

    def fetch_each(self, name: str, rows: Sequence[Row], /) -> list[list[Any]]:
        """Run a query for each row of values; return the result rows of each."""
        ...

    def get_view(self, key: Hashable, make: Callable[[], ReadableLabels], /) -> ReadableLabels:
        """Return the compiled grant for `key`; call `make` if the cached one may be outdated.

        Postgres also binds the transaction to the grant here: row-level security then restricts
        all later reads.
        """
        ...

    def decode_vectors(self, vectors: Sequence[bytes], /) -> Floats:
        """Return stored vectors as a matrix, one row each."""
        ...


class Connections(Protocol):
    """All connections of a store to its database."""

    @property
    def held_leases(self) -> HeldLeases:
        """The leases of each thread; a write fails if one of them is lost."""
        ...

    def read_transaction(self) -> AbstractContextManager[Transaction]:
        """Yield a transaction with a stable snapshot; a nested call yields the outer one."""
        ...

    def write(self, work: Callable[[Transaction], T], /, *, lazily: bool = False) -> T:
        """Run `work` in a write transaction; return its value once the commit is durable.

        `lazily` returns before the commit is durable, for data that can be derived again.

        `work` may run twice, the first time rolled back: it must change only the database. Raise
        LeaseLost and write nothing if a lease of this thread is lost.
        """
        ...


class HookedConnections:
    """Connections whose writes also run the write hooks of the calling thread."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self.read_transaction = connections.read_transaction  # reads have no hooks
        self.held_leases = connections.held_leases
        self.write_hooks: WriteHooks[Transaction] = WriteHooks()

    def write(self, work: Callable[[Transaction], T], /, *, lazily: bool = False) -> T:
        hooks = self.write_hooks
        if not hooks.hooks:
            return self._connections.write(work, lazily=lazily)
        value = self._connections.write(hooks.wrap_work(work), lazily=lazily)
        hooks.clear()
        return value


LEASE_QUERIES = {"event": "count_leased_work", "job": "count_leased_jobs"}


def check_leases(session: Transaction, leases: Sequence[Lease]) -> None:
    """Raise LeaseLost if any of these leases has expired or belongs to another worker."""
    for kind, query in LEASE_QUERIES.items():
        of_kind = [each for each in leases if each.kind == kind]
        wanted = [(each.workspace.value, *each.target, each.fence) for each in of_kind]
        if wanted:
            bound = {"held": json.dumps(wanted, ensure_ascii=False)}
            (held,) = session.execute_query(query, bound).fetchone()
            if held < len(wanted):
                raise LeaseLost


def with_lease_check(work: Callable[[Any], T], leases: Sequence[Lease]) -> Callable[[Any], T]:
    """Return `work` with a check of these leases in the same transaction."""

    def check_and_run(session: Transaction) -> T:
        check_leases(session, leases)
        return work(session)

    return check_and_run
