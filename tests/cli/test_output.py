"""What reaches a terminal, and what a program reads."""

from __future__ import annotations

import json

import click
import pytest
from rich.cells import cell_len

from nexus.cli import output

EVIL = "red \x1b[31m\x9b2J bell \x07 turn \u202earound \u2066 del \x7f tag \U000e0041 line\u2028sep"


def test_what_moves_the_cursor_or_turns_the_line_is_shown() -> None:
    shown = output.visible(EVIL)

    assert "\u241b[31m<U+009B>2J" in shown
    assert "<U+202E>around" in shown
    assert "\u2421" in shown
    assert "<U+E0041>" in shown
    assert "<U+2028>" in shown
    assert not any(output._hidden(character) for character in shown)


def test_what_people_write_with_stays_as_it_is() -> None:
    text = "Grüße, 你好, می‌خواهم, 👩‍💻\n\tnext line"

    assert output.visible(text) == text


def test_one_line_is_one_line_and_no_longer_than_asked() -> None:
    assert output.one_line("a\n b\t\tc ") == "a b c"
    assert output.one_line("x" * 50, 10) == "x" * 9 + "…"


def test_a_search_shows_no_control_character(run) -> None:
    run("remember", EVIL)

    plain = run("memory", "search", "red bell").stdout
    whole = run("memory", "search", "red bell", "--full").stdout
    spelt = run("memory", "search", "red bell", "--json").stdout

    for shown in (plain, whole, spelt):
        assert not any(output._hidden(c) and c != "\n" for c in shown)
    assert json.loads(spelt)["text"] == EVIL


def test_a_text_cannot_pose_as_a_second_hit(run) -> None:
    run("remember", "a kettle\n2. [0.99] The kettle belongs to mallory")

    plain = run("memory", "search", "kettle").stdout
    whole = run("memory", "search", "kettle", "--full").stdout

    assert not any(line.startswith("2. ") for line in (plain + whole).splitlines())


def test_an_error_shows_no_control_character(run) -> None:
    result = run("forget", "--event", "\x1b[31mred\u202e", "--yes", "--store", ":memory:", code=2)

    assert "\x1b" not in result.stderr
    assert "\u202e" not in result.stderr


def test_a_terminal_gets_tables_in_which_brackets_are_text(
    run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "for_person", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")

    output.print_table(["score", "text"], [(0.5, "[bold]kettle[/bold] \x1b[31m")])
    output.print_record({"erased_events": 3})

    shown = capsys.readouterr().out
    assert "[bold]kettle[/bold] \u241b[31m" in shown
    assert "erased events" in shown
    assert "\x1b" not in shown


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 80 columns."""
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True)
    monkeypatch.setenv("COLUMNS", "80")


def test_what_somebody_copies_is_whole_on_a_narrow_terminal(run, narrow) -> None:
    run("observe", "alice", "Our database is PostgreSQL.", "--room", "design")
    run("memory", "export", "--output", "archive.jsonl")
    head = json.loads(run("audit", "verify", "--json").stdout)["head"]

    shown = click.unstyle(run("audit", "verify").stdout)
    run("audit", "verify", "--anchor", head)

    assert any(line.split() == ["head", head] for line in shown.splitlines())


def test_ids_in_a_table_stay_whole_and_nothing_is_cut(
    narrow, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "for_person", lambda: True)
    id, text = "0123456789abcdef" * 2, "a text of some words that is far too long " * 3
    long = "#" * 90

    output.print_table(["id", "text", "name"], [(id, text, long)])

    shown = capsys.readouterr().out
    assert id in shown
    assert "…" not in shown
    assert shown.count("#") == 90


def test_words_stay_whole_where_there_is_room_for_them(
    narrow, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "for_person", lambda: True)
    at, text = "2026-11-16 17:11:08", "some words and SomeVeryLongName more than once, " * 2
    rows = [("near_duplicates", at, at, "0 looked at, 0 promoted", text)]

    output.print_table(["job", "last run", "due", "did", "\u4e2d\u6587"], rows)

    shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert {"near_duplicates", "2026-11-16", "SomeVeryLongName"} <= set(shown.split())
    assert len({cell_len(line) for line in lines}) == 1
    assert cell_len(lines[0]) <= 80


def test_a_value_of_several_lines_poses_as_no_other(
    narrow, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "for_person", lambda: True)
    output.print_record({"text": "tea\nsalience  1.0", "id": 3})

    shown = click.unstyle(capsys.readouterr().out)
    assert shown.splitlines() == ["text  tea", "      salience  1.0", "id    3"]


def test_an_archive_on_a_terminal_is_the_same_json_made_safe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "for_person", lambda: True)

    output.print_archive(json.dumps({"text": EVIL}, ensure_ascii=False) + "\n")

    shown = capsys.readouterr().out
    assert "\u202e" not in shown
    assert json.loads(shown) == {"text": EVIL}


def test_progress_is_silent_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with output.progress("Working") as report:
        report(1, 2)

    assert capsys.readouterr() == ("", "")


def test_progress_draws_a_bar_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)

    with output.progress("Working on x[/red]y\x1b[31m") as report:
        report(1, 2)

    assert "Working on x[/red]y\u241b[31m" in capsys.readouterr().err
