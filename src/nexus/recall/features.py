"""What is known of each candidate, as numbers a weight can be put on.

Scores of different strategies lie on different scales and in different places for every
question. They are compared by how far each candidate stands out among the candidates
(z-scores), which keeps margins that ranks throw away and does not depend on how much else a
viewer may read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..core.candidate import Candidate
from ..core.records import MemoryKind
from .timeline import in_time
from .understand import Understood

Numbers = NDArray[np.float64]
Neighbours = tuple[tuple[str, ...], tuple[str, ...]]  # before and after, nearest first
Surroundings = Mapping[str, Neighbours]

NAMES = (
    "keyword",  # its own words
    "conversation",  # the words of the whole conversation it is part of
    "meaning",
    "before",  # how well the two before it fit
    "after",
    "answers",  # how well the question it follows fits
    "asks",  # it is a question itself
    "opens",  # it opens its conversation: news come first
    "speaker",  # said by the person the question is about
    "role",  # said by whom the question asks: a person, or the assistant
    "length",
    "directs",  # it says how things shall be done
    "timeline",  # from the time the question names
    "graph",  # about something the question names
)


@dataclass(slots=True)
class Pool:
    """The candidates of one question, with what every strategy says of them."""

    candidates: Sequence[Candidate]  # in order of their ids
    meaning: Mapping[str, float]
    understood: Understood
    around: dict[str, Neighbours] = field(default_factory=dict)
    linked: dict[str, float] = field(default_factory=dict)
    opening: set[str] = field(default_factory=set)

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
        every, understood = self.candidates, self.understood
        before, after, answers = self._neighbours(keyword + meaning)
        person = next(iter(understood.people)) if len(understood.people) == 1 else None
        columns = {
            "keyword": keyword,
            "conversation": standing([each.thread_keyword for each in every]),
            "meaning": meaning,
            "before": before,
            "after": after,
            "answers": answers,
            "asks": [each.asks for each in every],
            "opens": [
                each.id in self.opening and each.kind is MemoryKind.PASSAGE for each in every
            ],
            "speaker": [person is not None and each.speaker == person for each in every],
            "role": [(each.role == "assistant") == understood.asks_the_assistant for each in every],
            "length": np.log1p([each.length for each in every]) / 4,
            "directs": [each.directs for each in every],
            "timeline": [in_time(understood.window, each.at) for each in every],
            "graph": [self.linked.get(each.id, 0.0) for each in every],
        }
        return np.stack([np.asarray(columns[name], np.float64) for name in NAMES], axis=1)

    def _neighbours(self, own: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        fit = dict(zip((each.id for each in self.candidates), own.tolist(), strict=True))
        asking = {each.id for each in self.candidates if each.asks}
        lowest = min(fit.values(), default=0.0)
        before, after, answers = (np.zeros(len(own)) for _ in range(3))
        for number, each in enumerate(self.candidates):
            earlier, later = self.around.get(each.id, ((), ()))
            before[number] = sum(fit.get(id, lowest) for id in earlier)
            after[number] = sum(fit.get(id, lowest) for id in later)
            if earlier and earlier[0] in asking:
                answers[number] = fit[earlier[0]]
        return before, after, answers


def standing(scores: Sequence[float]) -> Numbers:
    """How far each stands out, in standard deviations."""
    values = np.array(scores, dtype=np.float64)
    spread = values.std() if len(values) else 0.0
    return (values - values.mean()) / spread if spread > 1e-9 else np.zeros(len(values))
