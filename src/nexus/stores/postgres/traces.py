"""A look into every row of a workspace, for texts that should be gone.

All its texts are read once, a part at a time, and looked through for all pieces together: the
server would have to compare each row with each piece.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any, cast

from psycopg import Connection, sql

from ..residue import found_in
from .rows import in_parts
from .session import Session

RECORDS = frozenset({"events", "memories", "window_items", "audit"})  # two may have said the same
CONTENT = "content"


def traces(session: Session, workspace: int, pieces: Sequence[bytes]) -> dict[str, int]:
    """By table, how often pieces stand in it that are in the content of no record any more."""
    kept: set[bytes] = set()
    found: dict[str, Counter[bytes]] = {}
    for table, columns in session.run("text_columns").fetchall():
        if table in RECORDS:
            kept.update(_counted(session, workspace, table, [CONTENT], pieces))
        others = [name for name in columns if table not in RECORDS or name != CONTENT]
        found[table] = _counted(session, workspace, table, others, pieces) if others else Counter()
    return {
        table: sum(times for piece, times in counted.items() if piece not in kept)
        for table, counted in found.items()
    }


def _counted(
    session: Session, workspace: int, table: str, columns: Sequence[str], pieces: Sequence[bytes]
) -> Counter[bytes]:
    texts = _Texts(_rows(session.connection, workspace, table, columns))
    return found_in(cast("IO[bytes]", texts), pieces)


def _rows(
    connection: Connection[Any], workspace: int, table: str, columns: Sequence[str]
) -> Iterator[str]:
    """The texts of each row; of words that stand in many rows, each once."""
    query = sql.SQL(
        "SELECT {once} concat_ws(chr(10), {columns}) FROM {table} WHERE workspace = %(workspace)s"
    ).format(
        once=sql.SQL("" if columns == [CONTENT] else "DISTINCT"),
        columns=sql.SQL(", ").join(map(sql.Identifier, columns)),
        table=sql.Identifier("nexus", table),
    )
    rows = in_parts(connection, query.as_bytes(connection), {"workspace": workspace})
    yield from (text for (text,) in rows)


class _Texts:
    """Rows, read as a file is, each on lines of its own."""

    def __init__(self, rows: Iterable[str]) -> None:
        self._rows = iter(rows)

    def read(self, size: int) -> bytes:
        """At least as many bytes, if there are as many."""
        read, length = [], 0
        for text in self._rows:
            read.append(text.encode() + b"\n")
            length += len(read[-1])
            if length >= size:
                break
        return b"".join(read)
