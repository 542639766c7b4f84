"""What every store does the same way on its edges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from datetime import datetime

import numpy as np

from ..core.errors import InvalidInput
from ..core.ids import WorkspaceId
from ..core.protocols import Floats, Scored
from ..core.records import EmbeddingProfile, Event, NewEvent

DIGITS = 9  # scores that differ less are the same score on every machine


def ranked(scores: Iterable[tuple[str, float]]) -> list[Scored]:
    """Best first, ties by id, so that every store gives the same order."""
    rounded = ((id, min(1.0, round(score, DIGITS))) for id, score in scores)
    return [
        Scored(id=id, score=score) for id, score in sorted(rounded, key=lambda x: (-x[1], x[0]))
    ]


def check_vector(profile: EmbeddingProfile, vector: Floats) -> Floats:
    """The vector, if it can be kept and compared."""
    array = np.ascontiguousarray(vector, dtype=np.float32)
    if array.shape != (profile.dimension,):
        raise InvalidInput(
            f"a vector of {profile.name} has {profile.dimension} numbers, not {array.shape}"
        )
    length = float(np.linalg.norm(array.astype(np.float64)))
    if not np.isfinite(length) or abs(length - 1) > 0.01:
        raise InvalidInput(f"a vector has length 1, this one {length:.3g}: normalise it")
    return array


_NEW = [field.name for field in fields(NewEvent)]


def recorded(workspace: WorkspaceId, event: NewEvent, at: datetime) -> Event:
    """The event as the ledger keeps it. Imported history keeps the time it was first recorded."""
    recorded_at = event.recorded_at if isinstance(event, Event) else at
    told = {name: getattr(event, name) for name in _NEW}
    return Event(workspace=workspace, recorded_at=recorded_at, **told)
