"""What stands before and after candidates in their conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

REACH = 2  # how many before and how many after

NOBODY = (None,) * REACH
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
    for head in sorted(around):  # in no store's own order
        before, after = around[head]
        rows += (*NOBODY[len(before) :], *before[::-1], head, *after, *NOBODY[len(after) :])
    whose = np.fromiter(map(place_of.get, rows, repeat(stranger)), np.intp, len(rows))
    wide = np.full((len(around), REACH + WIDTH + REACH), nobody)
    wide[:, REACH : REACH + WIDTH] = whose.reshape(-1, WIDTH)
    return _fullest(whose, wide.take(STEPS, axis=1).reshape(-1, 2 * REACH), stranger)


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
