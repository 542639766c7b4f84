"""Quality does not fall: the benchmarks again, beside the figures that are committed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.architecture.sources import ROOT

from nexus.config import Settings
from nexus.evaluation.baseline import TOLERANCE, compare, load_baseline
from nexus.evaluation.evaluate import evaluate
from nexus.recall.query import Search

DATA = Path(os.environ.get("NEXUS_DATA") or ROOT.parent / "shared" / "data")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.requirement("X5")
@pytest.mark.parametrize("benchmark", ["locomo", "beam"])
def test_quality_has_not_fallen(benchmark: str) -> None:
    if not (DATA / benchmark).exists():
        pytest.skip(f"no {benchmark} in {DATA}: the benchmarks are not ours to publish")
    kept = load_baseline(ROOT / "bench" / "results" / f"eval-{benchmark}.json")

    made = evaluate(benchmark, DATA, Settings(search=Search(ranking=kept["settings"]["ranking"])))

    differences = compare(made.summary, kept, "without_abstention")
    assert [each for each in differences if each.fell(TOLERANCE)] == []
