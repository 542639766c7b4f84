"""A score that so many reach, without putting all of them in order."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

GROUPS = 8  # for each that is wanted: seldom are two of the best in one
LEAST = 10  # in a group: fewer are sorted out as fast one by one

F = TypeVar("F", np.float32, np.float64)


def reached(scores: NDArray[F], count: int) -> F:
    """What at least `count` of these scores reach, and hardly more do.

    Where so many groups have one that reaches it, so many do. There are at least `count` scores.
    """
    groups = GROUPS * count
    each = len(scores) // groups if groups else 0
    if each >= LEAST:
        scores = scores[: each * groups].reshape(each, groups).max(axis=0)
    place = len(scores) - count
    cut: F = np.partition(scores, place)[place]
    return cut
