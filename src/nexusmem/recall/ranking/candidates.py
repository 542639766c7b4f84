"""Candidate collection: results of every strategy plus neighbouring messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from ...core.access import Grant
from ...core.errors import Unavailable
from ...core.protocols.embedder import Embedder
from ...core.protocols.store import Store
from ...core.records.projections import Candidate
from ..query import Query
from ..question_analysis import analyze_question
from ..strategy_run import PreparedQuestion, QuestionPreparer, Strategy, StrategyResults
from .features import NEIGHBOURS_PER_SIDE, CandidatePool, conversation_openings

STRATEGY_DEPTH = 60  # minimum candidates of each strategy
EXPANDED_CANDIDATES = 50  # number of best candidates to add the neighbours of
NO_CANDIDATES: Mapping[str, Candidate] = {}
FIRST_STRATEGY = "keyword"  # runs before embedding: its results give the speakers' names


@dataclass(frozen=True, slots=True)
class CandidateCollector:
    """Reads all candidates of a query from the store, inside the grant."""

    store: Store
    embedder: Embedder
    preparer: QuestionPreparer
    strategies: Mapping[str, Strategy]

    def collect_candidates(
        self, grant: Grant, query: Query
    ) -> tuple[CandidatePool, StrategyResults]:
        """Return the pool of candidates and the results of each strategy."""
        results = StrategyResults()
        question, cached = self._prepare_question(grant, query, results)
        is_narrowed = question.query.where != query.where  # by a model: search again
        remaining = {
            name: strategy
            for name, strategy in self.strategies.items()
            if name != FIRST_STRATEGY or is_narrowed
        }
        with self.store.snapshot():
            results.run_strategies(remaining, grant, question)
            return self._build_pool(grant, question, cached, results), results

    def _prepare_question(
        self, grant: Grant, query: Query, results: StrategyResults
    ) -> tuple[PreparedQuestion, dict[str, Candidate]]:
        """Analyze and embed the question; no transaction is open while it is embedded.

        The speakers of the first candidates show which names of the question are people. Those
        candidates are returned too, so that they are read only once.
        """
        depth = max(STRATEGY_DEPTH, query.limit)
        analysis = analyze_question(query.question, query.people, query.now)
        with self.store.snapshot():
            first = (
                {FIRST_STRATEGY: self.strategies[FIRST_STRATEGY]}
                if FIRST_STRATEGY in self.strategies
                else {}
            )
            results.run_strategies(first, grant, PreparedQuestion(query, analysis, None, depth))
            loaded = self.store.memories.load_candidates(
                grant, results.ids[:EXPANDED_CANDIDATES], analysis.terms
            )
        speakers = {candidate.speaker for candidate in loaded.values()}
        analysis = analysis.with_speakers(speakers.union(query.people))
        if "timeline" not in self.strategies:
            analysis = replace(analysis, window=None)
        return self.preparer.prepare(grant, query, analysis, depth, results), loaded

    def _build_pool(
        self,
        grant: Grant,
        question: PreparedQuestion,
        cached: dict[str, Candidate],
        results: StrategyResults,
    ) -> CandidatePool:
        """Return all results and the neighbours of the best ones, with their scores."""
        nearest = {hit.id: hit.score for hit in results.by_strategy.get("vector", ())}
        linked = {hit.id: hit.score for hit in results.by_strategy.get("graph", ())}
        candidates, vectors = self._describe_candidates(
            grant, question, nearest, results.ids, cached
        )
        pool = CandidatePool(list(candidates.values()), vectors, question.analysis)
        heads = [pool.candidates[index].id for index in pool.best_positions(EXPANDED_CANDIDATES)]
        around = self.store.memories.find_neighbours(grant, heads, reach=NEIGHBOURS_PER_SIDE)
        if question.query.where is None:  # neighbours are not checked against the filter
            ids = {id for before, after in around.values() for id in (*before, *after)}
            new, new_vectors = self._describe_candidates(
                grant, question, nearest, sorted(ids - candidates.keys())
            )
            candidates, vectors = candidates | new, vectors | new_vectors
        return CandidatePool(
            list(candidates.values()),
            vectors,
            question.analysis,
            around,
            linked,
            conversation_openings(around),
            self.embedder.profile if vectors else None,
        )

    def _describe_candidates(
        self,
        grant: Grant,
        question: PreparedQuestion,
        vector_scores: Mapping[str, float],
        ids: Sequence[str],
        cached: Mapping[str, Candidate] = NO_CANDIDATES,
    ) -> tuple[dict[str, Candidate], dict[str, float]]:
        """Return the candidates of these ids, and their cosines to the question."""
        new = [id for id in ids if id not in cached]
        described = self.store.memories.load_candidates(grant, new, question.analysis.terms)
        described |= {id: cached[id] for id in ids if id in cached}
        cosines = {id: vector_scores[id] for id in described if id in vector_scores}
        missing = [id for id in described if id not in cosines]
        if question.vector is not None and question.vector.any() and missing:
            profile = self.embedder.profile
            with suppress(Unavailable):  # the vector strategy has already reported it
                cosines |= self.store.vectors.score_ids(grant, profile, question.vector, missing)
        return described, cosines
