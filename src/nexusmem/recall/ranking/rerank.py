"""Reranking: a model reads the best candidates and reorders them.

The texts of these candidates are sent to the reranker, which may be a remote service. They are
inside the grant of the viewer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from time import perf_counter

from ...core.access import Grant
from ...core.protocols.models import Reranker
from ...core.protocols.store import Store
from ...core.records import StrategyReport
from ...runtime.breaker import CircuitBreaker
from ...runtime.timeouts import WAIT_SECONDS
from ..query import Query
from ..search import RankedId, RankedResults, Ranking

RERANK_DEPTH = 30  # best candidates sent to the reranker


def with_reranker(
    ranking: Ranking,
    store: Store,
    reranker: Reranker,
    *,
    wait_seconds: float = WAIT_SECONDS,
    breaker: CircuitBreaker | None = None,
) -> Ranking:
    """Return a ranking with its first RERANK_DEPTH results reordered by the reranker."""
    guard = breaker or CircuitBreaker("the reranker")

    def rank_query(grant: Grant, query: Query) -> RerankedResults:
        results = ranking(grant, query)
        started = perf_counter()
        head = results.get_slice(0, min(RERANK_DEPTH, len(results.scores)))
        text_by_id = store.memories.load_texts(grant, [each.id for each in head])
        texts = [text_by_id.get(each.id, "") for each in head]
        outcome = rerank_texts(
            reranker, query.question, texts, wait_seconds=wait_seconds, breaker=guard
        )
        reordered = [
            head[position]._replace(score=score)  # keeps the scores descending
            for position, score in zip(outcome.positions, results.scores, strict=False)
        ]
        return RerankedResults(results, reordered, outcome.degraded, perf_counter() - started)

    return rank_query


@dataclass(frozen=True, slots=True)
class RerankedResults:
    """A ranking with its first results reordered by a reranker."""

    results: RankedResults
    head: Sequence[RankedId]
    failures: tuple[str, ...]
    seconds: float

    @property
    def query_terms(self) -> tuple[str, ...]:
        return self.results.query_terms

    @property
    def degraded(self) -> tuple[str, ...]:
        return (*self.results.degraded, *self.failures)

    @property
    def scores(self) -> Sequence[float]:
        return self.results.scores

    def build_reports(self, shown: Sequence[str]) -> tuple[StrategyReport, ...]:
        ids = {each.id for each in self.head}
        report = StrategyReport(
            name="rerank",
            seconds=self.seconds,
            found=len(ids),
            shown=len(ids.intersection(shown)),
        )
        return (*self.results.build_reports(shown), report)

    def get_slice(self, start: int, end: int) -> list[RankedId]:
        rest = (
            self.results.get_slice(max(start, len(self.head)), end) if end > len(self.head) else []
        )
        return [*self.head[start:end], *rest]


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankOutcome:
    """The positions of the texts, best first."""

    positions: tuple[int, ...]
    scores: tuple[float, ...] | None = None  # one per text; None: the order is unchanged
    degraded: tuple[str, ...] = ()


def rerank_texts(
    reranker: Reranker,
    question: str,
    texts: Sequence[str],
    *,
    wait_seconds: float = WAIT_SECONDS,
    breaker: CircuitBreaker | None = None,
) -> RerankOutcome:
    """Return the order of the reranker.

    If the reranker is unavailable, slow or returns invalid scores, return the unchanged order and
    the reason in `degraded`.
    """
    unchanged = tuple(range(len(texts)))
    if len(texts) < 2 or not question.strip():
        return RerankOutcome(positions=unchanged)
    guard = breaker or CircuitBreaker("the reranker")
    answers, errors = guard.call_all(
        {"rerank": lambda: reranker.score(question, texts)}, wait_seconds
    )
    if errors:
        return RerankOutcome(positions=unchanged, degraded=(f"rerank: {errors['rerank']}",))
    scores = answers["rerank"]
    if len(scores) != len(texts) or not all(map(isfinite, scores)):
        reason = f"rerank: expected {len(texts)} finite scores, got {len(scores)} scores"
        return RerankOutcome(positions=unchanged, degraded=(reason,))
    positions = tuple(sorted(unchanged, key=lambda position: -scores[position]))  # stable
    return RerankOutcome(positions=positions, scores=tuple(scores))
