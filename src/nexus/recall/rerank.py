"""Putting the best candidates in order once more, by a model that reads them.

The candidates' texts leave this process for whatever the reranker is. They are what the grant let
through, and only the head of the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from ..core.models import Reranker
from .bounded import WAIT_SECONDS, ask_all


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
) -> Reranked:
    """The reranker's order; the order there was, if it is away, slow or wrong."""
    as_before = tuple(range(len(texts)))
    if len(texts) < 2 or not question.strip():
        return Reranked(places=as_before)
    made, failed = ask_all({"rerank": lambda: reranker.scores(question, texts)}, wait_seconds)
    if failed:
        return Reranked(places=as_before, degraded=(f"rerank: {failed['rerank']}",))
    scores = made["rerank"]
    if len(scores) != len(texts) or not all(map(isfinite, scores)):
        return Reranked(places=as_before, degraded=("rerank: the scores make no sense",))
    return Reranked(
        places=tuple(sorted(as_before, key=lambda place: -scores[place])),  # ties stay as they were
        scores=tuple(scores),
    )
