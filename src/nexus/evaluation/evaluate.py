"""One benchmark from its file to its figures, on the configured parts."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..config import Settings
from ..core.protocols import Embedder
from ..core.report import Report, silent
from ..nexus import Nexus
from ..products import make_embedder
from .dataset import first_questions
from .read import read_benchmark
from .report import summarize
from .run import Row, run

Summary = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The figures, and each question behind them."""

    summary: Summary
    rows: tuple[Row, ...]


def evaluate(
    benchmark: str,
    data: Path,
    settings: Settings,
    *,
    store: str | None = None,
    limit: int | None = None,
    report: Report = silent,
) -> Evaluation:
    """Measure a benchmark with the embedder, index and ranking of these settings.

    Their store is not written to: without `store` it all happens in a file that is gone
    afterwards, and in a store given it stays, in workspaces of this run.
    """
    conversations = read_benchmark(benchmark, data)
    if limit is not None:
        conversations = list(first_questions(conversations, limit))
    embedder = make_embedder(settings.embeddings)
    with memory(settings, store, embedder) as nexus:
        name = f"eval-{benchmark}-{secrets.token_hex(4)}"
        outcome = run(nexus, conversations, name=name, report=report)
    used = {
        "ranking": settings.search.ranking,
        "embedder": embedder.profile.name,
        "store": _kind(store),
        "vectors": settings.store.vectors,
        "nexus": version("nexus-memory"),
    }
    return Evaluation(summary=summarize(benchmark, outcome, used), rows=outcome.rows)


@contextmanager
def memory(
    settings: Settings, store: str | None = None, embedder: Embedder | None = None
) -> Iterator[Nexus]:
    """A memory to measure with: the store given, or a file that is gone afterwards."""
    with TemporaryDirectory(prefix="nexus-eval-") as folder:
        url = store or str(Path(folder) / "memory.db")
        with Nexus.open(url, settings=settings, embedder=embedder, background=False) as nexus:
            yield nexus


def _kind(store: str | None) -> str:
    """What kind of store, never its address: a URL may hold a password."""
    if store == ":memory:":
        return "memory"
    scheme, separator, _ = (store or "").partition("://")
    return scheme if separator else "sqlite"
