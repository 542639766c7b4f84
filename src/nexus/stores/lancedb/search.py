"""One question to one label: what its table finds, and what it has not got yet."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...core.access import Grant
from ...core.filters import Filter
from ...core.protocols import Floats, Scored
from ..checks import ranked
from ..sql.best import best_first
from ..sql.codes import Ints
from ..sql.feed import NewVectors, next_vectors
from ..sql.labels import LabelState, Readable
from ..sql.scoring import cosines, exact_scores
from ..sql.session import Session
from .follower import BATCH, Follower
from .tables import IndexFailed, Place, Reached, Tables

MOST_NEIGHBOURS = 4_096  # asked of a table; where a filter lets too little through, the records are
FEW_MORE = 16  # than the limit, of which some may be gone
CLOSE = 1e-5  # distances of single precision that may be in the wrong order
OVERSAMPLED = 20  # times the limit that an approximate index is asked for
LEAST_SAMPLE = 200
EFFORT = 4  # times its sample that it looks at: recall@10 of .99 also where nothing is near


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and the transaction it is answered in."""

    session: Session
    grant: Grant
    workspace: int
    profile: int
    asked: Floats
    where: Filter | None
    limit: int


class Searcher:
    """Asks a table, and the records for what is behind it."""

    def __init__(self, tables: Tables, follower: Follower, *, approximate: bool) -> None:
        self._tables = tables
        self._follower = follower
        self._approximate = approximate

    def best(self, question: Question, place: Place, state: LabelState) -> list[Scored] | None:
        """The best of one label; None where the records do better without a table."""
        reached = self._tables.reached(place)
        if reached is None:
            return None
        here = (question.session, place.workspace, place.label, place.profile)
        read = partial(next_vectors, *here)
        if not self._follower.trusts(place, state, reached, read):
            raise IndexFailed(f"{self._tables.folder}: {place} is not of these records")
        behind = read(after=reached.number, limit=BATCH + 1)
        if len(behind) > BATCH:
            return None
        view = Readable(place.workspace, (state,))
        found = self._in_table(question, view, place, reached)
        if found is None:
            return None
        found += _behind(question, view, behind)
        return ranked((each.id, each.score) for each in found)[: question.limit]

    def _in_table(
        self, question: Question, view: Readable, place: Place, reached: Reached
    ) -> list[Scored] | None:
        """In growing portions, until nothing left could beat what passed the filter."""
        exact = not (self._approximate and reached.indexed)
        portion = question.limit + FEW_MORE
        if not exact:
            portion = max(LEAST_SAMPLE, OVERSAMPLED * question.limit)
        while portion <= MOST_NEIGHBOURS:
            effort = None if exact else EFFORT * portion
            numbers, distances = self._tables.neighbours(
                place, reached, question.asked, portion, effort=effort
            )
            best = _chosen(question, view, *_scored_again(question, place, numbers))
            if exact and len(numbers) < portion:
                return best
            if len(best) == question.limit and not (
                exact and best[-1].score <= max(0.0, 1 - float(distances[-1])) + CLOSE
            ):
                return best
            portion *= 4
        return None


def _behind(question: Question, view: Readable, behind: NewVectors) -> list[Scored]:
    """The best of what the table has not got yet."""
    if not len(behind):
        return []
    return _chosen(question, view, behind.memories, cosines(behind.table, question.asked))


def _scored_again(
    question: Question, place: Place, numbers: Ints
) -> tuple[Ints, NDArray[np.float64]]:
    """From the records' floats; what they have no more is left out."""
    once = np.unique(numbers)
    rows = np.zeros((len(once), 3), dtype=np.int64)
    rows[:, 0], rows[:, 1] = place.label, once
    return exact_scores(question.session, place.workspace, place.profile, rows, question.asked)


def _chosen(
    question: Question, view: Readable, memories: Ints, scores: NDArray[np.float64]
) -> list[Scored]:
    return best_first(
        question.session,
        view,
        question.grant,
        memories,
        scores,
        where=question.where,
        limit=question.limit,
    )
