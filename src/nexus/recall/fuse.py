"""Merge ranked lists into one.

Reciprocal rank fusion (Cormack, Clarke, Büttcher 2009): strategies disagree about what a score
means but agree about what comes first, so places are counted. A place says nothing about
whether anything fits at all, so the sum is scaled by the best evidence any strategy had.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..core.access import Grant
from ..core.errors import Unavailable
from ..core.protocols import Scored
from ..core.text import query_terms
from .answer import Ranked, Ranking
from .query import Query
from .strategies import Strategies

SMOOTHING = 60  # the paper's k: how little first place matters over second


DEEPER = 2  # each strategy looks this many times deeper than what is asked for
LEAST_DEPTH = 20


@dataclass(frozen=True, slots=True)
class FusedOrder:
    asked: tuple[str, ...]
    ranked: Sequence[Ranked]
    degraded: tuple[str, ...]

    @property
    def scores(self) -> list[float]:
        return [each.score for each in self.ranked]

    def part(self, start: int, end: int) -> list[Ranked]:
        return list(self.ranked[start:end])


def fused(strategies: Strategies) -> Ranking:
    """The ranking that asks every strategy and merges their lists."""

    def ranking(grant: Grant, query: Query) -> FusedOrder:
        rankings: dict[str, Sequence[Scored]] = {}
        degraded = []
        depth = max(LEAST_DEPTH, DEEPER * query.limit)
        for name, strategy in strategies.items():
            try:
                rankings[name] = strategy(grant, query, depth)
            except Unavailable as error:
                degraded.append(f"{name}: {error}")
        return FusedOrder(tuple(query_terms(query.question)), fuse(rankings), tuple(degraded))

    return ranking


def fuse(rankings: Mapping[str, Sequence[Scored]]) -> list[Ranked]:
    """Every memory found, best first and ties by id, scored from 0 to 1."""
    places: defaultdict[str, float] = defaultdict(float)
    reasons: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for strategy, ranking in rankings.items():
        for place, found in enumerate(ranking, start=1):
            places[found.id] += 1 / (SMOOTHING + place)
            reasons[found.id][strategy] = found.score
    taking_part = sum(bool(ranking) for ranking in rankings.values())
    first_everywhere = taking_part / (SMOOTHING + 1)
    ranked = [
        Ranked(id, round(places[id] / first_everywhere * max(why.values()), 9), why)
        for id, why in reasons.items()
    ]
    return sorted(ranked, key=lambda found: (-found.score, found.id))
