"""Evaluation of benchmarks through the public API."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from tests.evaluation.samples import write_beam, write_locomo, write_longmemeval

from nexusmem import EmbedderUnavailable
from nexusmem.config.settings import EmbeddingSettings, Settings, StoreSettings
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.evaluation import evaluate as evaluating
from nexusmem.evaluation.benchmarks import read_benchmark
from nexusmem.evaluation.evaluate import evaluate_benchmark
from nexusmem.evaluation.report import summarize_run
from nexusmem.evaluation.run import LevelResult, QuestionResult, RunResult, run_benchmark
from nexusmem.recall.query import SearchSettings

WRITERS = {"locomo": write_locomo, "beam": write_beam, "longmemeval": write_longmemeval}


@pytest.mark.requirement("D28", "X5")
@pytest.mark.parametrize("benchmark", WRITERS)
@pytest.mark.parametrize("store", [None, ":memory:"])
@pytest.mark.parametrize("ranking", ["fused", "contextual"])
def test_every_benchmark_runs_on_every_store_and_ranking(
    tmp_path: Path, benchmark: str, store: str | None, ranking: str
) -> None:
    data = WRITERS[benchmark](tmp_path)

    made = evaluate_benchmark(
        benchmark, data, Settings(search=SearchSettings(ranking=ranking)), store=store
    )

    assert made.summary["benchmark"] == benchmark
    assert made.summary["settings"]["ranking"] == ranking
    assert made.summary["settings"]["store"] == ("memory" if store else "sqlite")
    assert made.summary["settings"]["embedder"].startswith("builtin/")
    figures = made.summary["without_abstention"]
    assert figures["turn"]["recall@50"] == 1  # small enough that everything is found
    assert figures["session"]["any@50"] == 1
    assert made.summary["indexing"]["messages"] > 3
    assert made.summary["latency_ms"]["p50"] <= made.summary["latency_ms"]["p95"]


@pytest.mark.requirement("X5")
def test_row_has_gold_and_found_keys(tmp_path: Path) -> None:
    made = evaluate_benchmark("locomo", write_locomo(tmp_path), Settings())

    row = made.rows[0]
    assert (row.id, row.conversation, row.category) == ("conv-1/0", "conv-1", "single-hop")
    assert row.turn is not None
    assert row.turn.gold == ("D1:1",)
    assert row.turn.found.index("D1:1") + 1 == row.turn.ranks["D1:1"]
    assert row.turn.metrics["mrr"] == 1 / (row.turn.ranks["D1:1"] or 0)
    assert row.milliseconds > 0
    assert "Pepper" not in json.dumps([asdict(each) for each in made.rows])


def test_sessions_are_ranked_by_first_hit(tmp_path: Path) -> None:
    talk = read_benchmark("locomo", write_locomo(tmp_path))[0]
    made = evaluate_benchmark("locomo", tmp_path, Settings())

    for row in made.rows:
        assert row.turn is not None
        assert row.session is not None
        folded = list(dict.fromkeys(talk.session_by_key[key] for key in row.turn.found))
        assert list(row.session.found) == folded


def test_abstention_questions_are_not_in_the_main_figures(tmp_path: Path) -> None:
    summary = evaluate_benchmark("locomo", write_locomo(tmp_path), Settings()).summary

    assert summary["questions"] == {"answerable": 2, "abstention": 1, "unscored": 1}
    assert summary["without_abstention"]["turn"]["questions"] == 2
    assert summary["with_abstention"]["turn"]["questions"] == 3
    assert summary["categories"]["adversarial"]["turn"]["questions"] == 1


def test_question_counts_only_on_levels_with_gold(tmp_path: Path) -> None:
    made = evaluate_benchmark("longmemeval", write_longmemeval(tmp_path), Settings())

    assert made.rows[1].turn is None
    assert made.summary["with_abstention"]["turn"]["questions"] == 1
    assert made.summary["with_abstention"]["session"]["questions"] == 2
    assert made.summary["categories"]["abstention"]["turn"] == {"questions": 0}
    assert str(made.rows[0].at) == "2023-05-30 23:40:00+00:00"


def test_conversations_are_isolated(tmp_path: Path) -> None:
    made = evaluate_benchmark(
        "longmemeval", write_longmemeval(tmp_path), Settings(), store=":memory:"
    )

    assert [row.session and row.session.found for row in made.rows][1] == ("answer_2_abs",)


def test_progress_is_reported_per_question(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []

    evaluate_benchmark(
        "locomo",
        write_locomo(tmp_path),
        Settings(),
        limit=2,
        report=lambda done, total: told.append((done, total)),
    )

    assert told == [(1, 2), (2, 2)]


def test_configured_store_is_not_used(tmp_path: Path) -> None:
    mine = tmp_path / "mine.db"

    evaluate_benchmark(
        "locomo", write_locomo(tmp_path), Settings(store=StoreSettings(url=str(mine)))
    )

    assert not mine.exists()


def test_runs_in_one_store_have_separate_workspaces(tmp_path: Path) -> None:
    store = tmp_path / "measured.db"

    runs = [
        evaluate_benchmark("locomo", write_locomo(tmp_path), Settings(), store=str(store))
        for _ in range(2)
    ]

    assert store.exists()
    assert [row.turn for row in runs[0].rows] == [row.turn for row in runs[1].rows]


def test_summary_has_the_scheme_of_the_store_only() -> None:
    kinds = [
        evaluating.store_kind(url)
        for url in (None, "a.db", "sqlite:///a.db", ":memory:", "pg://user:secret@host/db")
    ]

    assert kinds == ["sqlite", "sqlite", "sqlite", "memory", "pg"]


class FailingEmbedder(HashingEmbedder):
    """An embedder that fails after a number of calls."""

    def __init__(self, answers: int) -> None:
        super().__init__()
        self.answers = answers

    def embed(self, texts):
        self.answers -= 1
        if self.answers < 0:
            raise EmbedderUnavailable("nobody there")
        return super().embed(texts)


@pytest.mark.parametrize(("answers", "said"), [(0, "could not be indexed"), (1, "was degraded")])
def test_degraded_run_is_an_error(tmp_path, open_nexus, answers, said) -> None:
    nexus = open_nexus(embedder=FailingEmbedder(answers))
    conversations = read_benchmark("locomo", write_locomo(tmp_path))

    with pytest.raises(EmbedderUnavailable, match=said):
        run_benchmark(nexus, conversations, name="eval", report=lambda _done, _all: None)


def test_means_are_rounded() -> None:
    def row(category: str, *, recall: float, ms: float, abstention: bool = False) -> QuestionResult:
        level = LevelResult(
            gold=("a",), ranks={"a": 1}, found=("a",), metrics={"recall@10": recall}
        )
        return QuestionResult(
            id="q",
            conversation="c",
            category=category,
            abstention=abstention,
            at=None,
            milliseconds=ms,
            turn=level,
            session=replace(level, metrics={"recall@10": 1.0}),
        )

    rows = (
        row("one", recall=1.0, ms=1.04),
        row("one", recall=0.0, ms=3),
        row("two", recall=1 / 3, ms=2),
        row("never", recall=1.0, ms=9, abstention=True),
    )
    outcome = RunResult(rows=rows, unscored=5, messages=100, indexing_seconds=0.5)

    summary = summarize_run("made-up", outcome, {"ranking": "fused"})

    assert summary["without_abstention"]["turn"] == {"questions": 3, "recall@10": 0.4444}
    assert summary["with_abstention"]["turn"] == {"questions": 4, "recall@10": 0.5833}
    assert summary["categories"]["one"]["turn"]["recall@10"] == 0.5
    assert list(summary["categories"]) == ["never", "one", "two"]
    assert summary["latency_ms"] == {"p50": 2, "p95": 9}
    assert summary["indexing"] == {"messages": 100, "seconds": 0.5, "messages_per_second": 200}
    assert summary["questions"] == {"answerable": 3, "abstention": 1, "unscored": 5}


def test_configured_embedder_is_used(tmp_path: Path) -> None:
    settings = Settings(embeddings=EmbeddingSettings(provider="hashing"))

    summary = evaluate_benchmark(
        "locomo", write_locomo(tmp_path), settings, store=":memory:"
    ).summary

    assert summary["settings"]["embedder"].startswith("hashing/")


def test_evaluation_is_loaded_lazily() -> None:
    script = (
        "import sys; from nexusmem import Nexus; from nexusmem.cli import nexus;"
        "nexus(['--help'], standalone_mode=False);"
        "sys.exit(any(name.startswith('nexusmem.evaluation') for name in sys.modules))"
    )

    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
