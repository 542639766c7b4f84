"""Putting candidates in order: a weighted sum of what is known of each.

A second, closer look reads the texts of the best candidates.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..core.access import Grant
from ..core.candidate import Candidate
from ..core.errors import Unavailable
from ..core.records import Explanation, StrategyReport
from . import closely
from .answer import Ranked, Ranking
from .asked import Results
from .features import NAMES, Numbers, Pool
from .gather import Gatherer
from .keyword import worded
from .query import Query
from .surroundings import Places
from .timeline import in_time
from .weights import Weights

Interaction = Callable[[str, Sequence[str]], Sequence[float]]  # question, texts → closeness


@dataclass(frozen=True, slots=True)
class ContextualOrder:
    """All candidates of a pool, best first."""

    pool: Pool
    results: Results
    places: Sequence[int]
    scores: Sequence[float]  # from 0 to 1, falling
    parts: Numbers  # what each signal added to each candidate
    explain: bool

    @property
    def asked(self) -> tuple[str, ...]:
        return self.pool.understood.terms

    @property
    def degraded(self) -> tuple[str, ...]:
        return tuple(self.results.degraded)

    def reports(self, shown: Sequence[str]) -> tuple[StrategyReport, ...]:
        return self.results.reports(shown)

    def part(self, start: int, end: int) -> list[Ranked]:
        pairs = zip(self.places[start:end], self.scores[start:end], strict=True)
        return [
            Ranked(
                self.pool.candidates[place].id,
                score,
                self._reasons(self.pool.candidates[place]),
                self._why(place) if self.explain else None,
            )
            for place, score in pairs
        ]

    def _reasons(self, each: Candidate) -> dict[str, float]:
        pool, window = self.pool, self.pool.understood.window
        reasons = {}
        if each.keyword > 0:
            reasons["keyword"] = worded(each.keyword)
        if (near := pool.meaning.get(each.id, 0.0)) > 0:
            reasons["meaning"] = near
        if window and (timely := in_time(window, each.at)) > 0:
            reasons["timeline"] = timely
        if (linked := pool.linked.get(each.id, 0.0)) > 0:
            reasons["graph"] = linked
        return reasons

    def _why(self, place: int) -> Explanation:
        added = self.parts[place].tolist()
        return Explanation(
            found_by=self.results.places(self.pool.candidates[place].id),
            parts=dict(zip((*NAMES, *closely.NAMES), added, strict=True)),
            total=sum(added),
        )


def contextual(gatherer: Gatherer, closer: Interaction, weights: Weights) -> Ranking:
    """The ranking that weighs words, meaning, conversation, neighbours and speaker."""

    def ranking(grant: Grant, query: Query) -> ContextualOrder:
        pool, results = gatherer.gather(grant, query)

        def texts(ids: Sequence[str]) -> Mapping[str, str]:
            results.helped["wording"] = ids
            try:
                return gatherer.store.memories.texts(grant, ids)
            except Unavailable as error:  # what was found is still in order, by all else
                results.degraded.append(f"wording: {error}")
                return {}

        with results.measured("wording"):
            places, parts = in_order(pool, texts, closer, weights)
        return ContextualOrder(pool, results, places, _scores(pool, places), parts, query.explain)

    return ranking


def in_order(
    pool: Pool,
    texts: Callable[[Sequence[str]], Mapping[str, str]],
    closer: Interaction,
    weights: Weights,
) -> tuple[list[int], Numbers]:
    """Places best first, and what each signal added to each."""
    features = pool.features()
    first_sight, closer_look, closely_seen = weights.of(len(pool.understood.terms), len(features))
    parts = np.zeros((len(features), len(NAMES) + len(closely.NAMES)))
    np.multiply(features, first_sight, out=parts[:, : len(NAMES)])
    order = _falling(np.add.reduce(parts, axis=1), np.arange(len(parts)))
    head, rest = order[: weights.closer], order[weights.closer :]
    parts[head, : len(NAMES)] = features[head] * closer_look
    parts[head, len(NAMES) :] = looked_at(pool, head.tolist(), texts, closer) * closely_seen
    sums = np.add.reduce(parts, axis=1)
    best = _falling(sums, np.sort(head)).tolist()
    return [*spread(best, sums, pool.candidates, weights.again), *rest.tolist()], parts


def looked_at(
    pool: Pool,
    places: Sequence[int],
    texts: Callable[[Sequence[str]], Mapping[str, str]],
    closer: Interaction,
) -> Numbers:
    """What their texts tell of some candidates."""
    those, asked = [pool.candidates[place] for place in places], pool.understood
    held = texts([each.id for each in those])
    read = [held.get(each.id, "") for each in those]
    theirs = [asked.person is not None and each.speaker == asked.person for each in those]
    return closely.look(asked.matter, read, closer(asked.meaning, read), theirs)


def spread(
    places: Sequence[int], sums: Numbers, candidates: Sequence[Candidate], again: float
) -> list[int]:
    """The same, where each further one of a conversation stands a little lower."""
    taken: defaultdict[str, int] = defaultdict(int)
    below: list[float] = []
    for place, worth in zip(places, sums[list(places)].round(9).tolist(), strict=True):
        thread = candidates[place].thread
        below.append(taken[thread] * again - worth)
        taken[thread] += 1
    ranks = sorted(range(len(below)), key=below.__getitem__)  # of equals the first comes first
    return [places[rank] for rank in ranks]


def _scores(pool: Pool, places: Sequence[int]) -> list[float]:
    """The best evidence for each, or for any that follows it: absolute, and falling."""
    evidence = pool.evidence()[list(places)]
    falling: list[float] = np.maximum.accumulate(evidence[::-1])[::-1].tolist()
    return falling


def _falling(sums: Numbers, places: Places) -> Places:
    """Rising places best first; of equals the first, with the smaller id, on every machine."""
    return places[(-sums[places].round(9)).argsort(kind="stable")]
