"""Merge ranked lists into one.

Reciprocal rank fusion (Cormack, Clarke, Büttcher 2009): strategies disagree about what a score
means but agree about what comes first, so places are counted. A place says nothing about
whether anything fits at all, so the sum is scaled by the best evidence any strategy had.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..core.protocols import Scored

SMOOTHING = 60  # the paper's k: how little first place matters over second


@dataclass(frozen=True, slots=True)
class Fused:
    id: str
    score: float
    reasons: Mapping[str, float]  # strategy → its own score


def fuse(rankings: Mapping[str, Sequence[Scored]]) -> list[Fused]:
    """Every memory found, best first and ties by id, scored from 0 to 1."""
    places: defaultdict[str, float] = defaultdict(float)
    reasons: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for strategy, ranking in rankings.items():
        for place, found in enumerate(ranking, start=1):
            places[found.id] += 1 / (SMOOTHING + place)
            reasons[found.id][strategy] = found.score
    taking_part = sum(bool(ranking) for ranking in rankings.values())
    first_everywhere = taking_part / (SMOOTHING + 1)
    fused = [
        Fused(id, round(places[id] / first_everywhere * max(why.values()), 9), why)
        for id, why in reasons.items()
    ]
    return sorted(fused, key=lambda found: (-found.score, found.id))
