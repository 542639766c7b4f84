"""`nexus eval chat`: figures, files, baselines and errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.evaluation.chat_samples import write_corpus

pytestmark = pytest.mark.requirement("X5")


@pytest.fixture(autouse=True)
def data(shell: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_corpus(shell)
    monkeypatch.setenv("NEXUS_DATA", str(shell))


def test_figures_are_printed(run) -> None:
    rows = [line.split("\t") for line in run("eval", "chat").stdout.splitlines()]

    assert ["messages", "6"] in rows
    assert ["facts_strict", "25.0", "50.0", "33.3", "2", "4"] in rows
    assert any(row[:5] == ["friends", "2", "50.0", "50.0", "50.0"] for row in rows)
    assert ["false fact", "3", "LIVES_IN 3"] in rows
    assert not Path("memory.db").exists()


def test_output_and_errors_are_written_as_lines(run) -> None:
    run("eval", "chat", "--output", "learned.jsonl", "--errors", "errors.jsonl")

    learned = [json.loads(line) for line in Path("learned.jsonl").read_text().splitlines()]
    errors = [json.loads(line) for line in Path("errors.jsonl").read_text().splitlines()]
    assert [each["facts"][0]["object"] for each in learned if each["id"] == "t-1"] == ["Larkspur"]
    assert [each["answers"]["t-c1-q1"] for each in learned if each["id"] == "t-c1"] == [["Rome"]]
    assert {error["what"] for error in errors} == {"missed fact", "false fact"}
    assert {error["text"] for error in errors if error["id"] == "t-3"} == {"Bob lives in Lima."}


def test_summary_as_json(lines) -> None:
    words = ("--data", "dev.jsonl", "--min-confidence", "0.5", "--limit", "2")

    (summary,) = lines("eval", "chat", *words)

    assert summary["benchmark"] == "chat"
    assert summary["settings"]["min_confidence"] == 0.5
    assert summary["questions"] == {"messages": 2, "conversations": 0, "questions": 0}
    assert summary["total"]["facts_strict"]["given"] == 1


def test_baseline_is_saved_and_compared(run, lines) -> None:
    run("eval", "chat", "--save-baseline", "kept.json")
    kept = json.loads(Path("kept.json").read_text())
    kept["total"]["facts_strict"]["recall"] = 0.9
    Path("better.json").write_text(json.dumps(kept))

    _, compared = lines("eval", "chat", "--baseline", "kept.json")
    fallen = run("eval", "chat", "--baseline", "better.json", code=1)

    assert compared["fallen"] == 0
    assert "facts_strict recall fell from 0.9 to 0.5" in fallen.stderr


def test_without_a_scorer_only_the_output_is_written(run) -> None:
    Path("score.py").rename("other.py")

    made = run("eval", "chat", "--output", "learned.jsonl")
    scored = run("eval", "chat", "--scorer", "other.py")

    assert "nothing is scored" in made.stderr
    assert len(Path("learned.jsonl").read_text().splitlines()) == 7
    assert "facts_strict" in scored.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--data", "nowhere"), "no chat corpus at nowhere; give the file, or a folder with"),
        (("--data", "score.py"), "score.py is not JSON Lines"),
        (("--scorer", "nowhere.py"), "no scorer at nowhere.py"),
        (("--baseline", "score.py"), "score.py is not JSON"),
        (("--output", "nowhere/rows.jsonl"), "folder nowhere does not exist"),
        (("--min-confidence", "2"), "Invalid value for '--min-confidence'"),
    ],
)
def test_invalid_input_is_explained(run, words: tuple[str, ...], said: str) -> None:
    assert said in run("eval", "chat", *words, code=2).stderr
