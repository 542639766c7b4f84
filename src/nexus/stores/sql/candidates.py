"""Which vectors can be among the best: from a glance at all of them to a few.

The first bytes of all vectors tell which could be among the best, the second bytes of those leave
only a few, and these are read as floats: the answer is exact. Looking at all bytes stops paying
when a viewer may read very many vectors. Then their signs tell first which are worth it, and the
answer is exact but for a few in ten thousand that the signs take for further away than they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.protocols import Floats
from .codes import Codes, Ints, Places
from .reached import reached
from .signs import Counts, Question

EXACT_UP_TO = 20_000  # vectors one question may read
FIRST_LOOK = 1_000  # vectors whose scores tell how near the best are


def candidates(blocks: Sequence[Codes], asked: Floats, limit: int) -> list[Codes]:
    """What can be among the `limit` best of all blocks, and hardly any other."""
    looked_at = _worth_a_look(blocks, asked, limit)
    pairs = list(zip(blocks, looked_at, strict=True))
    about = [block.coarse.scores(asked, places) for block, places in pairs]
    errors = [_taken(block.coarse.errors, places) for block, places in pairs]
    floor = _floor(about, errors, limit)
    closer, finer = [], []
    for (block, places), scores, error in zip(pairs, about, errors, strict=True):
        can = np.flatnonzero(scores + error >= floor)
        near = block.at(can if places is None else places[can])
        closer.append(near)
        finer.append(scores[can] + near.fine.scores(asked) if near.fine else scores[can])
    errors = [(near.fine or near.coarse).errors for near in closer]
    better = _floor(finer, errors, limit)
    return [
        near.at(np.flatnonzero(scores + error >= better))
        for near, scores, error in zip(closer, finer, errors, strict=True)
    ]


def ceilings(blocks: Sequence[Codes], asked: Floats) -> tuple[Ints, Floats]:
    """All rows, and the most each can score."""
    most = [block.coarse.scores(asked) + block.coarse.errors for block in blocks]
    rows = np.concatenate([block.rows for block in blocks])
    return rows, np.maximum(np.concatenate(most), 0)


def _worth_a_look(blocks: Sequence[Codes], asked: Floats, limit: int) -> list[Places | None]:
    """Where in each block to look; none: everywhere."""
    if sum(map(len, blocks)) <= EXACT_UP_TO or not any(block.signs for block in blocks):
        return [None] * len(blocks)
    question = Question.of(asked)
    differing = [block.signs.differing(question) if block.signs else None for block in blocks]
    sure, errors = [], []
    for block, counts in zip(blocks, differing, strict=True):
        if counts is not None:
            places = _closest(counts, max(FIRST_LOOK, 4 * limit))
            sure.append(block.coarse.scores(asked, places))
            errors.append(block.coarse.errors[places])
    furthest = question.furthest(float(_floor(sure, errors, limit)))
    return [None if counts is None else _within(counts, furthest) for counts in differing]


def _closest(counts: Counts, size: int) -> Places:
    """So many of those whose signs differ least, and those that equal the last of them."""
    within = np.bincount(counts).cumsum()
    return np.flatnonzero(counts <= np.searchsorted(within, min(size, len(counts))))


def _within(counts: Counts, furthest: int) -> Places | None:
    near = counts <= furthest
    if np.count_nonzero(near) > len(near) // 2:  # picking them out takes longer than taking all
        return None
    return np.flatnonzero(near)


def _taken(values: Floats, places: Places | None) -> Floats:
    return values if places is None else values[places]


def _floor(scores: Sequence[Floats], errors: Sequence[Floats], limit: int) -> float:
    """A score that `limit` of them certainly reach; none, where that is nothing.

    Whatever points away scores 0 like everything else that does, and their ids decide.
    """
    sure = [about - error for about, error in zip(scores, errors, strict=True)]
    if sum(map(len, sure)) < limit:
        return -np.inf
    floor = float(reached(np.concatenate(sure), limit))
    return floor if floor > 0 else -np.inf
