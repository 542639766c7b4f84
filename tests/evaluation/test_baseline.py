"""Comparison with a baseline."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from tests.architecture.sources import ROOT

from nexusmem import InvalidInput
from nexusmem.evaluation.evaluate import (
    HEADLINE_METRICS,
    MetricDifference,
    compare_baseline,
    diff_settings,
    load_baseline,
)

KEPT: dict[str, Any] = {
    "benchmark": "locomo",
    "settings": {"ranking": "contextual", "nexus": "0.1.0"},
    "questions": {"answerable": 2, "abstention": 0, "unscored": 0},
    "without_abstention": {
        level: {"questions": 2, **dict.fromkeys(metrics, 0.8)}
        for level, metrics in HEADLINE_METRICS.items()
    },
}


@pytest.mark.parametrize(
    ("now", "fell"), [(0.78, True), (0.7899, True), (0.79, False), (0.8, False), (0.9, False)]
)
def test_metric_has_fallen_beyond_the_tolerance(now: float, fell: bool) -> None:
    difference = MetricDifference(level="turn", metric="recall@10", before=0.8, now=now)

    assert difference.has_fallen(0.01) == fell


def test_every_headline_metric_is_compared() -> None:
    measured = deepcopy(KEPT)
    measured["without_abstention"]["session"]["mrr"] = 0.75

    differences = compare_baseline(measured, KEPT, "without_abstention")

    assert len(differences) == sum(map(len, HEADLINE_METRICS.values()))
    assert [(d.level, d.metric, d.change) for d in differences if d.change] == [
        ("session", "mrr", -0.05)
    ]


def test_level_without_gold_is_left_out() -> None:
    measured = deepcopy(KEPT)
    measured["without_abstention"]["turn"] = {"questions": 0}

    levels = {each.level for each in compare_baseline(measured, KEPT, "without_abstention")}

    assert levels == {"session"}


@pytest.mark.parametrize(
    "other", [{"benchmark": "beam"}, {"questions": {"answerable": 7, "abstention": 0}}]
)
def test_different_questions_are_rejected(other: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="has different questions"):
        compare_baseline({**KEPT, **other}, KEPT, "without_abstention")


def test_baseline_without_the_metric_is_rejected() -> None:
    with pytest.raises(InvalidInput, match=r"no metric .* in with_abstention"):
        compare_baseline(
            {**KEPT, "with_abstention": KEPT["without_abstention"]}, KEPT, "with_abstention"
        )


def test_different_settings_are_listed() -> None:
    measured = {**KEPT, "settings": {"ranking": "fused", "nexus": "0.1.0"}}

    assert diff_settings(measured, KEPT) == {"ranking": "contextual, here fused"}


@pytest.mark.parametrize("content", ["[]", "{}", '{"summary": {}}'])
def test_file_that_is_no_baseline_is_rejected(tmp_path: Path, content: str) -> None:
    file = tmp_path / "kept.json"
    file.write_text(content)

    with pytest.raises(InvalidInput, match="--save-baseline"):
        load_baseline(file)


@pytest.mark.parametrize("benchmark", ["locomo", "beam"])
def test_committed_baselines_contain_no_texts(benchmark: str) -> None:
    kept = load_baseline(ROOT / "bench" / "results" / f"eval-{benchmark}.json")

    assert kept.pop("benchmark") == benchmark
    assert kept.pop("settings")["ranking"] == "contextual"
    assert {type(leaf) for leaf in leaves(kept)} <= {int, float}


def leaves(value: Any) -> list[Any]:
    if not isinstance(value, dict):
        return [value]
    return [leaf for each in value.values() for leaf in leaves(each)]
