"""`nexus memory search --explain` and `--as-of`."""

from __future__ import annotations

import re

import pytest

from nexusmem.cli import output

QUESTION = "which database did we decide on in January 2026?"


@pytest.fixture
def told(run) -> None:
    run(
        "observe", "alice", "We decided to use PostgreSQL.", "--at", "2026-01-05", "--key", "choice"
    )
    run("observe", "bob", "The retro is moved to Friday.", "--at", "2026-02-05", "--key", "retro")


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("output",):
        monkeypatch.setattr(f"nexusmem.cli.{module}.is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.mark.requirement("C18", "X7")
def test_hit_shows_strategies_score_parts_and_event_keys(run, told) -> None:
    shown = run("memory", "search", QUESTION, "--explain").stdout.splitlines()

    first, _, why = shown[:3]
    assert first.startswith("1. [")
    assert first.endswith("We decided to use PostgreSQL.")
    found_by, parts, sources = why.strip().split(" · ")
    assert {"keyword 1", "vector 1", "timeline 1"} == set(found_by.split(", "))
    assert re.fullmatch(r"(\w+ [+-][\d.]+(, )?){4} of [\d.]+", parts)
    assert sources == "choice"


@pytest.mark.requirement("E18")
def test_strategies_are_listed_with_times(run, told) -> None:
    shown = run("memory", "search", QUESTION, "--explain", "--limit", "1").stdout.splitlines()

    rows = {line.split("\t")[0]: line.split("\t")[1:] for line in shown if "\t" in line}
    assert set(rows) == {"keyword", "vector", "timeline", "graph", "wording"}
    assert rows["timeline"][1:] == ["1", "1"]
    assert rows["vector"][1:] == ["2", "1"]
    assert all(re.fullmatch(r"\d+\.\d\d ms", row[0]) for row in rows.values())


@pytest.mark.requirement("C18", "X7")
def test_terminal_shows_two_tables(run, told, terminal) -> None:
    shown = run("memory", "search", QUESTION, "--explain").stdout

    for heading in ("score", "text", "found by", "largest parts", "sources"):
        assert heading in shown.splitlines()[1]
    assert "timeline" in shown.partition("strategy")[0]  # the rank may be on the next line
    assert "choice" in shown
    assert "strategy" in shown.partition("sources")[2]
    plain = run("memory", "search", QUESTION).stdout
    assert "found by" not in plain
    assert "strategy" not in plain


@pytest.mark.requirement("E18", "X7")
def test_json_has_explanations_and_strategies(lines, told) -> None:
    *hits, last = lines("memory", "search", QUESTION, "--explain")

    assert [hit["event_keys"] for hit in hits] == [["choice"], ["retro"]]
    for hit in hits:
        explanation = hit["explanation"]
        assert explanation["total"] == pytest.approx(sum(explanation["parts"].values()))
    assert hits[0]["explanation"]["found_by"]["timeline"] == 1
    assert {report["name"]: report["shown"] for report in last["strategies"]}["timeline"] == 1
    assert last["total"] >= len(hits)


def test_no_explanation_by_default(lines, told) -> None:
    for hit in lines("memory", "search", QUESTION):
        assert "explanation" not in hit
        assert "strategies" not in hit


def test_empty_search_lists_strategies(run, lines, told) -> None:
    (only,) = lines("memory", "search", "kettle", "--threshold", "1", "--explain", code=1)

    assert {report["name"] for report in only["strategies"]} >= {"keyword", "vector"}
    assert (
        "keyword\t"
        in run("memory", "search", "kettle", "--threshold", "1", "--explain", code=1).stdout
    )


def test_explanation_escapes_control_characters(run) -> None:
    run("observe", "alice", "We decided to use PostgreSQL.", "--key", "red \x1b[31m\u202e key")

    shown = run("memory", "search", "PostgreSQL", "--explain").stdout

    assert "red \u241b[31m<U+202E> key" in shown
    assert not any(output._is_invisible(c) and c not in "\n\t" for c in shown)


@pytest.mark.requirement("X7")
@pytest.mark.parametrize(
    ("moment", "count"),
    [("2026-01-01", 0), ("2026-01-01T09:00:00Z", 0), ("2199-01-01", 2), ("2199-01-01T09:00+02", 2)],
)
def test_as_of_filters_by_recorded_time(lines, told, moment: str, count: int) -> None:
    hits = lines("memory", "search", QUESTION, "--as-of", moment, code=0 if count else 1)

    assert len(hits) == count  # both have a time in 2026 and are recorded now


@pytest.mark.parametrize("moment", ["soon", "", "2026-13-01", "0000"])
def test_invalid_as_of_exits_2(run, told, moment: str) -> None:
    assert "rror: " in run("memory", "search", "x", "--as-of", moment, code=2).stderr
