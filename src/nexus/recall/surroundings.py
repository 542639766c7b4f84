"""What stands before and after candidates in their conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

REACH = 2  # how many before and how many after

Neighbours = tuple[tuple[str, ...], tuple[str, ...]]  # before and after, nearest first
Surroundings = Mapping[str, Neighbours]
Places = NDArray[np.intp]


def views(around: Surroundings, ids: Sequence[str]) -> tuple[Places, Places]:
    """Places of candidates, and for each two places before and two after it, nearest first.

    Neighbours of those looked from are told what stands around them too, as far as it was seen
    from there. After all places of `ids` come one for whoever is no candidate and one for nobody.
    """
    place_of = {id: place for place, id in enumerate(ids)}
    stranger, nobody = len(ids), len(ids) + 1
    rows = []
    for head, (before, after) in sorted(around.items()):  # in no store's own order
        row = [place_of.get(id, stranger) for id in (*before[::-1], head, *after)]
        left, right = 2 * REACH - len(before), 2 * REACH - len(after)
        rows.append([nobody] * left + row + [nobody] * right)
    if not rows:
        return np.zeros(0, np.intp), np.zeros((0, 2 * REACH), np.intp)
    wide = np.array(rows, np.intp)
    width = 2 * REACH + 1
    whose = wide[:, REACH : REACH + width].ravel()
    steps = [REACH + step for step in (*range(-1, -REACH - 1, -1), *range(1, REACH + 1))]
    seen = np.stack([wide[:, step : step + width] for step in steps], axis=2).reshape(-1, 2 * REACH)
    return _fullest(whose, seen, stranger)


def _fullest(whose: Places, seen: Places, stranger: int) -> tuple[Places, Places]:
    """Of several views of one candidate the one that shows most, and of equals the first."""
    nobody = stranger + 1
    order = np.lexsort((np.count_nonzero(seen == nobody, axis=1), whose))
    whose, seen = whose[order], seen[order]
    first = np.r_[True, whose[1:] != whose[:-1]] & (whose < stranger)
    return whose[first], seen[first]


def openings(around: Surroundings) -> set[str]:
    """What opens a conversation: nothing stands before it, and the view reached that far."""
    return {
        before[-1] if before else head
        for head, (before, _) in around.items()
        if len(before) < REACH
    }
