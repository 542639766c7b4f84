"""BM25 over posting lists, with statistics of the viewer's own labels only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...core.access import Grant
from ...core.bm25 import K1, B, best_possible, inverse_frequency
from ...core.filters import Filter
from ...core.protocols import Scored
from .best import best_first
from .cache import LabelCache
from .connections import Connection
from .labels import SQL, Readable, readable

Ints = NDArray[np.int64]
SPARSE = 8  # when numbers are this much more spread out than rows, sort instead of spreading out


@dataclass(frozen=True, slots=True)
class Postings:
    """Which memories of a label hold a term: their numbers, how often, and their lengths."""

    memories: Ints
    frequencies: Ints
    lengths: Ints

    @property
    def bytes(self) -> int:
        return 3 * self.memories.nbytes + 200

    def __len__(self) -> int:
        return len(self.memories)


class Keywords:
    def __init__(self, cache_bytes: int) -> None:
        self._cache: LabelCache[Postings] = LabelCache(cache_bytes)

    def search(
        self,
        connection: Connection,
        grant: Grant,
        terms: Sequence[str],
        *,
        where: Filter | None,
        limit: int,
    ) -> list[Scored]:
        view = readable(connection, grant)
        documents = sum(state.documents for state in view.labels)
        if not documents or not terms:
            return []
        average = sum(state.terms for state in view.labels) / documents
        wanted = dict.fromkeys(terms)
        lists = [self._postings(connection, view, term) for term in wanted]
        weights = [inverse_frequency(documents, len(found)) for found in lists]
        numbers, scores = _added_up(lists, weights, average)
        scores /= best_possible(weights)
        return best_first(connection, view, grant, numbers, scores, where=where, limit=limit)

    def _postings(self, connection: Connection, view: Readable, term: str) -> Postings:
        lists = []
        for state in view.labels:
            if state.documents:
                rows = {"workspace": view.workspace, "label": state.label, "term": term}
                key = (view.workspace, state.label, term)
                lists.append(self._cache.fresh(key, state, partial(_read, connection, rows)))
        return lists[0] if len(lists) == 1 else _joined(lists)


def _joined(lists: Sequence[Postings]) -> Postings:
    return Postings(
        np.concatenate([each.memories for each in lists]),
        np.concatenate([each.frequencies for each in lists]),
        np.concatenate([each.lengths for each in lists]),
    )


def _read(
    connection: Connection, rows: dict[str, object], known: Postings | None, after: int
) -> Postings:
    new = connection.execute(SQL["new_postings"], {**rows, "after": after}).fetchall()
    table = np.array(new, dtype=np.int64).reshape(-1, 3)
    added = Postings(table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy())
    return _joined([known, added]) if known and len(added) else known or added


def _added_up(
    lists: Sequence[Postings], weights: Sequence[float], average: float
) -> tuple[Ints, NDArray[np.float64]]:
    """Each memory's score: the sum over the terms it holds."""
    parts = []
    for found, weight in zip(lists, weights, strict=True):
        slack = K1 * (1 - B + B * found.lengths / average)
        parts.append(weight * found.frequencies * (K1 + 1) / (found.frequencies + slack))
    everyone = np.concatenate([found.memories for found in lists])
    if not len(everyone):
        return everyone, np.zeros(0)
    lowest, highest = int(everyone.min()), int(everyone.max())
    if highest - lowest < SPARSE * len(everyone) + 10_000:
        total = np.zeros(highest - lowest + 1)
        for found, part in zip(lists, parts, strict=True):
            total[found.memories - lowest] += part
        held = np.flatnonzero(total)
        return held + lowest, total[held]
    numbers, places = np.unique(everyone, return_inverse=True)
    return numbers, np.bincount(places, weights=np.concatenate(parts)).astype(np.float64)
