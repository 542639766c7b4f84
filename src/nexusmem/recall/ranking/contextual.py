"""Contextual ranking: a linear model over the features of each candidate.

A second pass reads the texts of the best candidates and adds text features.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...core.access import Grant
from ...core.errors import Unavailable
from ...core.protocols.embedder import WordMatch
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
from .relevance import MAX_RATED, RatedHead, RelevanceWeights, rate_hits
from .weights import Weights

WordMatcher = Callable[[str, Sequence[str]], WordMatch]  # question, texts → closeness


@dataclass(frozen=True, slots=True)
class ContextualResults:
    """The candidates of a pool, best first."""

    pool: CandidatePool
    results: StrategyResults
    positions: Sequence[int]
    scores: Sequence[float]  # from 0 to 1, descending
    contributions: FloatArray  # weight × feature: a row per candidate, a column per feature
    explain: bool
    relevance: Mapping[str, float] = field(default_factory=dict)  # by id; empty: not estimated

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
                self._find_relevance(position),
            )
            for position, score in pairs
        ]

    def _find_relevance(self, position: int) -> float | None:
        """Return the relevance of a candidate; one beyond the rated ones has the lowest."""
        if not self.relevance:
            return None
        return self.relevance.get(self.pool.candidates[position].id, min(self.relevance.values()))

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
    collector: CandidateCollector,
    matcher: WordMatcher,
    weights: Weights,
    relevance_weights: RelevanceWeights | None = None,
) -> Ranking:
    """Return the ranking that weighs words, vectors, conversation, neighbours and speaker.

    With `relevance_weights`, the best hits get the probability that they help to answer.
    """

    def rank_query(grant: Grant, query: Query) -> ContextualResults:
        pool, results = collector.collect_candidates(grant, query)

        def load_texts(ids: Sequence[str]) -> Mapping[str, str]:
            results.helper_inputs["wording"] = ids
            try:
                return collector.store.memories.load_texts(grant, ids)
            except Unavailable as error:  # rank by the other features
                results.degraded.append(f"wording: {error}")
                return {}

        relevance: Mapping[str, float] = {}
        with results.measure_step("wording"):
            ranked = rank_pool(pool, load_texts, matcher, weights)
        if relevance_weights and query.min_relevance and ranked.positions:
            with results.measure_step("relevance"):
                head = rated_head(pool, ranked)
                ids = [candidate.id for candidate in head.candidates]
                relevance = dict(zip(ids, rate_hits(head, relevance_weights), strict=True))
        scores = _evidence_scores(pool, ranked.positions)
        return ContextualResults(
            pool,
            results,
            ranked.positions,
            scores,
            ranked.contributions,
            query.explain,
            relevance,
        )

    return rank_query


class TextHead(NamedTuple):
    """The candidates whose texts were read, and what was found in them; rows belong together."""

    positions: Sequence[int]
    texts: Sequence[str]
    features: FloatArray
    match: WordMatch


class RankedPool(NamedTuple):
    """The order of a pool."""

    positions: list[int]  # of the candidates, best first
    contributions: FloatArray  # weight × feature: a row per candidate, a column per feature
    head: TextHead
    features: FloatArray  # without those of texts


def rank_pool(
    pool: CandidatePool,
    load_texts: Callable[[Sequence[str]], Mapping[str, str]],
    matcher: WordMatcher,
    weights: Weights,
) -> RankedPool:
    """Rank the candidates by the weighted sum of their features."""
    features = pool.build_features()
    first_pass, second_pass, text_weights = weights.for_question(
        len(pool.analysis.terms), len(features)
    )
    parts = np.zeros((len(features), len(FEATURE_NAMES) + len(text_features.TEXT_FEATURE_NAMES)))
    np.multiply(features, first_pass, out=parts[:, : len(FEATURE_NAMES)])
    order = _sort_descending(np.add.reduce(parts, axis=1), np.arange(len(parts)))
    head, rest = order[: weights.text_depth], order[weights.text_depth :]
    parts[head, : len(FEATURE_NAMES)] = features[head] * second_pass
    read = read_head(pool, head.tolist(), load_texts, matcher)
    parts[head, len(FEATURE_NAMES) :] = read.features * text_weights
    sums = np.add.reduce(parts, axis=1)
    best = _sort_descending(sums, np.sort(head)).tolist()
    ordered = diversify(best, sums, pool.candidates, weights.repeat_penalty)
    return RankedPool([*ordered, *rest.tolist()], parts, read, features)


def read_head(
    pool: CandidatePool,
    positions: Sequence[int],
    load_texts: Callable[[Sequence[str]], Mapping[str, str]],
    matcher: WordMatcher,
) -> TextHead:
    """Return the texts and the text features of the candidates at these positions."""
    candidates, analysis = [pool.candidates[index] for index in positions], pool.analysis
    text_by_id = load_texts([each.id for each in candidates])
    texts = [text_by_id.get(each.id, "") for each in candidates]
    person = analysis.person
    by_person = [person is not None and each.speaker == person for each in candidates]
    match = matcher(analysis.embedding_text, texts)
    features = text_features.compute_text_features(
        analysis.core_text, texts, match.scores, by_person
    )
    return TextHead(positions, texts, features, match)


def rated_head(pool: CandidatePool, ranked: RankedPool) -> RatedHead:
    """Return at most MAX_RATED of the best candidates whose texts were read."""
    row_of = {position: row for row, position in enumerate(ranked.head.positions)}
    chosen = [each for each in ranked.positions[: len(row_of)] if each in row_of][:MAX_RATED]
    rows = [row_of[position] for position in chosen]
    read = ranked.head
    match = read.match._replace(
        scores=[read.match.scores[row] for row in rows], closest=read.match.closest[rows]
    )
    return RatedHead(
        pool,
        chosen,
        ranked.contributions,
        ranked.features,
        [read.texts[row] for row in rows],
        read.features[rows],
        match,
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
