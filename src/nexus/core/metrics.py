"""What is counted and timed while a memory is used. It stays in this process.

    metrics = Metrics()
    metrics.took("operation_seconds", "recall", 0.004)
    metrics.snapshot().timing("operation_seconds", operation="recall").p95

Labels are words of ours: operations, strategies, sections, types of errors. Nothing that somebody
said, no name of a person and no place is ever one. A workspace is a customer's name, so it is a
label only where an operator asks for it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import accumulate
from threading import Lock

from .part import Part

# Seconds. A memory in a file answers in a millisecond, a model in several seconds.
BOUNDS = (
    *(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025),
    *(0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
)
LABEL = re.compile(r"[A-Za-z0-9_.:/+ -]{1,80}")  # of a model, which a provider names
ELSE = "other"  # what is no label
PARTS = frozenset(  # what an answer can miss, but for the sections of a context
    "meaning keyword timeline graph rewrite statement hyde self_query wording rerank learn window"
    " plan recall budget render".split()
).union(Part)

Labels = str | tuple[str, ...]  # the values, in the order of the family's names


class Shape(StrEnum):
    COUNTER = "counter"  # only grows, while this process runs
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Family:
    """What one metric is, and what its labels are called."""

    shape: Shape
    about: str
    labels: tuple[str, ...] = ()


_TIMED, _COUNTED, _READ = Shape.HISTOGRAM, Shape.COUNTER, Shape.GAUGE

FAMILIES: Mapping[str, Family] = {
    "operation_seconds": Family(_TIMED, "How long each operation took.", ("operation",)),
    "strategy_seconds": Family(_TIMED, "How long each way to search took.", ("strategy",)),
    "section_seconds": Family(_TIMED, "How long each part of a context took.", ("section",)),
    "job_seconds": Family(_TIMED, "How long each step of a job took.", ("job",)),
    "strategy_found_total": Family(_COUNTED, "What each way to search found.", ("strategy",)),
    "strategy_shown_total": Family(_COUNTED, "What of it was among the hits.", ("strategy",)),
    "events_written_total": Family(_COUNTED, "Events that were written down."),
    "hits_total": Family(_COUNTED, "Hits that were given."),
    "errors_total": Family(_COUNTED, "Operations that failed.", ("operation", "error")),
    "degraded_total": Family(_COUNTED, "Answers that missed a part.", ("part",)),
    "job_results_total": Family(_COUNTED, "What jobs of this process did.", ("job", "result")),
    "cache_hits_total": Family(_COUNTED, "What a cache knew.", ("cache",)),
    "cache_misses_total": Family(_COUNTED, "What a cache did not know.", ("cache",)),
    "breaker_state": Family(_READ, "0 works, 1 is tried again, 2 is away.", ("breaker",)),
    "workspaces": Family(_READ, "Workspaces in the store."),
    "events": Family(_READ, "Events in the store."),
    "memories": Family(_READ, "Memories in the store.", ("kind",)),
    "vectors": Family(_READ, "Vectors in the store."),
    "store_bytes": Family(_READ, "Size of the store's files."),
    "outbox_waiting": Family(_READ, "Events that are still to be learned."),
    "outbox_failed": Family(_READ, "Of these, what failed and is tried again."),
    "outbox_dead": Family(_READ, "Of these, what is tried only when asked for."),
    "outbox_lag_seconds": Family(_READ, "Age of the oldest event that is to be learned."),
    "jobs_due": Family(_READ, "Jobs whose time has come.", ("job",)),
    "jobs_dead": Family(_READ, "Jobs that are tried only when asked for.", ("job",)),
    "job_lag_seconds": Family(_READ, "How long the oldest due job waits.", ("job",)),
    "job_last_run_seconds": Family(_READ, "How long ago it ran, where that is longest.", ("job",)),
    "job_last_results": Family(_READ, "What the last run of a job did.", ("job", "result")),
    "model_calls_total": Family(_COUNTED, "Answers of models.", ("purpose", "model")),
    "model_tokens_total": Family(_COUNTED, "Tokens of models.", ("purpose", "model", "direction")),
    "model_cost_total": Family(_COUNTED, "What models cost.", ("purpose", "model")),
    "quota_used": Family(_READ, "How much of a quota is used.", ("quota",)),
    "quota_limit": Family(_READ, "How much a quota allows.", ("quota",)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How long something took, each time: how many times it was at most so many seconds."""

    counts: tuple[int, ...]  # one for each bound, and one beyond the last
    seconds: float  # of all together

    @property
    def count(self) -> int:
        return sum(self.counts)

    @property
    def mean(self) -> float:
        return self.seconds / self.count if self.count else 0.0

    @property
    def p50(self) -> float:
        return self.quantile(0.5)

    @property
    def p95(self) -> float:
        return self.quantile(0.95)

    @property
    def p99(self) -> float:
        return self.quantile(0.99)

    def quantile(self, share: float) -> float:
        """Within its bucket as if all there were spread evenly; beyond the last, its bound."""
        wanted = share * self.count
        if not wanted:
            return 0.0
        passed = list(accumulate(self.counts))
        place = bisect_left(passed, wanted)
        if place >= len(BOUNDS):
            return BOUNDS[-1]
        below = BOUNDS[place - 1] if place else 0.0
        before = passed[place - 1] if place else 0
        return below + (BOUNDS[place] - below) * (wanted - before) / self.counts[place]

    def __add__(self, other: Timing) -> Timing:
        counts = tuple(a + b for a, b in zip(self.counts, other.counts, strict=True))
        return Timing(counts=counts, seconds=self.seconds + other.seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One number, or one timing, of a family."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    value: float = 0.0
    timing: Timing | None = None  # of a histogram, in place of the value


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Everything that is known at one moment, in the order of the families."""

    at: datetime
    samples: tuple[Sample, ...]

    def named(self, name: str, **labels: str) -> list[Sample]:
        """The samples of a family, those with these labels."""
        return [
            each
            for each in self.samples
            if each.name == name and labels.items() <= each.labels.items()
        ]

    def value(self, name: str, **labels: str) -> float:
        """Added up over every other label; 0 where nothing was counted."""
        return sum(each.value for each in self.named(name, **labels))

    def timing(self, name: str, **labels: str) -> Timing:
        """All of them together."""
        timings = [each.timing for each in self.named(name, **labels) if each.timing]
        return sum(timings, start=NEVER)


@dataclass(frozen=True, slots=True)
class CacheUse:
    """How often a cache knew what it was asked for."""

    hits: int = 0
    misses: int = 0

    @property
    def hit_rate(self) -> float:
        asked = self.hits + self.misses
        return self.hits / asked if asked else 0.0


NEVER = Timing(counts=(0,) * (len(BOUNDS) + 1), seconds=0.0)


@dataclass(slots=True)
class _Timed:
    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0


class Metrics:
    """Counters and timings. Any thread may add at any time, for about a microsecond."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counted: dict[tuple[str, Labels], float] = {}
        self._timed: dict[tuple[str, Labels], _Timed] = {}

    def add(self, name: str, labels: Labels = (), n: float = 1) -> None:
        key = (name, labels)
        with self._lock:
            self._counted[key] = self._counted.get(key, 0) + n

    def took(self, name: str, labels: Labels, seconds: float) -> None:
        key = (name, labels)
        place = bisect_left(BOUNDS, seconds)
        with self._lock:
            timed = self._timed.get(key)
            if timed is None:
                timed = self._timed[key] = _Timed()
            timed.counts[place] += 1
            timed.seconds += seconds

    def missed(self, remark: str) -> None:
        """An answer had to do without a part: "rerank: no answer within 3 seconds"."""
        part = remark.partition(":")[0]
        self.add("degraded_total", part if part in PARTS else ELSE)

    def samples(self) -> list[Sample]:
        """What was counted and timed by now."""
        with self._lock:
            counted = list(self._counted.items())
            timed = [
                (key, Timing(counts=tuple(each.counts), seconds=each.seconds))
                for key, each in self._timed.items()
            ]
        return [
            *(sample(name, labels, value) for (name, labels), value in counted),
            *(sample(name, labels, timing=timing) for (name, labels), timing in timed),
        ]

    def snapshot(self, others: Iterable[Sample] = ()) -> Snapshot:
        """With what others have counted or read."""
        every = added_up([*self.samples(), *others])
        return Snapshot(at=datetime.now(UTC), samples=in_order(every))


def sample(
    name: str,
    labels: Labels = (),
    value: float = 0.0,
    *,
    timing: Timing | None = None,
    workspace: str | None = None,
) -> Sample:
    """A sample of a known family; `workspace` is a further label, where one is asked for."""
    given = (labels,) if isinstance(labels, str) else labels
    named = dict(zip(FAMILIES[name].labels, given, strict=True))
    extra = {} if workspace is None else {"workspace": workspace}
    return Sample(name=name, labels={**named, **extra}, value=value, timing=timing)


def label(text: str) -> str:
    """A word from outside as a label, if it looks like one."""
    return text if LABEL.fullmatch(text) else ELSE


def added_up(samples: Iterable[Sample]) -> list[Sample]:
    """Those of one name and the same labels as one."""
    whole: dict[tuple[str, tuple[tuple[str, str], ...]], Sample] = {}
    for each in samples:
        key = (each.name, tuple(sorted(each.labels.items())))
        whole[key] = _plus(whole[key], each) if key in whole else each
    return list(whole.values())


def _plus(one: Sample, other: Sample) -> Sample:
    both = one.timing + other.timing if one.timing and other.timing else None
    return replace(one, value=one.value + other.value, timing=both)


def in_order(samples: Sequence[Sample]) -> tuple[Sample, ...]:
    """Family by family, and those of one by their labels."""
    order = {name: place for place, name in enumerate(FAMILIES)}
    return tuple(sorted(samples, key=lambda each: (order[each.name], *each.labels.values())))
