"""Whether leases are still ours, asked inside the transaction that depends on it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ...core.errors import LeaseLost
from ...core.leases import Lease
from .session import Session

T = TypeVar("T")
QUERIES = {"event": "held_work", "job": "held_jobs"}


def check_held(session: Session, leases: Sequence[Lease]) -> None:
    """Refuse to go on if any of these is somebody else's by now, or nobody's."""
    for kind, query in QUERIES.items():
        ours = [each for each in leases if each.kind == kind]
        wanted = [(each.workspace.value, *each.of, each.fence) for each in ours]
        if wanted:
            told = {"held": json.dumps(wanted, ensure_ascii=False)}
            (held,) = session.run(query, told).fetchone()
            if held < len(wanted):
                raise LeaseLost


def if_held(work: Callable[[Any], T], leases: Sequence[Lease]) -> Callable[[Any], T]:
    """This work of a session, if these are all ours by then."""

    def held(session: Session) -> T:
        check_held(session, leases)
        return work(session)

    return held
