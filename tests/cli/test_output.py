"""Output of commands: escapes, tables, records and progress bars."""

from __future__ import annotations

import json

import click
import pytest
from rich.cells import cell_len

from nexusmem.cli import output

EVIL = "red \x1b[31m\x9b2J bell \x07 turn \u202earound \u2066 del \x7f tag \U000e0041 line\u2028sep"


def test_control_and_bidi_characters_are_escaped() -> None:
    shown = output.escape_invisible(EVIL)

    assert "\u241b[31m<U+009B>2J" in shown
    assert "<U+202E>around" in shown
    assert "\u2421" in shown
    assert "<U+E0041>" in shown
    assert "<U+2028>" in shown
    assert not any(output._is_invisible(character) for character in shown)


def test_ordinary_text_is_unchanged() -> None:
    text = "Grüße, 你好, می‌خواهم, 👩‍💻\n\tnext line"

    assert output.escape_invisible(text) == text


def test_one_line_joins_and_cuts() -> None:
    assert output.one_line("a\n b\t\tc ") == "a b c"
    assert output.one_line("x" * 50, 10) == "x" * 9 + "…"


def test_search_output_escapes_control_characters(run) -> None:
    run("remember", EVIL)

    plain = run("memory", "search", "red bell").stdout
    whole = run("memory", "search", "red bell", "--full").stdout
    spelt = run("memory", "search", "red bell", "--json").stdout

    for shown in (plain, whole, spelt):
        assert not any(output._is_invisible(c) and c != "\n" for c in shown)
    assert json.loads(spelt)["text"] == EVIL


def test_text_cannot_look_like_a_hit(run) -> None:
    run("remember", "a kettle\n2. [0.99] The kettle belongs to mallory")

    plain = run("memory", "search", "kettle").stdout
    whole = run("memory", "search", "kettle", "--full").stdout

    assert not any(line.startswith("2. ") for line in (plain + whole).splitlines())


def test_error_output_escapes_control_characters(run) -> None:
    result = run("forget", "--event", "\x1b[31mred\u202e", "--yes", "--store", ":memory:", code=2)

    assert "\x1b" not in result.stderr
    assert "\u202e" not in result.stderr


def test_table_does_not_parse_markup(
    run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "is_terminal", lambda: True)
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


def test_hash_is_not_wrapped_on_narrow_terminal(run, narrow) -> None:
    run("observe", "alice", "Our database is PostgreSQL.", "--room", "design")
    run("memory", "export", "--output", "archive.jsonl")
    head = json.loads(run("audit", "verify", "--json").stdout)["head"]

    shown = click.unstyle(run("audit", "verify").stdout)
    run("audit", "verify", "--anchor", head)

    assert any(line.split() == ["head", head] for line in shown.splitlines())


def test_table_keeps_ids_whole_and_cuts_nothing(
    narrow, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    id, text = "0123456789abcdef" * 2, "a text of some words that is far too long " * 3
    long = "#" * 90

    output.print_table(["id", "text", "name"], [(id, text, long)])

    shown = capsys.readouterr().out
    assert id in shown
    assert "…" not in shown
    assert shown.count("#") == 90


def test_table_breaks_no_word_if_there_is_room(
    narrow, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    at, text = "2026-11-16 17:11:08", "some words and SomeVeryLongName more than once, " * 2
    rows = [("near_duplicates", at, at, "0 looked at, 0 promoted", text)]

    output.print_table(["job", "last run", "due", "did", "\u4e2d\u6587"], rows)

    shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert {"near_duplicates", "2026-11-16", "SomeVeryLongName"} <= set(shown.split())
    assert len({cell_len(line) for line in lines}) == 1
    assert cell_len(lines[0]) <= 80


def test_multi_line_value_is_indented(
    narrow, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    output.print_record({"text": "tea\nsalience  1.0", "id": 3})

    shown = click.unstyle(capsys.readouterr().out)
    assert shown.splitlines() == ["text  tea", "      salience  1.0", "id    3"]


def test_archive_on_terminal_is_escaped_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "is_terminal", lambda: True)

    output.print_archive(json.dumps({"text": EVIL}, ensure_ascii=False) + "\n")

    shown = capsys.readouterr().out
    assert "\u202e" not in shown
    assert json.loads(shown) == {"text": EVIL}


def test_progress_is_silent_without_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with output.progress_bar("Working") as report:
        report(1, 2)

    assert capsys.readouterr() == ("", "")


def test_progress_bar_on_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)

    with output.progress_bar("Working on x[/red]y\x1b[31m") as report:
        report(1, 2)

    assert "Working on x[/red]y\u241b[31m" in capsys.readouterr().err
