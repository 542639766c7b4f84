"""`nexus memory search --explain` and `--as-of`."""

from __future__ import annotations

import re

import pytest

from nexus.cli import output

QUESTION = "which database did we decide on in January 2026?"


@pytest.fixture
def told(run) -> None:
    run(
        "observe", "alice", "We decided to use PostgreSQL.", "--at", "2026-01-05", "--key", "choice"
    )
    run("observe", "bob", "The retro is moved to Friday.", "--at", "2026-02-05", "--key", "retro")


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("output", "hits"):
        monkeypatch.setattr(f"nexus.cli.{module}.for_person", lambda: True)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.mark.requirement("C18", "X7")
def test_each_hit_says_who_found_it_what_weighed_most_and_what_it_rests_on(run, told) -> None:
    shown = run("memory", "search", QUESTION, "--explain").stdout.splitlines()

    first, _, why = shown[:3]
    assert first.startswith("1. [")
    assert first.endswith("We decided to use PostgreSQL.")
    found_by, parts, sources = why.strip().split(" · ")
    assert {"keyword 1", "meaning 1", "timeline 1"} == set(found_by.split(", "))
    assert re.fullmatch(r"(\w+ [+-][\d.]+(, )?){4} of [\d.]+", parts)
    assert sources == "choice"


@pytest.mark.requirement("E18")
def test_the_strategies_are_listed_below_with_time_found_and_shown(run, told) -> None:
    shown = run("memory", "search", QUESTION, "--explain", "--limit", "1").stdout.splitlines()

    rows = {line.split("\t")[0]: line.split("\t")[1:] for line in shown if "\t" in line}
    assert set(rows) == {"keyword", "meaning", "timeline", "graph", "wording"}
    assert rows["timeline"][1:] == ["1", "1"]
    assert rows["meaning"][1:] == ["2", "1"]
    assert all(re.fullmatch(r"\d+\.\d\d ms", row[0]) for row in rows.values())


@pytest.mark.requirement("C18", "X7")
def test_a_terminal_gets_two_tables(run, told, terminal) -> None:
    shown = run("memory", "search", QUESTION, "--explain").stdout

    for heading in ("score", "text", "found by", "largest parts", "sources"):
        assert heading in shown.splitlines()[1]
    assert "timeline" in shown.partition("strategy")[0]  # its place may be on the next line
    assert "choice" in shown
    assert "strategy" in shown.partition("sources")[2]
    plain = run("memory", "search", QUESTION).stdout
    assert "found by" not in plain
    assert "strategy" not in plain


@pytest.mark.requirement("E18", "X7")
def test_programs_get_explanations_and_the_strategies_last(lines, told) -> None:
    *hits, last = lines("memory", "search", QUESTION, "--explain")

    assert [hit["event_keys"] for hit in hits] == [["choice"], ["retro"]]
    for hit in hits:
        explanation = hit["explanation"]
        assert explanation["total"] == pytest.approx(sum(explanation["parts"].values()))
    assert hits[0]["explanation"]["found_by"]["timeline"] == 1
    assert {report["name"]: report["shown"] for report in last["strategies"]}["timeline"] == 1
    assert last["total"] >= len(hits)


def test_without_being_asked_nothing_is_explained(lines, told) -> None:
    for hit in lines("memory", "search", QUESTION):
        assert "explanation" not in hit
        assert "strategies" not in hit


def test_a_search_that_finds_nothing_still_tells_what_was_tried(run, lines, told) -> None:
    (only,) = lines("memory", "search", "kettle", "--threshold", "1", "--explain", code=1)

    assert {report["name"] for report in only["strategies"]} >= {"keyword", "meaning"}
    assert (
        "keyword\t"
        in run("memory", "search", "kettle", "--threshold", "1", "--explain", code=1).stdout
    )


def test_an_explanation_shows_no_control_character(run) -> None:
    run("observe", "alice", "We decided to use PostgreSQL.", "--key", "red \x1b[31m\u202e key")

    shown = run("memory", "search", "PostgreSQL", "--explain").stdout

    assert "red \u241b[31m<U+202E> key" in shown
    assert not any(output._hidden(c) and c not in "\n\t" for c in shown)


@pytest.mark.requirement("X7")
@pytest.mark.parametrize(
    ("moment", "count"),
    [("2026-01-01", 0), ("2026-01-01T09:00:00Z", 0), ("2199-01-01", 2), ("2199-01-01T09:00+02", 2)],
)
def test_only_what_had_been_told_by_then_is_found(lines, told, moment: str, count: int) -> None:
    hits = lines("memory", "search", QUESTION, "--as-of", moment, code=0 if count else 1)

    assert len(hits) == count  # both were said in 2026 and told only now


@pytest.mark.parametrize("moment", ["soon", "", "2026-13-01", "0000"])
def test_a_moment_that_is_none_is_exit_2(run, told, moment: str) -> None:
    assert "rror: " in run("memory", "search", "x", "--as-of", moment, code=2).stderr
