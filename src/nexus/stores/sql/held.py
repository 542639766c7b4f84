"""Whether leases are still ours, asked inside the transaction that depends on it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ...core.errors import LeaseLost
from ...core.leases import Lease
from .session import Session

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
