"""From scored numbers to the best few memories, past a filter without starving."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...core.access import Grant
from ...core.codec import memory_from_json
from ...core.filters import Filter, matches
from ...core.protocols import Scored
from ..checks import DIGITS, ranked
from .labels import Readable
from .session import Session


def best_first(
    session: Session,
    view: Readable,
    grant: Grant,
    numbers: NDArray[np.int64],
    scores: NDArray[np.float64],
    *,
    where: Filter | None,
    limit: int,
) -> list[Scored]:
    """The `limit` best that pass the filter.

    Reads in growing portions, best first, until enough passed and the next portion scores less:
    a filter that lets little through makes this slower, never emptier.
    """
    rounded = np.round(scores, DIGITS)
    passed: list[tuple[str, float]] = []
    for chosen in _portions(rounded, limit):
        ids = names(session, view, grant, numbers[chosen], where)
        for place in chosen:
            id = ids.get(int(numbers[place]))
            if id is not None:
                passed.append((id, float(rounded[place])))
        if len(passed) >= limit:
            break
    return ranked(passed)[:limit]


def _portions(scores: NDArray[np.float64], limit: int) -> Iterator[NDArray[np.intp]]:
    """Places in falling order of score; equal scores are never split over two portions."""
    rest = np.arange(len(scores))
    size = max(limit, 1)
    while len(rest):
        if len(rest) > size:
            cut = np.partition(scores[rest], len(rest) - size)[len(rest) - size]
            inside = scores[rest] >= cut
            yield rest[inside]
            rest = rest[~inside]
        else:
            yield rest
            return
        size *= 4


def names(
    session: Session,
    view: Readable,
    grant: Grant,
    numbers: NDArray[np.int64],
    where: Filter | None,
) -> dict[int, str]:
    """The ids behind these numbers, of those that pass the filter."""
    bound = {**view.parameters, "numbers": json.dumps(numbers.tolist())}
    if where is None:
        return dict(session.run("ids_by_number", bound).fetchall())
    rows = session.run("memories_by_number", bound)
    memories = ((number, memory_from_json(json.loads(c), grant.workspace)) for number, c in rows)
    return {number: memory.id for number, memory in memories if matches(where, memory)}
