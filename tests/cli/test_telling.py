"""`nexus observe` and `nexus remember`."""

from __future__ import annotations

import pytest

from nexus.cli.options import HERE
from nexus.providers.retry import Patience


def test_telling_the_same_key_twice_is_once(lines, run) -> None:
    told = ("observe", "alice", "We decided to use PostgreSQL.", "--key", "msg-17")

    first, second = lines(*told)[0], lines(*told)[0]

    assert (first["repeated"], second["repeated"]) == (False, True)
    assert first["event"] == second["event"]
    refused = run("observe", "alice", "We decided otherwise.", "--key", "msg-17", code=2)
    assert "was used before" in refused.stderr


def test_a_dash_reads_standard_input(lines) -> None:
    lines("observe", "alice", "-", said="The grüne kettle\nis on the stove.")

    (hit,) = lines("memory", "search", "kettle")

    assert hit["text"] == "The grüne kettle\nis on the stove."


def test_standard_input_that_is_no_text_is_refused(run) -> None:
    result = run("observe", "alice", "-", said=b"\xff\xfe kettle", code=2)

    assert "not UTF-8" in result.stderr


def test_when_and_in_which_thread_it_was_said_is_kept(lines) -> None:
    lines(
        *("observe", "alice", "The kettle is on the stove."),
        *("--at", "2025-05-06T07:08:09+02:00", "--thread", "kitchen", "--role", "user"),
    )

    (hit,) = lines("memory", "search", "kettle")

    assert hit["at"] == "2025-05-06T05:08:09.000000Z"
    assert hit["thread"] == "kitchen"


@pytest.mark.parametrize(
    "words",
    [
        ("observe", "alice", ""),
        ("observe", "", "text"),
        ("observe", "alice", "text", "--role", "king"),
        ("observe", "alice", "text", "--at", "yesterday"),
        ("observe", "alice", "text", "--key", ""),
        ("observe", "alice"),
        ("remember", "text", "--workspace", " "),
    ],
)
def test_what_cannot_be_taken_is_exit_2(run, words) -> None:
    result = run(*words, code=2)

    assert "rror: " in result.stderr
    assert result.stdout == ""


def test_a_store_that_does_not_answer_is_exit_3(run, shell) -> None:
    (shell / "folder").mkdir()

    result = run("remember", "text", "--store", "folder", code=3)

    assert "folder is a folder; a memory is one file" in result.stderr


def test_an_embedder_that_is_away_costs_a_warning_and_nothing_else(
    run, lines, shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Patience, "wait_seconds", lambda *_: 0.0)
    unreachable = "{provider: ollama, model: m, dimension: 8, ollama_url: http://127.0.0.1:9}"
    (shell / "nexus.yaml").write_text(f"memory:\n  embeddings: {unreachable}\n")

    result = run("remember", "The kettle is on the stove.")

    assert "warning: kept, and found by its words" in result.stderr
    found = run("memory", "search", "kettle")
    assert "kettle is on the stove" in found.stdout
    assert "warning: meaning: " in found.stderr
    (waiting,) = [check for check in lines("doctor", code=1) if check["name"] == "outbox"]
    assert waiting["state"] == "problem"
    assert f"1 events of {HERE} are stuck" in waiting["detail"]
