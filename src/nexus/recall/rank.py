"""Putting candidates in order: a weighted sum of what is known of each.

The weights were fitted once, on conversations of two public benchmarks together, before long
messages were split. `bench/fit_rank.py` fits them anew, slightly differently today, and says how
such weights do on conversations left out of the fit. A second, closer look compares the
question with the best candidates word by word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..core.access import Grant
from ..core.bm25 import K1
from ..core.protocols import Candidate
from .answer import Ranked, Ranking
from .features import NAMES, Numbers, Pool, standing
from .gather import Gatherer
from .query import Query

CLOSER = 50  # candidates that get a closer look

WEIGHTS = {  # name: (at first sight, with a closer look)
    "keyword": (0.24, 0.00),
    "conversation": (0.65, 0.65),
    "meaning": (0.63, 0.29),
    "before": (0.08, 0.08),
    "after": (0.06, 0.06),
    "answers": (0.13, 0.13),
    "asks": (-0.55, -0.76),
    "speaker": (2.73, 2.73),
    "user": (3.44, 2.94),
    "length": (0.73, -1.95),
}
CLOSER_WEIGHT = 0.74
FIRST_SIGHT, CLOSER_LOOK = np.array([WEIGHTS[name] for name in NAMES]).T

Interaction = Callable[[str, Sequence[str]], Sequence[float]]  # question, texts → closeness


@dataclass(frozen=True, slots=True)
class ContextualOrder:
    """All candidates of a pool, best first."""

    pool: Pool
    places: Sequence[int]
    scores: Sequence[float]  # from 0 to 1, falling
    closeness: Mapping[int, float]
    degraded: tuple[str, ...]

    @property
    def asked(self) -> tuple[str, ...]:
        return self.pool.understood.terms

    def part(self, start: int, end: int) -> list[Ranked]:
        pairs = zip(self.places[start:end], self.scores[start:end], strict=True)
        return [
            Ranked(self.pool.candidates[place].id, score, self._reasons(place))
            for place, score in pairs
        ]

    def _reasons(self, place: int) -> dict[str, float]:
        each = self.pool.candidates[place]
        reasons = {
            "keyword": worded(each),
            "meaning": self.pool.meaning.get(each.id, 0.0),
            "conversation": each.thread_keyword,
        }
        if place in self.closeness:
            reasons["wording"] = self.closeness[place]
        return reasons


def contextual(gatherer: Gatherer, closer: Interaction) -> Ranking:
    """The ranking that weighs words, meaning, conversation, neighbours and speaker."""

    def ranking(grant: Grant, query: Query) -> ContextualOrder:
        pool, degraded = gatherer.gather(grant, query)

        def texts(ids: Sequence[str]) -> Mapping[str, str]:
            return {memory.id: memory.text for memory in gatherer.store.memories.get(grant, ids)}

        places, closeness = in_order(pool, texts, closer)
        return ContextualOrder(pool, places, _scores(pool, places), closeness, tuple(degraded))

    return ranking


def in_order(
    pool: Pool, texts: Callable[[Sequence[str]], Mapping[str, str]], closer: Interaction
) -> tuple[list[int], dict[int, float]]:
    """Places best first, and how closely the best are worded like the question."""
    features = pool.features()
    order = _falling(features @ FIRST_SIGHT, pool.candidates)
    head = order[:CLOSER]
    ids = [pool.candidates[place].id for place in head]
    wording = texts(ids)
    closeness = closer(pool.understood.meaning, [wording.get(id, "") for id in ids])
    sums = features[head] @ CLOSER_LOOK + CLOSER_WEIGHT * standing(closeness)
    again = _falling(sums, [pool.candidates[place] for place in head])
    places = [*(head[place] for place in again), *order[CLOSER:]]
    return places, dict(zip(head, closeness, strict=True))


def worded(candidate: Candidate) -> float:
    """The share of the question's words a candidate covers."""
    return min(1.0, candidate.keyword * (K1 + 1))


def _scores(pool: Pool, places: Sequence[int]) -> list[float]:
    """The best evidence for each, or for any that follows it: absolute, and falling."""
    evidence = [
        max(worded(pool.candidates[place]), pool.meaning.get(pool.candidates[place].id, 0.0))
        for place in places
    ]
    falling: list[float] = np.maximum.accumulate(evidence[::-1])[::-1].tolist()
    return falling


def _falling(sums: Numbers, candidates: Sequence[Candidate]) -> list[int]:
    """Best first, and ties by id on every machine; candidates come in order of their ids."""
    order: list[int] = np.argsort(-np.round(sums, 9), kind="stable").tolist()
    if any(one.id > two.id for one, two in pairwise(candidates)):
        rounded = np.round(sums, 9)
        order.sort(key=lambda place: (-rounded[place], candidates[place].id))
    return order
