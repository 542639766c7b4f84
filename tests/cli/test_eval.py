"""`nexus eval`: figures, files, baselines and errors."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.evaluation.samples import write_beam, write_locomo, write_longmemeval


@pytest.fixture
def data(shell: Path) -> str:
    for write in (write_locomo, write_beam, write_longmemeval):
        write(shell)
    return str(shell)


@pytest.mark.requirement("D28")
@pytest.mark.parametrize("benchmark", ["locomo", "longmemeval", "beam"])
def test_figures_are_printed(run, data: str, benchmark: str) -> None:
    told = run("eval", benchmark, "--data", data, "--ranking", "contextual").stdout

    rows = [line.split("\t") for line in told.splitlines()]
    assert ["ranking", "contextual"] in rows
    assert any(row[:2] == ["turn", "recall"] and len(row) == 8 for row in rows)
    assert any(row[0] == "session mrr" for row in rows)
    assert not Path("memory.db").exists()


def test_summary_as_json(lines, data: str, monkeypatch) -> None:
    monkeypatch.setenv("NEXUS_DATA", data)

    (summary,) = lines("eval", "locomo", "--store", ":memory:", "--limit", "1")

    assert summary["questions"]["answerable"] == 1
    assert summary["settings"]["store"] == "memory"
    assert set(summary["without_abstention"]["turn"]) >= {"any@1", "all@50", "ndcg@10", "mrr"}


def test_rows_and_chart_are_written(run, data: str) -> None:
    run("eval", "locomo", "--data", data, "--out", "rows.json", "--plot", "figures.svg")

    written = json.loads(Path("rows.json").read_text(encoding="utf-8"))
    assert written["summary"]["benchmark"] == "locomo"
    assert [row["id"] for row in written["rows"]] == ["conv-1/0", "conv-1/1", "conv-1/2"]
    assert written["rows"][1]["turn"]["gold"] == ["D1:2", "D2:1"]
    assert ElementTree.parse("figures.svg").getroot().tag.endswith("svg")


@pytest.mark.requirement("X5")
def test_baseline_is_saved_and_compared(run, lines, data: str) -> None:
    run("eval", "locomo", "--data", data, "--save-baseline", "kept.json")

    told = run("eval", "locomo", "--data", data, "--baseline", "kept.json").stdout
    _, compared = lines("eval", "locomo", "--data", data, "--baseline", "kept.json")

    assert "turn\trecall@10\t1.0\t1.0\t+0.0000" in told
    assert {each["change"] for each in compared["differences"]} == {0.0}
    assert compared["fallen"] == 0


def test_quality_drop_exits_1(run, data: str) -> None:
    file = Path("kept.json")
    run("eval", "locomo", "--data", data, "--save-baseline", str(file))
    kept = json.loads(file.read_text())
    kept["without_abstention"]["turn"]["recall@10"] = 1.05
    kept["settings"]["ranking"] = "fused"
    file.write_text(json.dumps(kept))
    again = ("eval", "locomo", "--data", data, "--baseline", str(file))

    fallen = run(*again, code=1)
    run(*again, "--tolerance", "0.06")
    run(*again, "--with-abstention")

    assert "turn recall@10 fell from 1.05 to 1.0" in fallen.stderr
    assert "note: the baseline's ranking was fused, here contextual" in fallen.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("locomo", "--data", "nowhere"), "no LoCoMo at nowhere; give the file, or a folder with"),
        (("beam", "--data", "nexus.txt"), "no BEAM at nexus.txt"),
        (("locomo", "--data", "nexus.txt"), "nexus.txt is not JSON"),
        (("locomo", "--data", ".", "--ranking", "lucky"), "unknown memory.search.ranking 'lucky'"),
        (("locomo", "--data", ".", "--baseline", "nexus.txt"), "nexus.txt is not JSON"),
        (("locomo", "--data", ".", "--baseline", "nowhere.json"), "cannot read nowhere.json"),
        (("locomo", "--data", ".", "--out", "nowhere/rows.json"), "folder nowhere does not exist"),
        (("locomo",), "Missing option '--data'"),
        (("trivia", "--data", "."), "No such command 'trivia'"),
        (("locomo", "--data", ".", "--limit", "0"), "Invalid value for '--limit'"),
    ],
)
def test_invalid_input_is_explained(run, data, monkeypatch, words, said) -> None:
    monkeypatch.delenv("NEXUS_DATA", raising=False)
    Path("nexus.txt").write_text("no benchmark")

    assert said in run("eval", *words, code=2).stderr
