"""Putting the best candidates in order once more, by a model that reads them.

The candidates' texts leave this process for whatever the reranker is. They are what the grant let
through, and only the head of the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from time import perf_counter

from ..core.access import Grant
from ..core.bounded import WAIT_SECONDS
from ..core.breaker import Breaker
from ..core.models import Reranker
from ..core.protocols import Store
from ..core.records import StrategyReport
from .answer import Order, Ranked, Ranking
from .query import Query

HEAD = 30  # candidates that are read once more


def reranking(
    ranking: Ranking,
    store: Store,
    reranker: Reranker,
    *,
    wait_seconds: float = WAIT_SECONDS,
    breaker: Breaker | None = None,
) -> Ranking:
    """A ranking whose best are put in order once more."""
    guard = breaker or Breaker("the reranker")

    def again(grant: Grant, query: Query) -> RerankedOrder:
        order = ranking(grant, query)
        started = perf_counter()
        head = order.part(0, min(HEAD, len(order.scores)))
        texts = store.memories.texts(grant, [each.id for each in head])
        wording = [texts.get(each.id, "") for each in head]
        read = rerank(reranker, query.question, wording, wait_seconds=wait_seconds, breaker=guard)
        best = [
            head[place]._replace(score=score)  # scores fall from hit to hit, whoever ordered them
            for place, score in zip(read.places, order.scores, strict=False)
        ]
        return RerankedOrder(order, best, read.degraded, perf_counter() - started)

    return again


@dataclass(frozen=True, slots=True)
class RerankedOrder:
    """An order with another head."""

    order: Order
    head: Sequence[Ranked]
    failed: tuple[str, ...]
    seconds: float

    @property
    def asked(self) -> tuple[str, ...]:
        return self.order.asked

    @property
    def degraded(self) -> tuple[str, ...]:
        return (*self.order.degraded, *self.failed)

    @property
    def scores(self) -> Sequence[float]:
        return self.order.scores

    def reports(self, shown: Sequence[str]) -> tuple[StrategyReport, ...]:
        read = {each.id for each in self.head}
        own = StrategyReport(
            name="rerank",
            seconds=self.seconds,
            found=len(read),
            shown=len(read.intersection(shown)),
        )
        return (*self.order.reports(shown), own)

    def part(self, start: int, end: int) -> list[Ranked]:
        rest = self.order.part(max(start, len(self.head)), end) if end > len(self.head) else []
        return [*self.head[start:end], *rest]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reranked:
    """The texts' places, best first."""

    places: tuple[int, ...]
    scores: tuple[float, ...] | None = None  # one a text; None: the order is the one there was
    degraded: tuple[str, ...] = ()


def rerank(
    reranker: Reranker,
    question: str,
    texts: Sequence[str],
    *,
    wait_seconds: float = WAIT_SECONDS,
    breaker: Breaker | None = None,
) -> Reranked:
    """The reranker's order; the order there was, if it is away, slow or wrong."""
    as_before = tuple(range(len(texts)))
    if len(texts) < 2 or not question.strip():
        return Reranked(places=as_before)
    guard = breaker or Breaker("the reranker")
    made, failed = guard.ask_all({"rerank": lambda: reranker.scores(question, texts)}, wait_seconds)
    if failed:
        return Reranked(places=as_before, degraded=(f"rerank: {failed['rerank']}",))
    scores = made["rerank"]
    if len(scores) != len(texts) or not all(map(isfinite, scores)):
        return Reranked(places=as_before, degraded=("rerank: the scores make no sense",))
    return Reranked(
        places=tuple(sorted(as_before, key=lambda place: -scores[place])),  # ties stay as they were
        scores=tuple(scores),
    )
