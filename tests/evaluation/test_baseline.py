"""When a figure has fallen, and what may be compared with what."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from tests.architecture.sources import ROOT

from nexus import InvalidInput
from nexus.evaluation.baseline import (
    HEADLINES,
    Difference,
    compare,
    load_baseline,
    other_settings,
)

KEPT: dict[str, Any] = {
    "benchmark": "locomo",
    "settings": {"ranking": "contextual", "nexus": "0.1.0"},
    "questions": {"answerable": 2, "abstention": 0, "unscored": 0},
    "without_abstention": {
        level: {"questions": 2, **dict.fromkeys(metrics, 0.8)}
        for level, metrics in HEADLINES.items()
    },
}


@pytest.mark.parametrize(
    ("now", "fell"), [(0.78, True), (0.7899, True), (0.79, False), (0.8, False), (0.9, False)]
)
def test_a_fall_is_more_than_the_tolerance(now: float, fell: bool) -> None:
    difference = Difference(level="turn", metric="recall@10", before=0.8, now=now)

    assert difference.fell(0.01) == fell


def test_every_headline_is_compared() -> None:
    measured = deepcopy(KEPT)
    measured["without_abstention"]["session"]["mrr"] = 0.75

    differences = compare(measured, KEPT, "without_abstention")

    assert len(differences) == sum(map(len, HEADLINES.values()))
    assert [(d.level, d.metric, d.change) for d in differences if d.change] == [
        ("session", "mrr", -0.05)
    ]


def test_a_level_nobody_has_gold_on_is_left_out() -> None:
    measured = deepcopy(KEPT)
    measured["without_abstention"]["turn"] = {"questions": 0}

    levels = {each.level for each in compare(measured, KEPT, "without_abstention")}

    assert levels == {"session"}


@pytest.mark.parametrize(
    "other", [{"benchmark": "beam"}, {"questions": {"answerable": 7, "abstention": 0}}]
)
def test_other_questions_cannot_be_compared(other: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="about other questions"):
        compare({**KEPT, **other}, KEPT, "without_abstention")


def test_a_baseline_without_the_figure_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no with_abstention figure"):
        compare({**KEPT, "with_abstention": KEPT["without_abstention"]}, KEPT, "with_abstention")


def test_other_settings_are_named() -> None:
    measured = {**KEPT, "settings": {"ranking": "fused", "nexus": "0.1.0"}}

    assert other_settings(measured, KEPT) == {"ranking": "contextual, here fused"}


@pytest.mark.parametrize("content", ["[]", "{}", '{"summary": {}}'])
def test_a_file_that_is_no_baseline_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "kept.json"
    file.write_text(content)

    with pytest.raises(InvalidInput, match="--save-baseline"):
        load_baseline(file)


@pytest.mark.parametrize("benchmark", ["locomo", "beam"])
def test_a_committed_baseline_holds_figures_and_nobodys_words(benchmark: str) -> None:
    kept = load_baseline(ROOT / "bench" / "results" / f"eval-{benchmark}.json")

    assert kept.pop("benchmark") == benchmark
    assert kept.pop("settings")["ranking"] == "contextual"
    assert {type(leaf) for leaf in leaves(kept)} <= {int, float}


def leaves(value: Any) -> list[Any]:
    if not isinstance(value, dict):
        return [value]
    return [leaf for each in value.values() for leaf in leaves(each)]
