"""`nexus eval context`: figures, files, baselines and errors."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.evaluation.samples import write_locomo
from tests.loopback import Loopback, says


@pytest.fixture
def data(shell: Path) -> str:
    write_locomo(shell)
    (shell / "never.jsonl").write_text('{"sample_id": "conv-1", "question": "Is Ivo a pilot?"}\n')
    return str(shell)


@pytest.mark.requirement("D28", "X5")
def test_figures_are_printed_written_and_compared(run, lines, data: str) -> None:
    command = ("eval", "context", "locomo", "--data", data, "--sample", "1")
    options = ("--unanswerable", "never.jsonl", "--plot", "figures.svg", "--out", "rows.json")

    told = run(*command, *options, "--save-baseline", "kept.json").stdout
    summary, compared = lines(*command, "--baseline", "kept.json")

    rows = [line.split("\t") for line in told.splitlines()]
    assert ["answerable questions", "1"] in rows
    assert ["never mentioned questions", "1"] in rows
    assert any(row[:2] == ["4000", "1.000"] for row in rows)
    assert any(row[0] == "250" and row[1] != "–" for row in rows)
    assert any(row[0] == "stale first" for row in rows)
    assert ElementTree.parse("figures.svg").getroot().tag.endswith("svg")
    written = json.loads(Path("rows.json").read_text(encoding="utf-8"))
    assert [row["group"] for row in written["rows"]] == [
        "answerable",
        "adversarial",
        "never mentioned",
    ]
    assert written["rows"][0]["contexts"][0]["gold_shown"] == 1
    assert summary["questions"] == {"answerable": 1, "adversarial": 1}
    assert {each["change"] for each in compared["differences"]} == {0.0}
    assert compared["fallen"] == 0
    assert not Path("memory.db").exists()


def test_quality_drop_exits_1(run, data: str) -> None:
    command = ("eval", "context", "--data", data, "--sample", "1")
    run(*command, "--save-baseline", "kept.json")
    kept = json.loads(Path("kept.json").read_text())
    kept["budgets"]["4000"]["evidence"] = 1.05
    Path("kept.json").write_text(json.dumps(kept))

    fallen = run(*command, "--baseline", "kept.json", code=1)

    assert "@4000 evidence fell from 1.05 to 1.0" in fallen.stderr


SETTINGS = """
memory:
  llm: {{provider: ollama, model: small, base_url: "{url}", extract_facts: false}}
"""


@pytest.mark.requirement("D28")
def test_model_answers_and_another_judges(run, shell: Path) -> None:
    conversation = {
        "messages": [{"speaker": "nora", "text": "The plumber comes on Friday.", "key": "m1"}],
        "questions": [
            {"question": "When does the plumber come?", "evidence": ["m1"], "answer": "on Friday"}
        ],
    }
    (shell / "questions.json").write_text(json.dumps([conversation]))
    with Loopback() as server:
        (shell / "nexus.yaml").write_text(SETTINGS.format(url=server.url))
        server.script(says("On Friday."), says('{"correct": true}'))
        command = ("eval", "context", "own", "--data", "questions.json")
        told = run(*command, "--answer", "ollama/small", "--judge", "large").stdout

    assert [request.body["model"] for request in server.requests] == ["small", "large"]
    rows = [line.split("\t") for line in told.splitlines()]
    assert ["answers", "questions", "accuracy"] in rows
    assert ["answerable", "1", "1.000"] in rows
    assert ["abstention", "0", "–"] in rows


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("trivia",), "'trivia' is not one of 'locomo', 'longmemeval', 'beam', 'own'"),
        (("beam",), "no BEAM at"),
        (("--sample", "0"), "Invalid value for '--sample'"),
        (("--unanswerable", "nowhere.jsonl"), "cannot read nowhere.jsonl"),
        (("--judge", "openai/large"), "--judge needs --answer"),
        (("--answer", "small"), "--answer 'small' names no provider; give PROVIDER/MODEL"),
        (("--plot", "nowhere/figures.svg"), "folder nowhere does not exist"),
        (("--baseline", "never.jsonl"), "never.jsonl is not a baseline"),
    ],
)
def test_invalid_input_is_explained(run, data: str, words: tuple[str, ...], said: str) -> None:
    assert said in run("eval", "context", "--data", data, *words, code=2).stderr
