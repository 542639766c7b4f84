"""From settings to the way answers are found and put in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from .core.access import Grant
from .core.breaker import Breaker, Breakers
from .core.errors import ConfigError
from .core.ids import WorkspaceId
from .core.protocols import Store
from .core.standing import Standing
from .embedders.cached import CachedEmbedder
from .learn.spending import ModelFor
from .products import make_reranker
from .recall.answer import Ranking
from .recall.query import Search

if TYPE_CHECKING:
    from .recall.asked import Asker, Strategy
    from .recall.rewrite import Rewrite


def make_ranking(
    settings: Search,
    store: Store,
    embedder: CachedEmbedder,
    model: ModelFor | None,
    guards: Breakers,
    *,
    standing: Callable[[Grant], Standing],
) -> Ranking:
    """`contextual` finds more, `fused` is faster; both see only what a grant lets through."""
    from .recall.asked import Asker  # noqa: PLC0415  # numpy loads with it

    strategies = make_strategies(settings.strategies, store, embedder)
    rewriters = make_rewriters(settings, model, guards.model)
    asker = Asker(embedder.query, rewriters, standing)
    ranking = _ranking(settings.ranking, store, embedder, asker, strategies)
    reranker = make_reranker(settings)
    if reranker is None:
        return ranking
    from .recall.rerank import reranking  # noqa: PLC0415

    wait_seconds = settings.model_wait_seconds
    return reranking(ranking, store, reranker, wait_seconds=wait_seconds, breaker=guards.reranker)


def _ranking(
    name: str,
    store: Store,
    embedder: CachedEmbedder,
    asker: Asker,
    strategies: Mapping[str, Strategy],
) -> Ranking:
    if name == "fused":
        from .recall.fuse import fused  # noqa: PLC0415

        return fused(store, asker, strategies)
    if name == "contextual":
        from .embedders.interaction import interaction  # noqa: PLC0415
        from .recall.gather import Gatherer  # noqa: PLC0415
        from .recall.rank import contextual  # noqa: PLC0415
        from .recall.weights import READS_SENTENCES, STATIC  # noqa: PLC0415

        weights = STATIC if embedder.static else READS_SENTENCES
        return contextual(Gatherer(store, embedder, asker, strategies), interaction, weights)
    raise ConfigError(f"unknown ranking {name!r}; known are contextual and fused")


def make_strategies(
    names: Sequence[str], store: Store, embedder: CachedEmbedder
) -> dict[str, Strategy]:
    """The ways to look for an answer that are switched on."""
    from .recall.graph import graph  # noqa: PLC0415
    from .recall.keyword import keyword  # noqa: PLC0415
    from .recall.meaning import meaning  # noqa: PLC0415
    from .recall.timeline import timeline  # noqa: PLC0415

    known = {
        "meaning": meaning(store, embedder),
        "keyword": keyword(store),
        "timeline": timeline(store),
        "graph": graph(store),
    }
    if unknown := [name for name in names if name not in known]:
        raise ConfigError(f"unknown strategy {unknown[0]!r}; known are {', '.join(known)}")
    if not names:
        raise ConfigError(f"search.strategies is empty; known are {', '.join(known)}")
    return {name: known[name] for name in names}


def make_rewriters(
    settings: Search, model: ModelFor | None, guard: Breaker | None = None
) -> Callable[[WorkspaceId], Rewrite] | None:
    """The ways to put a question in other words that are switched on; none by default."""
    names = [name for name in settings.rewrite if name != "none"]
    if not names:
        return None
    from .recall.rewrite import as_statement, hypothetical, rewriting  # noqa: PLC0415
    from .recall.self_query import self_query  # noqa: PLC0415

    known = {"statement": as_statement, "hyde": hypothetical, "self_query": self_query}
    if unknown := [name for name in names if name not in known]:
        hint = ", ".join(["none", *known])
        raise ConfigError(f"unknown memory.search.rewrite {unknown[0]!r}; known are {hint}")
    if model is None:
        raise ConfigError("memory.search.rewrite needs a model: configure memory.llm")
    chosen = {name: known[name] for name in names}
    wait_seconds = settings.model_wait_seconds
    return lambda workspace: rewriting(
        model(workspace), chosen, wait_seconds=wait_seconds, breaker=guard
    )
