"""Erasure in Postgres, and the search for residue in every row of the workspace.

Queries cannot see the space of deleted rows, which VACUUM frees, nor the write-ahead log and
backups of the server.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Lock
from typing import IO, Any, cast

from psycopg import Connection, sql

from ...core.errors import StoreUnavailable
from ...core.ids import WorkspaceId
from ...core.records import ErasureCounts, Tombstone
from ..residue_search import count_occurrences
from ..sql.eraser import SqlEraser
from ..sql.readable_labels import find_workspace
from ..sql.transactions import Connections as Sessions
from .connections import PostgresConnections
from .transaction import PostgresTransaction, stream_rows


class SharedVacuum:
    """Coalesces concurrent vacuums: callers that arrive during a run share the next run.

    A run that starts after the call covers what the caller erased before. If that run fails, each
    of its callers starts one.
    """

    def __init__(self, vacuum: Callable[[Sequence[str]], None]) -> None:
        self._vacuum = vacuum
        self._run_lock = Lock()  # held during a run
        self._state_lock = Lock()
        self._pending_tables: set[str] = set()
        self._runs_started = 0
        self._last_success = 0  # number of the last run without an error

    def __call__(self, tables: Sequence[str]) -> None:
        with self._state_lock:
            self._pending_tables.update(tables)
            run_number = self._runs_started + 1
        with self._run_lock:
            with self._state_lock:
                if self._last_success >= run_number:
                    return
                run_tables, self._pending_tables = sorted(self._pending_tables.union(tables)), set()
                self._runs_started += 1
            self._vacuum(run_tables)
            self._last_success = self._runs_started


# Two people may have written the same text, so these tables may still contain a piece.
RECORD_TABLES = frozenset({"events", "memories", "window_items", "audit"})
CONTENT_COLUMN = "content"


def count_residue(
    session: PostgresTransaction, workspace: int, pieces: Sequence[bytes]
) -> dict[str, int]:
    """Count, by table, the occurrences of pieces that no remaining record contains."""
    remaining: set[bytes] = set()
    counts: dict[str, Counter[bytes]] = {}
    for table, columns in session.execute_query("text_columns").fetchall():
        if table in RECORD_TABLES:
            remaining.update(_count_in_table(session, workspace, table, [CONTENT_COLUMN], pieces))
        others = [name for name in columns if table not in RECORD_TABLES or name != CONTENT_COLUMN]
        counts[table] = (
            _count_in_table(session, workspace, table, others, pieces) if others else Counter()
        )
    return {
        table: sum(n for piece, n in counted.items() if piece not in remaining)
        for table, counted in counts.items()
    }


def _count_in_table(
    session: PostgresTransaction,
    workspace: int,
    table: str,
    columns: Sequence[str],
    pieces: Sequence[bytes],
) -> Counter[bytes]:
    texts = _TextReader(_iter_texts(session.connection, workspace, table, columns))
    return count_occurrences(cast("IO[bytes]", texts), pieces)


def _iter_texts(
    connection: Connection[Any], workspace: int, table: str, columns: Sequence[str]
) -> Iterator[str]:
    """Yield the texts of each row; equal rows of tables other than records once."""
    query = sql.SQL(
        "SELECT {once} concat_ws(chr(10), {columns}) FROM {table} WHERE workspace = %(workspace)s"
    ).format(
        once=sql.SQL("" if columns == [CONTENT_COLUMN] else "DISTINCT"),
        columns=sql.SQL(", ").join(map(sql.Identifier, columns)),
        table=sql.Identifier("nexus", table),
    )
    rows = stream_rows(connection, query.as_bytes(connection), {"workspace": workspace})
    yield from (text for (text,) in rows)


class _TextReader:
    """File-like reader over texts, separated by newlines."""

    def __init__(self, rows: Iterable[str]) -> None:
        self._rows = iter(rows)

    def read(self, size: int) -> bytes:
        """Return at least `size` bytes, fewer only at the end."""
        read, length = [], 0
        for text in self._rows:
            read.append(text.encode() + b"\n")
            length += len(read[-1])
            if length >= size:
                break
        return b"".join(read)


SMALL_TABLES = (
    "keys",
    "labels",
    "outbox",
    "window_items",
    "usage_counts",
    "archived_memories",
    "audit",
)
PARTITIONED_TABLES = (
    "events",
    "memories",
    "conversations",
    "links",
    "names",
    "postings",
    "vectors",
)


class PostgresEraser(SqlEraser):
    """The SQL eraser, with destroyed keys and vacuum."""

    def __init__(self, sessions: Sessions, server: PostgresConnections) -> None:
        super().__init__(sessions)
        self._server = server
        self._vacuum = SharedVacuum(server.vacuum)

    def erase(
        self,
        workspace: WorkspaceId,
        *,
        events: Sequence[str],
        memories: Sequence[str],
        tombstones: Sequence[Tombstone],
    ) -> ErasureCounts:
        people = [tombstone.digest for tombstone in tombstones if tombstone.kind == "user"]
        keys = self._count_keys(workspace, people)
        erased = super().erase(workspace, events=events, memories=memories, tombstones=tombstones)
        return replace(erased, keys=keys - self._count_keys(workspace, people))

    def _count_keys(self, workspace: WorkspaceId, owners: Sequence[str]) -> int:
        """Return how many of these people have a key."""
        if not owners:
            return 0
        with self._server.read_transaction() as session:
            number = find_workspace(session, workspace)
            bound = {"workspace": number, "owners": json.dumps(owners)}
            return len(session.execute_query("keys_by_owner", bound).fetchall())

    def find_residue(self, workspace: WorkspaceId, pieces: Sequence[bytes]) -> dict[str, int]:
        with self._server.read_transaction() as session:
            number = find_workspace(session, workspace)
            bound = {"workspace": number}
            (part,) = session.execute_query("find_partition", bound).fetchone()
            counts = count_residue(session, number, [piece for piece in pieces if _is_text(piece)])
            (orphans,) = session.execute_query("orphaned_vectors", bound).fetchone()
        with suppress(StoreUnavailable):  # autovacuum frees the space later
            self._vacuum([*SMALL_TABLES, *(f"{table}_{part}" for table in PARTITIONED_TABLES)])
        return {**counts, "vectors": orphans}


def _is_text(piece: bytes) -> bool:
    """Return whether the piece is UTF-8; pieces of vectors are not."""
    try:
        piece.decode()
    except UnicodeDecodeError:
        return False
    return True
