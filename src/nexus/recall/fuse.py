"""Merge ranked lists into one.

Reciprocal rank fusion (Cormack, Clarke, Büttcher 2009): strategies disagree about what a score
means but agree about what comes first, so places are counted. A place says nothing about
whether anything fits at all, so the sum is scaled by the best evidence any strategy had.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..core.access import Grant
from ..core.protocols import Scored, Store
from ..core.records import Explanation, StrategyReport
from .answer import Ranked, Ranking
from .asked import Asker, Results, Strategy
from .query import Query
from .understand import understand

SMOOTHING = 60  # the paper's k: how little first place matters over second

WEIGHTS = {  # seed 004's, for the kinds of memory each strategy brings
    "meaning": 0.3,  # what was said
    "keyword": 0.25,
    "graph": 0.2,  # entities and what is known of them
    "timeline": 0.1,
}

DEEPER = 2  # each strategy looks this many times deeper than what is asked for
LEAST_DEPTH = 20


@dataclass(frozen=True, slots=True)
class FusedOrder:
    asked: tuple[str, ...]
    ranked: Sequence[Ranked]
    results: Results

    @property
    def degraded(self) -> tuple[str, ...]:
        return tuple(self.results.degraded)

    @property
    def scores(self) -> list[float]:
        return [each.score for each in self.ranked]

    def reports(self, shown: Sequence[str]) -> tuple[StrategyReport, ...]:
        return self.results.reports(shown)

    def part(self, start: int, end: int) -> list[Ranked]:
        return list(self.ranked[start:end])


def fused(store: Store, asker: Asker, strategies: Mapping[str, Strategy]) -> Ranking:
    """The ranking that asks every strategy and merges their lists."""

    def ranking(grant: Grant, query: Query) -> FusedOrder:
        results = Results()
        understood = understand(query.question, query.people, query.now)
        depth = max(LEAST_DEPTH, DEEPER * query.limit)
        asked = asker.ask(grant, query, understood, depth, results)
        with store.moment():
            results.run(strategies, grant, asked)
        return FusedOrder(understood.terms, fuse(results.lists, explain=query.explain), results)

    return ranking


def fuse(rankings: Mapping[str, Sequence[Scored]], *, explain: bool = False) -> list[Ranked]:
    """Every memory found, best first and ties by id, scored from 0 to 1."""
    totals: dict[str, float] = {}
    reasons: dict[str, dict[str, float]] = {}
    for strategy, ranking in rankings.items():
        weight = _weight(strategy)
        for place, found in enumerate(ranking, start=SMOOTHING + 1):
            id = found.id
            totals[id] = totals.get(id, 0.0) + weight / place
            reasons.setdefault(id, {})[strategy] = found.score
    first_everywhere = sum(_weight(name) for name, found in rankings.items() if found)
    first_everywhere /= SMOOTHING + 1
    scored = [
        (-round(total / first_everywhere * max(reasons[id].values()), 9), id)
        for id, total in totals.items()
    ]
    scored.sort()
    told = _explained(rankings, totals) if explain else {}
    return [Ranked(id, -below, reasons[id], told.get(id)) for below, id in scored]


def _weight(strategy: str) -> float:
    return WEIGHTS.get(strategy, WEIGHTS["meaning"])


def _explained(
    rankings: Mapping[str, Sequence[Scored]], totals: Mapping[str, float]
) -> dict[str, Explanation]:
    """How each came to its place."""
    places: dict[str, dict[str, int]] = {id: {} for id in totals}
    for strategy, ranking in rankings.items():
        for place, found in enumerate(ranking, start=1):
            places[found.id][strategy] = place
    return {
        id: Explanation(
            found_by=found_by,
            parts={name: _weight(name) / (SMOOTHING + n) for name, n in found_by.items()},
            total=totals[id],
        )
        for id, found_by in places.items()
    }
