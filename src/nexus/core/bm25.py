"""BM25 (Robertson and Zaragoza 2009), as a share of the best score the terms could reach."""

from __future__ import annotations

from math import log

K1 = 1.2  # how soon more of the same term stops counting
B = 0.75  # how much long texts are held back


def inverse_frequency(documents: int, holding: int) -> float:
    """How telling a term is that `holding` of `documents` texts hold."""
    return log(1 + (documents - holding + 0.5) / (holding + 0.5))


def best_possible(weights: list[float]) -> float:
    """The score of an endless text that holds every term without end."""
    return sum(weights) * (K1 + 1)
