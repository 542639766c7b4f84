"""Maximum spanning tree: the best tree among the scores of all arcs (Chu, Liu and Edmonds).

Scores are integers and ties go to the smaller index, so a sentence has one tree on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
FORBIDDEN = -(1 << 40)  # far below every sum of scores
MAX_ROOTS = 6  # candidates for the root, if the best tree has several


def is_tree(heads: Sequence[int]) -> bool:
    """Return whether every word reaches word 0 and only one depends on it."""
    return heads.count(0) == 2 and _find_cycle(heads) is None  # the head of word 0 is 0, too


def find_heads(scores: Integers) -> list[int]:
    """Return the head of each word in a tree with one root; `scores[word, head]`.

    Word 0 stands above the sentence; its own head is 0. The diagonal must be FORBIDDEN. If the best
    tree has several roots, the result is the best tree with one of them.
    """
    tree = _find_tree(scores)
    roots = [word for word, head in enumerate(tree) if word and head == 0]
    if len(roots) == 1:
        return tree
    trees = [_find_tree(_force_root(scores, root)) for root in roots[:MAX_ROOTS]]
    words = np.arange(1, len(scores))
    return max(trees, key=lambda heads: int(scores[words, heads[1:]].sum()))


def _force_root(scores: Integers, root: int) -> Integers:
    """Return the scores without arcs from word 0 to other words."""
    graph = scores.copy()
    graph[:, 0] = FORBIDDEN
    graph[root] = FORBIDDEN
    graph[root, 0] = 0
    return graph


def _find_tree(graph: Integers) -> list[int]:
    heads: list[int] = graph.argmax(axis=1).tolist()
    heads[0] = 0
    cycle = _find_cycle(heads)
    if cycle is None:
        return heads
    outside = [word for word in range(len(graph)) if word not in set(cycle)]
    base = graph[cycle, [heads[word] for word in cycle]]
    enter = graph[np.ix_(cycle, outside)] - base[:, None]
    leave = graph[np.ix_(outside, cycle)]
    smaller = np.full((len(outside) + 1, len(outside) + 1), FORBIDDEN, np.int64)
    smaller[:-1, :-1] = graph[np.ix_(outside, outside)]
    smaller[-1, :-1] = enter.max(axis=0)
    smaller[:-1, -1] = leave.max(axis=1)

    found = _find_tree(smaller)
    result = list(heads)
    for at, word in enumerate(outside[1:], 1):
        head = found[at]
        result[word] = outside[head] if head < len(outside) else cycle[int(leave[at].argmax())]
    head = found[-1]
    result[cycle[int(enter[:, head].argmax())]] = outside[head]
    return result


def _find_cycle(heads: Sequence[int]) -> list[int] | None:
    """Return the words of a cycle in ascending order, or None if all words reach word 0."""
    walks = [0] * len(heads)  # the walk that reached a word first
    for start in range(1, len(heads)):
        word = start
        while word and not walks[word]:
            walks[word] = start
            word = heads[word]
        if word and walks[word] == start:
            cycle = [word]
            while heads[cycle[-1]] != word:
                cycle.append(heads[cycle[-1]])
            return sorted(cycle)
    return None
