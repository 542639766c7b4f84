"""What the SQL stores ask of their product: queries by name, readings and writings.

A query has the same name in every product and its text in that product's `queries.sql`. Lists
travel as one JSON parameter, so that no text ever varies with input.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from ...core.protocols import Floats
    from ..holding import Holding
    from .labels import Readable

T = TypeVar("T")
Row = tuple[Any, ...]


class Rows(Protocol):
    """What a query found, or how many rows it changed."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchmany(self, size: int) -> list[Any]: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Session(Protocol):
    """One transaction of one thread, in which queries are run by their names."""

    def run(self, name: str, values: Mapping[str, object] = ..., /) -> Rows:
        """Run this query once."""
        ...

    def run_many(self, name: str, rows: Sequence[Row], /) -> int:
        """Run this query for each of these rows of values; how many rows that changed."""
        ...

    def read_each(self, name: str, rows: Sequence[Row], /) -> list[list[Any]]:
        """What this query finds for each of these rows of values."""
        ...

    def view(self, key: Hashable, make: Callable[[], Readable], /) -> Readable:
        """What a grant lets through, compiled anew whenever it may have changed.

        A product with a wall of its own puts it up here: whatever this session reads afterwards
        is of this view.
        """
        ...

    def floats(self, vectors: Sequence[bytes], /) -> Floats:
        """Vectors as a query gives them, one row each."""
        ...


class Connections(Protocol):
    """Every way to the database."""

    @property
    def holding(self) -> Holding:
        """The leases that writes depend on."""
        ...

    def reading(self) -> AbstractContextManager[Session]:
        """A transaction that sees one moment; inside another one of the same thread, that one."""
        ...

    def write(self, work: Callable[[Session], T], /, *, lazily: bool = False) -> T:
        """Run `work` in a transaction that is durable when this returns.

        Or, `lazily`, with the next one that is: for what can be made again.

        It may be run twice, the first time undone: it must change nothing but the database. If
        this thread holds a lease that is lost by now, nothing is written: LeaseLost.
        """
        ...
