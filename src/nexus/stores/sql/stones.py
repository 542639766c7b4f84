"""Tombstones as rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime

from ...core.canonical import text_time, time_text
from ...core.erasing import drawer_digests
from ...core.records import Tombstone
from ...core.scope import Scope
from .session import Row, Session


def stone_of(row: Row) -> Tombstone:
    kind, what, at = row
    return Tombstone(kind=kind, digest=what, at=text_time(at))


def any_erased(
    session: Session, number: int, ids: Iterable[str], since: datetime | None = None
) -> bool:
    """As `Eraser.gone` has it."""
    bound = {
        "workspace": number,
        "ids": json.dumps(list(ids)),
        "since": time_text(since) if since else None,
    }
    return session.run("any_erased", bound).fetchone() is not None


def stones_of(session: Session, number: int, scopes: Iterable[Scope]) -> frozenset[Tombstone]:
    """Those of these drawers, and of the people whose they are."""
    bound = {"workspace": number, "digests": json.dumps(drawer_digests(scopes))}
    return frozenset(map(stone_of, session.run("stones_of_drawers", bound)))


def erased_among(session: Session, number: int, ids: Sequence[str]) -> set[str]:
    """Those of these memories that were erased, and stay away."""
    bound = {"workspace": number, "kind": "memory", "digests": json.dumps(ids)}
    return {digest for (digest,) in session.run("among_tombstones", bound)}
