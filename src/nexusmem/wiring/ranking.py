"""Ranking factory: make the strategies, rewriters and ranking that the settings name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..core.access import Grant
from ..core.errors import ConfigError
from ..core.ids import WorkspaceId
from ..core.protocols.store import Store
from ..core.protocols.vectors import VectorStatus
from ..embedders.wrappers import CachedEmbedder
from ..learn.model_budget import ModelFactory
from ..recall.query import SearchSettings
from ..recall.search import Ranking
from ..runtime.breaker import CircuitBreaker, CircuitBreakers
from .providers import make_reranker

if TYPE_CHECKING:
    from ..recall.rewriters import CombinedRewriter
    from ..recall.strategy_run import QuestionPreparer, Strategy


def make_ranking(
    settings: SearchSettings,
    store: Store,
    embedder: CachedEmbedder,
    model: ModelFactory | None,
    breakers: CircuitBreakers,
    *,
    vector_status: Callable[[Grant], VectorStatus],
) -> Ranking:
    """Make the ranking of `memory.search.ranking`, with its reranker if one is configured.

    `contextual` has better recall, `fused` is faster. Both read only inside the grant.
    """
    from ..recall.strategy_run import QuestionPreparer  # imports numpy

    strategies = make_strategies(settings.strategies, store, embedder)
    rewriters = make_rewriters(settings, model, breakers.model)
    preparer = QuestionPreparer(embedder.embed_query, rewriters, vector_status)
    ranking = _select_ranking(settings.ranking, store, embedder, preparer, strategies)
    reranker = make_reranker(settings)
    if reranker is not None:
        from ..recall.ranking.rerank import with_reranker

        wait_seconds = settings.model_timeout_seconds
        ranking = with_reranker(
            ranking, store, reranker, wait_seconds=wait_seconds, breaker=breakers.reranker
        )
    if "graph" not in settings.strategies:
        return ranking
    from ..recall.ranking.knowledge import with_knowledge

    return with_knowledge(ranking, store, settings.kind_weights)  # last: it has an order of its own


def _select_ranking(
    name: str,
    store: Store,
    embedder: CachedEmbedder,
    preparer: QuestionPreparer,
    strategies: Mapping[str, Strategy],
) -> Ranking:
    if name == "fused":
        from ..recall.ranking.rank_fusion import fusion_ranking

        return fusion_ranking(store, embedder, preparer, strategies)
    if name == "contextual":
        from ..embedders.builtin import match_words
        from ..recall.ranking.candidates import CandidateCollector
        from ..recall.ranking.contextual import contextual_ranking
        from ..recall.ranking.relevance_weights import RELEVANCE_WEIGHTS
        from ..recall.ranking.weights import SENTENCE_WEIGHTS, STATIC_WEIGHTS

        weights = STATIC_WEIGHTS if embedder.static else SENTENCE_WEIGHTS
        return contextual_ranking(
            CandidateCollector(store, embedder, preparer, strategies),
            match_words,
            weights,
            RELEVANCE_WEIGHTS,
        )
    raise ConfigError(f"unknown memory.search.ranking {name!r:.80}; accepted: contextual, fused")


def make_strategies(
    names: Sequence[str], store: Store, embedder: CachedEmbedder
) -> dict[str, Strategy]:
    """Make the strategies with these names, in this order.

    Raise ConfigError if a name is unknown or no name is given.
    """
    from ..recall.strategies.graph import graph_strategy
    from ..recall.strategies.keyword import keyword_strategy
    from ..recall.strategies.timeline import timeline_strategy
    from ..recall.strategies.vector import vector_strategy

    available = {
        "vector": vector_strategy(store, embedder),
        "keyword": keyword_strategy(store),
        "timeline": timeline_strategy(store),
        "graph": graph_strategy(store),
    }
    setting, accepted = "memory.search.strategies", ", ".join(available)
    if unknown := [name for name in names if name not in available]:
        raise ConfigError(f"unknown {setting} {unknown[0]!r:.80}; accepted: {accepted}")
    if not names:
        raise ConfigError(f"{setting} is empty; accepted: {accepted}")
    return {name: available[name] for name in names}


def make_rewriters(
    settings: SearchSettings, model: ModelFactory | None, breaker: CircuitBreaker | None = None
) -> Callable[[WorkspaceId], CombinedRewriter] | None:
    """Make the rewriters of `memory.search.query_rewrites`; return None if there are none.

    Raise ConfigError if a name is unknown or no model is configured.
    """
    names = [name for name in settings.query_rewrites if name != "none"]
    if not names:
        return None
    from ..recall.rewriters import (
        combine_rewriters,
        rewrite_as_hypothetical,
        rewrite_as_statement,
        self_query,
    )

    available = {
        "statement": rewrite_as_statement,
        "hyde": rewrite_as_hypothetical,
        "self_query": self_query,
    }
    if unknown := [name for name in names if name not in available]:
        accepted = ", ".join(["none", *available])
        raise ConfigError(
            f"unknown memory.search.query_rewrites {unknown[0]!r:.80}; accepted: {accepted}"
        )
    if model is None:
        raise ConfigError("memory.search.query_rewrites needs a model: configure memory.llm")
    chosen = {name: available[name] for name in names}
    wait_seconds = settings.model_timeout_seconds
    return lambda workspace: combine_rewriters(
        model(workspace), chosen, wait_seconds=wait_seconds, breaker=breaker
    )
