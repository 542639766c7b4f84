"""Tombstones in SQL: digests of erased records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime

from ...core.canonical import format_time, parse_time
from ...core.protocols.eraser import scope_digests
from ...core.records import Tombstone
from ...core.scope import Scope
from .transactions import Row, Transaction


def tombstone_from_row(row: Row) -> Tombstone:
    kind, what, at = row
    return Tombstone(kind=kind, digest=what, at=parse_time(at))


def any_erased(
    session: Transaction, number: int, ids: Iterable[str], since: datetime | None = None
) -> bool:
    """Return whether one of these ids was erased; see `Eraser.any_erased`."""
    bound = {
        "workspace": number,
        "ids": json.dumps(list(ids)),
        "since": format_time(since) if since else None,
    }
    return session.execute_query("any_erased", bound).fetchone() is not None


def scope_tombstones(
    session: Transaction, number: int, scopes: Iterable[Scope]
) -> frozenset[Tombstone]:
    """Return the tombstones of these scopes and of their owners."""
    bound = {"workspace": number, "digests": json.dumps(scope_digests(scopes))}
    return frozenset(map(tombstone_from_row, session.execute_query("scope_tombstones", bound)))


def find_erased(session: Transaction, number: int, ids: Sequence[str]) -> set[str]:
    """Return the ids of these memories that were erased and must not be derived again."""
    bound = {"workspace": number, "kind": "memory", "digests": json.dumps(ids)}
    return {digest for (digest,) in session.execute_query("existing_tombstones", bound)}
