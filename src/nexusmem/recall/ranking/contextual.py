"""Contextual ranking: a linear model over the features of each candidate.

A second pass reads the texts of the best candidates and adds text features.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...core.access import Grant
from ...core.errors import Unavailable
from ...core.records import Explanation, StrategyReport
from ...core.records.projections import Candidate
from ..query import Query
from ..search import RankedId, Ranking
from ..strategies.keyword import keyword_coverage
from ..strategies.timeline import time_window_score
from ..strategy_run import StrategyResults
from . import features as text_features
from .candidates import CandidateCollector
from .features import FEATURE_NAMES, CandidatePool, FloatArray, Positions
from .weights import Weights

InteractionScorer = Callable[[str, Sequence[str]], Sequence[float]]  # question, texts → closeness


@dataclass(frozen=True, slots=True)
class ContextualResults:
    """The candidates of a pool, best first."""

    pool: CandidatePool
    results: StrategyResults
    positions: Sequence[int]
    scores: Sequence[float]  # from 0 to 1, descending
    contributions: FloatArray  # weight × feature: a row per candidate, a column per feature
    explain: bool

    @property
    def query_terms(self) -> tuple[str, ...]:
        return self.pool.analysis.terms

    @property
    def degraded(self) -> tuple[str, ...]:
        return tuple(self.results.degraded)

    def build_reports(self, shown: Sequence[str]) -> tuple[StrategyReport, ...]:
        return self.results.build_reports(shown)

    def get_slice(self, start: int, end: int) -> list[RankedId]:
        pairs = zip(self.positions[start:end], self.scores[start:end], strict=True)
        return [
            RankedId(
                self.pool.candidates[position].id,
                score,
                self._strategy_scores(self.pool.candidates[position]),
                self._explain_position(position) if self.explain else None,
            )
            for position, score in pairs
        ]

    def _strategy_scores(self, candidate: Candidate) -> dict[str, float]:
        pool, window = self.pool, self.pool.analysis.window
        reasons = {}
        if candidate.keyword > 0:
            reasons["keyword"] = keyword_coverage(candidate.keyword)
        if (vector := pool.vector_evidence.get(candidate.id, 0.0)) > 0:
            reasons["vector"] = vector
        if window and (timeline := time_window_score(window, candidate.at)) > 0:
            reasons["timeline"] = timeline
        if (graph := pool.graph_scores.get(candidate.id, 0.0)) > 0:
            reasons["graph"] = graph
        return reasons

    def _explain_position(self, position: int) -> Explanation:
        contributions = self.contributions[position].tolist()
        return Explanation(
            found_by=self.results.strategy_ranks(self.pool.candidates[position].id),
            parts=dict(
                zip((*FEATURE_NAMES, *text_features.TEXT_FEATURE_NAMES), contributions, strict=True)
            ),
            total=sum(contributions),
        )


def contextual_ranking(
    collector: CandidateCollector, interaction: InteractionScorer, weights: Weights
) -> Ranking:
    """Return the ranking that weighs words, vectors, conversation, neighbours and speaker."""

    def rank_query(grant: Grant, query: Query) -> ContextualResults:
        pool, results = collector.collect_candidates(grant, query)

        def load_texts(ids: Sequence[str]) -> Mapping[str, str]:
            results.helper_inputs["wording"] = ids
            try:
                return collector.store.memories.load_texts(grant, ids)
            except Unavailable as error:  # rank by the other features
                results.degraded.append(f"wording: {error}")
                return {}

        with results.measure_step("wording"):
            positions, contributions = rank_pool(pool, load_texts, interaction, weights)
        scores = _evidence_scores(pool, positions)
        return ContextualResults(pool, results, positions, scores, contributions, query.explain)

    return rank_query


def rank_pool(
    pool: CandidatePool,
    load_texts: Callable[[Sequence[str]], Mapping[str, str]],
    interaction: InteractionScorer,
    weights: Weights,
) -> tuple[list[int], FloatArray]:
    """Return the candidates' positions best first, and the contribution of each feature."""
    features = pool.build_features()
    first_pass, second_pass, text_weights = weights.for_question(
        len(pool.analysis.terms), len(features)
    )
    parts = np.zeros((len(features), len(FEATURE_NAMES) + len(text_features.TEXT_FEATURE_NAMES)))
    np.multiply(features, first_pass, out=parts[:, : len(FEATURE_NAMES)])
    order = _sort_descending(np.add.reduce(parts, axis=1), np.arange(len(parts)))
    head, rest = order[: weights.text_depth], order[weights.text_depth :]
    parts[head, : len(FEATURE_NAMES)] = features[head] * second_pass
    parts[head, len(FEATURE_NAMES) :] = (
        candidate_text_features(pool, head.tolist(), load_texts, interaction) * text_weights
    )
    sums = np.add.reduce(parts, axis=1)
    best = _sort_descending(sums, np.sort(head)).tolist()
    return [*diversify(best, sums, pool.candidates, weights.repeat_penalty), *rest.tolist()], parts


def candidate_text_features(
    pool: CandidatePool,
    positions: Sequence[int],
    load_texts: Callable[[Sequence[str]], Mapping[str, str]],
    interaction: InteractionScorer,
) -> FloatArray:
    """Return the text features of the candidates at these positions, one row each."""
    candidates, analysis = [pool.candidates[index] for index in positions], pool.analysis
    text_by_id = load_texts([each.id for each in candidates])
    texts = [text_by_id.get(each.id, "") for each in candidates]
    person = analysis.person
    by_person = [person is not None and each.speaker == person for each in candidates]
    return text_features.compute_text_features(
        analysis.core_text, texts, interaction(analysis.embedding_text, texts), by_person
    )


def diversify(
    positions: Sequence[int],
    sums: FloatArray,
    candidates: Sequence[Candidate],
    repeat_penalty: float,
) -> list[int]:
    """Reorder positions: each further candidate of a conversation loses `repeat_penalty`."""
    earlier: defaultdict[str, int] = defaultdict(int)
    costs: list[float] = []
    for position, total in zip(positions, sums[list(positions)].round(9).tolist(), strict=True):
        thread = candidates[position].thread
        costs.append(earlier[thread] * repeat_penalty - total)
        earlier[thread] += 1
    ranks = sorted(range(len(costs)), key=costs.__getitem__)  # stable: ties keep their order
    return [positions[rank] for rank in ranks]


def _evidence_scores(pool: CandidatePool, positions: Sequence[int]) -> list[float]:
    """Return for each position the best evidence of its candidate or any later one.

    These scores do not depend on the other candidates, and they never rise.
    """
    evidence = pool.max_evidence()[list(positions)]
    scores: list[float] = np.maximum.accumulate(evidence[::-1])[::-1].tolist()
    return scores


def _sort_descending(sums: FloatArray, positions: Positions) -> Positions:
    """Sort ascending positions by sum, best first.

    Sums are rounded so that ties are the same on every machine; the smaller id wins a tie.
    """
    return positions[(-sums[positions].round(9)).argsort(kind="stable")]
