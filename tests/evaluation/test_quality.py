"""Quality regression: run the benchmarks and compare with the committed baselines."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.architecture.sources import ROOT

from nexusmem.config.settings import EmbeddingSettings, Settings
from nexusmem.embedders import minilm
from nexusmem.evaluation.evaluate import (
    TOLERANCE,
    MetricDifference,
    compare_baseline,
    evaluate_benchmark,
    load_baseline,
)
from nexusmem.recall.query import SearchSettings

DATA = Path(os.environ.get("NEXUS_DATA") or ROOT.parent / "shared" / "data")


def fallen_metrics(benchmark: str, embedder: str, baseline: str) -> list[MetricDifference]:
    """Return the metrics that have fallen below the baseline."""
    if not (DATA / benchmark).exists():
        pytest.skip(f"no {benchmark} in {DATA}: the benchmarks are not ours to publish")
    kept = load_baseline(ROOT / "bench" / "results" / f"{baseline}.json")
    settings = Settings(
        search=SearchSettings(ranking=kept["settings"]["ranking"]),
        embeddings=EmbeddingSettings(provider=embedder),
    )

    made = evaluate_benchmark(benchmark, DATA, settings)

    assert made.summary["settings"]["embedder"] == kept["settings"]["embedder"]
    differences = compare_baseline(made.summary, kept, "without_abstention")
    return [each for each in differences if each.has_fallen(TOLERANCE)]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.requirement("X5")
@pytest.mark.parametrize("benchmark", ["locomo", "beam"])
def test_quality_has_not_fallen(benchmark: str) -> None:
    assert fallen_metrics(benchmark, "builtin", f"eval-{benchmark}") == []


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.requirement("X5")
def test_quality_with_minilm_has_not_fallen() -> None:
    """Only LoCoMo: the long messages of BEAM take too much time."""
    if not minilm.model_folder().is_dir():
        pytest.skip(f"MiniLM is not installed: {minilm.INSTALL_COMMAND}")
    assert fallen_metrics("locomo", "minilm", "eval-locomo-minilm") == []
