"""Precision of the rules on labelled sentences, as a regression test.

The sentences are our own: the figures say nothing about other texts.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture(scope="module")
def figures() -> dict[str, float]:
    spec = importlib.util.spec_from_file_location("bench_extraction", BENCH / "extraction.py")
    bench = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = bench
    spec.loader.exec_module(bench)
    lines = (BENCH / "extraction" / "labelled_dev.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) >= 150
    return bench.measure([json.loads(line) for line in lines])[0]


@pytest.mark.parametrize(
    ("metric", "least"),
    [
        ("facts precision", 0.945),
        ("landmarks precision", 0.98),
        ("identities precision", 0.83),
        ("dates resolved", 0.98),
    ],
)
def test_precision_on_labelled_sentences(
    figures: dict[str, float], metric: str, least: float
) -> None:
    assert figures[metric] >= least


def test_small_talk_gives_no_memories(figures: dict[str, float]) -> None:
    assert figures["junk rate of small talk"] <= 0.01
