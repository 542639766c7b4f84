"""The last wall: whatever a query gave, no record that its grant forbids leaves a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from ...core.access import Grant, Label
from ...core.errors import Corrupt
from ...core.records import Event, Memory
from ...core.scope import Scope
from ...core.window import WindowItem

Record = TypeVar("Record", Event, Memory, WindowItem)


def going_out(grant: Grant, records: Iterable[Record]) -> Iterator[Record]:
    """The same records. One that may not be read was moved, or is a bug; it ends the answer."""
    allowed: Scope | Label | None = None  # of the record before: most often the very same
    for record in records:
        where = record.scope if isinstance(record, Event) else record.label
        if where is not allowed:
            check_going_out(grant, label_of(record))
            allowed = where
        yield record


def label_of(record: Event | Memory | WindowItem) -> Label:
    return frozenset({record.scope}) if isinstance(record, Event) else record.label


def check_going_out(grant: Grant, label: Label) -> None:
    if not grant.allows(label):
        raise Corrupt(
            "a query gave a record its grant does not allow: it lies where it does not belong"
            " (`nexus verify` says which); refusing to answer"
        )
