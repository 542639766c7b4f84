"""What stands before and after candidates in their conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

REACH = 2  # how many before and how many after

NOBODY = (None,) * (2 * REACH)
WIDTH = 2 * REACH + 1
# Where in a wide row each of those in its middle sees its own neighbours.
STEPS = np.array(
    [
        [REACH + place + step for step in (*range(-1, -REACH - 1, -1), *range(1, REACH + 1))]
        for place in range(WIDTH)
    ]
)

Neighbours = tuple[tuple[str, ...], tuple[str, ...]]  # before and after, nearest first
Surroundings = Mapping[str, Neighbours]
Places = NDArray[np.intp]


def views(around: Surroundings, ids: Sequence[str]) -> tuple[Places, Places]:
    """Places of candidates, and for each two places before and two after it, nearest first.

    Neighbours of those looked from are told what stands around them too, as far as it was seen
    from there. After all places of `ids` come one for whoever is no candidate and one for nobody.
    """
    if not around:
        return np.zeros(0, np.intp), np.zeros((0, 2 * REACH), np.intp)
    stranger, nobody = len(ids), len(ids) + 1
    place_of: dict[str | None, int] = {id: place for place, id in enumerate(ids)}
    place_of[None] = nobody
    rows: list[str | None] = []
    for head, (before, after) in sorted(around.items()):  # in no store's own order
        left, right = 2 * REACH - len(before), 2 * REACH - len(after)
        rows += (*NOBODY[:left], *before[::-1], head, *after, *NOBODY[:right])
    wide = np.fromiter(map(place_of.get, rows, repeat(stranger)), np.intp, len(rows))
    wide = wide.reshape(-1, len(NOBODY) * 2 + 1)
    whose = wide[:, REACH : REACH + WIDTH].ravel()
    return _fullest(whose, wide[:, STEPS].reshape(-1, 2 * REACH), stranger)


def _fullest(whose: Places, seen: Places, stranger: int) -> tuple[Places, Places]:
    """Of several views of one candidate the one that shows most, and of equals the first."""
    nobody = stranger + 1
    order = np.lexsort((np.add.reduce(seen == nobody, axis=1), whose))
    whose = whose[order]
    first = whose < stranger
    first[1:] &= whose[1:] != whose[:-1]
    return whose[first], seen[order[first]]


def openings(around: Surroundings) -> set[str]:
    """What opens a conversation: nothing stands before it, and the view reached that far."""
    return {
        before[-1] if before else head
        for head, (before, _) in around.items()
        if len(before) < REACH
    }
