"""Feature weights of the contextual ranking, fitted for each kind of embedder.

Cosines of static word vectors are less reliable than cosines of a sentence model, so each kind has
its own weights. They were fitted on the conversations of two public benchmarks;
`bench/fit_ranking.py` fits them again and evaluates them on held-out conversations. Two weights
are set by hand. `graph`: the benchmarks contain no explicit facts, and a current fact must precede
an outdated one that is worded more like the question. `length` in the second pass: with few
messages its fit is noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from .features import FEATURE_NAMES, TEXT_FEATURE_NAMES, FloatArray

TYPICAL_TERMS = 4  # terms of a typical question
MAX_TERMS = 20  # longer questions are rare and were not fitted
LENGTH_DEPENDENT = (
    "keyword",
    "conversation",
    "vector",
)  # their weights change with the length of the question

# Features that do not depend on the question (priors). With few candidates z-scores are small (at
# most about √n for n candidates), and priors would outweigh the evidence. They are scaled down.
PRIOR_FEATURES = np.isin(FEATURE_NAMES, ("asks", "opens", "role", "length", "directs"))
PRIOR_TEXT_FEATURES = np.isin(TEXT_FEATURE_NAMES, "wording", invert=True)
ENOUGH_CANDIDATES = 24  # from this number on, priors have full weight

# First pass, second pass; and what is added to both if a question is e times longer.
WeightRow = tuple[float, float] | tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """The weights of every feature in both passes, and of the text features."""

    base: FloatArray  # first and second pass; columns in the order of FEATURE_NAMES
    per_length: FloatArray
    text_features: FloatArray  # in the order of TEXT_FEATURE_NAMES
    text_depth: int  # candidates in the second pass
    repeat_penalty: float  # cost of each further hit of one conversation

    def for_question(
        self, terms: int, candidates: int = ENOUGH_CANDIDATES
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the weights of the first pass, of the second pass and of the text features."""
        first, second = (self.base + length_factor(terms) * self.per_length) * _prior_scale(
            candidates, PRIOR_FEATURES
        )
        return first, second, self.text_features * _prior_scale(candidates, PRIOR_TEXT_FEATURES)


def _prior_scale(candidates: int, is_prior: NDArray[np.bool_]) -> FloatArray | float:
    """Return the factor of each weight: below 1 for priors if there are few candidates."""
    return (
        np.where(is_prior, sqrt(candidates / ENOUGH_CANDIDATES), 1.0)
        if candidates < ENOUGH_CANDIDATES
        else 1.0
    )


def length_factor(terms: int) -> float:
    """Return log(terms / TYPICAL_TERMS): positive for longer questions, negative for shorter."""
    return log(min(max(terms, 1), MAX_TERMS) / TYPICAL_TERMS)


def make_weights(
    rows: Mapping[str, WeightRow],
    text_weights: Mapping[str, float],
    *,
    text_depth: int,
    repeat_penalty: float,
) -> Weights:
    """Build weights from named rows; raise KeyError if a feature has none."""
    table = np.array([(*rows[name], 0.0, 0.0)[:4] for name in FEATURE_NAMES]).T
    text_row = np.array([text_weights[name] for name in TEXT_FEATURE_NAMES])
    return Weights(table[:2], table[2:], text_row, text_depth, repeat_penalty)


STATIC_WEIGHTS = make_weights(
    {
        "keyword": (0.29, 0.12, 0.06, -0.04),
        "conversation": (0.55, 0.38, 0.08, 0.18),
        "vector": (0.60, 0.29, -0.16, 0.05),
        "topic": (0.16, 0.12),
        "before": (0.08, 0.09),
        "after": (0.04, 0.04),
        "answers": (0.15, 0.13),
        "asks": (-0.40, -0.23),
        "opens": (1.05, 0.70),
        "speaker": (2.62, 1.68),
        "role": (2.24, 2.52),
        "length": (0.36, -1.50),
        "directs": (0.96, 0.80),
        "timeline": (2.14, 1.83),
        "graph": (2.2, 2.2),
    },
    {
        "wording": 0.53,
        "time": 1.95,
        "number": 0.35,
        "name": 0.84,
        "oneself": 0.78,
        "address": -0.30,
    },
    text_depth=50,
    repeat_penalty=0.1,
)
SENTENCE_WEIGHTS = make_weights(
    {
        "keyword": (0.31, 0.09, -0.01, -0.09),
        "conversation": (0.42, 0.30, 0.17, 0.27),
        "vector": (0.60, 0.39, -0.06, 0.09),
        "topic": (0.25, 0.20),
        "before": (0.07, 0.08),
        "after": (0.04, 0.04),
        "answers": (0.14, 0.12),
        "asks": (-0.31, -0.22),
        "opens": (1.08, 0.80),
        "speaker": (2.63, 1.62),
        "role": (2.32, 2.34),
        "length": (1.02, -1.50),
        "directs": (1.03, 0.89),
        "timeline": (2.44, 2.44),
        "graph": (2.2, 2.2),
    },
    {
        "wording": 0.52,
        "time": 2.10,
        "number": 0.14,
        "name": 0.91,
        "oneself": 0.94,
        "address": -0.18,
    },
    text_depth=80,
    repeat_penalty=0.15,
)
