"""The flow from a question to hits."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from ..core.access import Grant
from ..core.protocols import Store
from ..core.records import Found, Hit, Memory
from .gather import Gatherer
from .query import Query
from .rank import Interaction, Ranked, rank


def answer(gatherer: Gatherer, closer: Interaction, grant: Grant, query: Query) -> Found:
    """Gather candidates, put them in order, cut at the threshold, and say why each is there."""
    started = time.perf_counter()
    store = gatherer.store
    pool, degraded = gatherer.gather(grant, query)

    def texts(ids: Sequence[str]) -> Mapping[str, str]:
        return {memory.id: memory.text for memory in store.memories.get(grant, ids)}

    order = rank(pool, texts, closer)
    relevant = sum(score > 0 and score >= query.threshold for score in order.scores)
    best = order.best(min(relevant, query.limit))
    return Found(
        hits=_hits(store, grant, pool.understood.terms, best),
        total=relevant,
        seconds=time.perf_counter() - started,
        degraded=tuple(degraded),
    )


def _hits(
    store: Store, grant: Grant, asked: tuple[str, ...], best: Sequence[Ranked]
) -> tuple[Hit, ...]:
    memories = {each.id: each for each in store.memories.get(grant, [b.id for b in best])}
    for each in memories.values():
        _check_again(grant, each)
    sources = [id for each in memories.values() for id in each.sources]
    keys = store.ledger.keys(grant, sources)
    return tuple(
        Hit(
            memory=memory,
            score=found.score,
            reasons=found.reasons,
            event_keys=tuple(keys[id] for id in memory.sources if id in keys),
            asked=asked,
        )
        for found in best
        if (memory := memories.get(found.id))
    )


def _check_again(grant: Grant, memory: Memory) -> None:
    """The last wall: whatever a store did, nothing the grant forbids leaves here."""
    if memory.workspace != grant.workspace or not grant.allows(memory.label):
        raise RuntimeError("a store returned a record its grant does not allow; refusing to answer")
