"""Metrics: counters and histograms of this process, and their Prometheus text format.

    metrics = Metrics()
    metrics.observe_seconds("operation_seconds", "recall", 0.004)
    metrics.snapshot().timing("operation_seconds", operation="recall").p95

Labels are fixed words: operations, strategies, sections, error types. They never contain texts,
names of people or scopes. A workspace name may be a customer's name, so it is a label only if
the operator enables it.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import accumulate, groupby
from pathlib import Path
from threading import Lock
from typing import Any

# Seconds: from a read of a local file to the answer of a model.
BUCKET_BOUNDS = (
    *(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025),
    *(0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
)
LABEL_PATTERN = re.compile(r"[A-Za-z0-9_.:/+ -]{1,80}")  # for model names of providers
OTHER_LABEL = "other"  # replaces invalid labels
DEGRADABLE_PARTS = frozenset(  # parts that may be missing from an answer
    "vector keyword timeline graph rewrite statement hyde self_query wording rerank learn window"
    " plan recall budget render".split()
)

Labels = str | tuple[str, ...]  # values in the order of the family's label names


class MetricType(StrEnum):
    """Prometheus metric type."""

    COUNTER = "counter"  # never decreases while this process runs
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class MetricFamily:
    """Type, description and label names of a metric."""

    metric_type: MetricType
    description: str
    labels: tuple[str, ...] = ()


_HISTOGRAM, _COUNTER, _GAUGE = MetricType.HISTOGRAM, MetricType.COUNTER, MetricType.GAUGE

FAMILIES: Mapping[str, MetricFamily] = {
    "operation_seconds": MetricFamily(_HISTOGRAM, "Duration of each operation.", ("operation",)),
    "strategy_seconds": MetricFamily(
        _HISTOGRAM, "Duration of each search strategy.", ("strategy",)
    ),
    "section_seconds": MetricFamily(_HISTOGRAM, "Duration of each context section.", ("section",)),
    "job_seconds": MetricFamily(_HISTOGRAM, "Duration of each job step.", ("job",)),
    "strategy_found_total": MetricFamily(
        _COUNTER, "Results of each search strategy.", ("strategy",)
    ),
    "strategy_shown_total": MetricFamily(_COUNTER, "Results that became hits.", ("strategy",)),
    "events_written_total": MetricFamily(_COUNTER, "Events written."),
    "hits_total": MetricFamily(_COUNTER, "Hits returned."),
    "errors_total": MetricFamily(_COUNTER, "Failed operations.", ("operation", "error")),
    "degraded_total": MetricFamily(_COUNTER, "Answers that lack an unavailable part.", ("part",)),
    "job_results_total": MetricFamily(
        _COUNTER, "Results of jobs in this process.", ("job", "result")
    ),
    "cache_hits_total": MetricFamily(_COUNTER, "Cache hits.", ("cache",)),
    "cache_misses_total": MetricFamily(_COUNTER, "Cache misses.", ("cache",)),
    "breaker_state": MetricFamily(
        _GAUGE, "Circuit breaker: 0 closed, 1 half open, 2 open.", ("breaker",)
    ),
    "workspaces": MetricFamily(_GAUGE, "Workspaces in the store."),
    "events": MetricFamily(_GAUGE, "Events in the store."),
    "memories": MetricFamily(_GAUGE, "Memories in the store.", ("kind",)),
    "vectors": MetricFamily(_GAUGE, "Vectors in the store."),
    "store_bytes": MetricFamily(_GAUGE, "Size of the store's files in bytes."),
    "outbox_waiting": MetricFamily(_GAUGE, "Events waiting for processing."),
    "outbox_failed": MetricFamily(_GAUGE, "Waiting events that failed and will be retried."),
    "outbox_dead": MetricFamily(_GAUGE, "Waiting events that need a manual retry."),
    "outbox_lag_seconds": MetricFamily(_GAUGE, "Age of the oldest waiting event."),
    "jobs_due": MetricFamily(_GAUGE, "Overdue jobs.", ("job",)),
    "jobs_dead": MetricFamily(_GAUGE, "Jobs that need a manual retry.", ("job",)),
    "job_lag_seconds": MetricFamily(_GAUGE, "Longest delay of an overdue job.", ("job",)),
    "job_last_run_seconds": MetricFamily(_GAUGE, "Longest time since the last run.", ("job",)),
    "job_last_results": MetricFamily(
        _GAUGE, "Results of the last run of a job.", ("job", "result")
    ),
    "model_calls_total": MetricFamily(_COUNTER, "Calls of models.", ("purpose", "model")),
    "model_tokens_total": MetricFamily(
        _COUNTER, "Tokens of models.", ("purpose", "model", "direction")
    ),
    "model_cost_total": MetricFamily(_COUNTER, "Cost of model calls.", ("purpose", "model")),
    "quota_used": MetricFamily(_GAUGE, "Usage of a quota.", ("quota",)),
    "quota_limit": MetricFamily(_GAUGE, "Limit of a quota.", ("quota",)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Histogram of durations."""

    counts: tuple[int, ...]  # one per bucket bound, and one for longer durations
    seconds: float  # sum of all durations

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
        """Return a quantile in seconds, interpolated within its bucket; at most the last bound."""
        rank = share * self.count
        if not rank:
            return 0.0
        cumulative = list(accumulate(self.counts))
        bucket = bisect_left(cumulative, rank)
        if bucket >= len(BUCKET_BOUNDS):
            return BUCKET_BOUNDS[-1]
        low = BUCKET_BOUNDS[bucket - 1] if bucket else 0.0
        before = cumulative[bucket - 1] if bucket else 0
        return low + (BUCKET_BOUNDS[bucket] - low) * (rank - before) / self.counts[bucket]

    def __add__(self, other: Timing) -> Timing:
        counts = tuple(a + b for a, b in zip(self.counts, other.counts, strict=True))
        return Timing(counts=counts, seconds=self.seconds + other.seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One value or histogram of a metric family."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    value: float = 0.0
    timing: Timing | None = None  # for histograms, instead of the value


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsSnapshot:
    """All samples at one time, in the order of the families."""

    at: datetime
    samples: tuple[Sample, ...]

    def find_samples(self, name: str, **labels: str) -> list[Sample]:
        """Return the samples of a family that have these labels."""
        return [
            each
            for each in self.samples
            if each.name == name and labels.items() <= each.labels.items()
        ]

    def value(self, name: str, **labels: str) -> float:
        """Return the sum over all other labels; 0 without samples."""
        return sum(each.value for each in self.find_samples(name, **labels))

    def timing(self, name: str, **labels: str) -> Timing:
        """Return the sum of all matching histograms."""
        timings = [each.timing for each in self.find_samples(name, **labels) if each.timing]
        return sum(timings, start=EMPTY_TIMING)


@dataclass(frozen=True, slots=True)
class CacheStats:
    """Hits and misses of a cache."""

    hits: int = 0
    misses: int = 0

    @property
    def hit_rate(self) -> float:
        lookups = self.hits + self.misses
        return self.hits / lookups if lookups else 0.0


EMPTY_TIMING = Timing(counts=(0,) * (len(BUCKET_BOUNDS) + 1), seconds=0.0)


@dataclass(slots=True)
class _Buckets:
    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKET_BOUNDS) + 1))
    seconds: float = 0.0


