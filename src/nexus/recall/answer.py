"""The flow from a question to hits."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ..core.access import Grant
from ..core.errors import Unavailable
from ..core.protocols import Scored, Store
from ..core.records import Found, Hit, Memory
from ..core.text import query_terms
from .fuse import Fused, fuse
from .query import Query
from .strategies import Strategies

DEEPER = 3  # each strategy looks this many times deeper than what is asked for
LEAST_DEPTH = 20


def answer(store: Store, strategies: Strategies, grant: Grant, query: Query) -> Found:
    """Ask every strategy, merge, cut at the threshold, and say why each hit is there."""
    started = time.perf_counter()
    rankings: dict[str, Sequence[Scored]] = {}
    degraded = []
    depth = max(LEAST_DEPTH, DEEPER * query.limit)
    for name, strategy in strategies.items():
        try:
            rankings[name] = strategy(grant, query, depth)
        except Unavailable as error:
            degraded.append(f"{name}: {error}")
    kept = [each for each in fuse(rankings) if each.score >= query.threshold and each.score > 0]
    hits = _hits(store, grant, query, kept[: query.limit])
    return Found(
        hits=hits,
        total=len(kept),
        seconds=time.perf_counter() - started,
        degraded=tuple(degraded),
    )


def _hits(store: Store, grant: Grant, query: Query, best: Sequence[Fused]) -> tuple[Hit, ...]:
    memories = {each.id: each for each in store.memories.get(grant, [b.id for b in best])}
    for each in memories.values():
        _check_again(grant, each)
    sources = [id for each in memories.values() for id in each.sources]
    keys = store.ledger.keys(grant, sources)
    wanted = tuple(query_terms(query.question))
    return tuple(
        Hit(
            memory=memory,
            score=found.score,
            reasons=found.reasons,
            event_keys=tuple(keys[id] for id in memory.sources if id in keys),
            asked=wanted,
        )
        for found in best
        if (memory := memories.get(found.id))
    )


def _check_again(grant: Grant, memory: Memory) -> None:
    """The last wall: whatever a store did, nothing the grant forbids leaves here."""
    if memory.workspace != grant.workspace or not grant.allows(memory.label):
        raise RuntimeError("a store returned a record its grant does not allow; refusing to answer")
