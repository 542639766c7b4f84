"""A Postgres transaction that runs queries by name.

Each transaction is bound to the labels of a grant, to the workspace it writes to, or to the few
cross-workspace queries of background workers. The row-level security policies in the migrations
enforce the binding. This class remembers the binding, so that it is set once.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import count, islice
from typing import Any
from uuid import uuid4

import numpy as np
from psycopg import Connection
from psycopg.adapt import Buffer, Loader
from psycopg.pq import Format

from ...core.protocols.embedder import Floats
from ...runtime.leases import Lease
from ..query_files import load_queries
from ..sql.readable_labels import ReadableLabels
from ..sql.transactions import QueryResult, Row, check_leases

FIRST_PART, NEXT_PARTS = 200, 5_000  # rows per FETCH
CURSOR_NUMBERS = count()


class LazyRows:
    """A query result that reads its rows from an iterator."""

    def __init__(self, rows: Iterator[Row], rowcount: int = -1) -> None:
        self._rows = rows
        self.rowcount = rowcount

    def fetchone(self) -> Any:
        return next(self._rows, None)

    def fetchmany(self, size: int) -> list[Any]:
        return list(islice(self._rows, size))

    def fetchall(self) -> list[Any]:
        return list(self._rows)

    def __iter__(self) -> Iterator[Any]:
        return self._rows


def stream_rows(
    connection: Connection[Any], query: bytes, values: Mapping[str, object]
) -> Iterator[Row]:
    """Yield the rows of a server-side cursor; psycopg would fetch the complete result first.

    The server closes the cursor with the transaction.
    """
    name = b"part_%d" % next(CURSOR_NUMBERS)
    cursor = connection.cursor(binary=True)
    cursor.execute(b"DECLARE %s NO SCROLL CURSOR FOR " % name + query, values, prepare=False)
    size = FIRST_PART
    while rows := cursor.execute(b"FETCH %d FROM %s" % (size, name), prepare=False).fetchall():
        yield from rows
        size = NEXT_PARTS


SQL = {name: text.encode() for name, text in load_queries(__package__).items()}

# Queries of workers and administrators over all workspaces. Read the policies before you add
# one: this binding shows the names of workspaces and their queued work.
CROSS_WORKSPACE_QUERIES = frozenset(
    """workspaces workspace_numbers workspace_names workspace_counters workspaces_with_work
    any_due_work lock_workspaces_with_work lease_workspace_work renew_work last_workspace
    count_missing_jobs ensure_recurring_jobs unschedule_jobs any_due_job claim_jobs
    extend_job_leases finish_jobs drop_jobs fail_jobs""".split()
)
BINDING_QUERIES = frozenset(
    "find_workspace find_workspaces lock_workspace lock_workspaces readable_labels all_labels"
    " prune_window".split()
)
LOCKING_QUERIES = frozenset({"lock_workspace", "lock_workspaces"})
VECTOR_COLUMNS = {"add_vector": 5}  # index of the vector in a row
ROWS_PER_STATEMENT = 5_000  # limits the duration of a statement and the size of its JSON
# Results as large as a workspace; callers may stop reading before the end.
STREAMED_QUERIES = frozenset(
    "chain audit_chain audit_contents events_by_time memories_by_time".split()
)
ALL_WORKSPACES = object()
LIST_PARAMETERS = ("ids", "names")  # may hold any text of a caller


class VectorLoader(Loader):
    """Loads a pgvector value as little-endian float32 bytes, the format of all stores."""

    format = Format.BINARY

    def load(self, data: Buffer) -> bytes:
        numbers = array("f", bytes(data)[4:])  # after the dimension
        numbers.byteswap()
        return numbers.tobytes()


class PostgresTransaction:
    """A transaction, its binding and its locks."""

    def __init__(
        self, connection: Connection[Any], *, writes: bool, leases: Sequence[Lease] = ()
    ) -> None:
        self.connection = connection
        self.writes = writes
        self._leases = leases  # not checked yet
        self.commit_mark: str | None = None  # identifies the commit after a workspace was locked
        self.locked_workspaces: list[str] = []  # names
        self._bound_to: object = None
        self._view: ReadableLabels | None = None

    def execute_query(self, name: str, values: Mapping[str, object] = {}, /) -> QueryResult:
        if name in CROSS_WORKSPACE_QUERIES:
            self._bind_all_workspaces()
        elif name in BINDING_QUERIES:
            self._bound_to = None
        if name in LOCKING_QUERIES:
            return self._lock_workspaces(name, values)
        if name in STREAMED_QUERIES:
            return LazyRows(stream_rows(self.connection, SQL[name], _clean_values(values)))
        rows: QueryResult = self._execute_prepared(name, values)
        return rows

    def _lock_workspaces(self, name: str, values: Mapping[str, object]) -> QueryResult:
        """Lock workspaces, then check leases inside them: one lock order prevents deadlocks."""
        before = len(self.locked_workspaces)
        values = self._with_mark(values)
        rows: QueryResult = self._execute_prepared(name, values)
        leases = [
            each for each in self._leases if each.workspace.value in self.locked_workspaces[before:]
        ]
        check_leases(self, leases)
        self._leases = [each for each in self._leases if each not in leases]
        return rows

    def check_leases(self) -> None:
        """Raise LeaseLost if a lease of a workspace that was not locked is lost.

        Call this before the commit: the transaction must not lock anything afterwards.
        """
        if self._leases:
            self._bind_all_workspaces()
            check_leases(self, self._leases)

    def _bind_all_workspaces(self) -> None:
        if self._bound_to is not ALL_WORKSPACES:
            self._execute_prepared("bind_worker", {})
            self._bound_to = ALL_WORKSPACES

    def _with_mark(self, values: Mapping[str, object]) -> Mapping[str, object]:
        self.commit_mark = self.commit_mark or str(uuid4())
        names = values.get("names")
        self.locked_workspaces += json.loads(str(names)) if names else [str(values["name"])]
        return {**values, "mark": self.commit_mark}

    def execute_batch(self, name: str, rows: Sequence[Row], /) -> int:
        if not rows:
            return 0
        if name in CROSS_WORKSPACE_QUERIES:
            self._bind_all_workspaces()
        if column := VECTOR_COLUMNS.get(name):
            rows = [_with_vector_list(row, column) for row in rows]
        changed = 0
        for start in range(0, len(rows), ROWS_PER_STATEMENT):
            batch = rows[start : start + ROWS_PER_STATEMENT]
            encoded = json.dumps(batch, default=bytes.hex, ensure_ascii=False)
            changed += self._execute_prepared(name, {"rows": encoded}).rowcount
        return changed

    def fetch_each(self, name: str, rows: Sequence[Row], /) -> list[list[Any]]:
        results: list[list[Any]] = [[] for _ in rows]
        if name in CROSS_WORKSPACE_QUERIES:
            self._bind_all_workspaces()
        if rows:
            encoded = json.dumps(rows, ensure_ascii=False)
            for row in self._execute_prepared(name, {"rows": encoded}).fetchall():
                results[row[0] - 1].append(row[1:])
        return results

    def get_view(self, key: Hashable, make: Callable[[], ReadableLabels], /) -> ReadableLabels:
        """Return the cached view of a read transaction, which sees one snapshot, or make it."""
        if self._view is None or self._bound_to != key or self.writes:
            self._view = make()
            self._bound_to = key
        return self._view

    def decode_vectors(self, vectors: Sequence[bytes], /) -> Floats:
        table = np.frombuffer(b"".join(vectors), dtype="<f4")
        return table.reshape(len(vectors), -1) if vectors else table

    def _execute_prepared(self, name: str, values: Mapping[str, object]) -> Any:
        cursor = self.connection.cursor(binary=True)
        return cursor.execute(SQL[name], _clean_values(values), prepare=True)


def _clean_values(values: Mapping[str, object]) -> Mapping[str, object]:
    """Replace characters that Postgres cannot store (NUL, surrogates) in list parameters.

    Stored texts were cleaned before, so such a value of a caller matches nothing.
    """
    for name in LIST_PARAMETERS:
        value = values.get(name)
        if isinstance(value, str) and ("\\u0000" in value or "\\ud" in value):
            values = {**values, name: json.dumps([*map(_clean_text, json.loads(value))])}
    return values


def _clean_text(text: str) -> str:
    return text.replace("\0", "\ufffd").encode(errors="replace").decode()


def _with_vector_list(row: Row, column: int) -> Row:
    numbers = np.frombuffer(row[column], dtype="<f4").tolist()
    return (*row[:column], numbers, *row[column + 1 :])
