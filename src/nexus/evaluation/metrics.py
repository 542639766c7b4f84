"""The measures, defined here and nowhere else.

`found` is what came back, best first, without repeats; `gold` all the evidence of a question,
found or not, and never empty. Every measure lies between 0 and 1, and is averaged over
questions, each of which counts the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log2

DEPTHS = (1, 3, 5, 10, 20, 50)
Gold = frozenset[str]


def any_at(k: int, found: Sequence[str], gold: Gold) -> float:
    """1 if any of the gold is among the first k."""
    return float(not gold.isdisjoint(found[:k]))


def all_at(k: int, found: Sequence[str], gold: Gold) -> float:
    """1 if all of the gold is among the first k; impossible where there is more gold than k."""
    return float(gold.issubset(found[:k]))


def recall_at(k: int, found: Sequence[str], gold: Gold) -> float:
    """The share of the gold that is among the first k."""
    return len(gold.intersection(found[:k])) / len(gold)


def ndcg_at(k: int, found: Sequence[str], gold: Gold) -> float:
    """Gains of 1, discounted by log2(rank + 1), over those of a perfect list.

    The perfect list begins with min(k, all gold), not with the gold that happened to be found:
    what is missed costs.
    """
    gained = sum(_gain(rank) for rank, each in enumerate(found[:k], start=1) if each in gold)
    return gained / sum(map(_gain, range(1, min(k, len(gold)) + 1)))


def _gain(rank: int) -> float:
    return 1 / log2(rank + 1)


def reciprocal_rank(found: Sequence[str], gold: Gold) -> float:
    """1 / the rank of the first gold, and 0 if none was found. Averaged, it is the MRR."""
    return next((1 / rank for rank, each in enumerate(found, start=1) if each in gold), 0.0)


AT_DEPTH = {"any": any_at, "all": all_at, "recall": recall_at, "ndcg": ndcg_at}


def measure(found: Sequence[str], gold: Gold) -> dict[str, float]:
    """Every measure of one question: any@1 … ndcg@50, and mrr."""
    by_depth = {
        f"{name}@{k}": at_depth(k, found, gold)
        for name, at_depth in AT_DEPTH.items()
        for k in DEPTHS
    }
    return {**by_depth, "mrr": reciprocal_rank(found, gold)}


def ranks(found: Sequence[str], gold: Gold) -> dict[str, int | None]:
    """Where each of the gold was found, counted from 1; None where it was not."""
    places = {each: rank for rank, each in enumerate(found, start=1)}
    return {each: places.get(each) for each in sorted(gold)}


def percentile(values: Sequence[float], percent: float) -> float:
    """The least value that `percent` of all values do not exceed (nearest rank)."""
    return sorted(values)[ceil(len(values) * percent / 100) - 1]
