"""Quality does not fall: the benchmarks again, beside the figures that are committed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.architecture.sources import ROOT

from nexus.config import EmbeddingSettings, Settings
from nexus.embedders import minilm
from nexus.evaluation.baseline import TOLERANCE, Difference, compare, load_baseline
from nexus.evaluation.evaluate import evaluate
from nexus.recall.query import Search

DATA = Path(os.environ.get("NEXUS_DATA") or ROOT.parent / "shared" / "data")


def fell(benchmark: str, embedder: str, baseline: str) -> list[Difference]:
    """What stands lower than in the baseline."""
    if not (DATA / benchmark).exists():
        pytest.skip(f"no {benchmark} in {DATA}: the benchmarks are not ours to publish")
    kept = load_baseline(ROOT / "bench" / "results" / f"{baseline}.json")
    settings = Settings(
        search=Search(ranking=kept["settings"]["ranking"]),
        embeddings=EmbeddingSettings(provider=embedder),
    )

    made = evaluate(benchmark, DATA, settings)

    assert made.summary["settings"]["embedder"] == kept["settings"]["embedder"]
    differences = compare(made.summary, kept, "without_abstention")
    return [each for each in differences if each.fell(TOLERANCE)]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.requirement("X5")
@pytest.mark.parametrize("benchmark", ["locomo", "beam"])
def test_quality_has_not_fallen(benchmark: str) -> None:
    assert fell(benchmark, "builtin", f"eval-{benchmark}") == []


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.requirement("X5")
def test_quality_with_minilm_has_not_fallen() -> None:
    """LoCoMo alone: BEAM's messages are long, and the model reads every word of them."""
    if not minilm.folder().is_dir():
        pytest.skip(f"MiniLM is not installed: {minilm.INSTALL}")
    assert fell("locomo", "minilm", "eval-locomo-minilm") == []
