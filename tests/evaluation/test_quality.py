"""Quality regression: run the benchmarks and compare with the committed baselines."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.architecture.sources import ROOT

from nexusmem.config.settings import EmbeddingSettings, Settings
from nexusmem.embedders.onnx import MINILM
from nexusmem.evaluation.chat_scores import compare_chat_baseline, evaluate_chat
from nexusmem.evaluation.context_evaluate import evaluate_contexts
from nexusmem.evaluation.context_report import compare_context_baseline
from nexusmem.evaluation.evaluate import (
    TOLERANCE,
    MetricDifference,
    compare_baseline,
    evaluate_benchmark,
    load_baseline,
)
from nexusmem.recall.query import SearchSettings

MODELS = os.environ.get("NEXUS_MODELS") or EmbeddingSettings().models_folder
DATA = Path(os.environ.get("NEXUS_DATA") or ROOT.parent / "shared" / "data")


def fallen_metrics(benchmark: str, embedder: str, baseline: str) -> list[MetricDifference]:
    """Return the metrics that have fallen below the baseline."""
    if not (DATA / benchmark).exists():
        pytest.skip(f"no {benchmark} in {DATA}: the benchmarks are not ours to publish")
    kept = load_baseline(ROOT / "bench" / "results" / f"{baseline}.json")
    settings = Settings(
        search=SearchSettings(ranking=kept["settings"]["ranking"]),
        embeddings=EmbeddingSettings(provider=embedder, models_folder=MODELS),
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
    if not MINILM.folder_in(Path(MODELS).expanduser()).is_dir():
        pytest.skip(f"MiniLM is not in {MODELS}: {MINILM.pull_command}")
    assert fallen_metrics("locomo", "minilm", "eval-locomo-minilm") == []


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.requirement("X5", "D28")
def test_contexts_have_not_fallen() -> None:
    if not (DATA / "locomo").exists():
        pytest.skip(f"no locomo in {DATA}: the benchmarks are not ours to publish")
    kept = load_baseline(ROOT / "bench" / "results" / "eval-context.json")

    made = evaluate_contexts("locomo", DATA, Settings())

    differences = compare_context_baseline(made.summary, kept)
    assert [each for each in differences if each.has_fallen(TOLERANCE)] == []


@pytest.mark.slow
@pytest.mark.requirement("X5")
def test_learning_has_not_fallen() -> None:
    corpus = DATA / "chat-dev" / "dev.jsonl"
    if not corpus.with_name("score.py").exists():
        pytest.skip(f"no chat corpus with a scorer at {corpus}: it is not ours to publish")
    kept = load_baseline(ROOT / "bench" / "results" / "eval-chat.json")

    made = evaluate_chat(corpus, Settings())

    differences = compare_chat_baseline(made.summary, kept)
    assert [each for each in differences if each.has_fallen(TOLERANCE)] == []
