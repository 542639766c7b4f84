"""From scored numbers to the best few memories, past a filter without starving."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ...core.access import Grant
from ...core.codec import memory_from_json
from ...core.filters import Filter, matches
from ...core.protocols import Scored
from ..checks import DIGITS
from .cards import Cards
from .labels import Readable
from .reached import reached
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
    boxes: Sequence[Cards] = (),
) -> list[Scored]:
    """The `limit` best that pass the filter; their ids are taken from cards, if those are at hand.

    Reads in growing portions, best first, until enough passed and the next portion scores less:
    a filter that lets little through makes this slower, never emptier.
    """
    rounded = np.minimum(1.0, np.round(scores, DIGITS))
    passed: list[tuple[float, str]] = []
    for chosen in _portions(rounded, limit):
        ids = names(session, view, grant, numbers[chosen].tolist(), where, boxes=boxes)
        portion = zip(numbers[chosen].tolist(), rounded[chosen].tolist(), strict=True)
        passed += [(-score, ids[number]) for number, score in portion if number in ids]
        if len(passed) >= limit:
            break
    passed.sort()
    return [Scored(id, -below) for below, id in passed[:limit]]


def few_first(
    session: Session,
    view: Readable,
    grant: Grant,
    scores: Mapping[int, float],
    *,
    limit: int,
    boxes: Sequence[Cards],
) -> list[Scored]:
    """The `limit` best of a few, which no filter keeps out: all are put in order at once."""
    ids = names(session, view, grant, list(scores), None, boxes=boxes)
    order = [(-min(1.0, score), ids[number]) for number, score in scores.items() if number in ids]
    order.sort()
    return [Scored(id, -below) for below, id in order[:limit]]


def _portions(scores: NDArray[np.float64], limit: int) -> Iterator[NDArray[np.intp]]:
    """Places in falling order of score; equal scores are never split over two portions."""
    rest = np.arange(len(scores))
    size = max(limit, 1)
    while len(rest):
        if len(rest) > size:
            inside = scores[rest] >= reached(scores[rest], size)
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
    wanted: Sequence[int],
    where: Filter | None,
    *,
    boxes: Sequence[Cards] = (),
) -> dict[int, str]:
    """The ids behind these numbers, of those that pass the filter."""
    if where is None:
        known = {n: box.by_number[n] for box in boxes for n in wanted if n in box.by_number}
        if len(known) == len(wanted):
            return known
        rest = [number for number in wanted if number not in known]
        bound = {**view.parameters, "numbers": json.dumps(rest)}
        return known | dict(session.run("ids_by_number", bound).fetchall())
    bound = {**view.parameters, "numbers": json.dumps(wanted)}
    rows = session.run("memories_by_number", bound)
    memories = (
        (number, memory_from_json(json.loads(content), grant.workspace, *state))
        for number, content, *state in rows
    )
    return {number: memory.id for number, memory in memories if matches(where, memory)}
