"""What each signal counts, fitted once for each kind of embedder.

Cosines of static word vectors and of a model that reads whole sentences differ in how much they
can be relied on, so each kind has weights of its own. They were fitted on conversations of two
public benchmarks together; `bench/fit_rank.py` fits them anew and says how such weights do on
conversations left out of the fit. That of `graph` is set by hand, because the benchmarks state no
facts: so high that what holds stands before what held, even if it is worded less like the question.
That of `length` with a closer look is held, too: among few messages, chance would decide by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from . import closely
from .features import NAMES, Numbers

USUAL_TERMS = 4  # of a question
MOST_TERMS = 20  # few questions say more: beyond it nothing was fitted
LONGER = ("keyword", "conversation", "meaning")  # count otherwise where a question says more

# What is likelier, whatever a question asks. Among few candidates nothing stands out by much (of n
# by at most about √n standard deviations), and likelihood would outweigh evidence: it counts less.
LIKELY = np.isin(NAMES, ("asks", "opens", "role", "length", "directs"))
LIKELY_SEEN = np.isin(closely.NAMES, "wording", invert=True)
ENOUGH = 24  # candidates

# At first sight, with a closer look; and what is added to both if a question is e times as long.
Row = tuple[float, float] | tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """Of every signal at first sight and with a closer look, and of what only that one sees."""

    usual: Numbers  # two rows, columns in the order of NAMES
    longer: Numbers
    closely: Numbers  # in the order of `closely.NAMES`
    closer: int  # how many get a closer look
    again: float  # what each further hit of one conversation costs: a soft cap

    def of(self, terms: int, candidates: int = ENOUGH) -> tuple[Numbers, Numbers, Numbers]:
        """For a question of so many terms: at first sight, with a closer look, seen closely."""
        sight, look = (self.usual + longer(terms) * self.longer) * _among(candidates, LIKELY)
        return sight, look, self.closely * _among(candidates, LIKELY_SEEN)


def _among(candidates: int, likely: NDArray[np.bool_]) -> Numbers | float:
    """What each weight is multiplied by."""
    return np.where(likely, sqrt(candidates / ENOUGH), 1.0) if candidates < ENOUGH else 1.0


def longer(terms: int) -> float:
    """How much longer than usual a question is; negative if it is shorter."""
    return log(min(max(terms, 1), MOST_TERMS) / USUAL_TERMS)


def weights(
    rows: Mapping[str, Row], look: Mapping[str, float], *, closer: int, again: float
) -> Weights:
    table = np.array([(*rows[name], 0.0, 0.0)[:4] for name in NAMES]).T
    seen = np.array([look[name] for name in closely.NAMES])
    return Weights(table[:2], table[2:], seen, closer, again)


STATIC = weights(
    {
        "keyword": (0.29, 0.12, 0.06, -0.04),
        "conversation": (0.55, 0.38, 0.08, 0.18),
        "meaning": (0.60, 0.29, -0.16, 0.05),
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
    closer=50,
    again=0.1,
)
READS_SENTENCES = weights(
    {
        "keyword": (0.31, 0.09, -0.01, -0.09),
        "conversation": (0.42, 0.30, 0.17, 0.27),
        "meaning": (0.60, 0.39, -0.06, 0.09),
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
    closer=80,
    again=0.15,
)
