"""What is known of each candidate, as numbers a weight can be put on.

Scores of different strategies lie on different scales and in different places for every
question. They are compared by how far each candidate stands out among the candidates
(z-scores), which keeps margins that ranks throw away and does not depend on how much else a
viewer may read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log1p

import numpy as np
from numpy.typing import NDArray

from ..core.protocols import Candidate
from .understand import Understood

Numbers = NDArray[np.float64]
Surroundings = Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]

NAMES = (
    "keyword",  # its own words
    "conversation",  # the words of the whole conversation it is part of
    "meaning",
    "before",  # how well the two before it fit
    "after",
    "answers",  # how well the question it follows fits
    "asks",  # it is a question itself
    "speaker",  # said by the person the question is about
    "user",  # said by a person rather than the agent
    "length",
)


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates of one question, with what every strategy says of them."""

    candidates: Sequence[Candidate]
    meaning: Mapping[str, float]
    around: Surroundings
    understood: Understood

    def own(self) -> tuple[Numbers, Numbers]:
        """How far each stands out by its words and by its meaning."""
        keyword = standing([each.keyword for each in self.candidates])
        meaning = standing([self.meaning.get(each.id, 0.0) for each in self.candidates])
        return keyword, meaning

    def best(self, count: int) -> list[int]:
        """Places of those that stand out most by themselves."""
        keyword, meaning = self.own()
        places: list[int] = np.argsort(-(keyword + meaning), kind="stable")[:count].tolist()
        return places

    def features(self) -> Numbers:
        """One row a candidate, one column a name."""
        keyword, meaning = self.own()
        conversation = standing([each.thread_keyword for each in self.candidates])
        asks = np.array([float(each.asks) for each in self.candidates])
        own = keyword + meaning
        before, after, answers = self._neighbours(own, asks)
        columns = (
            keyword,
            conversation,
            meaning,
            before,
            after,
            answers,
            asks,
            np.array([float(self._is_asked_about(each)) for each in self.candidates]),
            np.array([self._spoken_by_user(each) for each in self.candidates]),
            np.array([log1p(each.length) / 4 for each in self.candidates]),
        )
        return np.stack(columns, axis=1)

    def _neighbours(self, own: Numbers, asks: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        place = {each.id: number for number, each in enumerate(self.candidates)}
        lowest = float(own.min()) if len(own) else 0.0
        before, after, answers = (np.zeros(len(own)) for _ in range(3))
        for number, each in enumerate(self.candidates):
            earlier, later = self.around.get(each.id, ((), ()))
            before[number] = _fit(own, place, earlier, lowest)
            after[number] = _fit(own, place, later, lowest)
            first = place.get(earlier[0]) if earlier else None
            if first is not None and asks[first]:
                answers[number] = own[first]
        return before, after, answers

    def _is_asked_about(self, candidate: Candidate) -> bool:
        people = self.understood.people
        return len(people) == 1 and candidate.speaker in people

    def _spoken_by_user(self, candidate: Candidate) -> float:
        if self.understood.asks_the_assistant:
            return 0.0
        return float(candidate.role != "assistant")


def _fit(own: Numbers, place: Mapping[str, int], ids: Sequence[str], lowest: float) -> float:
    """The sum over neighbours; one that is no candidate fits as little as the worst."""
    return sum(own[place[id]] if id in place else lowest for id in ids)


def standing(scores: Sequence[float]) -> Numbers:
    """How far each stands out, in standard deviations."""
    values = np.array(scores, dtype=np.float64)
    spread = values.std() if len(values) else 0.0
    return (values - values.mean()) / spread if spread > 1e-9 else np.zeros(len(values))
