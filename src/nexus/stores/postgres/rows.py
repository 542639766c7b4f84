"""What a query finds, read as far as somebody asks for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count, islice
from typing import Any

from psycopg import Connection

from ..sql.session import Row

FIRST_PART, NEXT_PARTS = 200, 5_000  # rows
NUMBERS = count()


class LazyRows:
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


def in_parts(
    connection: Connection[Any], query: bytes, values: Mapping[str, object]
) -> Iterator[Row]:
    """The driver would fetch all of it at once, also if only the first is wanted.

    The server forgets what was not fetched when the transaction ends.
    """
    name = b"part_%d" % next(NUMBERS)
    cursor = connection.cursor(binary=True)
    cursor.execute(b"DECLARE %s NO SCROLL CURSOR FOR " % name + query, values, prepare=False)
    size = FIRST_PART
    while rows := cursor.execute(b"FETCH %d FROM %s" % (size, name), prepare=False).fetchall():
        yield from rows
        size = NEXT_PARTS
