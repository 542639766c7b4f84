"""Reciprocal rank fusion: merge the ranked lists of the strategies into one.

Scores of different strategies are not comparable, so ranks are added up (Cormack, Clarke,
Büttcher 2009). A rank does not show whether a memory fits the question at all. The sum is
therefore multiplied by the best score of any strategy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...core.access import Grant
from ...core.protocols.embedder import Embedder
from ...core.protocols.memories import ScoredId
from ...core.protocols.store import Store
from ...core.records import EmbeddingProfile, Explanation, StrategyReport
from ..query import Query
from ..question_analysis import analyze_question
from ..search import RankedId, Ranking
from ..strategy_run import QuestionPreparer, Strategy, StrategyResults

RRF_K = 60  # k of the paper: larger values reduce the advantage of the first rank

STRATEGY_WEIGHTS = {  # from specification 004
    "vector": 0.3,
    "keyword": 0.25,
    "graph": 0.2,
    "timeline": 0.1,
}

DEPTH_FACTOR = 2  # results per strategy, as a multiple of the limit
MIN_DEPTH = 20


@dataclass(frozen=True, slots=True)
class FusedResults:
    """The merged list of a query, best first."""

    query_terms: tuple[str, ...]
    ranked: Sequence[RankedId]
    results: StrategyResults

    @property
    def degraded(self) -> tuple[str, ...]:
        return tuple(self.results.degraded)

    @property
    def scores(self) -> list[float]:
        return [each.score for each in self.ranked]

    def build_reports(self, shown: Sequence[str]) -> tuple[StrategyReport, ...]:
        return self.results.build_reports(shown)

    def get_slice(self, start: int, end: int) -> list[RankedId]:
        return list(self.ranked[start:end])


def fusion_ranking(
    store: Store,
    embedder: Embedder,
    preparer: QuestionPreparer,
    strategies: Mapping[str, Strategy],
) -> Ranking:
    """Return the ranking that runs every strategy and merges their lists."""

    def rank_query(grant: Grant, query: Query) -> FusedResults:
        results = StrategyResults()
        analysis = analyze_question(query.question, query.people, query.now)
        depth = max(MIN_DEPTH, DEPTH_FACTOR * query.limit)
        question = preparer.prepare(grant, query, analysis, depth, results)
        with store.snapshot():
            results.run_strategies(strategies, grant, question)
        if nearest := results.by_strategy.get("vector"):
            results.by_strategy["vector"] = calibrate_scores(embedder.profile, nearest)
        return FusedResults(
            analysis.terms, fuse_rankings(results.by_strategy, explain=query.explain), results
        )

    return rank_query


def calibrate_scores(profile: EmbeddingProfile, nearest: Sequence[ScoredId]) -> list[ScoredId]:
    """Return the neighbours, in the same order, with calibrated cosines."""
    return [ScoredId(hit.id, profile.calibrate(hit.score)) for hit in nearest]


def fuse_rankings(
    rankings: Mapping[str, Sequence[ScoredId]], *, explain: bool = False
) -> list[RankedId]:
    """Return every memory of the rankings, best first and ties by id, scored from 0 to 1."""
    totals: dict[str, float] = {}
    reasons: dict[str, dict[str, float]] = {}
    for strategy, ranking in rankings.items():
        weight = _strategy_weight(strategy)
        for divisor, hit in enumerate(ranking, start=RRF_K + 1):
            id = hit.id
            totals[id] = totals.get(id, 0.0) + weight / divisor
            reasons.setdefault(id, {})[strategy] = hit.score
    max_total = sum(_strategy_weight(name) for name, hits in rankings.items() if hits)
    max_total /= RRF_K + 1  # first rank in every strategy
    scored = [
        (-round(total / max_total * max(reasons[id].values()), 9), id)
        for id, total in totals.items()
    ]
    scored.sort()
    explanations = _explain_ranks(rankings, totals) if explain else {}
    return [RankedId(id, -negative, reasons[id], explanations.get(id)) for negative, id in scored]


def _strategy_weight(strategy: str) -> float:
    return STRATEGY_WEIGHTS.get(strategy, STRATEGY_WEIGHTS["vector"])


def _explain_ranks(
    rankings: Mapping[str, Sequence[ScoredId]], totals: Mapping[str, float]
) -> dict[str, Explanation]:
    """Return for each id its rank in every strategy and its part of the sum."""
    ranks: dict[str, dict[str, int]] = {id: {} for id in totals}
    for strategy, ranking in rankings.items():
        for rank, hit in enumerate(ranking, start=1):
            ranks[hit.id][strategy] = rank
    return {
        id: Explanation(
            found_by=found_by,
            parts={name: _strategy_weight(name) / (RRF_K + n) for name, n in found_by.items()},
            total=totals[id],
        )
        for id, found_by in ranks.items()
    }
