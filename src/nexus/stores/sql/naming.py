"""Looking memories up by the names that they are about."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ...core.derive import NAMED, known_as
from ...core.records import MemoryKind
from .labels import Readable
from .session import Row, Session


def about(
    session: Session,
    view: Readable,
    query: str,
    names: Sequence[str],
    *,
    kinds: Sequence[MemoryKind] | None,
    limit: int,
) -> list[Row]:
    """What this query tells of the newest; no kinds are those of facts and entities."""
    if not any(state.names for state in view.labels):
        return []
    wanted = {
        "names": json.dumps(sorted(set(map(known_as, names)))),
        "kinds": json.dumps(sorted({*(NAMED if kinds is None else kinds)})),
        "limit": limit,
    }
    return session.run(query, {**view.with_names, **wanted}).fetchall()
