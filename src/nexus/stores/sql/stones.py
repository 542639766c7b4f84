"""Tombstones as rows."""

from __future__ import annotations

import json
from collections.abc import Iterable

from ...core.canonical import text_time
from ...core.erasing import drawer_digests
from ...core.records import Tombstone
from ...core.scope import Scope
from .session import Row, Session


def stone_of(row: Row) -> Tombstone:
    kind, what, at = row
    return Tombstone(kind=kind, digest=what, at=text_time(at))


def stones_of(session: Session, number: int, scopes: Iterable[Scope]) -> frozenset[Tombstone]:
    """Those of these drawers, and of the people whose they are."""
    bound = {"workspace": number, "digests": json.dumps(drawer_digests(scopes))}
    return frozenset(map(stone_of, session.run("stones_of_drawers", bound)))
