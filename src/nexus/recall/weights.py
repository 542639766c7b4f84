"""What each signal counts, fitted once for each kind of embedder.

Cosines of static word vectors and of a model that reads whole sentences differ in how much they
can be relied on, so each kind has weights of its own. They were fitted on conversations of two
public benchmarks together; `bench/fit_rank.py` fits them anew and says how such weights do on
conversations left out of the fit. That of `graph` is set by hand, because the benchmarks state no
facts: so high that what holds stands before what held, even if it is worded less like the question.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log

import numpy as np

from .features import NAMES, Numbers

USUAL_TERMS = 4  # of a question
MOST_TERMS = 20  # few questions say more: beyond it nothing was fitted
LONGER = ("keyword", "conversation", "meaning")  # count otherwise where a question says more

# At first sight, with a closer look; and what is added to both if a question is e times as long.
Row = tuple[float, float] | tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """Of every signal at first sight and with a closer look, and of the wording."""

    usual: Numbers  # two rows, columns in the order of NAMES
    longer: Numbers
    wording: float
    again: float  # what each further hit of one conversation costs: a soft cap

    def of(self, terms: int) -> Numbers:
        """Both rows for a question of so many terms."""
        return self.usual + longer(terms) * self.longer


def longer(terms: int) -> float:
    """How much longer than usual a question is; negative if it is shorter."""
    return log(min(max(terms, 1), MOST_TERMS) / USUAL_TERMS)


def weights(rows: Mapping[str, Row], *, wording: float, again: float) -> Weights:
    table = np.array([(*rows[name], 0.0, 0.0)[:4] for name in NAMES]).T
    return Weights(table[:2], table[2:], wording, again)


STATIC = weights(
    {
        "keyword": (0.28, 0.05, 0.05, -0.04),
        "conversation": (0.56, 0.53, 0.12, 0.17),
        "meaning": (0.60, 0.26, -0.12, -0.07),
        "topic": (0.15, 0.14),
        "before": (0.08, 0.09),
        "after": (0.05, 0.04),
        "answers": (0.15, 0.15),
        "asks": (-0.47, -0.68),
        "opens": (1.04, 0.95),
        "speaker": (2.64, 2.65),
        "role": (2.27, 2.32),
        "length": (1.03, -2.06),
        "directs": (0.86, 0.77),
        "timeline": (2.19, 2.53),
        "graph": (2.2, 2.2),
    },
    wording=0.72,
    again=0.1,
)
READS_SENTENCES = weights(
    {
        "keyword": (0.30, 0.06, -0.01, -0.08),
        "conversation": (0.44, 0.43, 0.21, 0.23),
        "meaning": (0.60, 0.39, -0.02, 0.03),
        "topic": (0.25, 0.24),
        "before": (0.07, 0.07),
        "after": (0.04, 0.03),
        "answers": (0.14, 0.14),
        "asks": (-0.37, -0.59),
        "opens": (1.10, 0.98),
        "speaker": (2.65, 2.66),
        "role": (2.33, 2.35),
        "length": (1.67, -1.14),
        "directs": (0.95, 0.83),
        "timeline": (2.49, 2.79),
        "graph": (2.2, 2.2),
    },
    wording=0.62,
    again=0.2,
)