class Metrics:
    """Counters and histograms; thread-safe, about one microsecond per update."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counters: dict[tuple[str, Labels], float] = {}
        self._timings: dict[tuple[str, Labels], _Buckets] = {}

    def add(self, name: str, labels: Labels = (), n: float = 1) -> None:
        key = (name, labels)
        with self._lock:
            self._counters[key] = self._counters.get(key, 0) + n

    def observe_seconds(self, name: str, labels: Labels, seconds: float) -> None:
        key = (name, labels)
        bucket = bisect_left(BUCKET_BOUNDS, seconds)
        with self._lock:
            buckets = self._timings.get(key)
            if buckets is None:
                buckets = self._timings[key] = _Buckets()
            buckets.counts[bucket] += 1
            buckets.seconds += seconds

    def count_degraded(self, remark: str, sections: Container[str] = ()) -> None:
        """Count an answer without a part; `remark` is for example "rerank: no answer"."""
        part = remark.partition(":")[0]
        known = part in DEGRADABLE_PARTS or part in sections
        self.add("degraded_total", part if known else OTHER_LABEL)

    def list_samples(self) -> list[Sample]:
        """Return all counters and histograms."""
        with self._lock:
            counters = list(self._counters.items())
            timings = [
                (key, Timing(counts=tuple(each.counts), seconds=each.seconds))
                for key, each in self._timings.items()
            ]
        return [
            *(make_sample(name, labels, value) for (name, labels), value in counters),
            *(make_sample(name, labels, timing=timing) for (name, labels), timing in timings),
        ]

    def snapshot(self, others: Iterable[Sample] = ()) -> MetricsSnapshot:
        """Return a snapshot that also includes samples of other sources."""
        samples = sum_samples([*self.list_samples(), *others])
        return MetricsSnapshot(at=datetime.now(UTC), samples=sort_samples(samples))


def make_sample(
    name: str,
    labels: Labels = (),
    value: float = 0.0,
    *,
    timing: Timing | None = None,
    workspace: str | None = None,
) -> Sample:
    """Return a sample of a defined family; `workspace` is an additional label."""
    values = (labels,) if isinstance(labels, str) else labels
    by_name = dict(zip(FAMILIES[name].labels, values, strict=True))
    extra = {} if workspace is None else {"workspace": workspace}
    return Sample(name=name, labels={**by_name, **extra}, value=value, timing=timing)


def safe_label(text: str) -> str:
    """Return external text as a label, or "other" if it is no valid label."""
    return text if LABEL_PATTERN.fullmatch(text) else OTHER_LABEL


def sum_samples(samples: Iterable[Sample]) -> list[Sample]:
    """Return the samples with equal names and labels added up."""
    sums: dict[tuple[str, tuple[tuple[str, str], ...]], Sample] = {}
    for each in samples:
        key = (each.name, tuple(sorted(each.labels.items())))
        sums[key] = _add_samples(sums[key], each) if key in sums else each
    return list(sums.values())


def _add_samples(one: Sample, other: Sample) -> Sample:
    timing = one.timing + other.timing if one.timing and other.timing else None
    return replace(one, value=one.value + other.value, timing=timing)


def sort_samples(samples: Sequence[Sample]) -> tuple[Sample, ...]:
    """Return the samples in the order of the families, then by labels."""
    order = {name: index for index, name in enumerate(FAMILIES)}
    return tuple(sorted(samples, key=lambda each: (order[each.name], *each.labels.values())))


CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"  # HTTP header of the text format
PREFIX = "nexus_"


def render_prometheus(snapshot: MetricsSnapshot) -> str:
    """Return the snapshot in Prometheus text format, one block per family with samples."""
    families = groupby(snapshot.samples, key=lambda each: each.name)
    return "".join(line + "\n" for name, some in families for line in _render_family(name, some))


def _render_family(name: str, samples: Iterator[Sample]) -> Iterator[str]:
    family, full = FAMILIES[name], PREFIX + name
    yield f"# HELP {full} {_escape_text(family.description, quoted=False)}"
    yield f"# TYPE {full} {family.metric_type}"
    for each in samples:
        if family.metric_type is MetricType.HISTOGRAM and each.timing:
            yield from _render_histogram(full, each.labels, each.timing)
        else:
            yield f"{full}{_format_labels(each.labels)} {_format_number(each.value)}"


def _render_histogram(name: str, labels: Mapping[str, str], timing: Timing) -> Iterator[str]:
    """Yield the lines of a histogram with cumulative buckets."""
    bounds = [*map(_format_number, BUCKET_BOUNDS), "+Inf"]
    for bound, count in zip(bounds, accumulate(timing.counts), strict=True):
        yield f"{name}_bucket{_format_labels({**labels, 'le': bound})} {count}"
    yield f"{name}_sum{_format_labels(labels)} {_format_number(timing.seconds)}"
    yield f"{name}_count{_format_labels(labels)} {timing.count}"


def _format_labels(labels: Mapping[str, str]) -> str:
    pairs = ",".join(f'{name}="{_escape_text(value)}"' for name, value in labels.items())
    return f"{{{pairs}}}" if pairs else ""


def _escape_text(text: str, *, quoted: bool = True) -> str:
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n")
    return escaped.replace('"', '\\"') if quoted else escaped


def _format_number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))


WRITE_INTERVAL_SECONDS = 5.0
STALE_SECONDS = 60.0  # a file this old belongs to a process that ended
DELETE_AFTER_SECONDS = 3600.0  # a file this old is deleted
FILE_PREFIX = "nexus-"  # followed by a random id: containers may share process ids

log = logging.getLogger(__name__)


class MetricsFile:
    """Writes the metrics of this process to a file every few seconds, until it is closed."""

    def __init__(self, folder: Path, collect: Callable[[], list[Sample]]) -> None:
        self.file = folder / f"{FILE_PREFIX}{secrets.token_hex(16)}.json"
        self._collect = collect
        self._stop = threading.Event()
        folder.mkdir(parents=True, exist_ok=True)
        _remove_stale(folder)
        self._thread = threading.Thread(target=self._run, name="nexus-metrics", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(WRITE_INTERVAL_SECONDS):
            self.write()

    def write(self) -> None:
        """Replace the file atomically."""
        draft = self.file.with_suffix(".tmp")
        try:
            draft.write_text(
                json.dumps([_sample_to_json(each) for each in self._collect()]), encoding="utf-8"
            )
            draft.replace(self.file)
        except OSError as error:
            log.warning("cannot write the metrics file: %s", error.strerror)

    def close(self) -> None:
        """Stop writing and delete the file."""
        self._stop.set()
        self._thread.join()
        with suppress(OSError):
            self.file.unlink(missing_ok=True)


def read_others(folder: Path, *, own: Path | None = None) -> list[Sample]:
    """Return the samples of other running processes in the folder; `own` is skipped."""
    found: list[Sample] = []
    for file in sorted(folder.glob(f"{FILE_PREFIX}*.json")):
        with suppress(OSError, ValueError, KeyError, TypeError):  # deleted, or another format
            if file != own and _seconds_since_write(file) <= STALE_SECONDS:
                found += _samples_from_json(json.loads(file.read_text(encoding="utf-8")))
    return found


def _remove_stale(folder: Path) -> None:
    """Delete files, and temporary files, of killed processes."""
    for file in (*folder.glob(f"{FILE_PREFIX}*.json"), *folder.glob(f"{FILE_PREFIX}*.tmp")):
        with suppress(OSError):
            if _seconds_since_write(file) > DELETE_AFTER_SECONDS:
                file.unlink()


def _seconds_since_write(file: Path) -> float:
    return time.time() - file.stat().st_mtime


def _sample_to_json(sample: Sample) -> dict[str, Any]:
    data: dict[str, Any] = {"name": sample.name, "labels": dict(sample.labels)}
    if sample.timing is None:
        return {**data, "value": sample.value}
    return {**data, "counts": sample.timing.counts, "seconds": sample.timing.seconds}


def _samples_from_json(lines: list[dict[str, Any]]) -> Iterator[Sample]:
    for each in lines:
        if each["name"] in FAMILIES:
            timing = None
            if "counts" in each:
                timing = Timing(counts=tuple(map(int, each["counts"])), seconds=each["seconds"])
            value = float(each.get("value", 0))
            labels = {str(name): str(label) for name, label in each["labels"].items()}
            yield Sample(name=each["name"], labels=labels, value=value, timing=timing)
