"""What is known of each candidate, as numbers a weight can be put on.

Scores of different strategies lie on different scales and in different places for every
question. They are compared by how far each candidate stands out among the candidates
(z-scores), which keeps margins that ranks throw away and does not depend on how much else a
viewer may read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import repeat
from math import sqrt
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.candidate import Candidate
from ..core.records import MemoryKind
from .keyword import BEST_SHARE
from .surroundings import Surroundings, views
from .timeline import in_time
from .understand import Understood

Numbers = NDArray[np.float64]

NAMES = (
    "keyword",  # its own words
    "conversation",  # the words of the whole conversation it is part of
    "meaning",
    "topic",  # how near in meaning the nearest other of its conversation is
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


class Columns(NamedTuple):
    """Candidates side by side: what `Candidate` has of one, of all of them."""

    id: tuple[str, ...] = ()
    kind: tuple[MemoryKind, ...] = ()
    speaker: tuple[str | None, ...] = ()
    role: tuple[str | None, ...] = ()
    thread: tuple[str, ...] = ()
    at: tuple[datetime, ...] = ()
    length: tuple[int, ...] = ()
    asks: tuple[bool, ...] = ()
    directs: tuple[bool, ...] = ()
    keyword: tuple[float, ...] = ()
    thread_keyword: tuple[float, ...] = ()


@dataclass
class Pool:
    """The candidates of one question, in order of their ids, with what every strategy says."""

    candidates: Sequence[Candidate]
    meaning: Mapping[str, float]
    understood: Understood
    around: Surroundings = field(default_factory=dict)  # of some of them
    linked: Mapping[str, float] = field(default_factory=dict)
    opening: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.candidates = sorted(self.candidates, key=itemgetter(0))

    @cached_property
    def columns(self) -> Columns:
        return Columns(*zip(*self.candidates, strict=True))

    @cached_property
    def own(self) -> tuple[Numbers, Numbers]:
        """How far each stands out by its words and by its meaning."""
        return standing(self.columns.keyword), standing(self._near)

    @cached_property
    def _near(self) -> Numbers:
        return self._known(self.meaning)

    @cached_property
    def _linked(self) -> Numbers:
        return self._known(self.linked)

    def _known(self, scores: Mapping[str, float]) -> Numbers:
        found = map(scores.get, self.columns.id, repeat(0.0))
        return np.fromiter(found, np.float64, len(self.columns.id))

    @cached_property
    def _in_time(self) -> Numbers | None:
        """None: the question names no time."""
        window = self.understood.window
        if window is None:
            return None
        return column([in_time(window, at) for at in self.columns.at])

    def best(self, count: int) -> list[int]:
        """Places of those that stand out most by themselves."""
        keyword, meaning = self.own
        places: list[int] = np.argsort(-(keyword + meaning), kind="stable")[:count].tolist()
        return places

    def features(self) -> Numbers:
        """One row a candidate, one column a name."""
        keyword, meaning = self.own
        every, understood = self.columns, self.understood
        before, after, answers = self._neighbours(keyword + meaning)
        person = understood.person
        columns: dict[str, Sequence[float] | Numbers | None] = {
            "keyword": keyword,
            "conversation": standing(every.thread_keyword),
            "meaning": meaning,
            "topic": self._topic(meaning),
            "before": before,
            "after": after,
            "answers": answers,
            "asks": every.asks,
            "opens": self._opens(),
            "speaker": [speaker == person for speaker in every.speaker] if person else None,
            "role": [(role == "assistant") == understood.asks_the_assistant for role in every.role],
            "length": np.log1p(column(every.length)) / 4,
            "directs": every.directs,
            "timeline": self._in_time,
            "graph": self._linked,
        }
        features = np.zeros((len(self.candidates), len(NAMES)))
        for number, name in enumerate(NAMES):
            values = columns[name]
            if values is not None:
                features[:, number] = column(values)
        return features

    def evidence(self) -> Numbers:
        """The most any strategy says for each.

        Soon after the time asked for is a hint, not evidence; and a passage that names somebody
        may say anything of them, while a fact says what it is about.
        """
        words = np.minimum(1.0, column(self.columns.keyword) * BEST_SHARE)
        most: Numbers = np.maximum(words, self._near)
        if self.linked:
            told = [kind is MemoryKind.FACT for kind in self.columns.kind]
            most = np.maximum(most, np.where(told, self._linked, 0.0))
        if self._in_time is not None:
            most = np.maximum(most, self._in_time == 1.0)
        return most

    def _opens(self) -> list[bool]:
        pairs = zip(self.columns.id, self.columns.kind, strict=True)
        return [id in self.opening and kind is MemoryKind.PASSAGE for id, kind in pairs]

    def _topic(self, meaning: Numbers) -> Numbers:
        """How near the nearest other of each one's conversation is; only what was said has one."""
        pairs = zip(self.columns.kind, self.columns.thread, strict=True)
        said = [thread if kind is MemoryKind.PASSAGE else None for kind, thread in pairs]
        return column(nearest_others(meaning.tolist(), said))

    def _neighbours(self, own: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """How well those before and after fit, and the question before; strangers fit least."""
        places, seen = views(self.around, self.columns.id)
        before, after, answers = np.zeros((3, len(own)))
        if len(places):
            fit = np.concatenate([own, (own.min(), 0.0)])
            asks = np.array([*self.columns.asks, False, False])
            one, two, three, four = seen.T
            before[places] = fit[one] + fit[two]
            after[places] = fit[three] + fit[four]
            answers[places] = np.where(asks[one], fit[one], 0.0)
        return before, after, answers


def nearest_others(scores: Sequence[float], threads: Sequence[str | None]) -> list[float]:
    """The best score of another in each one's conversation; one alone has its own, outside none."""
    talks: defaultdict[str | None, list[float]] = defaultdict(list)
    for thread, score in zip(threads, scores, strict=True):
        talks[thread].append(score)
    best = {thread: sorted(talk)[-2:] for thread, talk in talks.items()}  # the very best last
    best[None] = [0.0]
    others = []
    for thread, score in zip(threads, scores, strict=True):
        two = best[thread]
        others.append(two[0] if score == two[-1] else two[-1])
    return others


def column(values: Sequence[float] | Numbers) -> Numbers:
    """The same as an array; numpy looks at each item of a list twice unless it is iterated over."""
    if isinstance(values, np.ndarray):
        return values
    return np.fromiter(values, np.float64, len(values))


def standing(scores: Sequence[float] | Numbers) -> Numbers:
    """How far each stands out, in standard deviations."""
    values = column(scores)
    if not len(values):
        return values
    away = values - np.add.reduce(values) / len(values)
    spread = sqrt(np.add.reduce(away * away) / len(values))
    return away / spread if spread > 1e-9 else np.zeros(len(values))
