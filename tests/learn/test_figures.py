"""Quality of the rules on labelled sentences."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

BENCH = Path(__file__).parents[2] / "bench"


def test_precision_and_recall_on_labelled_sentences() -> None:
    spec = importlib.util.spec_from_file_location("bench_extraction", BENCH / "extraction.py")
    bench = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = bench
    spec.loader.exec_module(bench)
    lines = (BENCH / "extraction" / "labelled_dev.jsonl").read_text(encoding="utf-8").splitlines()

    figures, _ = bench.measure([json.loads(line) for line in lines])

    assert len(lines) >= 150
    assert figures["facts precision"] >= 0.90
    assert figures["facts recall"] >= 0.60
    assert figures["landmarks precision"] >= 0.90
    assert figures["landmarks recall"] >= 0.75
    assert figures["dates resolved"] >= 0.95
    assert figures["junk rate of small talk"] <= 0.01
