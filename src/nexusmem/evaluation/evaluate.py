"""Benchmark evaluation: run a benchmark with given settings and compare it to a baseline."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..client import Nexus
from ..config.settings import Settings
from ..core.errors import InvalidInput
from ..core.protocols.embedder import Embedder
from ..runtime.progress import ProgressCallback, ignore_progress
from ..wiring.providers import make_embedder
from .benchmarks import limit_questions, load_json, read_benchmark
from .report import summarize_run
from .run import QuestionResult, run_benchmark

Summary = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The summary of a run, and the result of each question."""

    summary: Summary
    rows: tuple[QuestionResult, ...]


def evaluate_benchmark(
    benchmark: str,
    data: Path,
    settings: Settings,
    *,
    store: str | None = None,
    limit: int | None = None,
    report: ProgressCallback = ignore_progress,
) -> Evaluation:
    """Run a benchmark with the embedder, vector index and ranking of these settings.

    The configured store is never used. Without `store`, a temporary file is used and deleted. With
    `store`, the data stays there, in workspaces of this run.
    """
    conversations = read_benchmark(benchmark, data)
    if limit is not None:
        conversations = list(limit_questions(conversations, limit))
    embedder = make_embedder(settings.embeddings)
    with open_memory(settings, store, embedder) as nexus:
        name = f"eval-{benchmark}-{secrets.token_hex(4)}"
        outcome = run_benchmark(nexus, conversations, name=name, report=report)
    used = {
        "ranking": settings.search.ranking,
        "embedder": embedder.profile.name,
        "store": store_kind(store),
        "vectors": settings.store.vector_index,
        "nexus": version("nexusmem"),
    }
    return Evaluation(summary=summarize_run(benchmark, outcome, used), rows=outcome.rows)


@contextmanager
def open_memory(
    settings: Settings,
    store: str | None = None,
    embedder: Embedder | None = None,
    *,
    clock: Callable[[], datetime] | None = None,
) -> Iterator[Nexus]:
    """Open a Nexus with the given store, or with a temporary file that is deleted at the end."""
    with TemporaryDirectory(prefix="nexus-eval-") as folder:
        url = store or str(Path(folder) / "memory.db")
        with Nexus.open(
            url, settings=settings, embedder=embedder, clock=clock, background=False
        ) as nexus:
            yield nexus


def store_kind(store: str | None) -> str:
    """Return the scheme of the store only, because a URL may contain a password."""
    if store == ":memory:":
        return "memory"
    scheme, separator, _ = (store or "").partition("://")
    return scheme if separator else "sqlite"


HEADLINE_METRICS = {
    "turn": ("recall@5", "recall@10", "all@10", "ndcg@10", "mrr"),
    "session": ("recall@5", "recall@10", "all@10", "ndcg@10", "mrr"),
}
TOLERANCE = 0.01
ROUNDING_ERROR = 1e-9  # 0.83 - 0.82 is slightly above 0.01 in floating point


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricDifference:
    """One headline metric in the baseline and in the current run."""

    level: str
    metric: str
    before: float
    now: float

    @property
    def change(self) -> float:
        return round(self.now - self.before, 4)

    def has_fallen(self, tolerance: float) -> bool:
        """Return whether the metric fell by more than `tolerance`."""
        return self.before - self.now > tolerance + ROUNDING_ERROR


def load_baseline(file: Path) -> dict[str, Any]:
    """Load a baseline; raise InvalidInput if the file is not one."""
    data = load_json(file)
    if not isinstance(data, dict) or not {"benchmark", "questions", "settings"} <= data.keys():
        raise InvalidInput(f"{file} is not a baseline; create one with nexus eval --save-baseline")
    return data


def compare_baseline(
    summary: dict[str, Any], baseline: dict[str, Any], group: str
) -> Sequence[MetricDifference]:
    """Return the headline metrics of both.

    Raise InvalidInput if benchmark or number of questions differ.
    """
    for same in ("benchmark", "questions"):
        if summary[same] != baseline[same]:
            raise InvalidInput(
                f"the baseline has different questions: {same} {_format_value(baseline[same])}"
                f" in the baseline, {_format_value(summary[same])} in this run"
            )
    try:
        return [
            MetricDifference(
                level=level,
                metric=metric,
                before=baseline[group][level][metric],
                now=summary[group][level][metric],
            )
            for level, metrics in HEADLINE_METRICS.items()
            if summary[group][level]["questions"]
            for metric in metrics
        ]
    except (KeyError, TypeError) as error:
        raise InvalidInput(f"the baseline has no metric {error} in {group}") from error


def diff_settings(summary: dict[str, Any], baseline: dict[str, Any]) -> dict[str, str]:
    """Return the settings that differ, such as `fused, here contextual`."""
    before, now = baseline["settings"], summary["settings"]
    return {
        name: f"{before.get(name)}, here {now[name]}"
        for name in now
        if before.get(name) != now[name]
    }


def _format_value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{count} {name}" for name, count in value.items())
    return str(value)
