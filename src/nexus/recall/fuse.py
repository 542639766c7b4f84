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
    parts: defaultdict[str, dict[str, float]] = defaultdict(dict)
    places: defaultdict[str, dict[str, int]] = defaultdict(dict)
    reasons: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for strategy, ranking in rankings.items():
        weight = WEIGHTS.get(strategy, WEIGHTS["meaning"])
        for place, found in enumerate(ranking, start=1):
            parts[found.id][strategy] = weight / (SMOOTHING + place)
            places[found.id][strategy] = place
            reasons[found.id][strategy] = found.score
    taking_part = [
        WEIGHTS.get(name, WEIGHTS["meaning"]) for name, found in rankings.items() if found
    ]
    first_everywhere = sum(taking_part) / (SMOOTHING + 1)
    ranked = []
    for id, why in reasons.items():
        total = sum(parts[id].values())
        score = round(total / first_everywhere * max(why.values()), 9)
        told = Explanation(found_by=places[id], parts=parts[id], total=total) if explain else None
        ranked.append(Ranked(id, score, why, told))
    return sorted(ranked, key=lambda found: (-found.score, found.id))
