"""What every store does the same way on its edges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from datetime import datetime
from math import sqrt

import numpy as np

from ..core.clock import day_of
from ..core.errors import InvalidInput
from ..core.ids import WorkspaceId
from ..core.protocols import Floats, Scored
from ..core.records import EmbeddingProfile, Event, NewEvent, Spent

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
    wide = array.astype(np.float64)
    length = sqrt(wide @ wide)
    if not abs(length - 1) <= 0.01:  # NaN is not
        raise InvalidInput(f"a vector has length 1, this one {length:.3g}: normalise it")
    return array


_NEW = [field.name for field in fields(NewEvent)]


def recorded(workspace: WorkspaceId, event: NewEvent, at: datetime) -> Event:
    """The event as the ledger keeps it. Imported history keeps the time it was first recorded."""
    recorded_at = event.recorded_at if isinstance(event, Event) else at
    told = {name: getattr(event, name) for name in _NEW}
    return Event(workspace=workspace, recorded_at=recorded_at, **told)


def entered(spent: Spent) -> Spent:
    """A bill as accounts keep it: on its day. What is less than nothing is no bill."""
    if min(spent.calls, spent.input_tokens, spent.output_tokens, spent.cost) < 0:
        raise InvalidInput(f"nothing costs less than nothing: {spent}")
    return replace(spent, at=day_of(spent.at))


SERVED_AT_ONCE = 8  # workspaces


def shares(limit: int, many: int) -> list[int]:
    """So much, divided among so many as evenly as can be; nobody has nothing.

    Not among all of very many: each costs something of its own, and has its turn soon.
    """
    some = min(limit, many, SERVED_AT_ONCE)
    return [limit // some + (place < limit % some) for place in range(some)]
